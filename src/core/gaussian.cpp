#include "gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace likely {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::size_t row_start(std::size_t i) { return i * (i + 1) / 2; }

double log_root_2pi() {
  static const double log = 0.5 * std::log(2 * std::numbers::pi);
  return log;
}

// A value without any density, or too far away for doubles, has log density -infinity, never NaN.
double log_or_never(double log) { return log > -kInf ? log : -kInf; }

}  // namespace

Warp::Warp(std::vector<double> knots, std::vector<double> values, double lower, double upper)
    : knots_(std::move(knots)), values_(std::move(values)), lower_(lower), upper_(upper) {
  if (knots_.size() < 2 || values_.size() != knots_.size() || !(lower_ < knots_.front()) || !(knots_.back() < upper_))
    throw std::invalid_argument("a warp needs two knots inside its domain, and a value for each");
  for (std::size_t k = 0; k + 1 < knots_.size(); ++k) {
    const double slope = (values_[k + 1] - values_[k]) / (knots_[k + 1] - knots_[k]);
    if (!(knots_[k] < knots_[k + 1]) || !(slope > 0) || !std::isfinite(slope))
      throw std::invalid_argument("knots and values of a warp must increase");
    slope_.push_back(slope);
    log_slope_.push_back(std::log(slope));
  }
  add_tail(false);
  std::reverse(parts_.begin(), parts_.end());
  for (std::size_t k = 0; k + 1 < knots_.size(); ++k)
    parts_.push_back({knots_[k], knots_[k + 1], values_[k], values_[k + 1], slope_[k], log_slope_[k], 0, 0});
  add_tail(true);
}

Warp::Point Warp::at(double x) const {
  if (std::isnan(x)) return {x, 0};
  if (x <= lower_ || x >= upper_) return {0, -kInf};
  if (x >= knots_.front() && x < knots_.back()) {
    const std::size_t k = std::upper_bound(knots_.begin(), knots_.end(), x) - knots_.begin() - 1;
    return {values_[k] + slope_[k] * (x - knots_[k]), log_slope_[k]};
  }
  const bool above = x >= knots_.back();
  const double sign = above ? 1 : -1, knot = above ? knots_.back() : knots_.front();
  const double value = above ? values_.back() : values_.front(), slope = above ? slope_.back() : slope_.front();
  const double log_slope = above ? log_slope_.back() : log_slope_.front();
  const double width = above ? upper_ - knot : knot - lower_, beyond = sign * (x - knot);
  if (width == kInf) return {value + sign * slope * beyond, log_slope};
  const double log_left = std::log1p(-beyond / width);
  if (log_left == -kInf) return {0, -kInf};
  return {value - sign * slope * width * log_left, log_slope - log_left};
}

// Outwards from the outermost knot: what is left of the domain is halved so often, then comes the rest.
void Warp::add_tail(bool above) {
  constexpr int kHalvings = 5;
  constexpr double kMostHalvings = 37;  // beyond, 1 - (x - knot) / width is 0 to doubles, and so is the density
  const double sign = above ? 1 : -1, knot = above ? knots_.back() : knots_.front();
  const double value = above ? values_.back() : values_.front(), slope = above ? slope_.back() : slope_.front();
  const double log_slope = above ? log_slope_.back() : log_slope_.front();
  const double width = above ? upper_ - knot : knot - lower_;
  if (width == kInf) {
    parts_.push_back(above ? Part{knot, kInf, value, kInf, slope, log_slope, 0, 0}
                           : Part{-kInf, knot, -kInf, value, slope, log_slope, 0, 0});
    return;
  }
  const double end = above ? upper_ : lower_;
  if (std::nextafter(knot, end) == end) {  // no double lies between: the steepness there is nobody's, and may be no double itself
    parts_.push_back(above ? Part{knot, end, value, value, slope, log_slope, 0, 0}
                           : Part{end, knot, value, value, slope, log_slope, 0, 0});
    return;
  }
  const double rise = sign / (slope * width);
  auto add = [&](double from, double z_from, double to, double z_to) {
    parts_.push_back(above ? Part{from, to, z_from, z_to, slope, log_slope - rise * value, rise, -1}
                           : Part{to, from, z_to, z_from, slope, log_slope - rise * value, rise, 1});
  };
  double from = knot, z_from = value;
  for (int halving = 0; halving < kHalvings; ++halving) {
    const double to = from + (end - from) / 2;
    if (to == from || to == end) break;
    add(from, z_from, to, at(to).z);
    from = to;
    z_from = at(to).z;
  }
  add(from, z_from, end, value + sign * kMostHalvings * slope * width);
}

std::size_t Warp::part_of(double x) const {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), x, [](double v, const Part& part) { return v < part.low; });
  return after == parts_.begin() ? 0 : static_cast<std::size_t>(after - parts_.begin()) - 1;
}

double Warp::inverse(double z) const {
  if (z >= values_.front() && z < values_.back()) {
    const std::size_t k = std::upper_bound(values_.begin(), values_.end(), z) - values_.begin() - 1;
    return knots_[k] + (z - values_[k]) / slope_[k];
  }
  const bool above = z >= values_.back();
  const double sign = above ? 1 : -1, knot = above ? knots_.back() : knots_.front();
  const double beyond = sign * (z - (above ? values_.back() : values_.front())), slope = above ? slope_.back() : slope_.front();
  const double width = above ? upper_ - knot : knot - lower_;
  return knot + sign * (width == kInf ? beyond / slope : -width * std::expm1(-beyond / (slope * width)));
}

GaussianBlock::GaussianBlock(std::vector<std::int32_t> variables, std::vector<std::size_t> warp, std::vector<double> mean,
                             std::vector<double> factor)
    : variables_(std::move(variables)), warp_(std::move(warp)), mean_(std::move(mean)), factor_(std::move(factor)) {
  const std::size_t count = variables_.size();
  if (count == 0 || warp_.size() != count || mean_.size() != count || factor_.size() != row_start(count))
    throw std::invalid_argument("a block needs a warp, a mean and a row of its factor per variable");
  for (std::size_t i = 0; i < count; ++i) {
    const double diagonal = factor_[row_start(i) + i];
    if (!(diagonal > 0)) throw std::invalid_argument("the factor of a block must have a positive diagonal");
    log_normaliser_ += std::log(diagonal) + log_root_2pi();
  }
}

std::vector<double> GaussianBlock::covariance() const {
  const std::size_t count = mean_.size();
  std::vector<double> product(count * count, 0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t k = 0; k <= std::min(a, b); ++k)
        product[a * count + b] += factor_[row_start(a) + k] * factor_[row_start(b) + k];
  return product;
}

std::vector<double> GaussianBlock::precision() const {
  const std::size_t count = mean_.size();
  std::vector<double> inverse(count * count, 0);  // of the factor, column by column
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t i = c; i < count; ++i) {
      double sum = i == c ? 1 : 0;
      for (std::size_t k = c; k < i; ++k) sum -= factor_[row_start(i) + k] * inverse[c * count + k];
      inverse[c * count + i] = sum / factor_[row_start(i) + i];
    }
  }
  std::vector<double> product(count * count, 0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t k = std::max(a, b); k < count; ++k)
        product[a * count + b] += inverse[a * count + k] * inverse[b * count + k];
  return product;
}

void GaussianBlock::log_density(const double* z, const double* log_slope, std::size_t lanes, double* whitened,
                                double* out) const {
  // Forward substitution, L y = z - mean, all lanes side by side; out gathers sum log T' - |y|^2 / 2.
  std::fill(out, out + lanes, -log_normaliser_);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double *in = z + warp_[i] * lanes, *slope = log_slope + warp_[i] * lanes, *row = factor_.data() + row_start(i);
    double* y = whitened + i * lanes;
    for (std::size_t r = 0; r < lanes; ++r) y[r] = in[r] - mean_[i];
    for (std::size_t k = 0; k < i; ++k) {
      const double* before = whitened + k * lanes;
      for (std::size_t r = 0; r < lanes; ++r) y[r] -= row[k] * before[r];
    }
    for (std::size_t r = 0; r < lanes; ++r) {
      y[r] /= row[i];
      out[r] += slope[r] - 0.5 * y[r] * y[r];
    }
  }
  for (std::size_t r = 0; r < lanes; ++r) out[r] = log_or_never(out[r]);
}

double GaussianBlock::log_marginal(const double* z, const double* log_slope, std::size_t lanes, Marginal& marginal) const {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < warp_.size(); ++i)
    if (!std::isnan(z[warp_[i] * lanes])) known.push_back(i);
  if (known != marginal.known) {
    marginal.known = std::move(known);
    make(marginal);
  }
  double log = -marginal.log_normaliser;
  std::vector<double> whitened(marginal.known.size());
  for (std::size_t a = 0; a < whitened.size(); ++a) {
    const std::size_t i = marginal.known[a];
    const double* row = marginal.factor.data() + row_start(a);
    double y = z[warp_[i] * lanes] - mean_[i];
    for (std::size_t b = 0; b < a; ++b) y -= row[b] * whitened[b];
    whitened[a] = y / row[a];
    log += log_slope[warp_[i] * lanes] - 0.5 * whitened[a] * whitened[a];
  }
  return log_or_never(log);
}

// The Cholesky factor of the known variables' part of the covariance.
void GaussianBlock::make(Marginal& marginal) const {
  const std::size_t count = marginal.known.size();
  marginal.factor.assign(row_start(count), 0);
  marginal.log_normaliser = 0;
  for (std::size_t a = 0; a < count; ++a) {
    double* row = marginal.factor.data() + row_start(a);
    const double* in_a = factor_.data() + row_start(marginal.known[a]);
    for (std::size_t b = 0; b <= a; ++b) {
      const double *in_b = factor_.data() + row_start(marginal.known[b]), *row_b = marginal.factor.data() + row_start(b);
      double sum = 0;
      for (std::size_t k = 0; k <= marginal.known[b]; ++k) sum += in_a[k] * in_b[k];
      for (std::size_t k = 0; k < b; ++k) sum -= row[k] * row_b[k];
      row[b] = a == b ? std::sqrt(sum) : sum / row_b[b];
    }
    marginal.log_normaliser += std::log(row[a]) + log_root_2pi();
  }
}

}  // namespace likely
