// The open nodes, best first.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "node.hpp"

namespace likely::search {

// Best-first: the node with the lowest bound next; of equals, the one that was made last (so that a search goes deep where
// bounds do not tell). It also knows what is proved: no row that was not looked at is below `lower()`.
class NodeQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Node& top() const { return heap_.front(); }

  void push(Node node) {
    node.order = made_++;
    heap_.push_back(std::move(node));
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  Node pop() {
    assert(!heap_.empty());
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Node node = std::move(heap_.back());
    heap_.pop_back();
    return node;
  }

  // A node that is not looked at further because its bound reached the cut-off: what is proved rests on it.
  void prune(double bound) { lowest_pruned_ = std::min(lowest_pruned_, bound); }

  // No row of an open or pruned node has a lower objective.
  double lower() const { return std::min(lowest_pruned_, heap_.empty() ? kInf : heap_.front().bound); }

 private:
  static bool later(const Node& a, const Node& b) { return a.bound != b.bound ? a.bound > b.bound : a.order < b.order; }

  std::vector<Node> heap_;
  double lowest_pruned_ = kInf;
  std::uint64_t made_ = 0;
};

}  // namespace likely::search
