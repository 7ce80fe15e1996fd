// The open nodes, best first as long as memory allows.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../tolerances.hpp"
#include "node.hpp"

namespace likely::search {

// Best-first: the node with the lowest bound next; of equals, the one that was made last (so that a search goes deep where
// bounds do not tell). Narrow nodes, whose rows hardly differ, wait until there is no other.
//
// If so many nodes are open that memory is used up, the search plunges: what is made from then on is looked at depth-first, the
// last one first, and the others wait until that is done. A plunge needs no more nodes than are on the way from its first node
// to a leaf, and their siblings.
//
// It also knows what is proved: no row that was not looked at is below `lower()`.
class NodeQueue {
 public:
  explicit NodeQueue(std::uint64_t most_nodes = std::numeric_limits<std::uint64_t>::max(),
                     std::size_t most_bytes = tolerance::kOpenBytes)
      : most_nodes_(most_nodes), most_bytes_(most_bytes) {}

  bool empty() const { return size() == 0; }
  std::size_t size() const { return wide_.size() + narrow_.size() + plunge_.size(); }
  // The most that were open at a time.
  std::size_t most_open() const { return most_open_; }

  void push(Node node, bool narrow) {
    node.order = made_++;
    bytes_ += bytes_of(node);
    if (size() >= most_nodes_ || bytes_ > most_bytes_) {
      plunge_.push_back(std::move(node));
    } else {
      std::vector<Node>& heap = narrow ? narrow_ : wide_;
      heap.push_back(std::move(node));
      std::push_heap(heap.begin(), heap.end(), later);
    }
    most_open_ = std::max(most_open_, size());
  }

  // Which of its parts the next node is from: nodes of one can be looked at beside each other.
  enum class Part { kPlunge, kWide, kNarrow };
  Part next_part() const { return !plunge_.empty() ? Part::kPlunge : !wide_.empty() ? Part::kWide : Part::kNarrow; }

  // How many nodes there were: the order of the next.
  std::uint64_t made() const { return made_; }

  Node pop() {
    assert(!empty());
    const Part part = next_part();
    std::vector<Node>& nodes = part == Part::kPlunge ? plunge_ : part == Part::kWide ? wide_ : narrow_;
    if (part != Part::kPlunge) std::pop_heap(nodes.begin(), nodes.end(), later);
    Node node = std::move(nodes.back());
    nodes.pop_back();
    bytes_ -= bytes_of(node);
    return node;
  }

  // Forgets the open nodes, whose rows are then to be in others.
  void clear() {
    wide_.clear();
    narrow_.clear();
    plunge_.clear();
    bytes_ = 0;
  }

  // A node that is not looked at further because its bound reached the cut-off: what is proved rests on it.
  void prune(double bound) { lowest_pruned_ = std::min(lowest_pruned_, bound); }

  // No row of an open or pruned node has a lower objective.
  double lower() const {
    double least = std::min({lowest_pruned_, lowest(wide_), lowest(narrow_)});
    for (const Node& node : plunge_) least = std::min(least, node.bound);
    return least;
  }

 private:
  static double lowest(const std::vector<Node>& heap) { return heap.empty() ? kInf : heap.front().bound; }
  static bool later(const Node& a, const Node& b) { return a.bound != b.bound ? a.bound > b.bound : a.order < b.order; }

  std::uint64_t most_nodes_;
  std::size_t most_bytes_, bytes_ = 0, most_open_ = 0;
  std::vector<Node> wide_, narrow_;  // heaps
  std::vector<Node> plunge_;         // a stack
  double lowest_pruned_ = kInf;
  std::uint64_t made_ = 0;
};

}  // namespace likely::search
