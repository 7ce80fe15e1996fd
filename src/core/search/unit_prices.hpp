// Prices of a network's units together with the price of likelihood.
//
// The multipliers of the triangles' programme (`triangles.hpp`) know of cost and goals alone. Its rows - goals, ReLUs above their
// arguments, chords, decided units - may as well have prices in the programme of a part of the circuit (`part_programme.hpp`),
// where unstable ReLUs are terms of their own: cost, goals, units, rules and likelihood are one Lagrangian then. What is claimed
// follows from the one inequality that these prices give (`unit_multipliers.cpp`).
#pragma once

#include <vector>

#include "node.hpp"
#include "part_pricing.hpp"
#include "part_programme.hpp"
#include "problem.hpp"

namespace likely::search {

class UnitPrices {
 public:
  // Of a node whose programme of units was solved: its multipliers give one inequality for all parts of the circuit. `joint`:
  // whether its rows get prices together with the likelihood, too, and every part an inequality of its own.
  UnitPrices(const Problem& problem, const Node& node, Workspace& workspace, bool joint, std::size_t parts);

  void set_slack(double nats) { work_.priced.slack = nats; }
  bool joint() const { return joint_; }
  const Relaxation& alike() const { return work_.aggregate; }
  // The inequality of the prices that the node has for a part: those of a node above it at first. None if there are none.
  const Relaxation* inherit(std::size_t part);
  // Fills the terms of a part; false if it has none.
  bool fill_terms(const PartPricing& pricing, double cost, PartTerms& terms) const;
  // Prices to begin with, for `fill_terms`: of the part's own prices, or of the programme's.
  std::vector<double> begin(std::size_t part, const PartPricing& pricing, const Prices& prices);
  // The inequality that follows from prices; and what there is to gain from deciding units, after the programme was solved.
  const Relaxation& follow(std::size_t part, const PartPricing& pricing, const std::vector<double>& at);
  void find_candidates(std::size_t part, const PartPricing& pricing, const std::vector<double>& at, const PartTerms& terms,
                       const PartProgramme& programme);
  double least_cost() const { return work_.dual.bound; }  // of a row of the node, by the programme alone
  const UnitRows& rows() const { return work_.priced.rows; }
  // Prices that were found stay with the node, and units that are worth deciding in the workspace, by the shares of the parts.
  void keep(Node& node, const std::vector<double>& shares);

 private:
  void aggregate(std::size_t part);

  const Problem& problem_;
  const Node& node_;
  Workspace& workspace_;
  UnitWork& work_;
  bool joint_, has_rows_ = false;
  UnitPricesOfParts multipliers_;
  std::vector<std::vector<Triangles::Candidate>> candidates_;  // per part: in nats
};

}  // namespace likely::search
