// Prices and the points of tangents together: the least bound of one part of a circuit is a convex quadratic programme.
#pragma once

#include <cstddef>
#include <vector>

#include "../tolerances.hpp"
#include "part_terms.hpp"

namespace likely::search {

// The dual of the least F: the greatest sum of w_k h_k - m'Rm / 2, where every term spreads the weight 1 over its candidates (w),
// m has the means of their coordinates, and c + sum of w_k t_k, what is left of everything that has a price, is not negative.
// Both are solved at once by a primal-dual interior-point method with predictor and corrector (Mehrotra 1992; Nocedal and Wright
// 2006, section 16.6): a step takes one Cholesky factorisation of the size of the blocks, and a dozen are enough. What comes out
// need not be the least: any point and prices bound the part.
class PartProgramme {
 public:
  // Goes on from the point and the prices as they are; the first `fixed` prices stay, the others must be positive. Ends when F is
  // within a tolerance of its least value.
  void lower(const PartTerms& terms, std::size_t fixed, std::vector<double>& point, std::vector<double>& prices,
             double enough = tolerance::kProgrammeGap);
  // After `lower`, by the weights of a term's candidates: the mean coordinate, the mean value (of leaves), and the mean of what
  // is to be greatest.
  double mean_z(const PartTerms::Term& term) const { return mean_z_[static_cast<std::size_t>(term.coordinate)]; }
  double mean_value(std::size_t term) const { return mean_value_[term]; }
  double mean_height(std::size_t term) const { return mean_height_[term]; }
  double best_value(const PartTerms& terms, const PartTerms::Term& term) const;  // the value with the largest weight
  // What a term has to be greatest of, at a value with this height, coordinate and gains.
  double height_of(const PartTerms& terms, const PartTerms::Term& term, double height, double z, const double* gains,
                   const std::vector<double>& prices);
  double reached(const PartTerms& t) const { return value(t); }
  double left(std::size_t price) const { return left_[price]; }  // of what has a price
  int steps() const { return steps_; }                           // that were taken

 private:
  void begin(const PartTerms& terms, std::size_t fixed, const std::vector<double>& point, const std::vector<double>& prices);
  void fill_heights(const PartTerms& terms);
  const double* worths_of(const PartTerms& terms, const PartTerms::Term& term, const std::vector<double>& prices);
  const double* mean_gains(const PartTerms& terms, const PartTerms::Term& term, const std::vector<double>& weights);
  void add_spread(const PartTerms& terms, std::size_t place);
  void add_left_over(const PartTerms& terms, const PartTerms::Term& term);
  double complementarity() const;
  double value(const PartTerms& terms) const;
  void fill_residuals(const PartTerms& terms);
  bool factorise_system(const PartTerms& terms);
  void solve_system(const PartTerms& terms);
  double longest_step() const;
  void move(const PartTerms& terms, double share);
  void fill_means(const PartTerms& terms);

  int steps_ = 0;
  std::size_t fixed_ = 0;
  std::vector<double> point_, pull_, prices_;  // a, Ra, q
  std::vector<double> here_;                   // per candidate: h - (Ra)_j z + q't
  std::vector<double> top_;                    // per term: a number that is to be above all of these
  std::vector<double> weight_, below_;         // per candidate: w, and its dual variable: how far it is below the top
  std::vector<double> left_;                   // per price: c + sum of w t
  std::vector<double> aim_, price_aim_;        // what each product of a variable and its dual is to change by
  std::vector<double> off_sum_, off_mean_, off_left_, off_below_;  // by how much equations are not kept
  std::vector<double> ratio_, inverse_;                            // per candidate: w / below, 1 / below
  std::vector<double> sum_, center_, variance_;  // per term: of the ratios; the mean coordinate and its spread by them
  std::vector<std::size_t> gain_place_;          // per term: where its gains are in what has one of each
  std::vector<double> gain_mean_;                // mean gains by the ratios
  std::vector<double> regression_;               // per coordinate and price: covariance with z by the variance
  std::vector<double> worths_, mean_, covariance_, spread_, away_, square_, push_;  // of one term; the last per candidate
  std::vector<double> left_over_;                // price x price: what of the covariances of gains z does not explain
  std::vector<double> factor_, solved_, small_;  // Cholesky of the system, its solution for each price, and what is left of it
  std::vector<double> point_move_, pull_move_, price_move_, top_move_, weight_move_, below_move_, left_move_;
  std::vector<double> mean_z_, mean_value_, mean_height_;
};

}  // namespace likely::search
