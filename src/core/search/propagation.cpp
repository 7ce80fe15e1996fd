#include "propagation.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>

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
bool relax_score(const Problem& problem, const Node& node, double cutoff, std::vector<Relaxation>& relaxations,
                 Workspace& workspace) {
  const Stopwatch watch(workspace.statistics.seconds_score);
  const Region region = region_of(problem, node, cutoff);
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
                          Likelihood::Sweep& sweep, Workspace& workspace, bool& changed) {
  const Stopwatch watch(workspace.statistics.seconds_likelihood);
  likelihood.bound(node.box, node.alternative, sweep);
  if (!(sweep.log_upper >= threshold)) return false;
  likelihood.differentiate(sweep);
  // With blocks, prices remove more: values that are likely enough, but not together with a low cost.
  if (likelihood.has_blocks() || threshold == -kInf || !likelihood.filter(node.box, sweep, threshold)) return true;
  changed = true;
  return !node.box.any_empty(problem.domain);
}

// -- cost ---------------------------------------------------------------------------------------------------------------

// Against a threshold alone, prices take longer than they save where all leaves are of one feature.
bool prices_pay(const Likelihood& likelihood, double threshold, double weight) {
  return weight > 0 || (likelihood.has_blocks() && threshold > -kInf);
}

// The node's bound from the cheapest row and from the dual of every goal; false if no row of the box costs so much.
bool bound_cost(const Problem& problem, Node& node, Evaluation& evaluation) {
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  const double likely_part = problem.likelihood_weight > 0 ? -problem.likelihood_weight * evaluation.sweep.log_upper : 0;
  const double cheapest = cheapest_row(problem.domain, node.box, evaluation.cheapest);
  node.bound = std::max(node.bound, cheapest + likely_part - bound_rounding(cheapest));
  node.multipliers.resize(goals.size());
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = evaluation.relaxations[g];
    Dual& dual = evaluation.duals[g];
    dual = best_dual(problem, node.box, relaxation, goals[g].lower - relaxation.rounding, cheapest, node.multipliers[g]);
    node.multipliers[g] = dual.multipliers;
    const double bound = dual.bound - bound_rounding(dual.bound);
    node.bound = std::max(node.bound, dual.bound + likely_part - bound_rounding(dual.bound));
    if (dual.multipliers.rule > 0 && bound > greatest_cost(problem.domain, node.box)) return false;
  }
  return true;
}

// Prices of blocks take long to find, and change little while values are removed: they are sought once per node (`with_prices`).
Outcome propagate_cost(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                       Follower* follower, bool with_prices, bool& changed) {
  const std::size_t goals = evaluation.duals.size();
  auto after = [&](Step step, Outcome outcome) {
    if (follower != nullptr) follower->after(step, node, outcome == Outcome::kOpen);
    return outcome;
  };
  auto by_bound = [&] { return node.bound >= cutoff ? Outcome::kCutOff : Outcome::kOpen; };
  auto by_box = [&] { return node.box.any_empty(problem.domain) ? Outcome::kEmpty : Outcome::kOpen; };
  if (!bound_cost(problem, node, evaluation)) return after(Step::kCostBound, Outcome::kEmpty);
  if (after(Step::kCostBound, by_bound()) != Outcome::kOpen) return Outcome::kCutOff;
  if (cutoff < kInf) {
    for (std::size_t g = 0; g < goals; ++g)
      changed |= reduced_cost_fixing(problem, evaluation, evaluation.relaxations[g], evaluation.duals[g], cutoff, node.box);
    if (after(Step::kReducedCostFixing, by_box()) != Outcome::kOpen) return Outcome::kEmpty;
  }
  auto price = [&](const Demand& demand) {
    if (!prices_pay(demand.likelihood, demand.threshold, demand.weight) || (!with_prices && demand.likelihood.has_blocks()))
      return Outcome::kOpen;
    {
      const Stopwatch watch(workspace.statistics.seconds_likelihood);
      price_likelihood(problem, demand, cutoff, evaluation, node, changed);
    }
    if (after(Step::kJointBound, by_bound()) != Outcome::kOpen) return Outcome::kCutOff;
    return after(Step::kJointBound, by_box());
  };
  Outcome outcome = Outcome::kOpen;
  if (problem.likelihood)
    outcome =
        price({*problem.likelihood, problem.likelihood_threshold, problem.likelihood_weight, evaluation.priced, node.prices});
  if (problem.coherence && outcome == Outcome::kOpen)
    outcome = price({*problem.coherence, problem.coherence_threshold, 0, evaluation.coherence_priced, node.coherence_prices});
  return outcome;
}

// Where trees are decomposed, they have prices of likelihood of their own, as long as they tell any values apart.
bool wants_prices(const Problem& problem, const Node& node, Evaluation& evaluation, const Workspace& workspace) {
  if (!workspace.trees || node.box.single_cells(problem.domain)) return true;
  std::fill(evaluation.priced.shares.begin(), evaluation.priced.shares.end(), 0.0);  // nothing is known of this node
  return false;
}

// -- rounds -------------------------------------------------------------------------------------------------------------

Outcome propagate_in_rounds(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                            Follower* follower) {
  auto possible = [&](Step step, bool left) {
    if (follower != nullptr) follower->after(step, node, left);
    return left;
  };
  bool changed = true;
  for (int round = 0; changed && round < tolerance::kPropagationRounds; ++round) {
    changed = false;
    if (!possible(Step::kRules, problem.rules.propagate(problem.domain, node.box))) return Outcome::kEmpty;
    if (!possible(Step::kScore, relax_score(problem, node, cutoff, evaluation.relaxations, workspace))) return Outcome::kEmpty;
    for (std::size_t g = 0; g < evaluation.relaxations.size(); ++g)
      if (!possible(Step::kScore,
                    propagate_score(problem, problem.goals(node.alternative)[g], evaluation.relaxations[g], node, changed)))
        return Outcome::kEmpty;
    if (problem.likelihood &&
        !possible(Step::kLikelihood, propagate_likelihood(problem, *problem.likelihood, problem.likelihood_threshold, node,
                                                          evaluation.sweep, workspace, changed)))
      return Outcome::kEmpty;
    if (problem.coherence &&
        !possible(Step::kCoherence, propagate_likelihood(problem, *problem.coherence, problem.coherence_threshold, node,
                                                         evaluation.coherence_sweep, workspace, changed)))
      return Outcome::kEmpty;
    const Outcome outcome = propagate_cost(problem, node, cutoff, evaluation, workspace, follower,
                                           round == 0 && wants_prices(problem, node, evaluation, workspace), changed);
    if (outcome != Outcome::kOpen) return outcome;
  }
  return Outcome::kOpen;
}

}  // namespace

Outcome propagate(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                  Follower* follower) {
  assert(node.alternative < problem.alternatives.size());
  const std::size_t before = node.box.value_count(problem.domain);
  Outcome outcome = propagate_in_rounds(problem, node, cutoff, evaluation, workspace, follower);
  if (outcome == Outcome::kOpen && workspace.units)
    outcome = propagate_units(problem, node, cutoff, evaluation, workspace, follower);
  if (outcome == Outcome::kOpen && workspace.trees)
    outcome = propagate_trees(problem, node, cutoff, evaluation, workspace, follower);
  workspace.statistics.filtered += before - (outcome == Outcome::kOpen ? node.box.value_count(problem.domain) : 0);
  if (outcome == Outcome::kOpen) cheapest_row(problem.domain, node.box, evaluation.cheapest);
  return outcome;
}

}  // namespace likely::search
