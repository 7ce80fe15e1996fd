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

}  // namespace

bool reduced_cost_fixing(const Problem& problem, const Evaluation& evaluation, const Relaxation& relaxation, const Dual& dual,
                         double cutoff, Box& box) {
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

}  // namespace likely::search
