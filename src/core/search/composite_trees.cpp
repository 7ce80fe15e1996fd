// Upper bounds of a composite that are sums of trees: functions of sums of trees, with a line above each.
#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "composite_parts.hpp"

namespace likely::search {

namespace {

// The numbers of an interval at which a function can be at least, or at most, so much: all others are taken off one end, as far
// as bisection tells.
Interval kept(const ScoreFunction& function, Interval x, double needed, bool at_least) {
  auto misses = [&](double at) {
    const Interval value = function.over({at, at});
    return at_least ? value.high < needed : value.low > needed;
  };
  const bool from_below = at_least == (function.scale >= 0);
  double gone = from_below ? x.low : x.high, left = from_below ? x.high : x.low;
  if (!misses(gone)) return x;
  for (int i = 0; i < tolerance::kTangentSteps; ++i) {
    const double middle = 0.5 * gone + 0.5 * left;
    (misses(middle) ? gone : left) = middle;
  }
  return from_below ? Interval{gone, x.high} : Interval{x.low, gone};
}

}  // namespace

// What all units can be over a region, with both ends of the outputs of forests.
std::vector<Interval> Composite::both_ends(const Region& region, Workspace& work) const {
  std::vector<Interval> range = work.range;
  auto end = [&](std::size_t forest, std::size_t request) {
    Relaxation& known = work.relaxations[forest][request];
    if (request >= work.asked[forest])
      forests_[forest]->relax(region, work.requests[forest], request, *work.forests[forest], known);
    return known.upper + known.rounding;
  };
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    if (unit.kind == Kind::kTrees && work.late_upper[u] != kNone)
      range[u] = {-end(unit.source, work.late_lower[u]), end(unit.source, work.late_upper[u])};
    if (unit.kind == Kind::kSum) range[u] = of_sum(unit, range);
    if (unit.kind == Kind::kFunction) range[u] = of_function(unit, range);
    if (range[u].low > range[u].high) std::swap(range[u].low, range[u].high);  // by rounding alone
  }
  return range;
}

// Of rows that reach a goal more is known: each function is so great that, with all others at their best, the goal is reached.
void Composite::keep_reaching(const Goal& goal, std::vector<Interval>& range) const {
  Carried carried;
  start(goal, carried);
  double upper = 0, size = std::abs(goal.lower);
  std::vector<std::size_t> functions;
  for (std::size_t u = units_.size(); u-- > 0;) {
    const double c = carried.coefficient[u];
    const Unit& unit = units_[u];
    if (c == 0) continue;
    if (unit.kind == Kind::kSum) {
      upper += c * unit.bias + std::abs(c) * lost(unit, range);
      size += std::abs(c) * unit.bias_size;
      for (std::size_t r = 0; r < unit.reads.size(); ++r) carried.coefficient[unit.reads[r]] += c * unit.weights[r];
      continue;
    }
    upper += c * (c > 0 ? range[u].high : range[u].low);
    size += std::abs(c) * size_of(range[u]);
    if (unit.kind == Kind::kFunction) functions.push_back(u);
  }
  const double room = upper - goal.lower + goal.rounding(greatest_rounding_, tolerance::kRoundingsOfBound) +
                      tolerance::kRoundingsOfBound * tolerance::kRoundoff * static_cast<double>(units_.size() + 8) * size;
  if (!(room >= 0)) return;  // no row reaches it: there is nothing to be said of them
  for (const std::size_t u : functions) {
    const double c = carried.coefficient[u];
    Interval& read = range[units_[u].reads[0]];
    read = kept(functions_[units_[u].source], read, c > 0 ? range[u].high - room / c : range[u].low - room / c, c > 0);
  }
}

// Replaces functions by lines above them, until only outputs of forests are left.
void Composite::carry_to_trees(const std::vector<Interval>& range, Carried& carried) const {
  double size = 0;
  for (std::size_t u = units_.size(); u-- > 0;) {
    const double c = carried.coefficient[u];
    const Unit& unit = units_[u];
    if (c == 0) continue;
    if (unit.kind == Kind::kTrees) {
      carried.slack += std::abs(c) * forests_[unit.source]->greatest_rounding()[unit.place];
      size += std::abs(c) * size_of(range[u]);
      continue;
    }
    carried.coefficient[u] = 0;
    if (unit.kind == Kind::kSum) {
      carried.constant += c * unit.bias;
      carried.slack += std::abs(c) * lost(unit, range);
      size += std::abs(c) * unit.bias_size;
      for (std::size_t r = 0; r < unit.reads.size(); ++r) carried.coefficient[unit.reads[r]] += c * unit.weights[r];
      continue;
    }
    const Interval& read = range[unit.reads[0]];
    const Line line = c > 0 ? functions_[unit.source].above(read) : functions_[unit.source].below(read);
    carried.constant += c * line.intercept;
    carried.coefficient[unit.reads[0]] += c * line.slope;
    size += std::abs(c) * (std::abs(line.intercept) + std::abs(line.slope) * size_of(read));
  }
  carried.slack += tolerance::kRoundingsOfBound * tolerance::kRoundoff * static_cast<double>(2 * units_.size() + 8) * size;
}

void Composite::bound_by_trees(const Region& region, const std::vector<Goal>& goals, ScoreWorkspace& workspace,
                               TreeGains& out) const {
  auto& work = static_cast<Workspace&>(workspace);
  const std::vector<Interval> range = both_ends(region, work);
  out.leaf.assign(all_trees_->all_leaves().size() * goals.size(), 0.0);
  out.base.clear();
  out.rounding.clear();
  for (std::size_t g = 0; g < goals.size(); ++g) {
    std::vector<Interval> within = range;
    keep_reaching(goals[g], within);
    Carried& carried = work.carried;
    start(goals[g], carried);
    carry_to_trees(within, carried);
    out.base.push_back(carried.constant);
    out.rounding.push_back(carried.slack);
    add_gains(carried, g, goals.size(), out);
  }
}

// What leaves add to a linear function of the outputs of forests, and what all rows have of it.
void Composite::add_gains(const Carried& carried, std::size_t g, std::size_t goals, TreeGains& out) const {
  std::size_t first = 0;
  for (std::size_t f = 0; f < forests_.size(); ++f) {
    const Forest& forest = *forests_[f];
    Goal own{std::vector<double>(forest.greatest_rounding().size(), 0.0), 0};
    for (std::size_t u = 0; u < units_.size(); ++u)
      if (units_[u].kind == Kind::kTrees && units_[u].source == f) own.coefficient[units_[u].place] += carried.coefficient[u];
    out.base[g] += forest.base_gain(own);
    for (const Forest::Tree& tree : forest.all_trees())
      for (std::uint32_t l = tree.first; l < tree.last; ++l)
        out.leaf[(first + l) * goals + g] = forest.gain(tree, forest.all_leaves()[l], own);
    first += forest.all_leaves().size();
  }
}

// Every function is the line through its values a little below and above the row's.
void Composite::guess_by_trees(const double* row, const std::vector<Goal>& goals, TreeGains& out) const {
  std::vector<double> value;
  evaluate(row, value);
  out.leaf.assign(all_trees_->all_leaves().size() * goals.size(), 0.0);
  out.base.assign(goals.size(), 0.0);
  out.rounding.assign(goals.size(), 0.0);
  for (std::size_t g = 0; g < goals.size(); ++g) {
    Carried carried;
    start(goals[g], carried);
    for (std::size_t u = units_.size(); u-- > 0;) {
      const double c = carried.coefficient[u];
      const Unit& unit = units_[u];
      if (c == 0) continue;
      if (unit.kind == Kind::kTrees) {
        out.base[g] -= c * value[u];
        continue;
      }
      carried.coefficient[u] = 0;
      if (unit.kind == Kind::kSum) {
        for (std::size_t r = 0; r < unit.reads.size(); ++r) carried.coefficient[unit.reads[r]] += c * unit.weights[r];
        continue;
      }
      const ScoreFunction& function = functions_[unit.source];
      const Interval& whole = domain_range_[unit.reads[0]];
      const double at = value[unit.reads[0]], step = tolerance::kGuessedStep * (whole.high - whole.low);
      if (step > 0) carried.coefficient[unit.reads[0]] += c * (function.at(at + step) - function.at(at - step)) / (2 * step);
    }
    for (std::size_t o = 0; o < outputs_.size(); ++o) out.base[g] += goals[g].coefficient[o] * value[outputs_[o]];
    add_gains(carried, g, goals.size(), out);
  }
}

}  // namespace likely::search
