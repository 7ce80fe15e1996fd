// Prices and the points of tangents together: the least bound of one part of a circuit, by Newton's method on a smooth one.
#pragma once

#include <cstddef>
#include <vector>

#include "part_terms.hpp"

namespace likely::search {

// Maxima are replaced by temperature * log sum exp(. / temperature) and prices kept positive by a barrier; the temperature falls
// step by step, and Newton's method follows the least point (as interior-point methods do; Boyd and Vandenberghe 2004, chapter
// 11). What comes out need not be the least: any point and prices bound the part.
class SmoothedPrices {
 public:
  // Goes on from the point and the prices as they are; the first `fixed` prices stay.
  void lower(const PartTerms& terms, std::size_t fixed, double temperature, std::vector<double>& point,
             std::vector<double>& prices);
  // After `lower`, by the weights of a term's candidates in its smoothed maximum: the mean coordinate, the mean value (of
  // leaves), and the mean of what is to be greatest.
  double mean_z(const PartTerms::Term& term) const { return mean_z_[static_cast<std::size_t>(term.coordinate)]; }
  double mean_value(std::size_t term) const { return mean_value_[term]; }
  double mean_height(std::size_t term) const { return mean_height_[term]; }
  double best_value(const PartTerms& terms, const PartTerms::Term& term) const;  // the value with the largest weight
  // The mean of what there is of a row, less nothing; and that of a term's first lever.
  double mean_of_row(std::size_t row) const { return mean_rows_[row]; }
  double mean_lever(std::size_t term) const { return mean_lever_[term]; }
  // What a term has to be greatest of, at a value with this height, coordinate and gains; without rows.
  double height_of(const PartTerms& terms, const PartTerms::Term& term, double height, double z, const double* gains,
                   const std::vector<double>& prices) const;

 private:
  double evaluate(const PartTerms& terms, double temperature, const std::vector<double>& point,
                  const std::vector<double>& prices);
  void add_term(const PartTerms& terms, std::size_t place, double temperature);
  bool direction(const PartTerms& terms, std::size_t fixed, double temperature);
  double slope(const PartTerms& terms) const;
  double warmed(const PartTerms& terms, std::size_t fixed, double temperature, const std::vector<double>& point,
                const std::vector<double>& prices);

  std::vector<double> point_, pull_;              // a as it was last evaluated, and Ra
  std::vector<double> weight_;                    // per candidate
  std::vector<double> mean_z_, variance_;         // per coordinate
  std::vector<double> mean_value_, mean_height_;  // per term
  std::vector<double> mean_lever_, mean_rows_;    // per term, per row
  std::vector<double> mean_, covariance_, among_, part_;
  std::vector<double> regression_;       // per coordinate and price: covariance with z by the variance of z
  std::vector<double> left_over_;        // price x price: what of the covariances z does not explain, by temperature
  std::vector<double> price_slope_;      // of F
  std::vector<double> factor_, solved_;  // Cholesky; right-hand sides
  std::vector<double> move_, price_move_, deviation_;
};

}  // namespace likely::search
