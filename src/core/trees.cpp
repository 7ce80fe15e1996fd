#include "trees.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "parallel.hpp"

namespace likely {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlock = 4096;  // rows that one tree passes over while it stays in the cache
constexpr std::size_t kLanes = 16;    // rows that walk down a tree side by side, to hide the latency of loads
constexpr int kShallow = 10;          // trees up to this depth are walked to their full depth by all lanes

inline std::int32_t successor(const Cut& cut, const double* row) { return cut.next[!(row[cut.feature] <= cut.high)]; }

// The leaf of each of the rows [0, count): all lanes take as many steps as the tree is deep (leaves stay where they are).
void walk_together(const Cut* cuts, std::int32_t root, int depth, const double* rows, std::size_t count, std::size_t features,
                   std::int32_t* leaf) {
  for (std::size_t r = 0; r < count; r += kLanes) {
    const std::size_t lanes = std::min(kLanes, count - r);
    std::array<std::int32_t, kLanes> at;
    at.fill(root);
    std::array<const double*, kLanes> row;
    for (std::size_t l = 0; l < kLanes; ++l) row[l] = rows + (r + std::min(l, lanes - 1)) * features;
    for (int step = 0; step < depth; ++step)
      for (std::size_t l = 0; l < kLanes; ++l) at[l] = successor(cuts[at[l]], row[l]);
    std::copy_n(at.begin(), lanes, leaf + r);
  }
}

// The same for trees whose leaves lie at very different depths: a lane that arrives takes the next row.
void walk_apart(const Cut* cuts, std::int32_t root, const double* rows, std::size_t count, std::size_t features,
                std::int32_t* leaf) {
  std::array<std::size_t, kLanes> row;
  std::array<std::int32_t, kLanes> at;
  std::size_t next = 0, lanes = 0;
  for (; lanes < kLanes && next < count; ++lanes) row[lanes] = next++, at[lanes] = root;
  while (lanes > 0) {
    for (std::size_t l = 0; l < lanes; ++l) {
      const std::int32_t to = successor(cuts[at[l]], rows + row[l] * features);
      if (to != at[l]) {
        at[l] = to;
        continue;
      }
      leaf[row[l]] = to;
      if (next < count) {
        row[l] = next++, at[l] = root;
      } else {
        --lanes, row[l] = row[lanes], at[l] = at[lanes];
        --l;
      }
    }
  }
}

}  // namespace

Trees::Trees(const std::vector<TreeNode>& nodes, std::vector<std::int32_t> roots, std::vector<std::int32_t> output_of,
             std::vector<double> values, std::size_t outputs)
    : roots_(std::move(roots)), output_of_(std::move(output_of)), values_(std::move(values)), outputs_(outputs) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const TreeNode& node = nodes[i];
    last_feature_ = std::max(last_feature_, node.feature);
    const auto self = static_cast<std::int32_t>(i);
    if (node.feature >= 0 && (node.inside == self || node.outside == self))
      throw std::invalid_argument("the nodes of a tree must not lead back to themselves");
    if (node.feature < 0)
      cuts_.push_back({kInfinity, 0, {static_cast<std::int32_t>(i), node.inside}});
    else
      cuts_.push_back({node.high, node.feature, {node.inside, node.outside}});
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].feature < 0 || nodes[i].low == -kInfinity) continue;
    cuts_.push_back(cuts_[i]);  // the upper end, after the lower one
    const auto upper = static_cast<std::int32_t>(cuts_.size() - 1);
    cuts_[i] = {std::nextafter(nodes[i].low, -kInfinity), nodes[i].feature, {nodes[i].outside, upper}};
  }
  std::vector<int> known(cuts_.size(), -1);
  for (std::int32_t root : roots_) depths_.push_back(depth_below(root, known));
}

int Trees::depth_below(std::int32_t root, std::vector<int>& known) const {
  constexpr int kUnseen = -1, kOnThePath = -2;
  std::vector<std::int32_t> path{root};  // not by recursion: a chain of tests can be long
  while (!path.empty()) {
    const std::int32_t at = path.back();
    const auto& next = cuts_[at].next;
    if (known[at] >= 0) {
      path.pop_back();
    } else if (is_leaf(at)) {
      known[at] = 0;
    } else if (known[next[0]] >= 0 && known[next[1]] >= 0) {
      known[at] = 1 + std::max(known[next[0]], known[next[1]]);
    } else {
      known[at] = kOnThePath;
      for (std::int32_t to : next) {
        if (known[to] == kOnThePath) throw std::invalid_argument("the nodes of a tree must not lead back to themselves");
        if (known[to] == kUnseen) path.push_back(to);
      }
    }
  }
  return known[root];
}

void Trees::add(const double* rows, std::size_t count, std::size_t features, double* out, std::size_t threads) const {
  if (static_cast<std::size_t>(last_feature_) >= features)
    throw std::out_of_range("rows must have a value of every feature that the model reads");
  parallel_for(count, kBlock, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += kBlock) add_piece(rows, at, std::min(end, at + kBlock), features, out);
  });
}

void Trees::add_piece(const double* rows, std::size_t begin, std::size_t end, std::size_t features, double* out) const {
  const std::size_t count = end - begin;
  const double* first = rows + begin * features;
  std::vector<std::int32_t> leaf(count);
  for (std::size_t t = 0; t < roots_.size(); ++t) {
    if (depths_[t] <= kShallow)
      walk_together(cuts_.data(), roots_[t], depths_[t], first, count, features, leaf.data());
    else
      walk_apart(cuts_.data(), roots_[t], first, count, features, leaf.data());
    for (std::size_t r = 0; r < count; ++r) {
      const double* value = values_.data() + cuts_[leaf[r]].next[1];
      double* to = out + (begin + r) * outputs_;
      if (output_of_[t] >= 0)
        to[output_of_[t]] += value[0];
      else
        for (std::size_t k = 0; k < outputs_; ++k) to[k] += value[k];
    }
  }
}

}  // namespace likely
