#include "smoothed_prices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../clones.hpp"
#include "../tolerances.hpp"

namespace likely::search {

namespace {

LIKELY_CLONES void add_multiple(double* sum, const double* value, double by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += by * value[i];
}

// In place: the upper factor U of a positive definite matrix U'U, row by row; false if it is none.
bool factorise(std::vector<double>& matrix, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    double* row = matrix.data() + k * count;
    if (!(row[k] > 0)) return false;
    const double scale = 1 / std::sqrt(row[k]);
    for (std::size_t i = k; i < count; ++i) row[i] *= scale;
    for (std::size_t i = k + 1; i < count; ++i) add_multiple(matrix.data() + i * count + i, row + i, -row[i], count - i);
  }
  return true;
}

// Solves for several right-hand sides at once, x[unknown][side].
void solve(const std::vector<double>& factor, std::size_t count, std::size_t sides, double* x) {
  auto divide = [&](std::size_t i) {
    const double by = 1 / factor[i * count + i];
    for (std::size_t side = 0; side < sides; ++side) x[i * sides + side] *= by;
  };
  for (std::size_t i = 0; i < count; ++i) {
    divide(i);
    for (std::size_t k = i + 1; k < count; ++k) add_multiple(x + k * sides, x + i * sides, -factor[i * count + k], sides);
  }
  for (std::size_t i = count; i-- > 0;) {
    for (std::size_t k = i + 1; k < count; ++k) add_multiple(x + i * sides, x + k * sides, -factor[i * count + k], sides);
    divide(i);
  }
}

}  // namespace

// The smoothed F, its moments and its slope by the prices.
double SmoothedPrices::evaluate(const PartTerms& t, double temperature, const std::vector<double>& point,
                                const std::vector<double>& prices) {
  const std::size_t n = t.coordinates, q = t.all_prices();
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
  mean_rows_.assign(t.rows, 0.0);
  for (std::vector<double>* each : {&mean_value_, &mean_height_, &mean_lever_}) each->resize(t.terms.size());
  weight_.resize(t.height.size());
  for (std::size_t place = 0; place < t.terms.size(); ++place) {
    const PartTerms::Term& term = t.terms[place];
    const double pull = term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] : 0;
    const std::size_t levers = t.rows > 0 ? t.lines[place].levers : 0;
    part_.assign(levers, 0.0);  // of the rows' prices in each lever
    for (std::size_t i = 0; levers > 0 && i < t.lines[place].rows.size(); ++i)
      for (std::size_t l = 0; l < levers; ++l)
        part_[l] += prices[t.prices + t.lines[place].rows[i]] * t.lines[place].line[i * levers + l];
    double most = -std::numeric_limits<double>::infinity(), sum = 0, mean_height = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      double here = t.height[k] - pull * t.z[k];
      for (std::size_t a = 0; a < t.prices; ++a) here += prices[a] * t.gain[k * t.prices + a];
      for (std::size_t l = 0; l < levers; ++l) here += part_[l] * t.lines[place].lever[(k - term.first) * levers + l];
      weight_[k] = here;
      most = std::max(most, here);
    }
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double below = weight_[k] - most;
      weight_[k] = below < tolerance::kLeastLogWeight * temperature ? 0 : std::exp(below / temperature);
      sum += weight_[k];
      mean_height += weight_[k] * below;
    }
    mean_height_[place] = most + mean_height / sum;
    value += most + temperature * std::log(sum);
    for (std::size_t k = term.first; k < term.last; ++k) weight_[k] /= sum;
    add_term(t, place, temperature);
  }
  return value;
}

// The part of a term in the means, in the slope and in the second derivatives. What a candidate has is a few numbers, its gains
// and levers; rows are functions of these.
void SmoothedPrices::add_term(const PartTerms& t, std::size_t place, double temperature) {
  const PartTerms::Term& term = t.terms[place];
  static const PartTerms::Lines none;
  const PartTerms::Lines& lines = t.rows > 0 ? t.lines[place] : none;
  const std::size_t q = t.all_prices(), d = t.prices, levers = lines.levers, s = d + levers;
  auto has = [&](std::size_t k, std::size_t c) {
    return c < d ? t.gain[k * d + c] : lines.lever[(k - term.first) * levers + c - d];
  };
  double mean_z = 0, mean_value = 0, variance = 0;
  mean_.assign(s, 0.0);
  covariance_.assign(s, 0.0);
  among_.assign(s * s, 0.0);
  for (std::size_t k = term.first; k < term.last; ++k) {
    const double w = weight_[k];
    if (w == 0) continue;
    mean_z += w * t.z[k];
    mean_value += w * t.value[k];
    for (std::size_t c = 0; c < s; ++c) mean_[c] += w * has(k, c);
  }
  for (std::size_t k = term.first; k < term.last; ++k) {
    const double w = weight_[k], away = t.z[k] - mean_z;
    if (w < tolerance::kLeastWeight) continue;
    variance += w * away * away;
    for (std::size_t c = 0; c < s; ++c) {
      const double other = has(k, c) - mean_[c];
      covariance_[c] += w * away * other;
      for (std::size_t e = 0; e <= c; ++e) among_[c * s + e] += w * other * (has(k, e) - mean_[e]);
    }
  }
  mean_value_[place] = mean_value;
  mean_lever_[place] = levers > 0 ? mean_[d] : 0;
  if (term.coordinate >= 0) {
    const auto i = static_cast<std::size_t>(term.coordinate);
    mean_z_[i] = mean_z;
    variance_[i] = variance = std::max(variance, tolerance::kLeastSpread);
    double* out = regression_.data() + i * q;
    for (std::size_t a = 0; a < d; ++a) out[a] = covariance_[a] / variance;
    for (std::size_t a = 0; a < lines.rows.size(); ++a)
      for (std::size_t l = 0; l < levers; ++l)
        out[d + lines.rows[a]] += lines.line[a * levers + l] * covariance_[d + l] / variance;
  } else {
    std::fill(covariance_.begin(), covariance_.end(), 0.0);
    variance = 1;
  }
  for (std::size_t c = 0; c < s; ++c)
    for (std::size_t e = 0; e <= c; ++e)
      among_[c * s + e] = among_[e * s + c] = (among_[c * s + e] - covariance_[c] * covariance_[e] / variance) / temperature;
  for (std::size_t a = 0; a < d; ++a) {
    price_slope_[a] += mean_[a];
    for (std::size_t b = 0; b <= a; ++b) left_over_[a * q + b] += among_[a * s + b];
  }
  part_.resize(s);
  const bool all_rows = lines.rows.size() == t.rows;
  for (std::size_t a = 0; a < lines.rows.size(); ++a) {
    const double* line = lines.line.data() + a * levers;
    double mean = 0;
    for (std::size_t l = 0; l < levers; ++l) mean += line[l] * mean_[d + l];
    price_slope_[d + lines.rows[a]] += mean;
    mean_rows_[lines.rows[a]] += mean;
    std::fill(part_.begin(), part_.end(), 0.0);
    for (std::size_t l = 0; l < levers; ++l)
      for (std::size_t c = 0; c < s; ++c) part_[c] += line[l] * among_[(d + l) * s + c];
    double* out = left_over_.data() + (d + lines.rows[a]) * q;
    for (std::size_t c = 0; c < d; ++c) out[c] += part_[c];
    out += d;
    for (std::size_t l = 0; l < levers; ++l) {
      const double by = part_[d + l];
      if (all_rows && levers == 1)
        add_multiple(out, lines.line.data(), by, a + 1);
      else
        for (std::size_t b = 0; b <= a; ++b) out[lines.rows[b]] += by * lines.line[b * levers + l];
    }
  }
}

double SmoothedPrices::height_of(const PartTerms& t, const PartTerms::Term& term, double height, double z, const double* gains,
                                 const std::vector<double>& prices) const {
  double sum = height - (term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] * z : 0);
  for (std::size_t a = 0; a < t.prices; ++a) sum += prices[a] * gains[a];
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
  const std::size_t n = t.coordinates, q = t.all_prices();
  factor_ = t.rest;
  solved_.assign((q + 1) * n, 0.0);
  deviation_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double stiff = temperature / variance_[i];
    factor_[i * n + i] += stiff;
    deviation_[i] = point_[i] - mean_z_[i];
    double* sides = solved_.data() + i * (q + 1);
    sides[0] = -stiff * deviation_[i];
    std::copy(regression_.begin() + static_cast<std::ptrdiff_t>(i * q),
              regression_.begin() + static_cast<std::ptrdiff_t>((i + 1) * q), sides + 1);
  }
  if (n > 0 && !factorise(factor_, n)) return false;
  solve(factor_, n, q + 1, solved_.data());
  std::vector<double>& small = left_over_;  // what it was is not needed any more
  price_move_.assign(q, 0.0);
  for (std::size_t a = 0; a < q; ++a) price_move_[a] = -price_slope_[a];
  for (std::size_t i = 0; i < n; ++i) {
    const double *sides = solved_.data() + i * (q + 1), *own = regression_.data() + i * q;
    add_multiple(price_move_.data(), own, -(deviation_[i] + sides[0]), q);
    for (std::size_t a = 0; a < q; ++a) add_multiple(small.data() + a * q, sides + 1, own[a], a + 1);
  }
  for (std::size_t a = 0; a < q; ++a) {
    if (a < fixed) price_move_[a] = 0;
    for (std::size_t b = 0; b <= a; ++b) {
      if (a < fixed || b < fixed) small[a * q + b] = a == b ? 1 : 0;
      small[b * q + a] = small[a * q + b];
    }
    small[a * q + a] *= 1 + tolerance::kRidge;
  }
  if (!factorise(small, q)) return false;
  solve(small, q, 1, price_move_.data());
  move_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double* sides = solved_.data() + i * (q + 1);
    move_[i] = sides[0];
    for (std::size_t a = 0; a < q; ++a) move_[i] += price_move_[a] * sides[1 + a];
  }
  return true;
}

// Of F along the step.
double SmoothedPrices::slope(const PartTerms& t) const {
  const std::size_t n = t.coordinates;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) sum += move_[i] * t.rest[i * n + k] * deviation_[k];
  for (std::size_t a = 0; a < t.all_prices(); ++a) sum += price_move_[a] * price_slope_[a];
  return sum;
}

// The temperature, from a low one up, at which Newton's step promises no more than it can keep.
double SmoothedPrices::warmed(const PartTerms& t, std::size_t fixed, double temperature, const std::vector<double>& point,
                              const std::vector<double>& prices) {
  for (; temperature < tolerance::kFirstTemperature; temperature /= tolerance::kCooling) {
    evaluate(t, temperature, point, prices);
    if (direction(t, fixed, temperature) && slope(t) > -tolerance::kTrustedFall * temperature * static_cast<double>(1 + t.rows))
      return temperature;
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
      for (std::size_t a = 0; a < t.all_prices(); ++a)
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
