// The open nodes, best first.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "node.hpp"

namespace likely::search {

// Best-first: the node with the lowest bound next; of equals, the one that was made last (so that a search goes deep where
// bounds do not tell). Narrow nodes, whose rows hardly differ, wait until there is no other. It also knows what is proved: no
// row that was not looked at is below `lower()`.
class NodeQueue {
 public:
  bool empty() const { return wide_.empty() && narrow_.empty(); }

  void push(Node node, bool narrow) {
    node.order = made_++;
    std::vector<Node>& heap = narrow ? narrow_ : wide_;
    heap.push_back(std::move(node));
    std::push_heap(heap.begin(), heap.end(), later);
  }

  Node pop() {
    assert(!empty());
    std::vector<Node>& heap = wide_.empty() ? narrow_ : wide_;
    std::pop_heap(heap.begin(), heap.end(), later);
    Node node = std::move(heap.back());
    heap.pop_back();
    return node;
  }

  // Forgets the open nodes, whose rows are then to be in others.
  void clear() {
    wide_.clear();
    narrow_.clear();
  }

  // A node that is not looked at further because its bound reached the cut-off: what is proved rests on it.
  void prune(double bound) { lowest_pruned_ = std::min(lowest_pruned_, bound); }

  // No row of an open or pruned node has a lower objective.
  double lower() const { return std::min({lowest_pruned_, lowest(wide_), lowest(narrow_)}); }

 private:
  static double lowest(const std::vector<Node>& heap) { return heap.empty() ? kInf : heap.front().bound; }
  static bool later(const Node& a, const Node& b) { return a.bound != b.bound ? a.bound > b.bound : a.order < b.order; }

  std::vector<Node> wide_, narrow_;
  double lowest_pruned_ = kInf;
  std::uint64_t made_ = 0;
};

}  // namespace likely::search
