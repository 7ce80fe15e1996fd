#include "composite.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "../tolerances.hpp"
#include "composite_parts.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::uint8_t kUp = 1, kDown = 2;

}  // namespace

Composite::Composite(const Domain& domain, std::vector<Input> inputs, std::vector<std::unique_ptr<Forest>> forests,
                     std::vector<LinearForest> linear_forests, std::vector<ScoreFunction> functions, std::vector<Unit> units,
                     std::vector<std::uint32_t> outputs)
    : domain_(domain),
      inputs_(std::move(inputs)),
      forests_(std::move(forests)),
      linear_forests_(std::move(linear_forests)),
      functions_(std::move(functions)),
      units_(std::move(units)),
      outputs_(std::move(outputs)) {
  find_dependencies();
  measure_trees();
  measure_rounding();
  const bool single = std::none_of(units_.begin(), units_.end(), [&](const Unit& unit) {
    return unit.kind == Kind::kFunction && functions_[unit.source].of_group();
  });
  if (!forests_.empty() && inputs_.empty() && single) all_trees_ = Forest::joined(forests_);
}

void Composite::find_dependencies() {
  unit_of_input_.assign(inputs_.size(), kNone);
  inputs_of_.resize(domain_.features.size());
  of_atom_.resize(domain_.atoms);
  on_inputs_.assign(units_.size(), 0);
  on_trees_ = feeds_ = on_inputs_;
  leaf_weights_.resize(units_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    if (unit.kind == Kind::kInput) unit_of_input_[unit.source] = u;
    on_inputs_[u] = unit.kind == Kind::kInput;
    on_trees_[u] = unit.kind == Kind::kTrees || unit.kind == Kind::kLinearTree;
    if (unit.kind == Kind::kLinearTree) read_leaves(u);
    for (const std::uint32_t read : unit.reads) {
      on_inputs_[u] |= on_inputs_[read];
      on_trees_[u] |= on_trees_[read];
      if (unit.kind == Kind::kFunction) feeds_[read] = 1;
    }
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    const Feature& f = domain_.features[input.feature];
    const bool varies = input.curve.slope != 0 || input.curve.intercept != 0 || !input.curve.linear();
    if (!f.low.empty() && varies) inputs_of_[input.feature].push_back(i);
    if (!f.low.empty() && (input.curve.slope != 0)) constant_on_cells_ = false;
    if (!f.low.empty() && !input.curve.linear()) per_value_ = true;
    for (std::size_t k = 0; k < input.atoms.size(); ++k)
      if (input.atoms[k] != 0) of_atom_[f.first_atom + k].emplace_back(i, input.atoms[k]);
  }
  any_inputs_ = !inputs_.empty();
  any_trees_ = !forests_.empty() || !linear_forests_.empty();
  per_value_ |= any_trees_;
}

// What the outputs of forests can be over the whole domain.
void Composite::measure_trees() {
  tree_range_.resize(units_.size());
  const Box box = whole(domain_);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (units_[u].kind != Kind::kTrees) continue;
    const Forest& forest = *forests_[units_[u].source];
    std::vector<Goal> both(2, Goal{std::vector<double>(forest.greatest_rounding().size(), 0.0), 0});
    both[0].coefficient[units_[u].place] = 1;
    both[1].coefficient[units_[u].place] = -1;
    const std::unique_ptr<ScoreWorkspace> work = forest.workspace(both);
    Relaxation up, down;
    forest.relax({box}, both, 0, *work, up);
    forest.relax({box}, both, 1, *work, down);
    tree_range_[u] = {-down.upper - down.rounding, up.upper + up.rounding};
  }
}

// -- rounding -------------------------------------------------------------------------------------------------------------

// By how much outputs of any row may differ between two ways of computing them: through the graph, no function grows faster than
// it is steep, and none by more than it varies.
void Composite::measure_rounding() {
  const Box box = whole(domain_);
  std::vector<Interval> range(units_.size());
  std::vector<double> off(units_.size(), 0.0);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    switch (unit.kind) {
      case Kind::kInput:
        range[u] = of_input(box, unit.source);
        off[u] = tolerance::kRoundoffsOfFunction * tolerance::kRoundoff * size_of(range[u]);
        break;
      case Kind::kTrees:
        range[u] = tree_range_[u];
        off[u] = forests_[unit.source]->greatest_rounding()[unit.place];
        break;
      case Kind::kLinearTree: {
        Reached reached;
        find_reached(box, u, range, reached);
        range[u] = {-tree_bound(u, reached, -1, {}), tree_bound(u, reached, 1, {})};
        off[u] = lost_in_leaves(u, range, off);
        break;
      }
      case Kind::kSum:
        range[u] = of_sum(unit, range);
        off[u] = lost(unit, range);
        for (std::size_t r = 0; r < unit.reads.size(); ++r) off[u] += unit.sizes[r] * off[unit.reads[r]];
        break;
      case Kind::kFunction: {
        const ScoreFunction& function = functions_[unit.source];
        range[u] = of_function(unit, range);
        double most = 0;
        for (const std::uint32_t read : unit.reads) most += off[read];
        const double width = range[u].high - range[u].low;
        const bool steep = function.jumps() || function.kind == ScoreFunction::Kind::kShares;
        off[u] = steep ? width : std::min(width, function.steepness() * most);
        off[u] += tolerance::kRoundoffsOfFunction * tolerance::kRoundoff * size_of(range[u]);
        break;
      }
    }
  }
  for (const std::uint32_t u : outputs_) greatest_rounding_.push_back(off[u]);
  domain_range_ = std::move(range);
}

double Composite::lost(const Unit& unit, const std::vector<Interval>& range) const {
  double size = unit.bias_size;
  for (std::size_t r = 0; r < unit.reads.size(); ++r) size += unit.sizes[r] * size_of(range[unit.reads[r]]);
  return tolerance::kRoundoff * unit.roundings * size;
}

void Composite::outputs(const double* row, std::vector<double>& scores) const {
  std::vector<double> value;
  evaluate(row, value);
  scores.clear();
  for (const std::uint32_t u : outputs_) scores.push_back(value[u]);
}

// What all units are at a row.
void Composite::evaluate(const double* row, std::vector<double>& value) const {
  std::vector<double> group;
  value.resize(units_.size());
  std::vector<std::vector<double>> trees(forests_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    switch (unit.kind) {
      case Kind::kInput: {
        const Input& input = inputs_[unit.source];
        const Feature& f = domain_.features[input.feature];
        const std::int32_t k = f.atom.empty() ? -1 : f.atom_of(row[input.feature]);
        if (k < 0)
          value[u] = input.curve.at(row[input.feature]);
        else
          value[u] = input.atoms.empty() ? 0 : input.atoms[static_cast<std::size_t>(k)];
        break;
      }
      case Kind::kTrees:
        if (trees[unit.source].empty()) forests_[unit.source]->outputs(row, trees[unit.source]);
        value[u] = trees[unit.source][unit.place];
        break;
      case Kind::kLinearTree: value[u] = at_leaf(unit, row, value); break;
      case Kind::kSum:
        value[u] = unit.bias;
        for (std::size_t r = 0; r < unit.reads.size(); ++r) value[u] += unit.weights[r] * value[unit.reads[r]];
        break;
      case Kind::kFunction: {
        const ScoreFunction& function = functions_[unit.source];
        if (!function.of_group()) {
          value[u] = function.at(value[unit.reads[0]]);
          break;
        }
        group.clear();
        for (const std::uint32_t read : unit.reads) group.push_back(value[read]);
        value[u] = function.at(group, unit.place);
        break;
      }
    }
  }
}

// The units' bounds where every feature has one value are what rounding leaves open.
void Composite::rounding(const double* row, std::vector<double>& out) const {
  std::vector<Interval> range(units_.size());
  std::vector<std::vector<double>> trees(forests_.size()), off(forests_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    if (unit.kind == Kind::kInput) {
      const Input& input = inputs_[unit.source];
      const Feature& f = domain_.features[input.feature];
      const std::int32_t k = f.atom.empty() ? -1 : f.atom_of(row[input.feature]);
      const double atom = k < 0 || input.atoms.empty() ? 0 : input.atoms[static_cast<std::size_t>(k)];
      range[u] = k < 0 ? input.curve.over(row[input.feature], row[input.feature]) : Interval{atom, atom};
    } else if (unit.kind == Kind::kTrees) {
      const std::size_t f = unit.source;
      if (trees[f].empty()) {
        forests_[f]->outputs(row, trees[f]);
        forests_[f]->rounding(row, off[f]);
      }
      range[u] = {trees[f][unit.place] - off[f][unit.place], trees[f][unit.place] + off[f][unit.place]};
    } else if (unit.kind == Kind::kLinearTree) {
      range[u] = at_leaf(unit, row, range);
    } else {
      range[u] = unit.kind == Kind::kSum ? of_sum(unit, range) : of_function(unit, range);
    }
  }
  out.clear();
  for (const std::uint32_t u : outputs_) out.push_back(range[u].high - range[u].low);
}

// -- what is asked of forests ---------------------------------------------------------------------------------------------

std::unique_ptr<ScoreWorkspace> Composite::workspace(const std::vector<Goal>& goals) const {
  auto made = std::make_unique<Workspace>();
  made->range.resize(units_.size());
  made->reached.resize(units_.size());
  made->requests.resize(forests_.size());
  made->upper.assign(units_.size(), kNone);
  made->lower = made->late_upper = made->late_lower = made->upper;
  made->low.resize(units_.size());
  made->high.resize(units_.size());
  made->needs.assign(units_.size(), 0);
  if (any_trees_) request(goals, *made);
  for (std::size_t f = 0; f < forests_.size(); ++f) {
    made->forests.push_back(forests_[f]->workspace(made->requests[f]));
    made->relaxations.emplace_back(made->requests[f].size());
    if (!all_trees_) made->asked.push_back(made->requests[f].size());
  }
  return made;
}

void Composite::start(const Goal& goal, Carried& carried) const {
  carried.coefficient.assign(units_.size(), 0.0);
  carried.constant = carried.slack = 0;
  for (std::size_t o = 0; o < outputs_.size(); ++o) carried.coefficient[outputs_[o]] += goal.coefficient[o];
}

// A goal is a sum of outputs of forests, of functions that trees have a part in, and of what depends on inputs alone.
void Composite::request(const std::vector<Goal>& goals, Workspace& work) const {
  auto add = [&](std::size_t forest, const std::vector<double>& coefficient) {
    std::vector<Goal>& known = work.requests[forest];
    for (std::size_t r = 0; r < known.size(); ++r)
      if (known[r].coefficient == coefficient) return r;
    known.push_back({coefficient, 0});
    return known.size() - 1;
  };
  auto outputs_of = [&](std::size_t f) { return forests_[f]->greatest_rounding().size(); };
  for (const Goal& goal : goals) {
    Workspace::Ask ask;
    Carried& rest = ask.inputs;
    start(goal, rest);
    std::vector<std::vector<double>> direct(forests_.size());
    for (std::size_t u = units_.size(); u-- > 0;) {
      const Unit& unit = units_[u];
      double& c = rest.coefficient[u];
      if (c == 0 || !on_trees_[u]) continue;
      if (unit.kind == Kind::kSum) {
        rest.constant += c * unit.bias;
        for (std::size_t r = 0; r < unit.reads.size(); ++r) rest.coefficient[unit.reads[r]] += c * unit.weights[r];
      } else if (unit.kind == Kind::kTrees) {
        std::vector<double>& coefficient = direct[unit.source];
        coefficient.resize(outputs_of(unit.source), 0.0);
        coefficient[unit.place] += c;
      } else {
        ask.units.emplace_back(static_cast<std::uint32_t>(u), c);
        work.needs[u] |= c > 0 ? kUp : kDown;
      }
      c = 0;
    }
    for (std::size_t f = 0; f < forests_.size(); ++f)
      if (!direct[f].empty()) ask.trees.emplace_back(f, add(f, direct[f]));
    work.asks.push_back(std::move(ask));
  }
  for (std::size_t u = units_.size(); u-- > 0;) {
    const Unit& unit = units_[u];
    const std::uint8_t need = work.needs[u], turned = static_cast<std::uint8_t>((need & kUp) << 1 | (need & kDown) >> 1);
    if (need == 0) continue;
    if (unit.kind == Kind::kTrees) {
      std::vector<double> one(outputs_of(unit.source), 0.0);
      one[unit.place] = 1;
      if ((need & kUp) != 0) work.upper[u] = add(unit.source, one);
      one[unit.place] = -1;
      if ((need & kDown) != 0) work.lower[u] = add(unit.source, one);
    }
    for (std::size_t r = 0; r < unit.reads.size() && unit.kind != Kind::kLinearTree; ++r) {
      if (unit.kind == Kind::kSum)
        work.needs[unit.reads[r]] |= unit.weights[r] >= 0 ? need : turned;
      else if (functions_[unit.source].of_group())
        work.needs[unit.reads[r]] |= kUp | kDown;
      else
        work.needs[unit.reads[r]] |= functions_[unit.source].scale >= 0 ? need : turned;
    }
  }
  if (!all_trees_) return;
  for (const std::vector<Goal>& known : work.requests) work.asked.push_back(known.size());
  for (std::size_t u = 0; u < units_.size(); ++u) {
    if (work.needs[u] == 0 || units_[u].kind != Kind::kTrees) continue;
    std::vector<double> one(outputs_of(units_[u].source), 0.0);
    one[units_[u].place] = 1;
    work.late_upper[u] = add(units_[u].source, one);
    one[units_[u].place] = -1;
    work.late_lower[u] = add(units_[u].source, one);
  }
}

// -- bounds of units over a box -------------------------------------------------------------------------------------------

Interval Composite::of_sum(const Unit& unit, const std::vector<Interval>& range) const {
  double low = unit.bias, high = unit.bias;
  for (std::size_t r = 0; r < unit.reads.size(); ++r) {
    const Interval& read = range[unit.reads[r]];
    const double w = unit.weights[r];
    low += w * (w > 0 ? read.low : read.high);
    high += w * (w > 0 ? read.high : read.low);
  }
  const double off = lost(unit, range);
  return {low - off, high + off};
}

Interval Composite::of_function(const Unit& unit, const std::vector<Interval>& range) const {
  const ScoreFunction& function = functions_[unit.source];
  if (!function.of_group()) return function.over(range[unit.reads[0]]);
  std::vector<Interval> group;
  for (const std::uint32_t read : unit.reads) group.push_back(range[read]);
  return function.over(group, unit.place);
}

Interval Composite::of_input(const Box& box, std::size_t i) const {
  const Input& input = inputs_[i];
  const Feature& f = domain_.features[input.feature];
  const Range& range = box.range[input.feature];
  Interval out{kInf, -kInf};
  if (!range.empty()) out = input.curve.over(range.low, range.high);
  box.each_atom(f, [&](std::size_t k) {
    const double atom = input.atoms.empty() ? 0 : input.atoms[k];
    out = {std::min(out.low, atom), std::max(out.high, atom)};
  });
  return out;
}

bool Composite::enter(const Region& region, ScoreWorkspace& workspace) const {
  auto& work = static_cast<Workspace&>(workspace);
  bound_trees(region, work);
  bound_units(region.box, work);
  if (any_trees_) bound_values(region.box, work);
  return true;
}

void Composite::bound_trees(const Region& region, Workspace& work) const {
  for (std::size_t f = 0; f < forests_.size(); ++f)
    for (std::size_t r = 0; r < work.asked[f]; ++r)
      forests_[f]->relax(region, work.requests[f], r, *work.forests[f], work.relaxations[f][r]);
}

void Composite::bound_units(const Box& box, Workspace& work) const {
  std::vector<Interval>& range = work.range;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    switch (unit.kind) {
      case Kind::kInput: range[u] = of_input(box, unit.source); break;
      case Kind::kTrees: {
        range[u] = tree_range_[u];
        const std::vector<Relaxation>& known = work.relaxations[unit.source];
        if (work.upper[u] != kNone) range[u].high = known[work.upper[u]].upper + known[work.upper[u]].rounding;
        if (work.lower[u] != kNone) range[u].low = -known[work.lower[u]].upper - known[work.lower[u]].rounding;
        break;
      }
      case Kind::kFunction: range[u] = of_function(unit, range); break;
      case Kind::kLinearTree:
        find_reached(box, u, range, work.reached[u]);
        range[u] = {-tree_bound(u, work.reached[u], -1, {}), tree_bound(u, work.reached[u], 1, {})};
        break;
      case Kind::kSum: {
        range[u] = of_sum(unit, range);
        if (!on_inputs_[u] || !feeds_[u]) break;
        for (const double sign : {1.0, -1.0}) {
          Carried& carried = work.carried;
          carried.coefficient.assign(units_.size(), 0.0);
          carried.coefficient[u] = sign;
          carried.constant = carried.slack = 0;
          carry_backwards(work, carried);
          by_feature(box, carried, work.relaxation);
          const double upper = work.relaxation.upper + work.relaxation.rounding;
          if (sign > 0)
            range[u].high = std::min(range[u].high, upper);
          else
            range[u].low = std::max(range[u].low, -upper);
        }
        break;
      }
    }
    if (range[u].low > range[u].high) std::swap(range[u].low, range[u].high);  // by rounding alone
  }
}

// Replaces, from the last unit to the first, what is bounded by what it reads: in the end, only inputs are left.
void Composite::carry_backwards(const Workspace& work, Carried& carried, std::vector<double>* gaps) const {
  const std::vector<Interval>& range = work.range;
  for (std::size_t u = units_.size(); u-- > 0;) {
    const double c = carried.coefficient[u];
    const Unit& unit = units_[u];
    if (c == 0 || unit.kind == Kind::kInput) continue;
    carried.coefficient[u] = 0;
    if (unit.kind == Kind::kSum) {
      carried.constant += c * unit.bias;
      carried.slack += std::abs(c) * lost(unit, range);
      for (std::size_t r = 0; r < unit.reads.size(); ++r) carried.coefficient[unit.reads[r]] += c * unit.weights[r];
      continue;
    }
    if (unit.kind == Kind::kLinearTree) {
      carry_tree(work, u, c, carried, gaps);
      continue;
    }
    const bool constant = unit.kind == Kind::kTrees || functions_[unit.source].of_group() || !on_inputs_[u];
    if (constant) {
      carried.constant += c * (c > 0 ? range[u].high : range[u].low);
      if (gaps != nullptr) (*gaps)[u] = std::abs(c) * (range[u].high - range[u].low);
      continue;
    }
    const ScoreFunction& function = functions_[unit.source];
    const Interval& read = range[unit.reads[0]];
    const Line line = c > 0 ? function.above(read) : function.below(read);
    carried.constant += c * line.intercept;
    carried.coefficient[unit.reads[0]] += c * line.slope;
    if (gaps == nullptr) continue;
    double gap = 0;
    for (const double x : {read.low, 0.5 * read.low + 0.5 * read.high, read.high})
      gap = std::max(gap, std::abs(line.slope * x + line.intercept - function.at(x)));
    (*gaps)[u] = std::abs(c) * gap;
  }
}

// -- sums over features ---------------------------------------------------------------------------------------------------

// The greatest that the curved inputs of a feature add for numbers from low to high, each taken by itself.
double Composite::curves_above(std::size_t j, const Carried& carried, double low, double high) const {
  double total = 0;
  for (const std::size_t i : inputs_of_[j]) {
    const double c = carried.coefficient[unit_of_input_[i]];
    if (c == 0 || inputs_[i].curve.linear()) continue;
    const Interval range = inputs_[i].curve.over(low, high);
    total += c * (c > 0 ? range.high : range.low);
  }
  return total;
}

// A line above what the inputs of a feature add for numbers from low to high, which differ: slope, and value at `low`.
Line Composite::numbers_above(std::size_t j, const Carried& carried, double low, double high, int parts) const {
  const double factual = domain_.features[j].factual;
  const Curve::Tight tight = factual <= low    ? Curve::Tight::kAtLow
                             : factual >= high ? Curve::Tight::kAtHigh
                                               : Curve::Tight::kAtBothEnds;
  Line total{0, 0};
  for (const std::size_t i : inputs_of_[j]) {
    const double c = carried.coefficient[unit_of_input_[i]];
    if (c == 0) continue;
    const Curve& curve = inputs_[i].curve;
    const Line line = curve.linear() ? Line{curve.slope, curve.at(low)} : curve.above(c > 0 ? 1 : -1, low, high, parts, tight);
    const double factor = curve.linear() ? c : std::abs(c);
    total.slope += factor * line.slope;
    total.intercept += factor * line.intercept;
  }
  return total;
}

// The greatest that numbers of a feature from low to high add.
double Composite::of_numbers(std::size_t j, const Carried& carried, double low, double high) const {
  double at_low = 0, at_high = 0;
  bool curved = false;
  for (const std::size_t i : inputs_of_[j]) {
    const double c = carried.coefficient[unit_of_input_[i]];
    if (c == 0) continue;
    curved |= !inputs_[i].curve.linear();
    if (!inputs_[i].curve.linear()) continue;
    at_low += c * inputs_[i].curve.at(low);
    at_high += c * inputs_[i].curve.at(high);
  }
  const double level = std::max(at_low, at_high);
  if (!curved) return level;
  const double apart = level + curves_above(j, carried, low, high);
  if (!(low < high)) return apart;
  const Line line = numbers_above(j, carried, low, high, tolerance::kCurvePartsOfCell);
  return std::min(apart, line.intercept + std::max(0.0, line.slope * (high - low)));
}

void Composite::by_feature(const Box& box, const Carried& carried, Relaxation& out) const {
  const std::size_t features = domain_.features.size();
  for (std::vector<double>* each : {&out.slope, &out.at_anchor, &out.greatest, &out.attribution}) each->assign(features, 0.0);
  out.additive = true;
  out.atom.resize(domain_.atoms);
  out.constant = out.upper = carried.constant;
  double size = std::abs(carried.constant);
  for (std::size_t j = 0; j < features; ++j) {
    const Feature& f = domain_.features[j];
    double greatest = -kInf;
    box.each_atom(f, [&](std::size_t k) {
      double value = 0;
      for (const auto& [i, entry] : of_atom_[f.first_atom + k]) value += carried.coefficient[unit_of_input_[i]] * entry;
      out.atom[f.first_atom + k] = value;
      greatest = std::max(greatest, value);
      size += std::abs(value);
    });
    if (const Range& range = box.range[j]; !range.empty()) {
      const bool single = range.low == range.high;
      bool curved = false;
      double of_linear = 0, far = 0;
      const double furthest = std::max(std::abs(range.low - f.anchor), std::abs(range.high - f.anchor));
      for (const std::size_t i : inputs_of_[j]) {
        const double c = carried.coefficient[unit_of_input_[i]];
        if (c == 0) continue;
        const Curve& curve = inputs_[i].curve;
        far += std::abs(c) *
               (curve.size(range.low) + curve.size(range.high) + std::abs(curve.slope) * (furthest + std::abs(f.anchor)));
        if (!curve.linear()) {
          curved = true;
        } else if (single) {
          of_linear += c * curve.at(range.low);
        } else {
          out.slope[j] += c * curve.slope;
          of_linear += c * (curve.slope * (f.anchor - curve.center) + curve.intercept);
        }
      }
      out.at_anchor[j] = of_linear;
      if (curved && single) out.at_anchor[j] += curves_above(j, carried, range.low, range.low);
      if (curved && !single) {
        const Line line = numbers_above(j, carried, range.low, range.high, tolerance::kCurveParts);
        out.slope[j] = line.slope;
        out.at_anchor[j] = line.intercept + line.slope * (f.anchor - range.low);
        far += std::abs(line.slope) * (std::abs(range.low) + furthest + std::abs(f.anchor));
      }
      double most = std::max(out.at_number(f, j, range.low), out.at_number(f, j, range.high));
      if (curved && !single) {
        const double middle = 0.5 * range.low + 0.5 * range.high;
        out.attribution[j] = std::max(0.0, out.at_number(f, j, middle) - of_numbers(j, carried, middle, middle));
        most = std::min(most, of_numbers(j, carried, range.low, range.high));  // the line may lie above all values at its ends
      }
      greatest = std::max(greatest, most);
      size += far + std::abs(most);
    }
    out.greatest[j] = greatest;
    out.upper += greatest;
  }
  const double terms = static_cast<double>(inputs_.size() + features + 8);
  out.rounding = carried.slack + tolerance::kRoundingsOfBound * tolerance::kRoundoff * terms * size;
}

// A function's gap is passed on to what it reads, in the end to features, as far as each makes it vary.
void Composite::attribute(const Workspace& work, std::vector<double> gaps, Relaxation& out) const {
  for (std::size_t u = units_.size(); u-- > 0;) {
    const Unit& unit = units_[u];
    if (gaps[u] == 0) continue;
    if (unit.kind == Kind::kInput) {
      out.attribution[inputs_[unit.source].feature] += gaps[u];
      continue;
    }
    if (unit.kind == Kind::kLinearTree) {
      attribute_tree(work, u, gaps[u], out);
      continue;
    }
    auto part = [&](std::size_t r) {
      const Interval& read = work.range[unit.reads[r]];
      return (unit.kind == Kind::kSum ? std::abs(unit.weights[r]) : 1.0) * (read.high - read.low);
    };
    double total = 0;
    for (std::size_t r = 0; r < unit.reads.size(); ++r) total += part(r);
    for (std::size_t r = 0; r < unit.reads.size() && total > 0; ++r) gaps[unit.reads[r]] += gaps[u] * part(r) / total;
  }
}

// -- bounds per value -----------------------------------------------------------------------------------------------------

// `sign` times an upper bound, for every value: all other features at their best.
void Composite::to_values(const Carried& carried, const Relaxation& relaxation, const std::vector<Value>& values, double sign,
                          std::vector<double>& out) const {
  out.resize(values.size());
  for (std::size_t v = 0; v < out.size(); ++v) {
    const Value& value = values[v];
    const std::size_t j = value.feature;
    double own = 0;
    if (value.atom) {
      own = relaxation.atom[value.place];
    } else {
      own = inputs_of_[j].empty() ? 0 : of_numbers(j, carried, value.low, value.high);
    }
    own = std::min(own, relaxation.greatest[j]);
    out[v] = sign * (relaxation.upper - relaxation.greatest[j] + own + relaxation.rounding);
  }
}

void Composite::bound_values(const Box& box, Workspace& work) const {
  std::vector<Value>& all = work.values;
  all.clear();
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    box.each_atom(f, [&](std::size_t k) { all.push_back({j, f.first_atom + k, true, 0, 0}); });
    const Range& range = box.range[j];
    for (std::int32_t c = range.first; c <= range.last; ++c) {
      const auto at = static_cast<std::size_t>(c);
      all.push_back({j, f.first_cell + at, false, std::max(f.low[at], range.low), std::min(f.high[at], range.high)});
    }
  }
  std::vector<Interval> group;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const std::uint8_t need = work.needs[u];
    if (need == 0 || !on_trees_[u]) continue;
    const Unit& unit = units_[u];
    std::vector<double>&low = work.low[u], &high = work.high[u];
    low.assign(all.size(), work.range[u].low);
    high.assign(all.size(), work.range[u].high);
    if (unit.kind == Kind::kTrees) {
      auto fill = [&](std::size_t request, double sign, std::vector<double>& out) {
        if (request == kNone) return;
        const Relaxation& known = work.relaxations[unit.source][request];
        for (std::size_t v = 0; v < all.size(); ++v)
          out[v] = sign * ((all[v].atom ? known.atom[all[v].place] : known.cell[all[v].place]) + known.rounding);
      };
      fill(work.upper[u], 1, high);
      fill(work.lower[u], -1, low);
    } else if (unit.kind == Kind::kLinearTree) {
      if ((need & kUp) != 0) bound_tree_values(u, 1, work, high);
      if ((need & kDown) != 0) bound_tree_values(u, -1, work, low);
    } else if (unit.kind == Kind::kSum) {
      const double off = lost(unit, work.range);
      low.assign(all.size(), unit.bias - off);
      high.assign(all.size(), unit.bias + off);
      bool any_inputs = false;
      for (std::size_t r = 0; r < unit.reads.size(); ++r) {
        const std::uint32_t read = unit.reads[r];
        any_inputs |= !on_trees_[read];
        if (!on_trees_[read]) continue;
        const double w = unit.weights[r];
        const std::vector<double>&least = w > 0 ? work.low[read] : work.high[read],
              &most = w > 0 ? work.high[read] : work.low[read];
        if ((need & kUp) != 0)
          for (std::size_t v = 0; v < all.size(); ++v) high[v] += w * most[v];
        if ((need & kDown) != 0)
          for (std::size_t v = 0; v < all.size(); ++v) low[v] += w * least[v];
      }
      for (const double sign : {1.0, -1.0}) {
        if (!any_inputs || (need & (sign > 0 ? kUp : kDown)) == 0) continue;
        Carried& carried = work.carried;
        carried.coefficient.assign(units_.size(), 0.0);
        carried.constant = carried.slack = 0;
        for (std::size_t r = 0; r < unit.reads.size(); ++r)
          if (!on_trees_[unit.reads[r]]) carried.coefficient[unit.reads[r]] += sign * unit.weights[r];
        carry_backwards(work, carried);
        by_feature(box, carried, work.relaxation);
        to_values(carried, work.relaxation, work.values, sign, work.buffer);
        std::vector<double>& out = sign > 0 ? high : low;
        for (std::size_t v = 0; v < all.size(); ++v) out[v] += work.buffer[v];
      }
      if ((need & kUp) == 0) high.assign(all.size(), work.range[u].high);
      if ((need & kDown) == 0) low.assign(all.size(), work.range[u].low);
    } else if (const ScoreFunction& function = functions_[unit.source]; !function.of_group()) {
      const std::uint32_t read = unit.reads[0];
      for (std::size_t v = 0; v < all.size(); ++v) {
        const Interval made = function.over({work.low[read][v], work.high[read][v]});
        low[v] = made.low;
        high[v] = made.high;
      }
    } else {
      group.resize(unit.reads.size());
      for (std::size_t v = 0; v < all.size(); ++v) {
        for (std::size_t r = 0; r < group.size(); ++r) {
          const std::uint32_t read = unit.reads[r];
          group[r] = on_trees_[read] ? Interval{work.low[read][v], work.high[read][v]} : work.range[read];
        }
        const Interval made = function.over(group, unit.place);
        low[v] = made.low;
        high[v] = made.high;
      }
    }
  }
}

void Composite::relax_per_value(const std::vector<Goal>& goals, std::size_t g, Workspace& work, Relaxation& out) const {
  const std::vector<Value>& all = work.values;
  Workspace::Ask& ask = work.asks[g];
  std::vector<double>& total = work.gaps;
  total.assign(all.size(), 0.0);
  double upper = 0, rounding = 0, size = std::abs(goals[g].lower);
  for (const auto& [f, r] : ask.trees) {
    const Relaxation& known = work.relaxations[f][r];
    upper += known.upper;
    rounding += known.rounding;
    size += std::abs(known.upper);
    for (std::size_t v = 0; v < all.size(); ++v) total[v] += all[v].atom ? known.atom[all[v].place] : known.cell[all[v].place];
  }
  for (const auto& [u, c] : ask.units) {
    const Interval& range = work.range[u];
    upper += c * (c > 0 ? range.high : range.low);
    size += std::abs(c) * size_of(range);
    const std::vector<double>& bound = c > 0 ? work.high[u] : work.low[u];
    for (std::size_t v = 0; v < all.size(); ++v) total[v] += c * bound[v];
  }
  upper += work.relaxation.upper;
  rounding += work.relaxation.rounding;
  size += std::abs(work.relaxation.upper);
  for (std::size_t v = 0; v < all.size(); ++v) total[v] += work.buffer[v];
  Carried whole;
  start(goals[g], whole);
  for (std::size_t u = units_.size(); u-- > 0;) {
    if (whole.coefficient[u] == 0 || units_[u].kind != Kind::kSum) continue;
    rounding += std::abs(whole.coefficient[u]) * lost(units_[u], work.range);
    for (std::size_t r = 0; r < units_[u].reads.size(); ++r)
      whole.coefficient[units_[u].reads[r]] += whole.coefficient[u] * units_[u].weights[r];
  }
  out.additive = false;
  // Every row has a value of each feature: the least of their greatest bounds holds for all rows.
  std::size_t v = 0;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    double most = -kInf;
    for (; v < all.size() && all[v].feature == j; ++v) most = std::max(most, total[v]);
    if (most > -kInf) upper = std::min(upper, most);
  }
  out.upper = upper;
  out.rounding = rounding + tolerance::kRoundingsOfBound * tolerance::kRoundoff *
                                static_cast<double>(ask.units.size() + ask.trees.size() + 8) * size;
  out.atom.assign(domain_.atoms, upper);
  out.cell.assign(domain_.cells, upper);
  for (v = 0; v < all.size(); ++v) (all[v].atom ? out.atom : out.cell)[all[v].place] = std::min(total[v], upper);
}

void Composite::relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
                      Relaxation& out) const {
  auto& work = static_cast<Workspace&>(workspace);
  const bool additive = relaxations_per_goal() == 2 ? g % 2 == 1 : !per_value_;
  if (additive) {
    start(goals[g], work.carried);
    work.gaps.assign(units_.size(), 0.0);
    carry_backwards(work, work.carried, &work.gaps);
    by_feature(region.box, work.carried, out);
    out.rounding += goals[g].rounding({});
    attribute(work, work.gaps, out);
    return;
  }
  if (!any_trees_) {
    // Curves only: the sum over features, value by value.
    start(goals[g], work.carried);
    work.asks.assign(goals.size(), {});
    carry_backwards(work, work.carried);
    bound_values(region.box, work);
  } else {
    work.carried = work.asks[g].inputs;
    carry_backwards(work, work.carried);
  }
  by_feature(region.box, work.carried, work.relaxation);
  const double off = std::exchange(work.relaxation.rounding, 0.0);
  to_values(work.carried, work.relaxation, work.values, 1, work.buffer);
  work.relaxation.rounding = off;
  relax_per_value(goals, g, work, out);
}

}  // namespace likely::search
