#include "priced_units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"
#include "network_workspace.hpp"

namespace likely::search {

namespace {

constexpr std::size_t kNoFeature = std::numeric_limits<std::size_t>::max();

}  // namespace

PricedUnits::PricedUnits(const Triangles& triangles)
    : triangles_(triangles), signs_(triangles.first_goal_ + triangles.goal_count_, 1.0) {
  for (std::size_t at = 0; at < triangles.row_of_.size(); ++at)
    for (std::size_t h = 0; h < triangles.row_of_[at].size(); ++h)
      if (triangles.row_of_[at][h] >= 0 && triangles.decided_[at][h] < 0)
        signs_[static_cast<std::size_t>(triangles.row_of_[at][h])] = -1;
}

// What a vertex of a feature adds to a row, beyond its cheapest.
double PricedUnits::row_at(std::size_t row, std::size_t feature, std::size_t vertex) const {
  const Triangles& t = triangles_;
  const double* entries = t.programme_.matrix.data() + row * t.programme_.columns;
  const std::size_t base = t.base_[feature];
  const bool shares = t.bounds_->vertices.list[t.bounds_->vertices.first[feature]].atom >= 0;
  double total = 0;
  for (std::size_t k = t.first_column_[feature]; k < t.first_column_[feature + 1]; ++k) {
    const Triangles::Column& column = t.columns_[k];
    if (shares ? column.to == vertex : column.to > base ? column.to <= vertex : column.to >= vertex) total += entries[k];
  }
  return signs_[row] * total;
}

std::size_t PricedUnits::lever_count(std::size_t feature) const {
  const Vertices& vertices = triangles_.bounds_->vertices;
  std::size_t atoms = 0, numbers = 0;
  for (std::size_t p = vertices.first[feature]; p < vertices.first[feature + 1]; ++p)
    ++(vertices.list[p].atom >= 0 ? atoms : numbers);
  return atoms > 0 ? atoms + (numbers > 0 ? 2 : 0) : numbers > 1 ? 1 : 0;
}

void PricedUnits::levers(std::size_t feature, double value, double* out) const {
  const Vertices& vertices = triangles_.bounds_->vertices;
  const Feature& f = triangles_.network_.domain_.features[feature];
  const std::size_t first = vertices.first[feature], last = vertices.first[feature + 1];
  if (vertices.list[first].atom < 0) {
    if (last > first + 1) *out = value - vertices.list[triangles_.base_[feature]].number;
    return;
  }
  const std::int32_t atom = f.atom_of(value);
  std::size_t p = first;
  for (; p < last && vertices.list[p].atom >= 0; ++p) *out++ = vertices.list[p].atom == atom ? 1 : 0;
  if (p == last) return;
  *out++ = atom >= 0 ? 0 : 1;
  *out = atom >= 0 ? 0 : value - vertices.list[p].number;
}

void PricedUnits::add_lines(std::size_t feature, PartTerms::Lines& lines) const {
  const Vertices& vertices = triangles_.bounds_->vertices;
  const std::size_t first = vertices.first[feature], last = vertices.first[feature + 1];
  if (lines.levers == 0) return;
  for (std::size_t r = 0; r < rows(); ++r) {
    lines.rows.push_back(static_cast<std::uint32_t>(r));
    std::size_t p = first;
    for (; p < last && vertices.list[p].atom >= 0; ++p) lines.line.push_back(row_at(r, feature, p));
    if (p == last) continue;
    const double width = vertices.list[last - 1].number - vertices.list[p].number;
    if (p > first) lines.line.push_back(row_at(r, feature, p));
    lines.line.push_back(width > 0 ? (row_at(r, feature, last - 1) - row_at(r, feature, p)) / width : 0);
  }
}

void PricedUnits::add_rows(PartTerms& terms) const {
  const Triangles& t = triangles_;
  const LinearProgramme& programme = t.programme_;
  terms.rows = rows();
  for (std::size_t r = 0; r < rows(); ++r) {
    const std::size_t variable = programme.columns + r;
    terms.per_price.push_back(signs_[r] > 0 ? -programme.low[variable] : programme.high[variable]);
  }
  for (const PartTerms::Term& term : terms.terms) {
    PartTerms::Lines& lines = terms.lines.emplace_back();
    lines.levers = lever_count(term.feature);
    lines.lever.resize((term.last - term.first) * lines.levers);
    for (std::size_t k = term.first; k < term.last; ++k)
      levers(term.feature, terms.value[k], lines.lever.data() + (k - term.first) * lines.levers);
    add_lines(term.feature, lines);
  }
  for (std::size_t k = t.first_column_.back(); k < programme.columns; ++k) {
    terms.begin(kNoFeature, -1);
    for (const double relu : {0.0, programme.high[k]}) {
      double* gains = terms.add(0, 0, relu);
      std::fill(gains, gains + terms.prices, 0.0);
    }
    PartTerms::Lines& lines = terms.lines.emplace_back();
    lines.levers = 1;
    lines.lever = {0.0, programme.high[k]};
    for (std::size_t r = 0; r < rows(); ++r) {
      const double entry = programme.matrix[r * programme.columns + k];
      if (entry == 0) continue;
      lines.rows.push_back(static_cast<std::uint32_t>(r));
      lines.line.push_back(signs_[r] * entry);
    }
  }
}

void PricedUnits::append_prices(const UnitMultipliers& multipliers, const PartTerms& terms, double worth,
                                std::vector<double>& prices) const {
  std::vector<double> spread(rows(), 0.0);
  for (std::size_t place = 0; place < terms.terms.size(); ++place) {
    const PartTerms::Lines& lines = terms.lines[place];
    const std::size_t count = terms.terms[place].last - terms.terms[place].first;
    for (std::size_t i = 0; i < lines.rows.size(); ++i) {
      double least = 0, most = 0;
      for (std::size_t k = 0; k < count; ++k) {
        double here = 0;
        for (std::size_t l = 0; l < lines.levers; ++l)
          here += lines.line[i * lines.levers + l] * lines.lever[k * lines.levers + l];
        least = k == 0 ? here : std::min(least, here);
        most = k == 0 ? here : std::max(most, here);
      }
      spread[lines.rows[i]] += most - least;
    }
  }
  const std::size_t others = prices.size();
  prices.resize(others + rows(), 0.0);
  const Triangles& t = triangles_;
  if (!multipliers.goals.empty()) {
    for (std::size_t g = 0; g < t.goal_count_; ++g) prices[others + t.first_goal_ + g] = multipliers.goals[g];
    for (std::size_t at = 0; at < t.row_of_.size(); ++at) {
      for (std::size_t h = 0; h < t.row_of_[at].size(); ++h) {
        if (t.row_of_[at][h] < 0) continue;
        const auto row = static_cast<std::size_t>(t.row_of_[at][h]);
        prices[others + row] = std::max(0.0, signs_[row] * multipliers.units[at][h]);
        if (t.column_of_[at][h] >= 0) prices[others + row + 1] = std::max(0.0, multipliers.chords[at][h]);
      }
    }
  }
  for (std::size_t r = 0; r < rows(); ++r)
    prices[others + r] = std::max(prices[others + r], spread[r] > 0 ? worth / spread[r] : worth);
}

UnitMultipliers PricedUnits::multipliers(const std::vector<double>& prices, std::size_t others) const {
  const Triangles& t = triangles_;
  UnitMultipliers made;
  for (std::size_t g = 0; g < t.goal_count_; ++g) made.goals.push_back(prices[others + t.first_goal_ + g]);
  for (std::size_t at = 0; at < t.row_of_.size(); ++at) {
    made.units.emplace_back(t.row_of_[at].size(), 0.0);
    made.chords.emplace_back(t.row_of_[at].size(), 0.0);
    for (std::size_t h = 0; h < t.row_of_[at].size(); ++h) {
      if (t.row_of_[at][h] < 0) continue;
      const auto row = static_cast<std::size_t>(t.row_of_[at][h]);
      made.units[at][h] = signs_[row] * prices[others + row];
      if (t.column_of_[at][h] >= 0) made.chords[at][h] = prices[others + row + 1];
    }
  }
  return made;
}

UnitMultipliers PricedUnits::fitted(UnitMultipliers multipliers) const {
  const Triangles& t = triangles_;
  multipliers.goals.resize(t.goal_count_, 0.0);
  multipliers.units.resize(t.row_of_.size());
  multipliers.chords.resize(t.row_of_.size());
  for (std::size_t at = 0; at < t.row_of_.size(); ++at) {
    for (auto* each : {&multipliers.units[at], &multipliers.chords[at]}) each->resize(t.row_of_[at].size(), 0.0);
    for (std::size_t h = 0; h < t.row_of_[at].size(); ++h) {
      const std::int32_t row = t.row_of_[at][h];
      double &unit = multipliers.units[at][h], &chord = multipliers.chords[at][h];
      if (row < 0 || signs_[static_cast<std::size_t>(row)] * unit < 0) unit = 0;
      if (t.column_of_[at][h] < 0) chord = 0;
    }
  }
  return multipliers;
}

double PricedUnits::reward(const PartTerms& terms, std::size_t term, double value, const std::vector<double>& prices) const {
  const PartTerms::Lines& lines = terms.lines[term];
  std::vector<double> at(lines.levers);
  levers(terms.terms[term].feature, value, at.data());
  double total = 0;
  for (std::size_t i = 0; i < lines.rows.size(); ++i)
    for (std::size_t l = 0; l < lines.levers; ++l)
      total += prices[terms.prices + lines.rows[i]] * lines.line[i * lines.levers + l] * at[l];
  return total;
}

std::vector<Triangles::Candidate> PricedUnits::candidates(const PartTerms& terms, const SmoothedPrices& solution,
                                                          const std::vector<double>& prices) const {
  const Triangles& t = triangles_;
  const std::size_t first_unit = terms.terms.size() - (t.programme_.columns - t.first_column_.back());
  std::vector<Triangles::Candidate> made;
  std::vector<double> pulls;  // what the goals may gain of each gap
  double most = 0;
  for (std::size_t at = 0; at < t.column_of_.size(); ++at) {
    for (std::size_t h = 0; h < t.column_of_[at].size(); ++h) {
      if (t.column_of_[at][h] < 0) continue;
      const auto row = static_cast<std::size_t>(t.row_of_[at][h]);
      const std::size_t place = first_unit + static_cast<std::size_t>(t.column_of_[at][h]) - t.first_column_.back();
      const double relu = solution.mean_lever(place), above = solution.mean_of_row(row) - t.constants_[at][h];
      const double gap = std::min(above, relu);  // relu - max(0, z)
      if (!(gap > tolerance::kLeastUnitGap * (t.bounds_->high[at][h] - t.bounds_->low[at][h]))) continue;
      const double gain = gap * prices[terms.prices + row + 1];
      made.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(h), gain});
      pulls.push_back(gap * t.influence_[at][h]);
      most = std::max(most, gain);
    }
  }
  // Prices that are hardly any say nothing: the relaxation reaches the goals at no cost.
  if (most < tolerance::kLeastUnitWorth && !made.empty()) {
    const auto best = std::max_element(pulls.begin(), pulls.end()) - pulls.begin();
    std::swap(made.front(), made[static_cast<std::size_t>(best)]);
    return made;
  }
  std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
  return made;
}

}  // namespace likely::search
