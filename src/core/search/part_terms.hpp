// What bounds one part of a circuit as a function of prices and of the points of tangents.
#pragma once

#include <cstddef>
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
    std::ptrdiff_t coordinate;      // -1 if it is of a leaf
    std::size_t first_gain, gains;  // of its candidates, and how many each has
    std::ptrdiff_t worth;           // where its rows in `worth` begin; -1: gains are of the prices themselves
  };
  std::size_t coordinates = 0, prices = 0;
  std::vector<double> rest;       // R
  std::vector<double> per_price;  // c
  std::vector<Term> terms;
  std::vector<double> height, z, value;  // per candidate; `value` is the feature's
  std::vector<double> gain;              // of all candidates
  // Where prices are many, and what a candidate has of them follows from little (its cost and its number): t = gains x worth,
  // with a row of all prices per gain.
  std::vector<double> worth;

  void reset(std::size_t coordinates, std::size_t prices);
  // Candidates have a gain per price; or so many gains, whose worth follows.
  void begin(std::size_t feature, std::ptrdiff_t coordinate);
  double* begin(std::size_t feature, std::ptrdiff_t coordinate, std::size_t gains);
  // The gains are to be filled in.
  double* add(double height, double z, double value);
  const double* gains_of(const Term& term, std::size_t candidate) const {
    return gain.data() + term.first_gain + (candidate - term.first) * term.gains;
  }
  // What a candidate has of one price.
  double gain_of(const Term& term, std::size_t candidate, std::size_t price) const;
  // What gains of a term are worth, per price, added to `out`; and, at prices, what a unit of each gain is worth.
  void add_worth(const Term& term, const double* gains, double times, double* out) const;
  void fill_worths(const Term& term, const double* at_prices, double* out) const;
  // Whether the last candidate of the last term has this value.
  bool repeats(double of) const { return terms.back().first < terms.back().last && value.back() == of; }
};

}  // namespace likely::search
