// Trees, cost and likelihood in one bound: the decomposition of the trees with a price of likelihood.
//
// With a price u of a unit of cost, the terms of a component t of the likelihood (`Likelihood::ComponentTerms`) are costs of
// values, in nats, and the decomposition of the trees (`TreeDuals`) bounds from below what rows cost then that reach the goals.
// So for every such row x
//   log t(x) <= max(log_upper - bound, floor) + u C(x),
// a line above log t as a function of the cost (`price_lines.hpp`), for any price, points of tangents and shares. Where the lines
// of all components together come up to the threshold is the least cost that a row can have; and the same with a value fixed
// says which values are of no row that costs less than the cut-off.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "node.hpp"
#include "price_lines.hpp"
#include "problem.hpp"

namespace likely::search {

class TreeLikelihood {
 public:
  // `lower`: what each goal must reach.
  TreeLikelihood(const Problem& problem, const std::vector<double>& lower, double cutoff, Workspace& workspace, Node& node);

  // Raises the node's bound as far as the lines do, and keeps its prices. The component that matters most is looked at last: the
  // duals are those of it then.
  void bound();
  // After it: removes values that no row below the cut-off has; true if any went.
  bool filter();
  // How far the lines are above the threshold at the cut-off, in nats.
  double above() const;

 private:
  // What is known of the rows of the node to a component; without values, only its line is.
  struct Part {
    double upper = 0, floor = 0;     // log t(x) - u C(x) of rows that reach the goals, and of those that are at its floor
    std::vector<double> cell, atom;  // what upper falls by if a value is fixed
  };

  void guess_cost_price(std::size_t p);
  void lower_line(std::size_t p, bool first);
  bool evaluate(std::size_t p, const TreePartPrices& at, int sweeps, Part& out);
  bool step(std::size_t p, double target, bool first, TreePartPrices& at);
  void note_values(Part& out) const;
  double crossing(const Part& part, double cost_price) const;
  double above(const Part& part, double cost_price) const {
    return std::max(part.upper, part.floor) + cost_price * cutoff_ - threshold_;
  }

  const Problem& problem_;
  const Likelihood& likelihood_;
  const std::vector<double>& lower_;
  double cutoff_, threshold_;
  TreeWork& work_;
  TreeDuals& duals_;
  Node& node_;
  std::shared_ptr<TreeNodePrices> prices_;
  std::vector<Part> parts_;
  PartTerms terms_;
  SmoothedPrices smoothed_;
};

}  // namespace likely::search
