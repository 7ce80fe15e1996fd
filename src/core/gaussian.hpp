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
  bool operator==(const Warp& other) const {
    return knots_ == other.knots_ && values_ == other.values_ && lower_ == other.lower_ && upper_ == other.upper_;
  }

  // The parts, in order: the tail below the first knot, one between every two, the tail above the last; a tail that ends is cut
  // where half of what is left of it is left, a few times, so that every part is nearly straight. On each part the logarithm of
  // the slope is linear in z: offset + rise z.
  struct Part {
    double low, high;      // of x
    double z_low, z_high;  // of z; where the domain ends, of the last number that has a density
    double slope;          // of z by x, where the part is straight
    double offset, rise;
    int bend;  // x as a function of z is straight (0), convex (1: below) or concave (-1: above)
  };
  const std::vector<Part>& parts() const { return parts_; }
  std::size_t part_of(double x) const;  // where two meet the one above
  double inverse(double z) const;
  double lower() const { return lower_; }
  double upper() const { return upper_; }

 private:
  void add_tail(bool above);

  std::vector<double> knots_, values_, slope_, log_slope_;  // slopes: a piece each
  std::vector<Part> parts_;
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
  std::size_t warp(std::size_t i) const { return warp_[i]; }
  const std::vector<double>& mean() const { return mean_; }
  double log_normaliser() const { return log_normaliser_; }
  std::vector<double> covariance() const;  // row by row
  std::vector<double> precision() const;   // its inverse

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
