// The price of likelihood: cost, goals, rules and likelihood in one bound.
//
// How likely can a row of a box be that costs at most c, reaches the goals and keeps the linear rules? With prices u >= 0 of a
// unit of cost, v_g >= 0 of goal g (constant_g + sum_j a_gj(x_j) >= lower_g) and r_i >= 0 of rule i, for every part t of the
// circuit (see `Likelihood::Priced`) and every such row
//   log t(x) <= u C(x) - sum_g v_g (lower_g - constant_g) + sum_i r_i rest_i + log V,   rewards v a - u cost - r coefficients:
// a line above log t as a function of the cost. Any prices give one; those that make it lowest at c are sought: a convex problem
// of a few variables. Where the parts' lines together come up to the threshold, there is the least cost that a row can have. And
// the same with one value fixed says which values are of no row that costs less than the cut-off.
#pragma once

#include "node.hpp"
#include "problem.hpp"
#include "unit_prices.hpp"

namespace likely::search {

// A demand on the likelihood of rows, or on how well their values fit together, and what prices say of a node's.
struct Demand {
  const Likelihood& likelihood;
  double threshold, weight;
  bool seeks_prices;  // better ones than those of the goals alone, which takes longer
  PricedParts& priced;
  std::vector<Prices>& prices;
};

// Raises the node's bound; `units` is what is known of a network's units, if anything is. `changed` is set if values went that no
// row below the cut-off has.
void price_likelihood(const Problem& problem, const Demand& demand, double cutoff, const Evaluation& evaluation, Node& node,
                      UnitPrices* units, bool& changed);

// Whether a threshold of likelihood or coherence gets prices if a search takes long: the circuit has no blocks (they have prices
// at once), and its components are products. The trees of a forest are bounded otherwise.
bool prices_pay_later(const Problem& problem);

}  // namespace likely::search
