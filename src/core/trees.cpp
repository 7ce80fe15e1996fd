#include "trees.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "parallel.hpp"

namespace likely {

namespace {

constexpr std::size_t kBlock = 512;  // rows whose features stay in the cache while all trees pass over them
constexpr std::size_t kLanes = 8;    // rows that walk down a tree side by side, to hide the latency of loads

}  // namespace

Trees::Trees(std::vector<Node> nodes, std::vector<std::int32_t> roots, std::vector<std::int32_t> output_of,
             std::vector<double> values, std::size_t outputs)
    : nodes_(std::move(nodes)),
      roots_(std::move(roots)),
      output_of_(std::move(output_of)),
      values_(std::move(values)),
      outputs_(outputs) {
  std::vector<int> known(nodes_.size(), -1);
  for (std::int32_t root : roots_) depths_.push_back(depth_below(root, known));
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const Node& node : nodes_) last_feature_ = std::max(last_feature_, node.feature);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].feature < 0) nodes_[i] = {-inf, inf, 0, static_cast<std::int32_t>(i), nodes_[i].inside, 0};
}

int Trees::depth_below(std::int32_t node, std::vector<int>& known) const {
  // Without recursion: a chain of tests can be long.
  std::vector<std::int32_t> stack{node};
  while (!stack.empty()) {
    const std::int32_t at = stack.back();
    const Node& n = nodes_[at];
    if (n.feature < 0) {
      known[at] = 0;
      stack.pop_back();
    } else if (known[n.inside] >= 0 && known[n.outside] >= 0) {
      known[at] = 1 + std::max(known[n.inside], known[n.outside]);
      stack.pop_back();
    } else {
      if (known[n.inside] < 0) stack.push_back(n.inside);
      if (known[n.outside] < 0) stack.push_back(n.outside);
    }
  }
  return known[node];
}

void Trees::add(const double* rows, std::size_t count, std::size_t features, double* out, std::size_t threads) const {
  if (static_cast<std::size_t>(last_feature_) >= features)
    throw std::out_of_range("rows must have a value of every feature that the model reads");
  parallel_for(count, kBlock, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += kBlock) add_piece(rows, at, std::min(end, at + kBlock), features, out);
  });
}

void Trees::add_piece(const double* rows, std::size_t begin, std::size_t end, std::size_t features, double* out) const {
  const Node* nodes = nodes_.data();
  for (std::size_t t = 0; t < roots_.size(); ++t) {
    for (std::size_t r = begin; r < end; r += kLanes) {
      const std::size_t lanes = std::min(kLanes, end - r);
      std::array<std::int32_t, kLanes> at;
      at.fill(roots_[t]);
      std::array<const double*, kLanes> row;
      for (std::size_t l = 0; l < kLanes; ++l) row[l] = rows + (r + std::min(l, lanes - 1)) * features;
      for (int step = 0; step < depths_[t]; ++step) {
        std::int32_t moved = 0;
        for (std::size_t l = 0; l < kLanes; ++l) {
          const Node& n = nodes[at[l]];
          const double x = row[l][n.feature];
          const std::int32_t next = (n.low <= x) & (x <= n.high) ? n.inside : n.outside;
          moved |= next ^ at[l];
          at[l] = next;
        }
        if (moved == 0) break;
      }
      for (std::size_t l = 0; l < lanes; ++l) {
        const double* value = values_.data() + nodes[at[l]].outside;
        double* to = out + (r + l) * outputs_;
        if (output_of_[t] >= 0)
          to[output_of_[t]] += value[0];
        else
          for (std::size_t k = 0; k < outputs_; ++k) to[k] += value[k];
      }
    }
  }
}

}  // namespace likely
