// Prices and the points of tangents together: the least bound of one part of a circuit, by Newton's method on a smooth one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace likely::search {

// What bounds the log-likelihood of a part that is a product of Gaussian blocks and leaves, with rewards for the prices q >= 0:
//   F(a, q) = a'Ra / 2 + c'q + sum over terms of the greatest over its candidates k of [ h_k - (Ra)_j z_k + q't_k ]
// with R the curvature of the blocks that is not left in their terms (see `BlockBound`), a the point of the tangent, less the
// mean, and a candidate for every corner of a term: its height h, its coordinate z, less the mean (if the term is of a block's
// variable), and what it has of everything that has a price. F is convex in both, and has kinks wherever two candidates tie.
struct PartTerms {
  struct Term {
    std::size_t first, last;  // its candidates
    std::size_t feature;
    std::ptrdiff_t coordinate;  // -1 if it is of a leaf
  };
  std::size_t coordinates = 0, prices = 0;
  std::vector<double> rest;       // R
  std::vector<double> per_price;  // c
  std::vector<Term> terms;
  std::vector<double> height, z, value;  // per candidate; `value` is the feature's
  std::vector<double> gain;              // per candidate and price

  // Inequalities over terms, each with a price, in the order after the others. There are many of them, but in what a term has of
  // them there is little: candidate k has sum over levers l of line[r][l] lever_k[l] of row r; numbers of a feature have one
  // lever.
  struct Lines {
    std::size_t levers = 0;
    std::vector<double> lever;        // [candidate of the term][lever]
    std::vector<std::uint32_t> rows;  // that have any of the term
    std::vector<double> line;         // [of these rows][lever]
  };
  std::size_t rows = 0;
  std::vector<Lines> lines;  // per term, if there are rows
  std::size_t all_prices() const { return prices + rows; }

  void reset(std::size_t coordinates, std::size_t prices);
  void begin(std::size_t feature, std::ptrdiff_t coordinate);
  // The gains, as many as there are prices, are to be filled in.
  double* add(double height, double z, double value);
};

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
