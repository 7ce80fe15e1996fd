// Lagrangian bounds of the cost of all rows of a box (Geoffrion 1974; Fisher 1981, "The Lagrangian relaxation method for
// solving integer programming problems"), and the rows at which they are reached.
//
// A goal's relaxation, constant + sum_j a_j(x_j) >= lower, gets a multiplier m >= 0, and one linear rule in offsets,
// sum_j c_j (x_j - anchor_j) <= rest, gets a multiplier p >= 0. What is left falls apart into one problem per feature:
//   L(m, p) = m (lower - constant) - p rest + sum_j min over v of [cost_j(v) - m a_j(v) + p c_j (v - anchor_j)]
// is a lower bound of the cost for every m and p; the bracket is the reduced cost of a value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "node.hpp"
#include "problem.hpp"
#include "rewards.hpp"

namespace likely::search {

// One value of a feature, with what it costs and adds to a relaxation.
struct Choice {
  double value, cost, gain, reduced_cost;
  double size = 0;  // of the terms of any reduced cost that was looked at
};

// The value of feature j with the least reduced cost; of equals, the one that gains most. Without a relaxation nothing
// gains.
inline Choice least_reduced_cost(const Domain& domain, const Box& box, std::size_t j, const Relaxation* relaxation,
                                 double multiplier, double rule_slope = 0) {
  const Feature& f = domain.features[j];
  Choice best{0, 0, 0, kInf};
  auto consider = [&](double value, double cost, double gain, double slope) {
    const double goal = multiplier * gain, rule = slope * (value - f.anchor), reduced = cost - goal + rule;
    const double size = std::max(best.size, std::abs(cost) + std::abs(goal) + std::abs(rule));
    if (reduced < best.reduced_cost || (reduced == best.reduced_cost && gain > best.gain))
      best = {value, cost, gain, reduced, size};
    else
      best.size = size;
  };
  box.each_atom(
      f, [&](std::size_t k) { consider(f.atom[k], f.atom_cost[k], relaxation == nullptr ? 0 : relaxation->at_atom(f, k), 0); });
  each_segment(f, box.range[j], [&](const Segment& segment, double low, double high) {
    consider(low, segment.cost(low), relaxation == nullptr ? 0 : relaxation->at_number(f, j, low), rule_slope);
    if (high > low) consider(high, segment.cost(high), relaxation == nullptr ? 0 : relaxation->at_number(f, j, high), rule_slope);
  });
  return best;
}

// The cost of the cheapest row of a box, and the row.
double cheapest_row(const Domain& domain, const Box& box, std::vector<double>& row);
// No row of the box costs more.
double greatest_cost(const Domain& domain, const Box& box);

// The best bound of the cost that multipliers of the goal and of one linear rule give. `lower` is the goal's, less what its
// relaxation may be off; the search begins at multipliers `start`. Trees have no additive relaxation: then there is
// no multiplier of the goal, and `cheapest` is the bound that a rule improves on.
Dual best_dual(const Problem& problem, const Box& box, const Relaxation& relaxation, double lower, double cheapest,
               const Multipliers& start);

// L at given multipliers.
double lagrangian(const Problem& problem, const Box& box, const Relaxation& relaxation, double lower,
                  const Multipliers& multipliers);

}  // namespace likely::search
