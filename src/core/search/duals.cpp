#include "duals.hpp"

#include <cassert>
#include <cmath>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

using tolerance::bound_rounding;

// The Lagrangian as a function of the goal's multiplier: a value and a slope at one of them, that is, a tangent.
struct Tangent {
  double at, bound, slope, rounding;
};

// The part of a dual problem that stays the same while multipliers are sought.
struct Subproblem {
  const Problem& problem;
  const Box& box;
  const Relaxation& relaxation;
  double lower;

  const Relaxation* gains() const { return relaxation.additive ? &relaxation : nullptr; }

  double rule_offset(const Multipliers& at) const {
    return at.rule > 0 ? at.rule * problem.rules.linear[at.rule_index].relaxed_rest(box) : 0;
  }

  Choice choice(std::size_t j, const Multipliers& at) const {
    return least_reduced_cost(problem.domain, box, j, gains(), at.goal, at.rule_slope(problem.rules, j));
  }

  Tangent tangent(const Multipliers& at) const {
    const double offset = rule_offset(at), goal = gains() == nullptr ? 0 : at.goal * (lower - relaxation.constant);
    double bound = goal - offset, gain = relaxation.constant, size = std::abs(goal) + std::abs(offset);
    for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
      const Choice best = choice(j, at);
      bound += best.reduced_cost;
      gain += best.gain;
      size += best.size;
    }
    const double rounding = tolerance::kRoundoff * static_cast<double>(problem.domain.features.size() + 8) * size;
    return {at.goal, bound - rounding, lower - gain, rounding};
  }

  Dual without_goal(const Multipliers& at) const {
    const Tangent made = tangent(at);
    return {made.bound, at, made.rounding};
  }

  // By how much the rows at which the dual has its bound exceed a linear rule.
  double excess(const Multipliers& at) const {
    const LinearRule& rule = problem.rules.linear[at.rule_index];
    double total = -rule.relaxed_rest(box);
    for (std::size_t j = 0; j < problem.domain.features.size(); ++j)
      if (rule.dense[j] != 0) total += rule.dense[j] * (choice(j, at).value - problem.domain.features[j].anchor);
    return total;
  }
};

// The last of the multipliers kFirstMultiplier * kMultiplierGrowth^i that is not above a known one.
double grid_multiplier(double known) {
  double at = tolerance::kFirstMultiplier;
  while (at * tolerance::kMultiplierGrowth <= known) at *= tolerance::kMultiplierGrowth;
  return at;
}

// The best multiplier of the goal at a given one of a rule. The dual is concave and piecewise linear: each evaluation is a
// tangent above it; two tangents on either side of the top meet above it; go there next. The first two are sought among
// the powers of a grid, from the one next to `start` on (the parent's is most often near): which two they are, and so all
// that follows, does not depend on where that begins.
Dual best_goal_multiplier(const Subproblem& sub, const Multipliers& start) {
  Multipliers at = start;
  Dual best;
  auto evaluate = [&](double multiplier) {
    at.goal = multiplier;
    const Tangent tangent = sub.tangent(at);
    if (multiplier == 0 || tangent.bound > best.bound) best = {tangent.bound, at, tangent.rounding};
    return tangent;
  };
  Tangent left = evaluate(0);
  if (left.slope <= 0) return best;
  Tangent right = evaluate(grid_multiplier(start.goal));
  while (right.slope <= 0 && right.at > tolerance::kFirstMultiplier) {
    const Tangent below = evaluate(right.at / tolerance::kMultiplierGrowth);
    if (below.slope > 0) {
      left = below;
      break;
    }
    right = below;
  }
  while (right.slope > 0 && right.at < tolerance::kMostMultiplier) {
    left = right;
    right = evaluate(right.at * tolerance::kMultiplierGrowth);
  }
  for (int i = 0; i < tolerance::kTangentCuts && right.slope <= 0; ++i) {
    const double meet = (right.bound - left.bound + left.slope * left.at - right.slope * right.at) / (left.slope - right.slope);
    if (!(meet > left.at && meet < right.at)) break;
    const Tangent between = evaluate(meet);
    if (between.bound >= left.bound + left.slope * (meet - left.at) - bound_rounding(between.bound)) break;
    (between.slope > 0 ? left : right) = between;
  }
  return best;
}

// The dual with a rule: the best bound of a rule's multiplier is concave in it. Go up until it falls, then cut what lies
// between by the golden section. Every multiplier gives a bound.
Dual best_rule_multiplier(const Subproblem& sub, std::size_t rule, double excess, const Dual& without) {
  Dual best = without;
  auto evaluate = [&](double multiplier) {
    const Multipliers at{best.multipliers.goal, multiplier, rule};
    const Dual dual = sub.relaxation.additive ? best_goal_multiplier(sub, at) : sub.without_goal(at);
    if (dual.bound > best.bound) best = dual;
    return dual.bound;
  };
  double low = 0, middle = 0, high = tolerance::kFirstRuleShare * (1 + std::abs(without.bound)) / excess, reached = without.bound;
  for (int i = 0; i < tolerance::kRuleMultiplierSteps; ++i) {
    const double bound = evaluate(high);
    if (bound <= reached) break;
    reached = bound;
    low = middle;
    middle = high;
    high *= tolerance::kMultiplierGrowth;
  }
  for (int i = 0; i < tolerance::kGoldenSteps && middle > 0 && high - low > tolerance::kGoldenWidth * high; ++i) {
    const bool right = high - middle > middle - low;
    const double next =
        right ? middle + tolerance::kGoldenRatio * (high - middle) : middle - tolerance::kGoldenRatio * (middle - low);
    const double bound = evaluate(next);
    if (bound > reached) {
      (right ? low : high) = middle;
      middle = next;
      reached = bound;
    } else {
      (right ? high : low) = next;
    }
  }
  return best;
}

}  // namespace

double cheapest_row(const Domain& domain, const Box& box, std::vector<double>& row) {
  row.resize(domain.features.size());
  double total = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Choice choice = least_reduced_cost(domain, box, j, nullptr, 0);
    row[j] = choice.value;
    total += choice.cost;
  }
  return total;
}

double greatest_cost(const Domain& domain, const Box& box) {
  double total = 0;
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    double most = 0;
    box.each_atom(f, [&](std::size_t k) { most = std::max(most, f.atom_cost[k]); });
    for (const Segment& segment : f.segments)
      if (!box.range[j].empty()) most = std::max({most, segment.cost_low, segment.cost_high});
    total += most;
  }
  return total + bound_rounding(total);
}

Dual best_dual(const Problem& problem, const Box& box, const Relaxation& relaxation, double lower, double cheapest,
               const Multipliers& start) {
  assert(start.goal >= 0 && start.rule >= 0);
  const Subproblem sub{problem, box, relaxation, lower};
  const Dual without = relaxation.additive ? best_goal_multiplier(sub, {start.goal, 0, 0}) : Dual{cheapest, {}};
  Dual best = without;
  // A rule's multiplier is bracketed anew: that is the smaller part of its search, whose steps each begin at the goal's best.
  for (std::size_t r = 0; r < problem.rules.linear.size(); ++r) {
    if (!problem.rules.linear[r].applies(problem.domain, box)) continue;
    const double excess = sub.excess({without.multipliers.goal, 0, r});
    if (!(excess > 0)) continue;
    const Dual with = best_rule_multiplier(sub, r, excess, without);
    if (with.bound > best.bound) best = with;
  }
  return best;
}

double lagrangian(const Problem& problem, const Box& box, const Relaxation& relaxation, double lower,
                  const Multipliers& multipliers) {
  const Subproblem sub{problem, box, relaxation, lower};
  return sub.tangent(multipliers).bound;
}

}  // namespace likely::search
