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
#include "part_programme.hpp"
#include "price_lines.hpp"
#include "problem.hpp"

namespace likely::search {

class TreeLikelihood {
 public:
  // `lower`: what each goal must reach.
  TreeLikelihood(const Problem& problem, const std::vector<double>& lower, double cutoff, Workspace& workspace, Node& node);

  // Raises the node's bound as far as the lines do, and keeps its prices. The duals are those of the component that matters most
  // then, unless nothing is left to decide of it.
  void bound();
  bool decided() const { return decided_; }
  // Whether the trees lower the line of any component by a good part of what it is above the threshold.
  bool useful() const { return useful_; }
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

  void begin(std::size_t p);
  void share_cost(TreePartPrices& at) const;
  bool are_small(const TreePartPrices& at) const;
  bool usable(const std::vector<double>& points, const std::vector<double>& prices) const;
  double target() const;
  void lower_line(std::size_t p, bool first);
  bool evaluate(std::size_t p, const TreePartPrices& at, int sweeps, Part& out);
  bool step(std::size_t p, double target, TreePartPrices& at);
  void note_values(Part& out) const;
  void keep(std::size_t p, TreePartPrices made);
  void look_again();
  std::vector<Line> lines() const;
  Line line(std::size_t p) const;
  double above(std::size_t p) const { return line(p).at(cutoff_) - threshold_; }
  bool hardly_counts(std::size_t p) const;

  const Problem& problem_;
  const Likelihood& likelihood_;
  const std::vector<double>& lower_;
  double cutoff_, threshold_;
  TreeWork& work_;
  TreeDuals& duals_;
  Node& node_;
  std::shared_ptr<TreeNodePrices> prices_;
  std::vector<Part> parts_;
  double aim_ = 0;  // the least cost at which the line of a component that was looked at comes up to the threshold
  bool decided_ = false, useful_ = false;
  PartTerms terms_;
  PartProgramme programme_;
};

}  // namespace likely::search
