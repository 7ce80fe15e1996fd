#include "propagation.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <optional>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "fixing.hpp"
#include "pricing.hpp"
#include "tree_search.hpp"
#include "units.hpp"

namespace likely::search {

namespace {

using tolerance::bound_rounding;

// Adds the time of a scope to a counter.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), from_(std::chrono::steady_clock::now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - from_).count(); }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point from_;
};

// -- score --------------------------------------------------------------------------------------------------------------

// Keeps the numbers at which a linear bound of feature j is at least `needed`.
bool keep_high_numbers(const Domain& domain, Box& box, std::size_t j, const Relaxation& relaxation, double needed) {
  const Range range = box.range[j];
  const Feature& f = domain.features[j];
  const double at_low = relaxation.at_number(f, j, range.low), at_high = relaxation.at_number(f, j, range.high);
  if (std::max(at_low, at_high) < needed) {
    box.drop_numbers(j);
    return true;
  }
  if (std::min(at_low, at_high) >= needed) return false;
  const double share = (needed - at_low) / (at_high - at_low), edge = range.low + share * (range.high - range.low);
  const double wider = tolerance::crossing_rounding(range.low, range.high);
  const bool moved = at_low < at_high ? box.keep_numbers(domain, j, edge - wider, range.high)
                                      : box.keep_numbers(domain, j, range.low, edge + wider);
  const Range& left = box.range[j];
  return moved && (left.empty() || left.high - left.low < tolerance::kSameWidth * (range.high - range.low));
}

// Keeps the outermost cells whose bound is at least `needed`, and what is between them.
bool keep_high_cells(const Domain& domain, Box& box, std::size_t j, const Relaxation& relaxation, double needed) {
  const Feature& f = domain.features[j];
  std::int32_t first = box.range[j].first, last = box.range[j].last;
  while (first <= last && relaxation.at_cell(f, first) < needed) ++first;
  while (first <= last && relaxation.at_cell(f, last) < needed) --last;
  if (first <= last) return box.keep_cells(domain, j, first, last);
  box.drop_numbers(j);
  return true;
}

// Removes values whose own bound of the score misses the goal.
bool remove_low_scores(const Domain& domain, Box& box, const Relaxation& relaxation, double lower) {
  bool changed = false;
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    // What the feature must reach if all others are at their best.
    const double needed = relaxation.additive ? lower - (relaxation.upper - relaxation.greatest[j]) : lower;
    box.each_atom(f, [&](std::size_t k) {
      if (relaxation.at_atom(f, k) < needed) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    if (box.range[j].empty()) continue;
    changed |= relaxation.additive ? keep_high_numbers(domain, box, j, relaxation, needed)
                                   : keep_high_cells(domain, box, j, relaxation, needed);
  }
  return changed;
}

// The relaxations of all goals over the node as it is; false if it has no row better than the cut-off.
bool relax_score(const Problem& problem, const Node& node, double most_cost, std::vector<Relaxation>& relaxations,
                 Workspace& workspace) {
  const Stopwatch watch(workspace.statistics.seconds_score);
  const Region region = region_of(node, most_cost);
  ScoreWorkspace& score = *workspace.scores[node.alternative];
  if (!problem.score->enter(region, score)) return false;
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  for (std::size_t g = 0; g < goals.size(); ++g) problem.score->relax(region, goals, g, score, relaxations[g]);
  return true;
}

// Removes what misses a goal, by its relaxation.
bool propagate_score(const Problem& problem, const Goal& goal, const Relaxation& relaxation, Node& node, bool& changed) {
  const double lower = goal.lower - relaxation.rounding;
  if (relaxation.upper < lower) return false;
  changed |= remove_low_scores(problem.domain, node.box, relaxation, lower);
  return !node.box.any_empty(problem.domain);
}

// -- likelihood ---------------------------------------------------------------------------------------------------------

// Of the likelihood, and of how well values fit together: `likelihood` must reach the threshold.
bool propagate_likelihood(const Problem& problem, const Likelihood& likelihood, double threshold, Node& node,
                          Likelihood::Sweep& sweep, Workspace& workspace, bool first, bool& changed) {
  const Stopwatch watch(workspace.statistics.seconds_likelihood);
  if (likelihood.has_blocks() && !first) return true;
  likelihood.bound(node.box, node.alternative, sweep);
  if (!(sweep.log_upper >= threshold)) return false;
  likelihood.differentiate(sweep);
  // With blocks, prices remove more: values that are likely enough, but not together with a low cost.
  if (likelihood.has_blocks() || threshold == -kInf || !likelihood.filter(node.box, sweep, threshold)) return true;
  changed = true;
  return !node.box.any_empty(problem.domain);
}

// -- cost ---------------------------------------------------------------------------------------------------------------

// Against a threshold, where all leaves are of one feature, most searches are over before prices pay.
bool prices_pay(const Problem& problem, const Demand& demand, const Node& node) {
  if (demand.weight > 0) return true;  // those of the goals alone take no search
  if (demand.threshold == -kInf) return false;
  if (demand.likelihood.has_blocks()) return true;
  return prices_pay_later(problem) && node.order >= problem.nodes_before_prices;
}

// Whether units get prices together with the likelihood. A checker of certificates knows one inequality for all parts.
bool prices_pay_together(const Problem& problem, const Demand& demand, const Node& node, const Workspace& workspace) {
  const bool blocks = demand.likelihood.has_blocks();
  const std::uint64_t first = problem.nodes_before_unit_prices + (blocks ? 0 : problem.nodes_before_prices);
  return demand.likelihood.has_product_parts() && (demand.weight == 0 || blocks) && node.order >= first && !workspace.records;
}

// The node's bound from the cheapest row and from the dual of every goal; false if no row of the box costs so much.
bool bound_cost(const Problem& problem, Node& node, Evaluation& evaluation) {
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  const double likely = likely_part(problem, evaluation), cheapest = cheapest_row(problem.domain, node.box, evaluation.cheapest);
  node.bound = std::max(node.bound, cheapest + likely - bound_rounding(cheapest));
  node.multipliers.resize(goals.size());
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = evaluation.relaxations[g];
    Dual& dual = evaluation.duals[g];
    dual = best_dual(problem, node.box, relaxation, goals[g].lower - relaxation.rounding, cheapest, node.multipliers[g]);
    node.multipliers[g] = dual.multipliers;
    const double bound = dual.bound - bound_rounding(dual.bound);
    node.bound = std::max(node.bound, dual.bound + likely - bound_rounding(dual.bound));
    if (dual.multipliers.rule > 0 && bound > greatest_cost(problem.domain, node.box)) return false;
  }
  return true;
}

// What a step of propagation leads to.
class Outcomes {
 public:
  Outcomes(const Problem& problem, Node& node, double cutoff, Follower* follower)
      : problem_(problem), node_(node), cutoff_(cutoff), follower_(follower) {}

  Outcome after(Step step, Outcome outcome) const {
    if (follower_ != nullptr) follower_->after(step, node_, outcome == Outcome::kOpen);
    return outcome;
  }
  Outcome by_bound(Step step) const { return after(step, node_.bound >= cutoff_ ? Outcome::kCutOff : Outcome::kOpen); }
  Outcome by_box(Step step) const { return after(step, node_.box.any_empty(problem_.domain) ? Outcome::kEmpty : Outcome::kOpen); }

 private:
  const Problem& problem_;
  Node& node_;
  double cutoff_;
  Follower* follower_;
};

Outcome bound_and_fix_cost(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, const Outcomes& outcomes,
                           bool& changed) {
  if (!bound_cost(problem, node, evaluation)) return outcomes.after(Step::kCostBound, Outcome::kEmpty);
  if (outcomes.by_bound(Step::kCostBound) != Outcome::kOpen) return Outcome::kCutOff;
  if (cutoff == kInf) return Outcome::kOpen;
  for (std::size_t g = 0; g < evaluation.duals.size(); ++g)
    changed |= reduced_cost_fixing(problem, evaluation, evaluation.relaxations[g], evaluation.duals[g], cutoff, node.box);
  return outcomes.by_box(Step::kReducedCostFixing);
}

// Which prices are wanted: those that take no search, and those that do; the latter once per node, since they take long and
// change little while values are removed.
struct Wanted {
  bool at_once, by_search;
};

// With a weight and leaves of one feature each, the prices of the goals are nearly the best, and a search for better ones takes
// longer than it saves, unless the search of rows takes long. No checker knows of it.
Demand demand_of_likelihood(const Problem& problem, Node& node, Evaluation& evaluation, const Workspace& workspace) {
  const bool later = problem.components && node.order >= problem.nodes_before_prices && !workspace.records;
  const Likelihood& likelihood = later ? *problem.components : *problem.likelihood;
  const bool seeks = problem.likelihood_weight == 0 || likelihood.has_blocks() || later;
  return {likelihood, problem.likelihood_threshold, problem.likelihood_weight, seeks, evaluation.priced, node.prices};
}

Outcome propagate_prices(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                         const Outcomes& outcomes, const Wanted& wanted, bool with_units, bool& changed) {
  auto price = [&](const Demand& demand, Step step, bool together) {
    if (!(demand.seeks_prices ? wanted.by_search : wanted.at_once) || !prices_pay(problem, demand, node)) return Outcome::kOpen;
    {
      const Stopwatch watch(workspace.statistics.seconds_likelihood);
      std::optional<UnitPrices> units;
      if (with_units)
        units.emplace(problem, node, workspace, together && prices_pay_together(problem, demand, node, workspace),
                      demand.likelihood.parts());
      price_likelihood(problem, demand, cutoff, evaluation, node, with_units ? &*units : nullptr, changed);
    }
    if (outcomes.by_bound(step) != Outcome::kOpen) return Outcome::kCutOff;
    return outcomes.by_box(step);
  };
  Outcome outcome = Outcome::kOpen;
  if (problem.likelihood) outcome = price(demand_of_likelihood(problem, node, evaluation, workspace), Step::kJointBound, true);
  if (problem.coherence && outcome == Outcome::kOpen)
    outcome =
        price({*problem.coherence, problem.coherence_threshold, 0, true, evaluation.coherence_priced, node.coherence_prices},
              Step::kJointCoherence, false);
  return outcome;
}

// With a likelihood and no blocks, most searches are over before units pay.
bool units_pay(const Problem& problem, const Node& node, const Workspace& workspace) {
  if (!workspace.units) return false;
  if (!problem.likelihood) return true;
  return problem.likelihood->has_blocks() || node.order >= tolerance::kNodesBeforeUnits;
}

// -- rounds -------------------------------------------------------------------------------------------------------------

Outcome propagate_in_rounds(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                            Follower* follower) {
  auto possible = [&](Step step, bool left) {
    if (follower != nullptr) follower->after(step, node, left);
    return left;
  };
  const Outcomes outcomes(problem, node, cutoff, follower);
  bool changed = true;
  auto likely_enough = [&](int round) {
    return possible(Step::kLikelihood, propagate_likelihood(problem, *problem.likelihood, problem.likelihood_threshold, node,
                                                            evaluation.sweep, workspace, round == 0, changed));
  };
  // With a weight, what a better row may cost follows from how likely it can be: that comes first. A checker takes any cost.
  const bool weighs = problem.likelihood_weight > 0, limits_cost = weighs && !workspace.records;
  auto most_cost = [&] { return limits_cost ? most_cost_of(problem, evaluation, cutoff) : weighs ? kInf : cutoff; };
  for (int round = 0; changed && round < tolerance::kPropagationRounds; ++round) {
    changed = false;
    if (!possible(Step::kRules, problem.rules.propagate(problem.domain, node.box))) return Outcome::kEmpty;
    if (limits_cost && !likely_enough(round)) return Outcome::kEmpty;
    if (!possible(Step::kScore, relax_score(problem, node, most_cost(), evaluation.relaxations, workspace)))
      return Outcome::kEmpty;
    for (std::size_t g = 0; g < evaluation.relaxations.size(); ++g)
      if (!possible(Step::kScore,
                    propagate_score(problem, problem.goals(node.alternative)[g], evaluation.relaxations[g], node, changed)))
        return Outcome::kEmpty;
    if (problem.likelihood && !limits_cost && !likely_enough(round)) return Outcome::kEmpty;
    if (problem.coherence &&
        !possible(Step::kCoherence, propagate_likelihood(problem, *problem.coherence, problem.coherence_threshold, node,
                                                         evaluation.coherence_sweep, workspace, round == 0, changed)))
      return Outcome::kEmpty;
    Outcome outcome = bound_and_fix_cost(problem, node, cutoff, evaluation, outcomes, changed);
    if (outcome == Outcome::kOpen)
      outcome = propagate_prices(problem, node, cutoff, evaluation, workspace, outcomes,
                                 {true, round == 0 && !units_pay(problem, node, workspace)}, false, changed);
    if (outcome != Outcome::kOpen) return outcome;
  }
  return Outcome::kOpen;
}

// The programme of a network's units, and prices with the inequality that follows from it.
Outcome propagate_with_units(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                             Follower* follower) {
  const Outcome outcome = propagate_units(problem, node, cutoff, evaluation, workspace, follower);
  if (outcome != Outcome::kOpen) return outcome;
  bool changed = false;
  return propagate_prices(problem, node, cutoff, evaluation, workspace, {problem, node, cutoff, follower}, {false, true}, true,
                          changed);
}

}  // namespace

Outcome propagate(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                  Follower* follower) {
  assert(node.alternative < problem.alternatives.size());
  const std::size_t before = node.box.value_count(problem.domain);
  Outcome outcome = propagate_in_rounds(problem, node, cutoff, evaluation, workspace, follower);
  if (workspace.units) {
    workspace.units->solved = false;
    workspace.units->priced.found = false;
    workspace.units->priced.candidates.clear();
  }
  if (outcome == Outcome::kOpen && units_pay(problem, node, workspace))
    outcome = propagate_with_units(problem, node, cutoff, evaluation, workspace, follower);
  if (workspace.trees) workspace.trees->solved = false;
  if (outcome == Outcome::kOpen && workspace.trees && trees_pay(problem, evaluation.priced, node))
    outcome = propagate_trees(problem, node, cutoff, evaluation, workspace, follower);
  workspace.statistics.filtered += before - (outcome == Outcome::kOpen ? node.box.value_count(problem.domain) : 0);
  if (outcome == Outcome::kOpen) cheapest_row(problem.domain, node.box, evaluation.cheapest);
  return outcome;
}

}  // namespace likely::search
