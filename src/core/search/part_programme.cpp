#include "part_programme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"

namespace likely::search {

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
    x[i] /= factor[i * count + i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= factor[i * count + k] * x[i];
  }
}

void multiply(const std::vector<double>& matrix, const std::vector<double>& x, std::vector<double>& out) {
  out.assign(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t k = 0; k < x.size(); ++k) out[i] += matrix[i * x.size() + k] * x[k];
}

}  // namespace

// What each candidate is worth, at the point and the prices as they are.
void PartProgramme::fill_heights(const PartTerms& t) {
  const std::size_t q = t.prices;
  here_.resize(t.height.size());
  for (const PartTerms::Term& term : t.terms) {
    const double pull = term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] : 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      here_[k] = t.height[k] - pull * t.z[k];
      for (std::size_t a = 0; a < q; ++a) here_[k] += prices_[a] * t.gain[k * q + a];
    }
  }
}

// Within a term all products of weights and their duals are equal at first.
void PartProgramme::begin(const PartTerms& t, std::size_t fixed, const std::vector<double>& point,
                          const std::vector<double>& prices) {
  const std::size_t candidates = t.height.size(), q = t.prices;
  fixed_ = fixed;
  point_ = point;
  prices_ = prices;
  multiply(t.rest, point_, pull_);
  fill_heights(t);
  top_.resize(t.terms.size());
  weight_.resize(candidates);
  below_.resize(candidates);
  left_ = t.per_price;
  double products = 0;
  for (std::size_t place = 0; place < t.terms.size(); ++place) {
    const PartTerms::Term& term = t.terms[place];
    const auto from = here_.begin() + static_cast<std::ptrdiff_t>(term.first);
    top_[place] = *std::max_element(from, from + static_cast<std::ptrdiff_t>(term.last - term.first)) + tolerance::kFirstRoom;
    double sum = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      below_[k] = top_[place] - here_[k];
      sum += 1 / below_[k];
    }
    for (std::size_t k = term.first; k < term.last; ++k) {
      weight_[k] = 1 / (below_[k] * sum);
      for (std::size_t a = 0; a < q; ++a) left_[a] += weight_[k] * t.gain[k * q + a];
    }
    products += 1 / sum;
  }
  const double mean = products / static_cast<double>(t.terms.size());
  for (std::size_t a = fixed_; a < q; ++a) left_[a] = std::max(left_[a], mean / prices_[a]);
}

double PartProgramme::complementarity() const {
  double sum = 0;
  for (std::size_t k = 0; k < weight_.size(); ++k) sum += weight_[k] * below_[k];
  for (std::size_t a = fixed_; a < prices_.size(); ++a) sum += left_[a] * prices_[a];
  return sum;
}

// F, with the tops in place of the greatest candidates: a little more.
double PartProgramme::value(const PartTerms& t) const {
  double sum = 0;
  for (std::size_t i = 0; i < point_.size(); ++i) sum += 0.5 * point_[i] * pull_[i];
  for (std::size_t a = 0; a < prices_.size(); ++a) sum += t.per_price[a] * prices_[a];
  for (const double top : top_) sum += top;
  return sum;
}

void PartProgramme::fill_residuals(const PartTerms& t) {
  const std::size_t q = t.prices;
  off_sum_.assign(t.terms.size(), 1.0);
  off_mean_.assign(t.coordinates, 0.0);
  off_left_.assign(q, 0.0);
  for (std::size_t i = 0; i < t.coordinates; ++i) off_mean_[i] = -point_[i];
  for (std::size_t a = 0; a < q; ++a) off_left_[a] = t.per_price[a] - left_[a];
  for (std::size_t place = 0; place < t.terms.size(); ++place) {
    const PartTerms::Term& term = t.terms[place];
    double mean = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      off_sum_[place] -= weight_[k];
      mean += weight_[k] * t.z[k];
      for (std::size_t a = 0; a < q; ++a) off_left_[a] += weight_[k] * t.gain[k * q + a];
    }
    if (term.coordinate >= 0) off_mean_[static_cast<std::size_t>(term.coordinate)] += mean;
  }
}

// Tops and weights are eliminated, and then the point: (R + 1 / variance) moves = right-hand side, for the point and each price.
bool PartProgramme::factorise_system(const PartTerms& t) {
  const std::size_t n = t.coordinates, q = t.prices, terms = t.terms.size();
  ratio_.resize(weight_.size());
  inverse_.resize(weight_.size());
  for (std::size_t k = 0; k < below_.size(); ++k) inverse_[k] = 1 / below_[k];
  sum_.assign(terms, 0.0);
  center_.assign(terms, 0.0);
  variance_.assign(n, 1.0);
  gain_mean_.assign(terms * q, 0.0);
  regression_.assign(n * q, 0.0);
  left_over_.assign(q * q, 0.0);
  std::vector<double> covariance(q), away(q);
  for (std::size_t place = 0; place < terms; ++place) {
    const PartTerms::Term& term = t.terms[place];
    double* gain_mean = gain_mean_.data() + place * q;
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double ratio = ratio_[k] = weight_[k] * inverse_[k];
      sum_[place] += ratio;
      center_[place] += ratio * t.z[k];
      for (std::size_t a = 0; a < q; ++a) gain_mean[a] += ratio * t.gain[k * q + a];
    }
    center_[place] /= sum_[place];
    for (std::size_t a = 0; a < q; ++a) gain_mean[a] /= sum_[place];
    double variance = 0;
    std::fill(covariance.begin(), covariance.end(), 0.0);
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double ratio = ratio_[k], from = t.z[k] - center_[place];
      variance += ratio * from * from;
      for (std::size_t a = 0; a < q; ++a) {
        away[a] = t.gain[k * q + a] - gain_mean[a];
        covariance[a] += ratio * from * away[a];
        for (std::size_t b = 0; b <= a; ++b) left_over_[a * q + b] += ratio * away[a] * away[b];
      }
    }
    if (term.coordinate < 0) continue;
    const auto i = static_cast<std::size_t>(term.coordinate);
    variance_[i] = std::max(variance, tolerance::kLeastProgrammeSpread);
    for (std::size_t a = 0; a < q; ++a) {
      regression_[i * q + a] = covariance[a] / variance_[i];
      for (std::size_t b = 0; b <= a; ++b) left_over_[a * q + b] -= covariance[a] * covariance[b] / variance_[i];
    }
  }
  factor_ = t.rest;
  solved_.assign(q * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    factor_[i * n + i] += 1 / variance_[i];
    for (std::size_t a = 0; a < q; ++a) solved_[a * n + i] = regression_[i * q + a];
  }
  if (n > 0 && !factorise(factor_, n)) return false;
  small_.assign(q * q, 0.0);
  for (std::size_t a = 0; a < q; ++a) {
    solve(factor_, n, solved_.data() + a * n);
    for (std::size_t b = 0; b <= a; ++b) {
      double sum = left_over_[a * q + b];
      for (std::size_t i = 0; i < n; ++i) sum += regression_[i * q + b] * solved_[a * n + i];
      if (a == b && a >= fixed_) sum += left_[a] / prices_[a];
      small_[a * q + b] = small_[b * q + a] = b < fixed_ ? (a == b ? 1.0 : 0.0) : sum;
    }
    small_[a * q + a] *= 1 + tolerance::kRidge;
  }
  return factorise(small_, q);
}

// The moves that keep all equations, to first order, and change the products by what is aimed at.
void PartProgramme::solve_system(const PartTerms& t) {
  const std::size_t n = t.coordinates, q = t.prices, terms = t.terms.size();
  std::vector<double> excess(n, 0.0), gain_excess(q, 0.0);
  top_move_.assign(terms, 0.0);
  for (std::size_t place = 0; place < terms; ++place) {
    const PartTerms::Term& term = t.terms[place];
    double total = -off_sum_[place], of_z = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double push = aim_[k] * inverse_[k];
      total += push;
      of_z += push * t.z[k];
      for (std::size_t a = 0; a < q; ++a) gain_excess[a] += push * t.gain[k * q + a];
    }
    for (std::size_t a = 0; a < q; ++a) gain_excess[a] -= total * gain_mean_[place * q + a];
    top_move_[place] = total / sum_[place];
    if (term.coordinate < 0) continue;
    const auto i = static_cast<std::size_t>(term.coordinate);
    excess[i] = of_z - center_[place] * total + off_mean_[i];
  }
  point_move_.resize(n);
  for (std::size_t i = 0; i < n; ++i) point_move_[i] = excess[i] / variance_[i];
  solve(factor_, n, point_move_.data());
  price_move_.assign(q, 0.0);
  for (std::size_t a = fixed_; a < q; ++a) {
    price_move_[a] = price_aim_[a] / prices_[a] - off_left_[a] - gain_excess[a];
    for (std::size_t i = 0; i < n; ++i) price_move_[a] += regression_[i * q + a] * (excess[i] - point_move_[i]);
  }
  solve(small_, q, price_move_.data());
  for (std::size_t a = 0; a < q; ++a)
    for (std::size_t i = 0; i < n; ++i) point_move_[i] += price_move_[a] * solved_[a * n + i];
  multiply(t.rest, point_move_, pull_move_);
  weight_move_.resize(weight_.size());
  below_move_.resize(weight_.size());
  for (std::size_t place = 0; place < terms; ++place) {
    const PartTerms::Term& term = t.terms[place];
    const double pull = term.coordinate >= 0 ? pull_move_[static_cast<std::size_t>(term.coordinate)] : 0;
    double& top = top_move_[place];
    top -= center_[place] * pull;
    for (std::size_t a = 0; a < q; ++a) top += gain_mean_[place * q + a] * price_move_[a];
    for (std::size_t k = term.first; k < term.last; ++k) {
      double change = top + t.z[k] * pull;
      for (std::size_t a = 0; a < q; ++a) change -= t.gain[k * q + a] * price_move_[a];
      below_move_[k] = change;
      weight_move_[k] = (aim_[k] - weight_[k] * change) * inverse_[k];
    }
  }
  left_move_.assign(q, 0.0);
  for (std::size_t a = fixed_; a < q; ++a) left_move_[a] = (price_aim_[a] - left_[a] * price_move_[a]) / prices_[a];
}

// The largest share of the moves that leaves everything positive.
double PartProgramme::longest_step() const {
  double share = 1 / tolerance::kTowardsEdge;
  auto limit = [&](double at, double move) {
    if (at + share * move < 0) share = -at / move;
  };
  for (std::size_t k = 0; k < weight_.size(); ++k) {
    limit(weight_[k], weight_move_[k]);
    limit(below_[k], below_move_[k]);
  }
  for (std::size_t a = fixed_; a < prices_.size(); ++a) {
    limit(prices_[a], price_move_[a]);
    limit(left_[a], left_move_[a]);
  }
  return tolerance::kTowardsEdge * share;
}

void PartProgramme::move(const PartTerms& t, double share) {
  auto add = [&](std::vector<double>& to, const std::vector<double>& what) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += share * what[i];
  };
  add(point_, point_move_);
  add(pull_, pull_move_);
  add(top_, top_move_);
  add(weight_, weight_move_);
  add(below_, below_move_);
  for (std::size_t a = fixed_; a < t.prices; ++a) {
    prices_[a] += share * price_move_[a];
    left_[a] += share * left_move_[a];
  }
}

void PartProgramme::fill_means(const PartTerms& t) {
  fill_heights(t);
  mean_z_.assign(t.coordinates, 0.0);
  mean_value_.resize(t.terms.size());
  mean_height_.resize(t.terms.size());
  for (std::size_t place = 0; place < t.terms.size(); ++place) {
    const PartTerms::Term& term = t.terms[place];
    double total = 0, z = 0, value = 0, height = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      total += weight_[k];
      z += weight_[k] * t.z[k];
      value += weight_[k] * t.value[k];
      height += weight_[k] * here_[k];
    }
    if (term.coordinate >= 0) mean_z_[static_cast<std::size_t>(term.coordinate)] = z / total;
    mean_value_[place] = value / total;
    mean_height_[place] = height / total;
  }
}

double PartProgramme::height_of(const PartTerms& t, const PartTerms::Term& term, double height, double z, const double* gains,
                                const std::vector<double>& prices) const {
  double sum = height - (term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] * z : 0);
  for (std::size_t a = 0; a < t.prices; ++a) sum += prices[a] * gains[a];
  return sum;
}

double PartProgramme::best_value(const PartTerms& t, const PartTerms::Term& term) const {
  const auto begin = weight_.begin();
  const auto best =
      std::max_element(begin + static_cast<std::ptrdiff_t>(term.first), begin + static_cast<std::ptrdiff_t>(term.last));
  return t.value[static_cast<std::size_t>(best - begin)];
}

void PartProgramme::lower(const PartTerms& t, std::size_t fixed, std::vector<double>& point, std::vector<double>& prices) {
  begin(t, fixed, point, prices);
  const double count = static_cast<double>(weight_.size() + t.prices - fixed);
  double least = std::numeric_limits<double>::infinity();
  aim_.resize(weight_.size());
  price_aim_.resize(t.prices);
  for (steps_ = 0;; ++steps_) {
    const double products = complementarity(), reached = value(t);
    if (!(products >= 0)) break;
    fill_residuals(t);
    if (reached < least) {
      least = reached;
      point = point_;
      prices = prices_;
    }
    double off = 0;
    for (std::size_t i = 0; i < t.coordinates; ++i) off += std::abs(off_mean_[i] * pull_[i]);
    for (std::size_t a = fixed; a < t.prices; ++a) off += std::abs(off_left_[a] * prices_[a]);
    if (products + off < tolerance::kProgrammeGap || steps_ == tolerance::kProgrammeSteps) break;
    if (!factorise_system(t)) break;
    for (std::size_t k = 0; k < weight_.size(); ++k) aim_[k] = -weight_[k] * below_[k];
    for (std::size_t a = fixed; a < t.prices; ++a) price_aim_[a] = -left_[a] * prices_[a];
    solve_system(t);
    const double share = std::min(1.0, longest_step());
    double after = 0;
    for (std::size_t k = 0; k < weight_.size(); ++k)
      after += (weight_[k] + share * weight_move_[k]) * (below_[k] + share * below_move_[k]);
    for (std::size_t a = fixed; a < t.prices; ++a)
      after += (left_[a] + share * left_move_[a]) * (prices_[a] + share * price_move_[a]);
    const double part = std::max(after, 0.0) / products, goal = part * part * part * products / count;
    for (std::size_t k = 0; k < weight_.size(); ++k) aim_[k] += goal - weight_move_[k] * below_move_[k];
    for (std::size_t a = fixed; a < t.prices; ++a) price_aim_[a] += goal - left_move_[a] * price_move_[a];
    solve_system(t);
    move(t, std::min(1.0, longest_step()));
  }
  fill_means(t);
}

}  // namespace likely::search
