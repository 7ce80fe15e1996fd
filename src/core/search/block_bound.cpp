#include "block_bound.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Whether a symmetric matrix less a diagonal has a Cholesky factor.
bool positive_without(const std::vector<double>& matrix, const std::vector<double>& diagonal) {
  const std::size_t count = diagonal.size();
  std::vector<double> factor(matrix.size());
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * count + j] - (i == j ? diagonal[i] : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i * count + k] * factor[j * count + k];
      if (i == j && !(sum > tolerance::kLeastFactorPivot * matrix[i * count + i])) return false;
      factor[i * count + j] = i == j ? std::sqrt(sum) : sum / factor[j * count + j];
    }
  }
  return true;
}

// A large diagonal D with P - D positive semidefinite. Of what is left, one coordinate alone could take 1 / (inverse)_ii (its
// Schur complement): all take a share of that in turn, a few times. Less if rounding has spoilt it.
std::vector<double> large_diagonal(const std::vector<double>& precision, std::vector<double> inverse, std::size_t count) {
  std::vector<double> diagonal(count, 0.0), column(count);
  for (int round = 0; round < tolerance::kDiagonalRounds; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      const double variance = inverse[i * count + i], taken = tolerance::kDiagonalShare / variance;
      diagonal[i] += taken;
      for (std::size_t k = 0; k < count; ++k) column[k] = inverse[k * count + i];
      const double scale = taken / (1 - tolerance::kDiagonalShare);
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b) inverse[a * count + b] += scale * column[a] * column[b];
    }
  }
  for (double& one : diagonal) one *= 1 - tolerance::kCurvatureCaution;
  for (int halving = 0; halving < tolerance::kDiagonalHalvings; ++halving) {
    if (positive_without(precision, diagonal)) return diagonal;
    for (double& one : diagonal) one /= 2;
  }
  return std::vector<double>(count, 0.0);
}

// No number of a feature between an end of a warp and these has a density. Near an end densities may grow without limit: where
// numbers have a grid, it matters that none of them is nearer.
double first_above(const Feature& f, double end) {
  const double next = std::nextafter(end, kInf);
  const auto cell = static_cast<std::size_t>(std::lower_bound(f.high.begin(), f.high.end(), next) - f.high.begin());
  if (cell == f.low.size()) return next;
  return std::max(next, f.low[cell] >= next ? f.low[cell] : std::min(f.up_to_grid(next), f.high[cell]));
}

double last_below(const Feature& f, double end) {
  const double next = std::nextafter(end, -kInf);
  const auto above = static_cast<std::size_t>(std::upper_bound(f.low.begin(), f.low.end(), next) - f.low.begin());
  if (above == 0) return next;
  return std::min(next, f.high[above - 1] <= next ? f.high[above - 1] : std::max(f.down_to_grid(next), f.low[above - 1]));
}

}  // namespace

BlockBound::BlockBound(const GaussianBlock& block, std::vector<const Warp*> warps, const Domain& domain)
    : domain_(domain),
      warps_(std::move(warps)),
      mean_(block.mean()),
      precision_(block.precision()),
      left_(large_diagonal(precision_, block.covariance(), mean_.size())),
      log_normaliser_(block.log_normaliser()) {
  for (const std::int32_t j : block.variables()) features_.push_back(static_cast<std::size_t>(j));
  assert(warps_.size() == features_.size() && features_.back() < domain.features.size());
  for (std::size_t i = 0; i < features_.size(); ++i) {
    first_.push_back(first_above(domain.features[features_[i]], warps_[i]->lower()));
    last_.push_back(last_below(domain.features[features_[i]], warps_[i]->upper()));
  }
  const std::vector<double> covariance = block.covariance();
  const std::size_t count = features_.size();
  rest_ = precision_;
  for (std::size_t i = 0; i < count; ++i) rest_[i * count + i] -= left_[i];
  for (std::size_t i = 0; i < count; ++i)
    condition_ = std::max(condition_, static_cast<double>(count) * precision_[i * count + i] * covariance[i * count + i]);
}

BlockBound::Tangent BlockBound::tangent() const {
  const std::vector<double> room(mean_.size());
  return {mean_, room, room, room, 0, false};
}

void BlockBound::fill_gradient(Tangent& tangent) const {
  const std::size_t count = mean_.size();
  for (std::size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += precision_[i * count + k] * (mean_[k] - tangent.at[k]);
    tangent.gradient[i] = sum;
  }
}

// The sizes of the terms of the gradient.
double BlockBound::gradient_size(const std::vector<double>& z, std::size_t i) const {
  double sum = 0;
  for (std::size_t k = 0; k < mean_.size(); ++k) sum += std::abs(precision_[i * mean_.size() + k] * (mean_[k] - z[k]));
  return sum;
}

// How far from z0 the box goes, as far as it matters: what is several deviations further away has no density to speak of.
double BlockBound::farthest(std::size_t i, const Range& range, double at) const {
  double most = std::abs(mean_[i] - at);
  for (const double x : {range.low, range.high}) {
    const Warp::Point point = warps_[i]->at(x);
    if (point.log_slope > -kInf) most = std::max(most, std::abs(point.z - at));
  }
  return most;
}

// In tails a reward is bent in z: a line through its ends is over it where it is convex, and a tangent where it is concave.
template <class Work>
void BlockBound::each_line(std::size_t i, double low, double high, const Rewards* rewards, double at, const Work& work) const {
  const Warp& warp = *warps_[i];
  const std::size_t j = features_[i];
  const Feature& f = domain_.features[j];
  low = std::max(low, first_[i]);
  high = std::min(high, last_[i]);
  if (!(low <= high)) return;
  const std::size_t last = warp.part_of(high);
  for (std::size_t k = warp.part_of(low); k <= last; ++k) {
    const Warp::Part& part = warp.parts()[k];
    auto z_of = [&](double x) {
      if (x == part.low) return part.z_low;
      if (x == part.high) return part.z_high;
      const Warp::Point point = warp.at(x);
      return point.log_slope > -kInf ? std::clamp(point.z, part.z_low, part.z_high) : part.bend < 0 ? part.z_high : part.z_low;
    };
    const double a = std::max(low, part.low), b = std::min(high, part.high);
    if (a > b) continue;
    const double z_a = z_of(a), z_b = z_of(b);
    if (rewards == nullptr) {
      work(z_a, z_b, 0.0, part.offset, part.rise);
      continue;
    }
    for (const Segment& segment : f.segments) {
      const double low_end = std::max(a, segment.low), high_end = std::min(b, segment.high);
      if (low_end > high_end) continue;
      rewards->each_line_less(j, low_end, high_end, [&](double from, double to, double less_from, double less_to) {
        const double z_from = from == a ? z_a : z_of(from), z_to = to == b ? z_b : z_of(to);
        const double at_from = rewards->number(f, j, segment, from), at_to = rewards->number(f, j, segment, to);
        const bool concave = part.bend != 0 && (at_to - at_from) * part.bend < 0;
        if (!(z_to > z_from)) {
          const double most = std::max(at_from, at_to) - std::min(less_from, less_to);
          work(z_from, z_from, z_from, part.offset + part.rise * z_from + most, part.rise);
          return;
        }
        const double less_rise = (less_to - less_from) / (z_to - z_from);
        if (!concave) {
          const double rise = (at_to - at_from) / (z_to - z_from) - less_rise;
          work(z_from, z_to, z_from, part.offset + part.rise * z_from + at_from - less_from, part.rise + rise);
          return;
        }
        const double touch = std::clamp(at, z_from, z_to), x = std::clamp(warp.inverse(touch), from, to);
        const Warp::Point point = warp.at(x);
        const double height = rewards->number(f, j, segment, x) - less_from - less_rise * (point.z - z_from);
        const double rise = (at_to - at_from) / (to - from) * std::exp(-point.log_slope) - less_rise;
        work(z_from, z_to, point.z, part.offset + part.rise * point.z + height, part.rise + rise);
      });
    }
  }
}

// Where gradient (z - at) - D (z - at)^2 / 2 + log slope + reward is greatest for x in low..high: on each line at the vertex, or
// at the end next to it.
BlockBound::Best BlockBound::best(const Tangent& tangent, const Rewards* rewards, std::size_t i, double low, double high) const {
  const double at = tangent.at[i], gradient = tangent.gradient[i], curvature = left_[i];
  Best best{at, -kInf};
  each_line(i, low, high, rewards, at, [&](double from, double to, double anchor, double height, double rise) {
    const double vertex = curvature > 0 ? at + (gradient + rise) / curvature : gradient + rise > 0 ? to : from;
    const double z = vertex <= from ? from : vertex >= to ? to : vertex;
    const double away = z - at, value = gradient * away - 0.5 * curvature * away * away + height + rise * (z - anchor);
    if (value > best.value) best = {z, value};
  });
  return best;
}

double BlockBound::greatest(const Tangent& tangent, const Rewards* rewards, std::size_t i, double low, double high) const {
  return best(tangent, rewards, i, low, high).value;
}

// Of log slope and reward less the curvature that is left, by which wide lines are bent: so they have points in between, too.
BlockBound::Hull BlockBound::hull(std::size_t i, const Range& range, const Rewards* rewards, double at) const {
  Hull made;
  auto add = [&](double z, double height) {
    height -= 0.5 * left_[i] * (z - mean_[i]) * (z - mean_[i]);
    if (!made.z.empty() && z <= made.z.back()) {
      if (height <= made.height.back()) return;
      made.z.pop_back();
      made.height.pop_back();
    }
    while (made.z.size() >= 2) {
      const std::size_t last = made.z.size() - 1;
      if (made.slope(last - 1) > (height - made.height[last]) / (z - made.z[last])) break;
      made.z.pop_back();
      made.height.pop_back();
    }
    made.z.push_back(z);
    made.height.push_back(height);
  };
  each_line(i, range.low, range.high, rewards, at, [&](double from, double to, double anchor, double height, double rise) {
    add(from, height + rise * (from - anchor));
    const int parts = static_cast<int>(std::min((to - from) / tolerance::kWideLine, tolerance::kMostCorners));
    for (int k = 1; k < parts; ++k) {
      const double z = from + (to - from) * k / parts;
      add(z, height + rise * (z - anchor));
    }
    if (to > from) add(to, height + rise * (to - anchor));
  });
  return made;
}

// Solves for the coordinates that are inside an edge of their hull, the others staying where they are, and goes there as far as
// all stay on their edges.
void BlockBound::newton_step(const std::vector<Hull>& hulls, const std::vector<std::size_t>& edges, std::vector<double>& gradient,
                             Tangent& tangent) const {
  const std::size_t count = mean_.size();
  std::vector<std::size_t> inside;
  for (std::size_t i = 0; i < count; ++i)
    if (edges[i] + 1 < hulls[i].z.size() && tangent.at[i] > hulls[i].z[edges[i]] && tangent.at[i] < hulls[i].z[edges[i] + 1])
      inside.push_back(i);
  const std::size_t size = inside.size();
  if (size < 2) return;
  std::vector<double> factor(size * size), step(size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = rest_[inside[a] * count + inside[b]];
      if (a == b) sum += tolerance::kRidge * precision_[inside[a] * count + inside[a]];
      for (std::size_t k = 0; k < b; ++k) sum -= factor[a * size + k] * factor[b * size + k];
      if (a == b && !(sum > 0)) return;
      factor[a * size + b] = a == b ? std::sqrt(sum) : sum / factor[b * size + b];
    }
    double sum = gradient[inside[a]] + hulls[inside[a]].slope(edges[inside[a]]);
    for (std::size_t k = 0; k < a; ++k) sum -= factor[a * size + k] * step[k];
    step[a] = sum / factor[a * size + a];
  }
  double share = 1;
  for (std::size_t a = size; a-- > 0;) {
    for (std::size_t k = a + 1; k < size; ++k) step[a] -= factor[k * size + a] * step[k];
    step[a] /= factor[a * size + a];
    const Hull& hull = hulls[inside[a]];
    const double room = hull.z[edges[inside[a]] + (step[a] > 0 ? 1 : 0)] - tangent.at[inside[a]];
    if (std::abs(room) < std::abs(step[a])) share = std::min(share, room / step[a]);
  }
  for (std::size_t a = 0; a < size; ++a) {
    tangent.at[inside[a]] += share * step[a];
    for (std::size_t k = 0; k < count; ++k) gradient[k] -= rest_[k * count + inside[a]] * share * step[a];
  }
}

// False if no number of some feature has a density.
bool BlockBound::ascend(const Box& box, const Rewards* rewards, Tangent& tangent) const {
  const std::size_t count = features_.size();
  std::vector<Hull> hulls;
  std::vector<std::size_t> edges(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    hulls.push_back(hull(i, box.range[features_[i]], rewards, tangent.at[i]));
    if (hulls[i].z.empty()) return false;
    tangent.at[i] = std::clamp(tangent.at[i], hulls[i].z.front(), hulls[i].z.back());
  }
  std::vector<double> gradient(count, 0.0);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < count; ++k) gradient[i] += rest_[i * count + k] * (mean_[k] - tangent.at[k]);
  for (int round = 0; round < tolerance::kTangentRounds; ++round) {
    double moved = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Hull& hull = hulls[i];
      const double at = tangent.at[i], curvature = rest_[i * count + i];
      // The first edge at whose upper end the function no longer rises.
      std::size_t first = 0, last = hull.z.size() - 1;
      while (first < last) {
        const std::size_t middle = (first + last) / 2;
        if (gradient[i] - curvature * (hull.z[middle + 1] - at) + hull.slope(middle) > 0)
          first = middle + 1;
        else
          last = middle;
      }
      edges[i] = first;
      double z = hull.z[first];
      if (first + 1 < hull.z.size()) {
        const double rise = gradient[i] + hull.slope(first);
        z = curvature > 0 ? std::clamp(at + rise / curvature, hull.z[first], hull.z[first + 1])
                          : hull.z[first + (rise > 0 ? 1 : 0)];
      }
      const double step = z - at;
      if (step == 0) continue;
      tangent.at[i] = z;
      for (std::size_t k = 0; k < count; ++k) gradient[k] -= rest_[k * count + i] * step;
      moved = std::max(moved, std::abs(step) * std::sqrt(precision_[i * count + i]));
    }
    if (moved < tolerance::kTangentStep) break;
    newton_step(hulls, edges, gradient, tangent);
  }
  return true;
}

void BlockBound::bound(const Box& box, const Rewards* rewards, Tangent& tangent) const {
  const std::size_t count = features_.size();
  tangent.log_upper = -kInf;
  for (std::size_t i = 0; i < count; ++i) {
    const Range& range = box.range[features_[i]];
    if (range.empty() || !(range.low <= last_[i] && range.high >= first_[i])) return;
  }
  if (!tangent.settled && !ascend(box, rewards, tangent)) return;
  double quadratic = 0, total = 0, size = 1 + std::abs(log_normaliser_);
  fill_gradient(tangent);
  for (std::size_t i = 0; i < count; ++i) quadratic += (mean_[i] - tangent.at[i]) * tangent.gradient[i];
  for (std::size_t i = 0; i < count; ++i) {
    const Range& range = box.range[features_[i]];
    const Best most = best(tangent, rewards, i, range.low, range.high);
    if (most.value == -kInf) return;
    tangent.greatest[i] = most.value;
    tangent.where[i] = most.z;
    total += most.value;
    size += std::abs(most.value) + farthest(i, range, tangent.at[i]) * gradient_size(tangent.at, i);
  }
  const double rounding = tolerance::kRoundoff * static_cast<double>(count) * condition_ * size;
  tangent.log_upper = total - 0.5 * quadratic - log_normaliser_ + rounding;
}

void BlockBound::gaps(const Tangent& tangent, std::vector<double>& of_variable) const {
  const std::size_t count = mean_.size();
  of_variable.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const double away = tangent.where[i] - tangent.at[i];
    if (away == 0) continue;
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += rest_[i * count + k] * (tangent.where[k] - tangent.at[k]);
    of_variable[i] = 0.5 * std::abs(sum * away);
  }
}

}  // namespace likely::search
