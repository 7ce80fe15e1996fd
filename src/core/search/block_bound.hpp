// How likely the rows of a box can be to a Gaussian block: an upper bound that is a sum of terms of one feature each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../gaussian.hpp"
#include "../tolerances.hpp"
#include "domain.hpp"
#include "rewards.hpp"

namespace likely::search {

// In warped coordinates log N is a concave parabola with the curvature P, the inverse of the covariance. So for every z0, with g
// the gradient there, and any diagonal D with P - D positive semidefinite,
//   log N(z) <= log N(z0) + sum_j [ g_j (z_j - z0_j) - D_j (z_j - z0_j)^2 / 2 ]
// (a tangent with some of the curvature left), and with the logarithm of a warp's slope, which is linear in z on every part of
// it, the log density of a row is at most a constant plus a sum of one-variable terms, each a concave parabola on every
// part. The same holds with rewards added to the density: they are linear in x on every segment of the costs. Any z0 gives a
// valid bound. The best one maximises the rest of the parabola, with the curvature P - D, plus the concave envelopes of the
// one-variable terms: that is sought from the last one on, by coordinate ascent and by Newton steps in the coordinates that are
// at no corner of their envelope.
class BlockBound {
 public:
  BlockBound(const GaussianBlock& block, std::vector<const Warp*> warps, const Domain& domain);

  struct Tangent {
    std::vector<double> at, gradient;  // z0, g
    std::vector<double> greatest;      // of each variable's term over the box
    std::vector<double> where;         // and the z at which that is
    double log_upper = 0;              // -infinity if no row of the box has a density
    bool settled = false;              // whether z0 is as good as it gets: it stays where it is then
  };
  Tangent tangent() const;  // with buffers of the right size, at the mean

  // The tangent and the greatest terms over a box; z0 goes on from where it is. Without rewards, of the density alone.
  void bound(const Box& box, const Rewards* rewards, Tangent& tangent) const;
  // The greatest term of variable i over low..high, and the z at which that is; -infinity if it has no density there.
  struct Best {
    double z, value;
  };
  Best best(const Tangent& tangent, const Rewards* rewards, std::size_t i, double low, double high) const;
  double greatest(const Tangent& tangent, const Rewards* rewards, std::size_t i, double low, double high) const;

  // By how much the tangent is above log N where its terms are greatest, and each variable's part in that.
  void gaps(const Tangent& tangent, std::vector<double>& of_variable) const;
  // Calls work(x, z, log slope) for corners of variable i's term over low..high: where parts of the warp and segments of the
  // costs meet (once for each), and points in between where they are wide.
  template <class Work>
  void each_corner(std::size_t i, double low, double high, const Work& work) const;

  const std::vector<double>& mean() const { return mean_; }
  double left(std::size_t i) const { return left_[i]; }
  double rest(std::size_t i, std::size_t k) const { return rest_[i * features_.size() + k]; }
  std::size_t count() const { return features_.size(); }
  std::size_t feature(std::size_t i) const { return features_[i]; }
  const Warp& warp(std::size_t i) const { return *warps_[i]; }

 private:
  // The upper hull of points of a term: its corners.
  struct Hull {
    std::vector<double> z, height;
    double slope(std::size_t k) const { return (height[k + 1] - height[k]) / (z[k + 1] - z[k]); }
  };
  // Calls work(from, to, anchor, height, rise): for z in from..to, log slope and reward are at most height + rise (z - anchor).
  template <class Work>
  void each_line(std::size_t i, double low, double high, const Rewards* rewards, double at, const Work& work) const;
  Hull hull(std::size_t i, const Range& range, const Rewards* rewards, double at) const;
  bool ascend(const Box& box, const Rewards* rewards, Tangent& tangent) const;
  void newton_step(const std::vector<Hull>& hulls, const std::vector<std::size_t>& edges, std::vector<double>& gradient,
                   Tangent& tangent) const;
  void fill_gradient(Tangent& tangent) const;
  double gradient_size(const std::vector<double>& z, std::size_t i) const;
  double farthest(std::size_t i, const Range& range, double at) const;

  const Domain& domain_;
  std::vector<std::size_t> features_;
  std::vector<const Warp*> warps_;
  std::vector<double> first_, last_;  // per variable: the numbers of its feature that have a density lie in first..last
  std::vector<double> mean_, precision_;
  std::vector<double> left_, rest_;  // D, and P - D
  double log_normaliser_;
  double condition_ = 1;  // of the correlations: by how much rounding may grow
};

template <class Work>
void BlockBound::each_corner(std::size_t i, double low, double high, const Work& work) const {
  const Warp& warp = *warps_[i];
  low = std::max(low, first_[i]);
  high = std::min(high, last_[i]);
  if (!(low <= high)) return;
  const std::size_t last = warp.part_of(high);
  for (std::size_t k = warp.part_of(low); k <= last; ++k) {
    const Warp::Part& part = warp.parts()[k];
    for (const Segment& segment : domain_.features[features_[i]].segments) {
      const double from = std::max({low, part.low, segment.low}), to = std::min({high, part.high, segment.high});
      if (!(from <= to)) continue;
      const double z_from = std::clamp(warp.at(from).z, part.z_low, part.z_high);
      const double z_to = std::clamp(warp.at(to).z, part.z_low, part.z_high);
      work(from, z_from, part.offset + part.rise * z_from);
      if (!(z_to > z_from)) continue;
      const int pieces = static_cast<int>(std::min(1 + (z_to - z_from) / tolerance::kWideTerm, tolerance::kMostCorners));
      for (int piece = 1; piece < pieces; ++piece) {
        const double z = z_from + (z_to - z_from) * piece / pieces;
        work(std::clamp(warp.inverse(z), from, to), z, part.offset + part.rise * z);
      }
      work(to, z_to, part.offset + part.rise * z_to);
    }
  }
}

}  // namespace likely::search
