#include "part_terms.hpp"

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

}  // namespace likely::search
