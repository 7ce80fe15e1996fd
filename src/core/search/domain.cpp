#include "domain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../values.hpp"

namespace likely::search {

std::int32_t Feature::cell_of(double v) const {
  const auto next = std::upper_bound(low.begin(), low.end(), v);
  if (next == low.begin()) return -1;
  const auto place = static_cast<std::int32_t>(next - low.begin()) - 1;
  return v <= high[static_cast<std::size_t>(place)] ? place : -1;
}

std::int32_t Feature::atom_of(double v) const {
  const auto found = std::find(atom.begin(), atom.end(), v);
  return found == atom.end() ? -1 : static_cast<std::int32_t>(found - atom.begin());
}

double Feature::cost(double v) const {
  if (const std::int32_t k = atom_of(v); k >= 0) return atom_cost[static_cast<std::size_t>(k)];
  const std::int32_t c = cell_of(v);
  if (c < 0) throw std::invalid_argument("a value outside the domain has no cost");
  return segments[static_cast<std::size_t>(segment[static_cast<std::size_t>(c)])].cost(v);
}

// As a person writes it: 0.07, not 7 * 0.01; the twin of `snap` in likely/schema/numeric.py.
double Feature::multiple(double k) const {
  const double per_unit = grid < 1 ? std::nearbyint(1 / grid) : 0;
  return (per_unit > 0 && std::abs(per_unit * grid - 1) < 1e-12 ? k / per_unit : k * grid) + 0.0;
}
double Feature::slack(double v) const { return std::min(1e-9 + 1e-15 * std::abs(v / grid), 0.25); }
double Feature::down_to_grid(double v) const { return grid > 0 ? multiple(std::floor(v / grid + slack(v))) : v; }
double Feature::up_to_grid(double v) const { return grid > 0 ? multiple(std::ceil(v / grid - slack(v))) : v; }

void Domain::finish() {
  atoms = cells = words = 0;
  for (Feature& f : features) {
    f.first_atom = atoms;
    f.first_cell = cells;
    f.first_word = words;
    atoms += f.atom.size();
    cells += f.low.size();
    words += f.words();
  }
}

double Domain::cost(const double* row) const {
  double total = 0;
  for (std::size_t j = 0; j < features.size(); ++j) total += features[j].cost(row[j]);
  return total;
}

Box whole(const Domain& domain) {
  Box box;
  box.atoms.assign(domain.words, 0);
  for (const Feature& f : domain.features) {
    if (f.low.empty())
      box.range.push_back({0, -1, 0, 0});
    else
      box.range.push_back({0, static_cast<std::int32_t>(f.low.size()) - 1, f.low.front(), f.high.back()});
    for (std::size_t k = 0; k < f.atom.size(); ++k) box.atoms[f.first_word + k / 64] |= std::uint64_t{1} << (k % 64);
  }
  return box;
}

bool Box::keep_cells(const Domain& domain, std::size_t j, std::int32_t first, std::int32_t last) {
  Range& own = range[j];
  if (own.empty() || (first <= own.first && own.last <= last)) return false;
  own.first = std::max(own.first, first);
  own.last = std::min(own.last, last);
  if (own.empty()) return true;
  const Feature& f = domain.features[j];
  own.low = std::max(own.low, f.low[static_cast<std::size_t>(own.first)]);
  own.high = std::min(own.high, f.high[static_cast<std::size_t>(own.last)]);
  if (own.low > own.high) drop_numbers(j);
  return true;
}

bool Box::keep_numbers(const Domain& domain, std::size_t j, double low, double high) {
  Range& own = range[j];
  const Feature& f = domain.features[j];
  if (own.empty() || (low <= own.low && own.high <= high)) return false;
  const Range before = own;
  auto low_of = [&](std::int32_t c) { return f.low[static_cast<std::size_t>(c)]; };
  auto high_of = [&](std::int32_t c) { return f.high[static_cast<std::size_t>(c)]; };
  const double rounding = f.grid > 0 ? f.grid * std::max(f.slack(low), f.slack(high)) : 0;
  while (own.first <= own.last && high_of(own.first) < low - rounding) ++own.first;
  while (own.first <= own.last && low_of(own.last) > high + rounding) --own.last;
  if (own.empty()) return true;
  if (own.first > before.first) own.low = low_of(own.first);
  if (own.last < before.last) own.high = high_of(own.last);
  // The ends of a cell are values as they are; what lies between them is rounded to the grid.
  if (low > own.low) own.low = std::clamp(f.up_to_grid(low), own.low, high_of(own.first));
  if (high < own.high) own.high = std::clamp(f.down_to_grid(high), low_of(own.last), own.high);
  if (own.low > own.high) drop_numbers(j);
  return own.empty() || own.first != before.first || own.last != before.last || own.low != before.low || own.high != before.high;
}

void Box::fix(const Domain& domain, std::size_t j, double v) {
  const Feature& f = domain.features[j];
  for (std::size_t w = 0; w < f.words(); ++w) atoms[f.first_word + w] = 0;
  if (const std::int32_t k = f.atom_of(v); k >= 0) {
    atoms[f.first_word + static_cast<std::size_t>(k) / 64] |= std::uint64_t{1} << (static_cast<std::size_t>(k) % 64);
    drop_numbers(j);
  } else {
    keep_numbers(domain, j, v, v);
  }
}

bool Box::single(const Domain& domain, std::size_t j) const {
  const std::size_t count = atom_count(domain.features[j]);
  return range[j].empty() ? count == 1 : count == 0 && range[j].low == range[j].high;
}

bool Box::single_cell(const Domain& domain, std::size_t j) const {
  const std::size_t count = atom_count(domain.features[j]);
  return range[j].empty() ? count == 1 : count == 0 && range[j].first == range[j].last;
}

}  // namespace likely::search
