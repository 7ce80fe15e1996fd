#include "smoothed_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"

namespace likely::search {

void PartTerms::reset(std::size_t count, std::size_t price_count) {
  coordinates = count;
  prices = price_count;
  rest.assign(count * count, 0.0);
  per_price.assign(price_count, 0.0);
  terms.clear();
  for (std::vector<double>* each : {&height, &z, &value, &gain}) each->clear();
}

void PartTerms::begin(std::size_t feature, std::ptrdiff_t coordinate) {
  terms.push_back({height.size(), height.size(), feature, coordinate});
}

double* PartTerms::add(double height_of, double z_of, double value_of) {
  height.push_back(height_of);
  z.push_back(z_of);
  value.push_back(value_of);
  gain.resize(gain.size() + prices);
  terms.back().last = height.size();
  return gain.data() + gain.size() - prices;
}

namespace {

// In place: the lower factor of a positive definite matrix; false if it is none.
bool factorise(std::vector<double>& matrix, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    double* row = matrix.data() + i * count;
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = matrix.data() + j * count;
      double sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (i == j && !(sum > 0)) return false;
      row[j] = i == j ? std::sqrt(sum) : sum / other[j];
    }
  }
  return true;
}

void solve(const std::vector<double>& factor, std::size_t count, double* x) {
  for (std::size_t i = 0; i < count; ++i) {
    double sum = x[i];
    for (std::size_t k = 0; k < i; ++k) sum -= factor[i * count + k] * x[k];
    x[i] = sum / factor[i * count + i];
  }
  for (std::size_t i = count; i-- > 0;) {
    double sum = x[i];
    for (std::size_t k = i + 1; k < count; ++k) sum -= factor[k * count + i] * x[k];
    x[i] = sum / factor[i * count + i];
  }
}

}  // namespace

// The smoothed F, its moments and its slope by the prices.
double SmoothedPrices::evaluate(const PartTerms& t, double temperature, const std::vector<double>& point,
                                const std::vector<double>& prices) {
  const std::size_t n = t.coordinates, q = t.prices;
  double value = 0;
  point_ = point;
  pull_.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) pull_[i] += t.rest[i * n + k] * point[k];
  for (std::size_t i = 0; i < n; ++i) value += 0.5 * point[i] * pull_[i];
  price_slope_.assign(q, 0.0);
  left_over_.assign(q * q, 0.0);
  for (std::size_t a = 0; a < q; ++a) {
    value += t.per_price[a] * prices[a] - temperature * std::log(prices[a]);
    price_slope_[a] = t.per_price[a] - temperature / prices[a];
    left_over_[a * q + a] = temperature / (prices[a] * prices[a]);
  }
  mean_z_.assign(n, 0.0);
  variance_.assign(n, 0.0);
  regression_.assign(n * q, 0.0);
  mean_value_.resize(t.terms.size());
  mean_height_.resize(t.terms.size());
  weight_.resize(t.height.size());
  std::vector<double> mean(q), covariance(q), among(q * q);
  for (std::size_t place = 0; place < t.terms.size(); ++place) {
    const PartTerms::Term& term = t.terms[place];
    const double pull = term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] : 0;
    double most = -std::numeric_limits<double>::infinity(), sum = 0, mean_height = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      double here = t.height[k] - pull * t.z[k];
      for (std::size_t a = 0; a < q; ++a) here += prices[a] * t.gain[k * q + a];
      weight_[k] = here;
      most = std::max(most, here);
    }
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double below = weight_[k] - most;
      sum += weight_[k] = std::exp(below / temperature);
      mean_height += weight_[k] * below;
    }
    mean_height_[place] = most + mean_height / sum;
    value += most + temperature * std::log(sum);
    double mean_z = 0, mean_value = 0, variance = 0;
    std::fill(mean.begin(), mean.end(), 0.0);
    std::fill(covariance.begin(), covariance.end(), 0.0);
    std::fill(among.begin(), among.end(), 0.0);
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double w = weight_[k] /= sum;
      mean_z += w * t.z[k];
      mean_value += w * t.value[k];
      for (std::size_t a = 0; a < q; ++a) mean[a] += w * t.gain[k * q + a];
    }
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double w = weight_[k], away = t.z[k] - mean_z;
      if (w < tolerance::kLeastWeight) continue;
      variance += w * away * away;
      for (std::size_t a = 0; a < q; ++a) {
        const double other = t.gain[k * q + a] - mean[a];
        covariance[a] += w * away * other;
        for (std::size_t b = 0; b <= a; ++b) among[a * q + b] += w * other * (t.gain[k * q + b] - mean[b]);
      }
    }
    mean_value_[place] = mean_value;
    if (term.coordinate >= 0) {
      const auto i = static_cast<std::size_t>(term.coordinate);
      mean_z_[i] = mean_z;
      variance_[i] = variance = std::max(variance, tolerance::kLeastSpread);
      for (std::size_t a = 0; a < q; ++a) regression_[i * q + a] = covariance[a] / variance;
    } else {
      std::fill(covariance.begin(), covariance.end(), 0.0);
      variance = 1;
    }
    for (std::size_t a = 0; a < q; ++a) {
      price_slope_[a] += mean[a];
      for (std::size_t b = 0; b <= a; ++b)
        left_over_[a * q + b] += (among[a * q + b] - covariance[a] * covariance[b] / variance) / temperature;
    }
  }
  return value;
}

double SmoothedPrices::height_of(const PartTerms::Term& term, double height, double z, const double* gains,
                                 const std::vector<double>& prices) const {
  double sum = height - (term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] * z : 0);
  for (std::size_t a = 0; a < prices.size(); ++a) sum += prices[a] * gains[a];
  return sum;
}

double SmoothedPrices::best_value(const PartTerms& t, const PartTerms::Term& term) const {
  const auto begin = weight_.begin();
  const auto best =
      std::max_element(begin + static_cast<std::ptrdiff_t>(term.first), begin + static_cast<std::ptrdiff_t>(term.last));
  return t.value[static_cast<std::size_t>(best - begin)];
}

// Newton's step, with the point eliminated: (R + temperature / variance) move = right-hand side, for the point and each price.
bool SmoothedPrices::direction(const PartTerms& t, std::size_t fixed, double temperature) {
  const std::size_t n = t.coordinates, q = t.prices;
  factor_ = t.rest;
  solved_.assign((q + 1) * n, 0.0);
  deviation_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double stiff = temperature / variance_[i];
    factor_[i * n + i] += stiff;
    deviation_[i] = point_[i] - mean_z_[i];
    solved_[i] = -stiff * deviation_[i];
    for (std::size_t a = 0; a < q; ++a) solved_[(1 + a) * n + i] = regression_[i * q + a];
  }
  if (n > 0 && !factorise(factor_, n)) return false;
  for (std::size_t a = 0; a <= q; ++a) solve(factor_, n, solved_.data() + a * n);
  std::vector<double> small(q * q);
  price_move_.assign(q, 0.0);
  for (std::size_t a = 0; a < q; ++a) {
    double right = -price_slope_[a];
    for (std::size_t i = 0; i < n; ++i) right -= regression_[i * q + a] * (deviation_[i] + solved_[i]);
    price_move_[a] = a < fixed ? 0 : right;
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = left_over_[a * q + b];
      for (std::size_t i = 0; i < n; ++i) sum += regression_[i * q + a] * solved_[(1 + b) * n + i];
      small[a * q + b] = small[b * q + a] = a < fixed || b < fixed ? (a == b ? 1.0 : 0.0) : sum;
    }
    small[a * q + a] *= 1 + tolerance::kRidge;
  }
  if (!factorise(small, q)) return false;
  solve(small, q, price_move_.data());
  move_.assign(solved_.begin(), solved_.begin() + static_cast<std::ptrdiff_t>(n));
  for (std::size_t a = 0; a < q; ++a)
    for (std::size_t i = 0; i < n; ++i) move_[i] += price_move_[a] * solved_[(1 + a) * n + i];
  return true;
}

// Of F along the step.
double SmoothedPrices::slope(const PartTerms& t) const {
  const std::size_t n = t.coordinates;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) sum += move_[i] * t.rest[i * n + k] * deviation_[k];
  for (std::size_t a = 0; a < t.prices; ++a) sum += price_move_[a] * price_slope_[a];
  return sum;
}

// The temperature, from a low one up, at which Newton's step promises no more than it can keep.
double SmoothedPrices::warmed(const PartTerms& t, std::size_t fixed, double temperature, const std::vector<double>& point,
                              const std::vector<double>& prices) {
  for (; temperature < tolerance::kFirstTemperature; temperature /= tolerance::kCooling) {
    evaluate(t, temperature, point, prices);
    if (direction(t, fixed, temperature) && slope(t) > -tolerance::kTrustedFall * temperature) return temperature;
  }
  return temperature;
}

void SmoothedPrices::lower(const PartTerms& t, std::size_t fixed, double temperature, std::vector<double>& point,
                           std::vector<double>& prices) {
  std::vector<double> next_point(point), next_prices(prices);
  temperature = warmed(t, fixed, temperature, point, prices);
  for (;; temperature = std::max(temperature * tolerance::kCooling, tolerance::kLeastTemperature)) {
    double value = evaluate(t, temperature, point, prices);
    for (int step = 0; step < tolerance::kNewtonSteps; ++step) {
      if (!direction(t, fixed, temperature)) return;
      const double fall = slope(t);
      if (!(fall < -tolerance::kNewtonGain * temperature)) break;
      double share = 1;
      for (std::size_t a = 0; a < t.prices; ++a)
        if (price_move_[a] < 0) share = std::min(share, -tolerance::kTowardsZero * prices[a] / price_move_[a]);
      const std::vector<double> move = move_, price_move = price_move_;
      double reached = std::numeric_limits<double>::infinity();
      for (int halving = 0; halving < tolerance::kNewtonHalvings; ++halving, share /= 2) {
        for (std::size_t i = 0; i < point.size(); ++i) next_point[i] = point[i] + share * move[i];
        for (std::size_t a = 0; a < prices.size(); ++a) next_prices[a] = prices[a] + share * price_move[a];
        reached = evaluate(t, temperature, next_point, next_prices);
        if (reached <= value + tolerance::kKeptFall * share * fall) break;
      }
      if (!(reached < value)) {
        evaluate(t, temperature, point, prices);
        break;
      }
      point.swap(next_point);
      prices.swap(next_prices);
      value = reached;
    }
    if (temperature <= tolerance::kLeastTemperature) return;
  }
}

}  // namespace likely::search
