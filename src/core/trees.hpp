// Sums of decision trees over rows of features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace likely {

// A test "low <= x[feature] <= high", then on to `inside` or `outside`; a leaf has feature -1 and keeps in `inside`
// where its values start. Several nodes may share a successor, so a test for a union of intervals is a chain.
struct TreeNode {
  double low;
  double high;
  std::int32_t feature;
  std::int32_t inside;
  std::int32_t outside;
  std::int32_t unused;
};
static_assert(sizeof(TreeNode) == 32);

// What the core makes of it: one side of one number. A test with a lower end becomes two of these, one after the other.
struct Cut {
  double high;
  std::int32_t feature;
  std::int32_t next[2];  // where x <= high, and elsewhere
};

class Trees {
 public:
  // outputs_of[t] is the output that tree t adds to, or -1 if its leaves hold one value for every output. Throws
  // std::invalid_argument if a node leads back to itself.
  Trees(const std::vector<TreeNode>& nodes, std::vector<std::int32_t> roots, std::vector<std::int32_t> output_of,
        std::vector<double> values, std::size_t outputs);

  std::size_t outputs() const { return outputs_; }

  // out[r, :] += the sum of the trees' leaf values, tree by tree in order (so that the sum has one rounding). Throws
  // std::out_of_range for rows that lack a feature.
  void add(const double* rows, std::size_t count, std::size_t features, double* out, std::size_t threads) const;

 private:
  void add_piece(const double* rows, std::size_t begin, std::size_t end, std::size_t features, double* out) const;
  int depth_below(std::int32_t root, std::vector<int>& known) const;
  bool is_leaf(std::int32_t at) const { return cuts_[at].next[0] == at; }

  std::vector<Cut> cuts_;  // a leaf loops on itself: x <= inf leads to next[0] = itself; next[1] is where its values start
  std::vector<std::int32_t> roots_;
  std::vector<std::int32_t> output_of_;
  std::vector<int> depths_;
  std::vector<double> values_;
  std::size_t outputs_;
  std::int32_t last_feature_ = 0;
};

}  // namespace likely
