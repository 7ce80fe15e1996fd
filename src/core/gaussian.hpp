// Gaussian blocks: densities of several numbers at once, Gaussian in warped coordinates; the twin of likely.circuit's blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace likely {

// A strictly increasing map of an open interval onto the reals: linear between knots, beyond them linear or, where the
// domain ends, logarithmic with a continuous slope.
class Warp {
 public:
  struct Point {
    double z;
    double log_slope;  // -infinity at and beyond the ends of the domain, where z is 0
  };

  // Throws std::invalid_argument unless knots and values increase, inside the domain.
  Warp(std::vector<double> knots, std::vector<double> values, double lower, double upper);

  Point at(double x) const;
  bool operator==(const Warp& other) const = default;

 private:
  std::vector<double> knots_, values_, slope_, log_slope_;  // slopes: a piece each
  double lower_, upper_;
};

class GaussianBlock {
 public:
  // The marginal density of the known variables of a row: made once for rows with the same unknowns.
  struct Marginal {
    std::vector<std::size_t> known;  // places within the block
    std::vector<double> factor;
    double log_normaliser = 0;
  };

  // warp[i]: which warp variable i has; factor: the rows of the Cholesky factor of the covariance, one after the other.
  GaussianBlock(std::vector<std::int32_t> variables, std::vector<std::size_t> warp, std::vector<double> mean,
                std::vector<double> factor);

  std::span<const std::int32_t> variables() const { return variables_; }

  // out[r] = log density of lane r, with z[warp * lanes + r] and log_slope alike. `whitened` is room for a number per
  // variable and lane.
  void log_density(const double* z, const double* log_slope, std::size_t lanes, double* whitened, double* out) const;
  // The same of one lane with unknowns, whose warped values are NaN; `marginal` is kept for the next.
  double log_marginal(const double* z, const double* log_slope, std::size_t lanes, Marginal& marginal) const;

 private:
  void make(Marginal& marginal) const;

  std::vector<std::int32_t> variables_;
  std::vector<std::size_t> warp_;
  std::vector<double> mean_, factor_;
  double log_normaliser_ = 0;
};

}  // namespace likely
