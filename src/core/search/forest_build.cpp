// How a forest is read: tests and leaves, in terms of the domain's cells and atoms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "../tolerances.hpp"
#include "forest.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

// What of a feature leads to a node: cells first..last (the hull of them), and some of its atoms.
struct Forest::Part {
  std::int32_t feature, first, last;
  std::vector<std::uint64_t> atoms;

  bool empty() const {
    return first > last && std::all_of(atoms.begin(), atoms.end(), [](std::uint64_t w) { return w == 0; });
  }
  void join(const Part& other) {
    if (first > last) {
      first = other.first;
      last = other.last;
    } else if (other.first <= other.last) {
      first = std::min(first, other.first);
      last = std::max(last, other.last);
    }
    for (std::size_t w = 0; w < atoms.size(); ++w) atoms[w] |= other.atoms[w];
  }
};

// Reads a tree from the root down, each node once, after all nodes that lead to it; not by recursion, since a chain of tests
// can be long. What leads to a node is the union over the tests before it.
struct Forest::Builder {
  using Parts = std::vector<Part>;  // of the features that were tested, in order

  Forest& forest;
  std::vector<Parts> parts;                // of each node that waits
  std::vector<std::int32_t> predecessors;  // that are still to come
  std::vector<bool> reached;
  std::vector<std::int32_t> made;  // what became of each node: a test, or ~leaf
  std::vector<std::int32_t> order;
  bool shared = false;

  explicit Builder(Forest& owner)
      : forest(owner),
        parts(owner.nodes_.size()),
        predecessors(owner.nodes_.size(), 0),
        reached(owner.nodes_.size(), false),
        made(owner.nodes_.size(), 0) {}

  const TreeNode& node(std::int32_t at) const { return forest.nodes_[static_cast<std::size_t>(at)]; }

  std::int32_t read(std::int32_t root) {
    sort(root);
    reached[static_cast<std::size_t>(root)] = true;
    for (const std::int32_t at : order) {
      if (!reached[static_cast<std::size_t>(at)]) continue;
      if (node(at).feature >= 0)
        pass(at);
      else
        made[static_cast<std::size_t>(at)] = add_leaf(at);
    }
    for (std::size_t i = order.size(); i-- > 0;)
      if (reached[static_cast<std::size_t>(order[i])] && node(order[i]).feature >= 0)
        made[static_cast<std::size_t>(order[i])] = add_test(order[i]);
    const std::int32_t top = made[static_cast<std::size_t>(root)];
    for (const std::int32_t at : order) reached[static_cast<std::size_t>(at)] = false;
    return top;
  }

  // Topological order (Kahn 1962), depth first where it leaves a choice.
  void sort(std::int32_t root) {
    std::vector<std::int32_t> waiting{root};
    std::vector<std::int32_t> seen{root};
    std::vector<bool>& known = reached;  // borrowed, and given back empty
    known[static_cast<std::size_t>(root)] = true;
    shared = false;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (node(seen[i]).feature < 0) continue;
      for (const std::int32_t next : {node(seen[i]).inside, node(seen[i]).outside}) {
        shared = shared || predecessors[static_cast<std::size_t>(next)] > 0;
        ++predecessors[static_cast<std::size_t>(next)];
        if (!known[static_cast<std::size_t>(next)]) seen.push_back(next);
        known[static_cast<std::size_t>(next)] = true;
      }
    }
    for (const std::int32_t at : seen) known[static_cast<std::size_t>(at)] = false;
    order.clear();
    while (!waiting.empty()) {
      const std::int32_t at = waiting.back();
      waiting.pop_back();
      order.push_back(at);
      if (node(at).feature < 0) continue;
      for (const std::int32_t next : {node(at).outside, node(at).inside})
        if (--predecessors[static_cast<std::size_t>(next)] == 0) waiting.push_back(next);
    }
    if (order.size() != seen.size()) throw std::invalid_argument("the nodes of a tree must not lead back to themselves");
  }

  // What leads to the successors of a node, from what leads to the node.
  void pass(std::int32_t at) {
    const TreeNode& test = node(at);
    const Part before = part_of(at, test.feature);
    const auto [from, to] = cells(test);
    const std::vector<std::uint64_t> atoms = atoms_within(test);
    Part inside = before, outside = before;
    inside.first = std::max(before.first, from);
    inside.last = std::min(before.last, to);
    if (from <= to && from <= before.first)
      outside.first = std::max(before.first, to + 1);
    else if (from <= to && to >= before.last)
      outside.last = std::min(before.last, from - 1);  // of two sides, their hull
    for (std::size_t w = 0; w < atoms.size(); ++w) {
      inside.atoms[w] &= atoms[w];
      outside.atoms[w] &= ~atoms[w];
    }
    lead(at, test.inside, std::move(inside));
    lead(at, test.outside, std::move(outside));
    parts[static_cast<std::size_t>(at)].clear();
  }

  Part part_of(std::int32_t at, std::int32_t feature) const {
    for (const Part& part : parts[static_cast<std::size_t>(at)])
      if (part.feature == feature) return part;
    const Feature& f = forest.domain_.features[static_cast<std::size_t>(feature)];
    Part all{feature, 0, static_cast<std::int32_t>(f.low.size()) - 1, std::vector<std::uint64_t>(f.words(), 0)};
    for (std::size_t k = 0; k < f.atom.size(); ++k) all.atoms[k / 64] |= std::uint64_t{1} << (k % 64);
    return all;
  }

  // Cells within a test: those that begin in it (none straddles its ends).
  std::pair<std::int32_t, std::int32_t> cells(const TreeNode& test) const {
    const Feature& f = forest.domain_.features[static_cast<std::size_t>(test.feature)];
    return {static_cast<std::int32_t>(std::lower_bound(f.low.begin(), f.low.end(), test.low) - f.low.begin()),
            static_cast<std::int32_t>(std::upper_bound(f.low.begin(), f.low.end(), test.high) - f.low.begin()) - 1};
  }

  std::vector<std::uint64_t> atoms_within(const TreeNode& test) const {
    const Feature& f = forest.domain_.features[static_cast<std::size_t>(test.feature)];
    std::vector<std::uint64_t> inside(f.words(), 0);
    for (std::size_t k = 0; k < f.atom.size(); ++k)
      if (test.low <= f.atom[k] && f.atom[k] <= test.high) inside[k / 64] |= std::uint64_t{1} << (k % 64);
    return inside;
  }

  // A successor is reached by what leads to the node, with one feature as the test leaves it.
  void lead(std::int32_t from, std::int32_t to, Part tested) {
    if (tested.empty()) return;
    Parts way = parts[static_cast<std::size_t>(from)];
    const auto place = std::lower_bound(way.begin(), way.end(), tested.feature,
                                        [](const Part& part, std::int32_t feature) { return part.feature < feature; });
    if (place != way.end() && place->feature == tested.feature)
      *place = std::move(tested);
    else
      way.insert(place, std::move(tested));
    Parts& known = parts[static_cast<std::size_t>(to)];
    if (!reached[static_cast<std::size_t>(to)]) {
      known = std::move(way);
      reached[static_cast<std::size_t>(to)] = true;
      return;
    }
    Parts both;  // a feature that is not tested on one of the ways may have any value
    for (Part& part : known)
      for (const Part& other : way)
        if (other.feature == part.feature) {
          part.join(other);
          both.push_back(std::move(part));
          break;
        }
    known = std::move(both);
  }

  // A test of which both sides are reached; where only one is, that one stands for it.
  std::int32_t add_test(std::int32_t at) {
    const TreeNode& test = node(at);
    const bool within = reached[static_cast<std::size_t>(test.inside)], beyond = reached[static_cast<std::size_t>(test.outside)];
    if (!within || !beyond) return made[static_cast<std::size_t>(within ? test.inside : test.outside)];
    const auto [from, to] = cells(test);
    const std::vector<std::uint64_t> atoms = atoms_within(test);
    forest.tests_.push_back({test.feature, from, to, made[static_cast<std::size_t>(test.inside)],
                             made[static_cast<std::size_t>(test.outside)], forest.words_.size()});
    forest.words_.insert(forest.words_.end(), atoms.begin(), atoms.end());
    return static_cast<std::int32_t>(forest.tests_.size() - 1);
  }

  std::int32_t add_leaf(std::int32_t at) {
    const auto first = static_cast<std::uint32_t>(forest.conditions_.size());
    for (const Part& part : parts[static_cast<std::size_t>(at)]) {
      forest.conditions_.push_back({part.feature, part.first, part.last, forest.words_.size()});
      forest.words_.insert(forest.words_.end(), part.atoms.begin(), part.atoms.end());
    }
    parts[static_cast<std::size_t>(at)].clear();
    forest.leaves_.push_back(
        {first, static_cast<std::uint32_t>(forest.conditions_.size()), static_cast<std::size_t>(node(at).inside)});
    return ~static_cast<std::int32_t>(forest.leaves_.size() - 1);
  }
};

Forest::Forest(const Domain& domain, std::vector<TreeNode> nodes, const std::vector<std::int32_t>& roots,
               const std::vector<std::int32_t>& output_of, std::vector<double> values, std::vector<double> base, double divisor)
    : domain_(domain), nodes_(std::move(nodes)), values_(std::move(values)), base_(std::move(base)), divisor_(divisor) {
  Builder builder(*this);
  for (std::size_t t = 0; t < roots.size(); ++t) {
    const auto first = static_cast<std::uint32_t>(leaves_.size());
    const std::int32_t top = builder.read(roots[t]);
    trees_.push_back({first, static_cast<std::uint32_t>(leaves_.size()), output_of[t], roots[t], top, builder.shared});
  }
  additions_ = 2 * leaves_.size() + trees_.size() + 2;
  for (const Feature& f : domain.features) additions_ = std::max(additions_, 2 * leaves_.size() + f.low.size() + 2);
  measure_leaves();
}

std::unique_ptr<Forest> Forest::joined(const std::vector<std::unique_ptr<Forest>>& forests) {
  std::vector<TreeNode> nodes;
  std::vector<std::int32_t> roots;
  std::vector<double> values;
  for (const std::unique_ptr<Forest>& forest : forests) {
    const auto first = static_cast<std::int32_t>(nodes.size()), first_value = static_cast<std::int32_t>(values.size());
    for (TreeNode node : forest->nodes_) {
      node.inside += node.feature >= 0 ? first : first_value;
      node.outside += node.feature >= 0 ? first : 0;
      nodes.push_back(node);
    }
    for (const Tree& tree : forest->trees_) roots.push_back(tree.root + first);
    values.insert(values.end(), forest->values_.begin(), forest->values_.end());
  }
  const std::vector<std::int32_t> output_of(roots.size(), 0);
  return std::make_unique<Forest>(forests.front()->domain_, std::move(nodes), roots, output_of, std::move(values),
                                  std::vector<double>{0.0}, 1.0);
}

void Forest::measure_leaves() {
  spread_.assign(base_.size(), 0.0);
  for (const double base : base_) least_size_.push_back(std::abs(base) / divisor_);
  std::vector<double> greatest = least_size_;
  for (const Tree& tree : trees_) {
    for (std::size_t o = 0; o < base_.size(); ++o) {
      if (tree.output >= 0 && static_cast<std::size_t>(tree.output) != o) continue;
      double low = kInf, high = -kInf, least = kInf;
      for (std::uint32_t l = tree.first; l < tree.last; ++l) {
        const double value = values_[leaves_[l].value + (tree.output < 0 ? o : 0)] / divisor_;
        low = std::min(low, value);
        high = std::max(high, value);
        least = std::min(least, std::abs(value));
      }
      greatest[o] += std::max(std::abs(low), std::abs(high));
      least_size_[o] += least;
      spread_[o] += high - low;
    }
  }
  for (const double size : greatest)
    greatest_rounding_.push_back(tolerance::kRoundoff * static_cast<double>(trees_.size() + 2) * size);
}

}  // namespace likely::search
