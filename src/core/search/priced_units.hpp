// The programme of a network's hidden units as inequalities with prices, next to those of likelihood: one Lagrangian.
#pragma once

#include <cstddef>
#include <vector>

#include "smoothed_prices.hpp"
#include "triangles.hpp"

namespace likely::search {

// Every row of the programme - goals, sides of triangles, decided units - is an inequality with a price, and what an unstable
// ReLU gives is one more term, anywhere between 0 and its greatest (`PartTerms`). Prices and points that make the bound of a part
// of the circuit lowest are then sought for all of them at once; as multipliers of units they give one inequality over features
// (`Network::aggregate`), from which what is claimed is computed.
class PricedUnits {
 public:
  // Of the programme that was built last.
  explicit PricedUnits(const Triangles& triangles);

  std::size_t rows() const { return signs_.size(); }
  // Adds the rows to terms of a part, whose other prices are there.
  void add_rows(PartTerms& terms) const;
  // The rows' prices in multipliers, those of 0 raised to what all candidates together make worth `worth`; appended.
  void append_prices(const UnitMultipliers& multipliers, const PartTerms& terms, double worth, std::vector<double>& prices) const;
  // The other way: from the prices after the first `others`.
  UnitMultipliers multipliers(const std::vector<double>& prices, std::size_t others) const;
  // Multipliers of another node, without those of what is no row here.
  UnitMultipliers fitted(UnitMultipliers multipliers) const;
  // What a value of a term's feature has of the rows, by their prices.
  double reward(const PartTerms& terms, std::size_t term, double value, const std::vector<double>& prices) const;
  // Unstable units that are not on their ReLU where the prices point to, the one with the largest gap times price first.
  std::vector<Triangles::Candidate> candidates(const PartTerms& terms, const SmoothedPrices& solution,
                                               const std::vector<double>& prices) const;

 private:
  // The levers of a value: of numbers alone its distance from the first vertex; otherwise one of every atom, and two of numbers.
  void levers(std::size_t feature, double value, double* out) const;
  std::size_t lever_count(std::size_t feature) const;
  double row_at(std::size_t row, std::size_t feature, std::size_t vertex) const;
  void add_lines(std::size_t feature, PartTerms::Lines& lines) const;

  const Triangles& triangles_;
  std::vector<double> signs_;  // per row: 1 if it is bounded from below, -1 if from above
};

}  // namespace likely::search
