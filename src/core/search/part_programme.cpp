#include "part_programme.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../clones.hpp"
#include "../tolerances.hpp"

namespace likely::search {

namespace {

LIKELY_CLONES void subtract(double* from, const double* what, double by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) from[i] -= by * what[i];
}

// Four sums side by side, the same on every processor.
LIKELY_CLONES double dot(const double* a, const double* b, std::size_t count) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::size_t l = 0; l < 4; ++l) sums[l] += a[i + l] * b[i + l];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Of a few numbers.
double short_dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// In place, of the upper triangle: U with U'U a positive definite matrix; false if it is none.
bool factorise(std::vector<double>& matrix, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    double* row = matrix.data() + k * count;
    if (!(row[k] > 0)) return false;
    const double root = row[k] = std::sqrt(row[k]);
    for (std::size_t i = k + 1; i < count; ++i) row[i] /= root;
    for (std::size_t i = k + 1; i < count; ++i) subtract(matrix.data() + i * count + i, row + i, row[i], count - i);
  }
  return true;
}

void solve(const std::vector<double>& factor, std::size_t count, double* x) {
  for (std::size_t i = 0; i < count; ++i) {
    x[i] /= factor[i * count + i];
    subtract(x + i + 1, factor.data() + i * count + i + 1, x[i], count - i - 1);
  }
  for (std::size_t i = count; i-- > 0;)
    x[i] = (x[i] - dot(factor.data() + i * count + i + 1, x + i + 1, count - i - 1)) / factor[i * count + i];
}

// Of a symmetric matrix.
void multiply(const std::vector<double>& matrix, const std::vector<double>& x, std::vector<double>& out) {
  out.assign(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) subtract(out.data(), matrix.data() + i * x.size(), -x[i], x.size());
}

}  // namespace

// What each candidate is worth, at the point and the prices as they are.
void PartProgramme::fill_heights(const PartTerms& t) {
  here_.resize(t.height.size());
  for (const PartTerms::Term& term : t.terms) {
    const double pull = term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] : 0;
    const double* worths = worths_of(t, term, prices_);
    const double* gains = t.gains_of(term, term.first);
    for (std::size_t k = term.first; k < term.last; ++k, gains += term.gains)
      here_[k] = t.height[k] - pull * t.z[k] + short_dot(worths, gains, term.gains);
  }
}

const double* PartProgramme::worths_of(const PartTerms& t, const PartTerms::Term& term, const std::vector<double>& prices) {
  worths_.resize(std::max(worths_.size(), term.gains));
  t.fill_worths(term, prices.data(), worths_.data());
  return worths_.data();
}

// The mean of a term's gains by the weights of its candidates.
const double* PartProgramme::mean_gains(const PartTerms& t, const PartTerms::Term& term, const std::vector<double>& weights) {
  mean_.assign(term.gains, 0.0);
  const double* gains = t.gains_of(term, term.first);
  for (std::size_t k = term.first; k < term.last; ++k, gains += term.gains)
    for (std::size_t s = 0; s < term.gains; ++s) mean_[s] += weights[k] * gains[s];
  return mean_.data();
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
  gain_place_.assign(1, 0);
  for (const PartTerms::Term& term : t.terms) gain_place_.push_back(gain_place_.back() + term.gains);
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
    for (std::size_t k = term.first; k < term.last; ++k) weight_[k] = 1 / (below_[k] * sum);
    t.add_worth(term, mean_gains(t, term, weight_), 1, left_.data());
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
    }
    t.add_worth(term, mean_gains(t, term, weight_), 1, off_left_.data());
    if (term.coordinate >= 0) off_mean_[static_cast<std::size_t>(term.coordinate)] += mean;
  }
}

// The spread of a term's coordinates and gains by the ratios of its candidates: what gains vary with the coordinate goes into
// `regression_`, what else they vary into `left_over_`.
void PartProgramme::add_spread(const PartTerms& t, std::size_t place) {
  const PartTerms::Term& term = t.terms[place];
  const std::size_t count = term.gains;
  double* gain_mean = gain_mean_.data() + gain_place_[place];
  const double* gains = t.gains_of(term, term.first);
  for (std::size_t k = term.first; k < term.last; ++k, gains += count) {
    const double ratio = ratio_[k] = weight_[k] * inverse_[k];
    sum_[place] += ratio;
    center_[place] += ratio * t.z[k];
    for (std::size_t s = 0; s < count; ++s) gain_mean[s] += ratio * gains[s];
  }
  center_[place] /= sum_[place];
  for (std::size_t s = 0; s < count; ++s) gain_mean[s] /= sum_[place];
  double variance = 0;
  covariance_.assign(count, 0.0);
  spread_.assign(count * count, 0.0);
  away_.resize(count);
  gains = t.gains_of(term, term.first);
  for (std::size_t k = term.first; k < term.last; ++k, gains += count) {
    const double ratio = ratio_[k], from = t.z[k] - center_[place];
    variance += ratio * from * from;
    for (std::size_t s = 0; s < count; ++s) {
      away_[s] = gains[s] - gain_mean[s];
      covariance_[s] += ratio * from * away_[s];
    }
    for (std::size_t s = 0; s < count; ++s)
      for (std::size_t r = s; r < count; ++r) spread_[s * count + r] += ratio * away_[s] * away_[r];
  }
  if (term.coordinate >= 0) {
    const auto i = static_cast<std::size_t>(term.coordinate);
    variance_[i] = std::max(variance, tolerance::kLeastProgrammeSpread);
    t.add_worth(term, covariance_.data(), 1 / variance_[i], regression_.data() + i * t.prices);
    for (std::size_t s = 0; s < count; ++s)
      subtract(spread_.data() + s * count + s, covariance_.data() + s, covariance_[s] / variance_[i], count - s);
  }
  add_left_over(t, term);
}

// As a sum of squares, each of which is worth something of every price.
void PartProgramme::add_left_over(const PartTerms& t, const PartTerms::Term& term) {
  const std::size_t q = t.prices, count = term.gains;
  if (term.worth < 0) {
    for (std::size_t i = 0; i < q * q; ++i) left_over_[i] += spread_[i];
    return;
  }
  square_.resize(q);
  for (std::size_t s = 0; s < count; ++s) {
    double* row = spread_.data() + s * count;
    const double most = row[s];
    if (!(most > 0)) continue;
    for (std::size_t r = s + 1; r < count; ++r) subtract(spread_.data() + r * count + r, row + r, row[r] / most, count - r);
    std::fill(square_.begin(), square_.end(), 0.0);
    for (std::size_t r = s; r < count; ++r)
      subtract(square_.data(), t.worth.data() + static_cast<std::size_t>(term.worth) + r * q, -row[r] / most, q);
    for (std::size_t a = 0; a < q; ++a)
      if (square_[a] != 0) subtract(left_over_.data() + a * q + a, square_.data() + a, -most * square_[a], q - a);
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
  gain_mean_.assign(gain_place_.back(), 0.0);
  regression_.assign(n * q, 0.0);
  left_over_.assign(q * q, 0.0);
  for (std::size_t place = 0; place < terms; ++place) add_spread(t, place);
  factor_ = t.rest;
  solved_.assign(q * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    factor_[i * n + i] += 1 / variance_[i];
    for (std::size_t a = 0; a < q; ++a) solved_[a * n + i] = regression_[i * q + a];
  }
  if (n > 0 && !factorise(factor_, n)) return false;
  small_ = left_over_;
  for (std::size_t a = 0; a < q; ++a) {
    double *row = small_.data() + a * q, *solution = solved_.data() + a * n;
    solve(factor_, n, solution);
    for (std::size_t i = 0; i < n; ++i) subtract(row + a, regression_.data() + i * q + a, -solution[i], q - a);
    if (a >= fixed_)
      row[a] += left_[a] / prices_[a];
    else
      for (std::size_t b = a; b < q; ++b) row[b] = b == a ? 1.0 : 0.0;
    row[a] *= 1 + tolerance::kRidge;
  }
  return factorise(small_, q);
}

// The moves that keep all equations, to first order, and change the products by what is aimed at.
void PartProgramme::solve_system(const PartTerms& t) {
  const std::size_t n = t.coordinates, q = t.prices, terms = t.terms.size();
  std::vector<double> excess(n, 0.0), gain_excess(q, 0.0);
  top_move_.assign(terms, 0.0);
  push_.resize(weight_.size());
  for (std::size_t place = 0; place < terms; ++place) {
    const PartTerms::Term& term = t.terms[place];
    double total = -off_sum_[place], of_z = 0;
    for (std::size_t k = term.first; k < term.last; ++k) {
      const double push = push_[k] = aim_[k] * inverse_[k];
      total += push;
      of_z += push * t.z[k];
    }
    t.add_worth(term, mean_gains(t, term, push_), 1, gain_excess.data());
    t.add_worth(term, gain_mean_.data() + gain_place_[place], -total, gain_excess.data());
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
    const double* worths = worths_of(t, term, price_move_);
    top += short_dot(worths, gain_mean_.data() + gain_place_[place], term.gains);
    const double* gains = t.gains_of(term, term.first);
    for (std::size_t k = term.first; k < term.last; ++k, gains += term.gains) {
      const double change = top + t.z[k] * pull - short_dot(worths, gains, term.gains);
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
                                const std::vector<double>& prices) {
  const double pull = term.coordinate >= 0 ? pull_[static_cast<std::size_t>(term.coordinate)] : 0;
  return height - pull * z + short_dot(worths_of(t, term, prices), gains, term.gains);
}

double PartProgramme::best_value(const PartTerms& t, const PartTerms::Term& term) const {
  const auto begin = weight_.begin();
  const auto best =
      std::max_element(begin + static_cast<std::ptrdiff_t>(term.first), begin + static_cast<std::ptrdiff_t>(term.last));
  return t.value[static_cast<std::size_t>(best - begin)];
}

void PartProgramme::lower(const PartTerms& t, std::size_t fixed, std::vector<double>& point, std::vector<double>& prices,
                          double enough) {
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
    if (products + off < enough || steps_ == tolerance::kProgrammeSteps) break;
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
