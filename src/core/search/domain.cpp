#include "domain.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../tolerances.hpp"
#include "../values.hpp"

namespace likely::search {

namespace {

template <class Test>
bool every_feature(const Domain& domain, const Test& test) {
  for (std::size_t j = 0; j < domain.features.size(); ++j)
    if (!test(j)) return false;
  return true;
}

}  // namespace

std::int32_t Feature::cell_of(double v) const {
  const auto next = std::upper_bound(low.begin(), low.end(), v);
  if (next == low.begin()) return -1;
  const auto cell = static_cast<std::int32_t>(next - low.begin()) - 1;
  return v <= high[static_cast<std::size_t>(cell)] ? cell : -1;
}

std::int32_t Feature::atom_of(double v) const {
  const auto place = std::find(atom.begin(), atom.end(), v);
  return place == atom.end() ? -1 : static_cast<std::int32_t>(place - atom.begin());
}

double Feature::cost(double v) const {
  if (const std::int32_t k = atom_of(v); k >= 0) return atom_cost[static_cast<std::size_t>(k)];
  const std::int32_t c = cell_of(v);
  if (c < 0) throw std::invalid_argument("a value outside the domain has no cost");
  return segments[static_cast<std::size_t>(segment[static_cast<std::size_t>(c)])].cost(v);
}

// As a person writes it: 0.07, not 7 * 0.01; the twin of `multiples` in likely/schema/grid.py.
double Feature::multiple(double k) const {
  const double per_unit = grid < 1 ? std::nearbyint(1 / grid) : 0;
  return (per_unit > 0 && std::abs(per_unit * grid - 1) < tolerance::kDecimalGrid ? k / per_unit : k * grid) + 0.0;
}
double Feature::slack(double v) const { return tolerance::grid_rounding(v / grid); }
double Feature::down_to_grid(double v) const { return grid > 0 ? multiple(std::floor(v / grid + slack(v))) : v; }
double Feature::nearest(double v) const {
  const double within = std::clamp(v, low.front(), high.back());
  double best = low.front();
  auto consider = [&](double value) {
    if (cell_of(value) >= 0 && std::abs(value - v) < std::abs(best - v)) best = value;
  };
  consider(down_to_grid(within));
  consider(up_to_grid(within));
  const auto above = static_cast<std::size_t>(std::lower_bound(high.begin(), high.end(), within) - high.begin());
  if (above < low.size()) consider(low[above]);
  if (above > 0) consider(high[above - 1]);
  return best;
}

double Feature::after(double v) const { return grid > 0 ? multiple(std::nearbyint(v / grid) + 1) : v; }
double Feature::up_to_grid(double v) const { return grid > 0 ? multiple(std::ceil(v / grid - slack(v))) : v; }

bool Feature::whole() const {
  for (std::size_t c = 0; c < low.size(); ++c)
    if (!is_whole(low[c]) || !is_whole(high[c]) || (low[c] < high[c] && !(grid > 0 && is_whole(grid)))) return false;
  return true;
}

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
  Range& numbers = range[j];
  if (numbers.empty() || (first <= numbers.first && numbers.last <= last)) return false;
  numbers.first = std::max(numbers.first, first);
  numbers.last = std::min(numbers.last, last);
  if (numbers.empty()) return true;
  const Feature& f = domain.features[j];
  numbers.low = std::max(numbers.low, f.low[static_cast<std::size_t>(numbers.first)]);
  numbers.high = std::min(numbers.high, f.high[static_cast<std::size_t>(numbers.last)]);
  if (numbers.low > numbers.high) drop_numbers(j);
  return true;
}

bool Box::keep_numbers(const Domain& domain, std::size_t j, double low, double high) {
  Range& numbers = range[j];
  const Feature& f = domain.features[j];
  if (numbers.empty() || (low <= numbers.low && numbers.high <= high)) return false;
  const Range before = numbers;
  auto low_of = [&](std::int32_t c) { return f.low[static_cast<std::size_t>(c)]; };
  auto high_of = [&](std::int32_t c) { return f.high[static_cast<std::size_t>(c)]; };
  const double rounding = f.grid > 0 ? f.grid * std::max(f.slack(low), f.slack(high)) : 0;
  while (numbers.first <= numbers.last && high_of(numbers.first) < low - rounding) ++numbers.first;
  while (numbers.first <= numbers.last && low_of(numbers.last) > high + rounding) --numbers.last;
  if (numbers.empty()) return true;
  if (numbers.first > before.first) numbers.low = low_of(numbers.first);
  if (numbers.last < before.last) numbers.high = high_of(numbers.last);
  // The ends of a cell are values as they are; what lies between them is rounded to the grid.
  if (low > numbers.low) numbers.low = std::clamp(f.up_to_grid(low), numbers.low, high_of(numbers.first));
  if (high < numbers.high) numbers.high = std::clamp(f.down_to_grid(high), low_of(numbers.last), numbers.high);
  if (numbers.low > numbers.high) drop_numbers(j);
  const bool same_cells = numbers.first == before.first && numbers.last == before.last;
  return numbers.empty() || !same_cells || numbers.low != before.low || numbers.high != before.high;
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

bool Box::any_empty(const Domain& domain) const {
  for (std::size_t j = 0; j < domain.features.size(); ++j)
    if (empty(domain, j)) return true;
  return false;
}

bool Box::contains(const Domain& domain, const double* row) const {
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    if (const std::int32_t k = f.atom_of(row[j]); k >= 0) {
      if (!has_atom(f, static_cast<std::size_t>(k))) return false;
      continue;
    }
    const std::int32_t c = f.cell_of(row[j]);
    const Range& numbers = range[j];
    if (c < 0 || c < numbers.first || c > numbers.last || row[j] < numbers.low || row[j] > numbers.high) return false;
  }
  return true;
}

std::size_t Box::value_count(const Domain& domain) const {
  std::size_t count = 0;
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Range& numbers = range[j];
    count += atom_count(domain.features[j]) + (numbers.empty() ? 0 : static_cast<std::size_t>(numbers.last - numbers.first + 1));
  }
  return count;
}

bool Box::narrow(const Domain& domain, std::size_t j) const {
  if (single(domain, j)) return true;
  const Feature& f = domain.features[j];
  return f.grid == 0 && single_cell(domain, j) && !range[j].empty() &&
         range[j].high - range[j].low <= tolerance::kNarrow * f.span();
}

bool Box::narrow(const Domain& domain) const {
  return every_feature(domain, [&](std::size_t j) { return narrow(domain, j); });
}

bool Box::single(const Domain& domain) const {
  return every_feature(domain, [&](std::size_t j) { return single(domain, j); });
}

bool Box::single_cells(const Domain& domain) const {
  return every_feature(domain, [&](std::size_t j) { return single_cell(domain, j); });
}

}  // namespace likely::search
