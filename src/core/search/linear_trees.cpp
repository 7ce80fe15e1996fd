// Trees whose leaves are linear functions of inputs, as units of a composite: over a box, the best leaf that it reaches, each
// with its inputs as they can be within both the box and the leaf.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "../tolerances.hpp"
#include "composite_parts.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

const Forest::Tree& Composite::tree_of(const Unit& unit) const {
  return linear_forests_[unit.source].trees->all_trees()[unit.place];
}

// The weights of a tree's leaves as a table, leaf x unit that the tree reads.
void Composite::read_leaves(std::size_t u) {
  const Unit& unit = units_[u];
  const LinearForest& given = linear_forests_[unit.source];
  const Forest::Tree& tree = tree_of(unit);
  leaf_weights_[u].assign((tree.last - tree.first) * unit.reads.size(), 0.0);
  for (std::uint32_t l = tree.first; l < tree.last; ++l) {
    const std::size_t value = given.trees->all_leaves()[l].value;
    for (std::size_t term = given.starts[value]; term < given.starts[value + 1]; ++term) {
      const std::size_t read = unit_of_input_[given.inputs[term]];
      const auto place = std::find(unit.reads.begin(), unit.reads.end(), read);
      if (place == unit.reads.end()) throw std::invalid_argument("a linear tree must read all inputs of its leaves");
      leaf_weights_[u][(l - tree.first) * unit.reads.size() + static_cast<std::size_t>(place - unit.reads.begin())] +=
          given.weights[term];
    }
  }
}

// -- rows -----------------------------------------------------------------------------------------------------------------

double Composite::at_leaf(const Unit& unit, const double* row, const std::vector<double>& value) const {
  const LinearForest& given = linear_forests_[unit.source];
  const std::size_t leaf = given.trees->value_of(tree_of(unit), row);
  double total = given.trees->value_at(leaf);
  for (std::size_t term = given.starts[leaf]; term < given.starts[leaf + 1]; ++term)
    total += given.weights[term] * value[unit_of_input_[given.inputs[term]]];
  return total;
}

Interval Composite::at_leaf(const Unit& unit, const double* row, const std::vector<Interval>& range) const {
  const LinearForest& given = linear_forests_[unit.source];
  const std::size_t leaf = given.trees->value_of(tree_of(unit), row);
  double low = given.trees->value_at(leaf), high = low, size = std::abs(low);
  for (std::size_t term = given.starts[leaf]; term < given.starts[leaf + 1]; ++term) {
    const Interval& read = range[unit_of_input_[given.inputs[term]]];
    const double w = given.weights[term];
    low += w * (w > 0 ? read.low : read.high);
    high += w * (w > 0 ? read.high : read.low);
    size += std::abs(w) * size_of(read);
  }
  const double off = tolerance::kRoundoff * static_cast<double>(unit.reads.size() + 2) * size;
  return {low - off, high + off};
}

// By how much the result of any leaf may differ between two ways of computing it, if its inputs may by so much.
double Composite::lost_in_leaves(std::size_t u, const std::vector<Interval>& range, const std::vector<double>& off) const {
  const Unit& unit = units_[u];
  const Forest& trees = *linear_forests_[unit.source].trees;
  const Forest::Tree& tree = tree_of(unit);
  const double roundings = tolerance::kRoundoff * static_cast<double>(unit.reads.size() + 2);
  double most = 0;
  for (std::uint32_t l = tree.first; l < tree.last; ++l) {
    double total = roundings * std::abs(trees.value_at(trees.all_leaves()[l].value));
    for (std::size_t r = 0; r < unit.reads.size(); ++r) {
      const double w = std::abs(leaf_weights_[u][(l - tree.first) * unit.reads.size() + r]);
      total += w * (off[unit.reads[r]] + roundings * size_of(range[unit.reads[r]]));
    }
    most = std::max(most, total);
  }
  return most;
}

// -- leaves within a box --------------------------------------------------------------------------------------------------

// What input r of a tree can be in rows of a box that reach a leaf.
Interval Composite::of_input_in(const Box& box, const Unit& unit, const Forest::Leaf& leaf, std::size_t r,
                                Interval anywhere) const {
  const Input& input = inputs_[units_[unit.reads[r]].source];
  const Forest& trees = *linear_forests_[unit.source].trees;
  const Forest::Condition* asked = nullptr;
  for (std::uint32_t c = leaf.first; c < leaf.last; ++c)
    if (static_cast<std::size_t>(trees.conditions()[c].feature) == input.feature) asked = &trees.conditions()[c];
  if (asked == nullptr) return anywhere;
  const Feature& f = domain_.features[input.feature];
  const Range& range = box.range[input.feature];
  Interval out{kInf, -kInf};
  const std::int32_t first = std::max(asked->first, range.first), last = std::min(asked->last, range.last);
  if (first <= last)
    out = input.curve.over(std::max(range.low, f.low[static_cast<std::size_t>(first)]),
                           std::min(range.high, f.high[static_cast<std::size_t>(last)]));
  box.each_atom(f, [&](std::size_t k) {
    if (!trees.has_atom(*asked, k)) return;
    const double atom = input.atoms.empty() ? 0 : input.atoms[k];
    out = {std::min(out.low, atom), std::max(out.high, atom)};
  });
  return out.low > out.high ? anywhere : out;
}

void Composite::find_reached(const Box& box, std::size_t u, const std::vector<Interval>& range, Reached& out) const {
  const Unit& unit = units_[u];
  const Forest& trees = *linear_forests_[unit.source].trees;
  const Forest::Tree& tree = tree_of(unit);
  out.leaf.clear();
  out.range.clear();
  for (std::uint32_t l = tree.first; l < tree.last; ++l) {
    const Forest::Leaf& leaf = trees.all_leaves()[l];
    if (!trees.reaches(box, leaf)) continue;
    out.leaf.push_back(l);
    for (std::size_t r = 0; r < unit.reads.size(); ++r)
      out.range.push_back(of_input_in(box, unit, leaf, r, range[unit.reads[r]]));
  }
  assert(!out.leaf.empty() && "some leaf is reached by every box that is not empty");
}

// The greatest of c times a leaf, less a linear function of the units that the tree reads (none, if `less` is empty), with what
// rounding may add.
double Composite::leaf_bound(std::size_t u, const Reached& reached, std::size_t k, double c,
                             const std::vector<double>& less) const {
  const Unit& unit = units_[u];
  const Forest& trees = *linear_forests_[unit.source].trees;
  const std::size_t reads = unit.reads.size();
  const double* weight = leaf_weights_[u].data() + (reached.leaf[k] - tree_of(unit).first) * reads;
  double total = c * trees.value_at(trees.all_leaves()[reached.leaf[k]].value), size = std::abs(total);
  for (std::size_t r = 0; r < reads; ++r) {
    const double own = c * weight[r], other = less.empty() ? 0 : less[r], w = own - other;
    if (own == 0 && other == 0) continue;
    const Interval& range = reached.range[k * reads + r];
    total += w * (w > 0 ? range.high : range.low);
    size += (std::abs(own) + std::abs(other)) * size_of(range);
  }
  return total + tolerance::kRoundingsOfBound * tolerance::kRoundoff * static_cast<double>(2 * reads + 8) * size;
}

double Composite::tree_bound(std::size_t u, const Reached& reached, double c, const std::vector<double>& less) const {
  double most = -kInf;
  for (std::size_t k = 0; k < reached.leaf.size(); ++k) most = std::max(most, leaf_bound(u, reached, k, c, less));
  return most;
}

// c times a tree is at most c times the mean of the leaves that are reached, and what the best of them exceeds it by. Where only
// one is reached, that is the tree.
void Composite::carry_tree(const Workspace& work, std::size_t u, double c, Carried& carried, std::vector<double>* gaps) const {
  const Unit& unit = units_[u];
  const Reached& reached = work.reached[u];
  const std::size_t reads = unit.reads.size(), first = tree_of(unit).first;
  std::vector<double> mean(reads, 0.0);
  for (const std::uint32_t l : reached.leaf)
    for (std::size_t r = 0; r < reads; ++r)
      mean[r] += c * leaf_weights_[u][(l - first) * reads + r] / static_cast<double>(reached.leaf.size());
  const double most = tree_bound(u, reached, c, mean);
  carried.constant += most;
  for (std::size_t r = 0; r < reads; ++r) carried.coefficient[unit.reads[r]] += mean[r];
  if (gaps == nullptr || reached.leaf.size() < 2) return;
  for (double& weight : mean) weight = -weight;
  (*gaps)[u] = most + tree_bound(u, reached, -c, mean);
}

// What stands between a tree and its line goes to the features that its leaves tell apart.
void Composite::attribute_tree(const Workspace& work, std::size_t u, double gap, Relaxation& out) const {
  const Unit& unit = units_[u];
  const Forest& trees = *linear_forests_[unit.source].trees;
  std::vector<std::uint8_t> asked(domain_.features.size(), 0);
  for (const std::uint32_t l : work.reached[u].leaf)
    for (std::uint32_t c = trees.all_leaves()[l].first; c < trees.all_leaves()[l].last; ++c)
      asked[static_cast<std::size_t>(trees.conditions()[c].feature)] = 1;
  const auto count = static_cast<double>(std::count(asked.begin(), asked.end(), 1));
  for (std::size_t j = 0; j < asked.size(); ++j)
    if (asked[j] != 0) out.attribution[j] += gap / count;
}

// -- bounds per value -----------------------------------------------------------------------------------------------------

// What an input is for one value of its feature.
Interval Composite::of_value(const Input& input, const Value& value) const {
  if (!value.atom) return input.curve.over(value.low, value.high);
  const double atom = input.atoms.empty() ? 0 : input.atoms[value.place - domain_.features[value.feature].first_atom];
  return {atom, atom};
}

// Whether a value is one that a leaf asks for.
bool Composite::allows(const Forest& trees, const Forest::Condition& asked, const Value& value) const {
  const Feature& f = domain_.features[value.feature];
  if (value.atom) return trees.has_atom(asked, value.place - f.first_atom);
  const auto cell = static_cast<std::int32_t>(value.place - f.first_cell);
  return asked.first <= cell && cell <= asked.last;
}

// `sign` times the greatest of `sign` times a tree, for every value: of the leaves that it reaches, with its own inputs as they
// are.
void Composite::bound_tree_values(std::size_t u, double sign, const Workspace& work, std::vector<double>& out) const {
  const Unit& unit = units_[u];
  const Forest& trees = *linear_forests_[unit.source].trees;
  const Reached& reached = work.reached[u];
  const std::vector<Value>& all = work.values;
  const std::size_t reads = unit.reads.size();
  std::vector<std::vector<std::size_t>> own(domain_.features.size());  // units that the tree reads, by feature
  for (std::size_t r = 0; r < reads; ++r) own[inputs_[units_[unit.reads[r]].source].feature].push_back(r);
  out.assign(all.size(), -kInf);
  for (std::size_t k = 0; k < reached.leaf.size(); ++k) {
    const Forest::Leaf& leaf = trees.all_leaves()[reached.leaf[k]];
    const double* weight = leaf_weights_[u].data() + (reached.leaf[k] - tree_of(unit).first) * reads;
    const double upper = leaf_bound(u, reached, k, sign, {});
    std::uint32_t c = leaf.first;
    for (std::size_t v = 0; v < all.size(); ++v) {
      const std::size_t j = all[v].feature;
      while (c < leaf.last && static_cast<std::size_t>(trees.conditions()[c].feature) < j) ++c;
      const bool asks = c < leaf.last && static_cast<std::size_t>(trees.conditions()[c].feature) == j;
      if (asks && !allows(trees, trees.conditions()[c], all[v])) continue;
      double less = 0;
      for (const std::size_t r : own[j]) {
        const double w = sign * weight[r];
        if (w == 0) continue;
        const Interval &most = reached.range[k * reads + r], here = of_value(inputs_[units_[unit.reads[r]].source], all[v]);
        less += std::max(0.0, w * (w > 0 ? most.high - here.high : most.low - here.low));
      }
      out[v] = std::max(out[v], upper - less);
    }
  }
  for (double& bound : out)  // a value that no leaf is reached by has no row
    bound = bound == -kInf ? (sign > 0 ? work.range[u].high : work.range[u].low) : sign * bound;
}

}  // namespace likely::search
