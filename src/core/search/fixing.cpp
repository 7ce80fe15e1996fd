#include "fixing.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "../tolerances.hpp"
#include "duals.hpp"

namespace likely::search {

namespace {

using tolerance::bound_rounding;

// What every value of one feature costs more than its least reduced cost is held against.
struct FeatureFixing {
  const Problem& problem;
  const Evaluation& evaluation;
  const Relaxation* gains;  // none if the relaxation is not additive
  Multipliers multipliers;
  std::size_t j;
  double others;  // the dual bound without this feature
  double limit;

  const Feature& feature() const { return problem.domain.features[j]; }
  // Of a value's own terms; that of the others is in `limit`.
  static double rounding_of(double size) { return tolerance::kRoundingsOfBound * tolerance::kRoundoff * size; }

  bool fix_atoms(Box& box) const {
    const Feature& f = feature();
    bool changed = false;
    box.each_atom(f, [&](std::size_t k) {
      const double gain = gains == nullptr ? 0 : multipliers.goal * gains->at_atom(f, k);
      double bound = others + f.atom_cost[k] - gain - rounding_of(std::abs(f.atom_cost[k]) + std::abs(gain));
      if (problem.likelihood_weight > 0)
        bound -= problem.likelihood_weight * problem.likelihood->log_upper_atom(evaluation.sweep, j, k);
      if (bound > limit) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    return changed;
  }

  // From either end of the numbers, up to where the bound of a value comes down to the limit.
  bool fix_numbers(Box& box) const {
    const Range range = box.range[j];
    if (range.empty()) return false;
    const double weight = problem.likelihood_weight, fixed = others - (weight > 0 ? weight * evaluation.sweep.log_upper : 0);
    const double rule_slope = multipliers.rule_slope(problem.rules, j);
    const Feature& f = feature();
    double size = 0;
    auto reduced = [&](const Segment& segment, double v) {
      const double cost = segment.cost(v), gain = gains == nullptr ? 0 : multipliers.goal * gains->at_number(f, j, v);
      const double rule = rule_slope * (v - f.anchor);
      size = std::abs(cost) + std::abs(gain) + std::abs(rule);
      return fixed + cost - gain + rule;
    };
    double low = kInf, high = -kInf;
    each_segment(f, range, [&](const Segment& segment, double a, double b) {
      const double at_a = reduced(segment, a), size_a = size, at_b = reduced(segment, b);
      const double most = limit + rounding_of(std::max(size_a, size));
      if (std::min(at_a, at_b) > most) return;
      low = std::min(low, at_a <= most ? a : a + (at_a - most) / (at_a - at_b) * (b - a));
      high = std::max(high, at_b <= most ? b : b - (at_b - most) / (at_b - at_a) * (b - a));
    });
    if (low > high) {
      box.drop_numbers(j);
      return true;
    }
    const double wider = tolerance::crossing_rounding(range.low, range.high);
    if (!box.keep_numbers(problem.domain, j, low - wider, high + wider)) return false;
    const Range& left = box.range[j];
    return left.empty() || left.high - left.low < tolerance::kSameWidth * (range.high - range.low);
  }
};

// The reward of every value in the joint bound: less its reduced cost.
void fill_rewards(const Problem& problem, const Relaxation& relaxation, const Multipliers& multipliers, const Box& box,
                  Likelihood::Joint& joint) {
  const double multiplier = relaxation.additive ? multipliers.goal : 0;
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
    const Feature& f = problem.domain.features[j];
    box.each_atom(f, [&](std::size_t k) {
      const double gain = multiplier > 0 ? multiplier * relaxation.at_atom(f, k) : 0;
      joint.atom[f.first_atom + k] = gain - f.atom_cost[k];
    });
    const double rule_slope = multipliers.rule_slope(problem.rules, j);
    for (std::size_t r = 0; r < tolerance::kJointRuns; ++r) {
      const Range run = problem.likelihood->run(box, j, r);
      if (run.empty()) continue;
      double best = -kInf;
      each_segment(f, run, [&](const Segment& segment, double low, double high) {
        for (const double v : {low, high}) {
          const double gain = multiplier > 0 ? multiplier * relaxation.at_number(f, j, v) : 0;
          best = std::max(best, gain - rule_slope * (v - f.anchor) - segment.cost(v));
        }
      });
      joint.run[j * tolerance::kJointRuns + r] = best;
    }
  }
}

// Removes values of feature j with which even the best of the others is beyond the limit.
bool fix_jointly(const Problem& problem, const Evaluation& evaluation, std::size_t j, double fixed, double limit, Box& box,
                 const Likelihood::Joint& joint) {
  const Likelihood& likelihood = *problem.likelihood;
  const Feature& f = problem.domain.features[j];
  const double weight = problem.likelihood_weight;
  bool changed = false;
  box.each_atom(f, [&](std::size_t k) {
    if (fixed - likelihood.excess_atom(evaluation.sweep, joint, weight, j, k) > limit) {
      box.drop_atom(f, k);
      changed = true;
    }
  });
  if (box.range[j].empty()) return changed;
  std::int32_t first = box.range[j].last + 1, last = -1;
  for (std::size_t r = 0; r < tolerance::kJointRuns; ++r) {
    const Range run = likelihood.run(box, j, r);
    if (run.empty() || fixed - likelihood.excess_run(box, evaluation.sweep, joint, weight, j, r) > limit) continue;
    first = std::min(first, run.first);
    last = std::max(last, run.last);
  }
  if (first > last) {
    box.drop_numbers(j);
    return true;
  }
  return box.keep_cells(problem.domain, j, first, last) || changed;
}

}  // namespace

bool reduced_cost_fixing(const Problem& problem, const Evaluation& evaluation, std::size_t goal, double cutoff, Box& box) {
  const Dual& dual = evaluation.duals[goal];
  const Relaxation& relaxation = evaluation.relaxations[goal];
  const Relaxation* gains = relaxation.additive ? &relaxation : nullptr;
  const double limit = cutoff + bound_rounding(dual.bound) + dual.rounding;
  bool changed = false;
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
    const double slope = dual.multipliers.rule_slope(problem.rules, j);
    const double least = least_reduced_cost(problem.domain, box, j, gains, dual.multipliers.goal, slope).reduced_cost;
    const FeatureFixing fixing{problem, evaluation, gains, dual.multipliers, j, dual.bound - least, limit};
    changed |= fixing.fix_atoms(box);
    changed |= fixing.fix_numbers(box);
  }
  return changed;
}

bool joint_bound(const Problem& problem, const Evaluation& evaluation, std::size_t goal, double cutoff, Node& node,
                 Likelihood::Joint& joint) {
  assert(problem.likelihood && problem.likelihood_weight > 0);
  const Relaxation& relaxation = evaluation.relaxations[goal];
  const Multipliers& multipliers = evaluation.duals[goal].multipliers;
  const double lower = problem.goals(node.alternative)[goal].lower - relaxation.rounding, weight = problem.likelihood_weight;
  const double fixed =
      (relaxation.additive ? multipliers.goal * (lower - relaxation.constant) : 0) - weight * evaluation.sweep.log_upper -
      (multipliers.rule > 0 ? multipliers.rule * problem.rules.linear[multipliers.rule_index].relaxed_rest(node.box) : 0);
  fill_rewards(problem, relaxation, multipliers, node.box, joint);
  const double bound = fixed - problem.likelihood->excess(node.box, evaluation.sweep, weight, joint);
  const double rounding = bound_rounding(bound) + evaluation.duals[goal].rounding;
  node.bound = std::max(node.bound, bound - rounding);
  const double limit = cutoff + rounding;
  if (node.bound >= cutoff || limit == kInf) return false;
  problem.likelihood->descend(joint);
  bool changed = false;
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j)
    changed |= fix_jointly(problem, evaluation, j, fixed, limit, node.box, joint);
  return changed;
}

}  // namespace likely::search
