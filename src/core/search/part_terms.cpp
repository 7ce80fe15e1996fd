#include "part_terms.hpp"

#include <algorithm>

namespace likely::search {

void PartTerms::reset(std::size_t count, std::size_t price_count) {
  coordinates = count;
  prices = price_count;
  rest.assign(count * count, 0.0);
  per_price.assign(price_count, 0.0);
  terms.clear();
  for (std::vector<double>* each : {&height, &z, &value, &gain, &worth}) each->clear();
}

void PartTerms::begin(std::size_t feature, std::ptrdiff_t coordinate) {
  terms.push_back({height.size(), height.size(), feature, coordinate, gain.size(), prices, -1});
}

double* PartTerms::begin(std::size_t feature, std::ptrdiff_t coordinate, std::size_t gains) {
  const std::size_t at = worth.size();
  terms.push_back({height.size(), height.size(), feature, coordinate, gain.size(), gains, static_cast<std::ptrdiff_t>(at)});
  worth.resize(at + gains * prices);
  return worth.data() + at;
}

double* PartTerms::add(double height_of, double z_of, double value_of) {
  height.push_back(height_of);
  z.push_back(z_of);
  value.push_back(value_of);
  Term& term = terms.back();
  term.last = height.size();
  gain.resize(gain.size() + term.gains);
  return gain.data() + gain.size() - term.gains;
}

double PartTerms::gain_of(const Term& term, std::size_t candidate, std::size_t price) const {
  const double* gains = gains_of(term, candidate);
  if (term.worth < 0) return gains[price];
  double sum = 0;
  for (std::size_t s = 0; s < term.gains; ++s) sum += gains[s] * worth[static_cast<std::size_t>(term.worth) + s * prices + price];
  return sum;
}

void PartTerms::add_worth(const Term& term, const double* gains, double times, double* out) const {
  if (term.worth < 0) {
    for (std::size_t a = 0; a < prices; ++a) out[a] += times * gains[a];
    return;
  }
  const double* row = worth.data() + term.worth;
  for (std::size_t s = 0; s < term.gains; ++s, row += prices) {
    const double all = times * gains[s];
    for (std::size_t a = 0; a < prices; ++a) out[a] += all * row[a];
  }
}

void PartTerms::fill_worths(const Term& term, const double* at_prices, double* out) const {
  if (term.worth < 0) {
    std::copy_n(at_prices, prices, out);
    return;
  }
  const double* row = worth.data() + term.worth;
  for (std::size_t s = 0; s < term.gains; ++s, row += prices) {
    out[s] = 0;
    for (std::size_t a = 0; a < prices; ++a) out[s] += row[a] * at_prices[a];
  }
}

}  // namespace likely::search
