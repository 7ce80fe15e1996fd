#include "triangles.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"
#include "network_workspace.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// What a column or row stands for: two bits for the kind, the rest says which.
constexpr std::uint32_t kFeature = 0, kUnit = 1U << 30, kUnitRow = 2U << 30, kOtherRow = 3U << 30;

std::uint32_t feature_key(std::size_t j, std::size_t which) {
  return kFeature | static_cast<std::uint32_t>(j << 12 | (which & 0xfff));
}
std::uint32_t unit_key(std::uint32_t kind, std::size_t at, std::size_t h, std::size_t which = 0) {
  return kind | static_cast<std::uint32_t>(at << 22 | h << 1 | which);
}

}  // namespace

// -- the programme ------------------------------------------------------------------------------------------------------

double Triangles::effect(std::size_t vertex, std::size_t feature, std::size_t h) const {
  const Vertices::Vertex& at = bounds_->vertices.list[vertex];
  const Feature& f = network_.domain_.features[feature];
  const std::size_t units = network_.units_;
  if (at.atom >= 0) return network_.first_.atoms[(f.first_atom + static_cast<std::size_t>(at.atom)) * units + h];
  return network_.first_.slopes[feature * units + h] * (at.number - f.anchor) + network_.first_.at_anchors[feature * units + h];
}

// Columns of features. Numbers alone: from the cheapest vertex step by step to either side, each step no cheaper per unit than
// the one before. With atoms: shares of the other vertices, together at most 1.
void Triangles::add_features() {
  const Vertices& vertices = bounds_->vertices;
  const std::size_t features = network_.domain_.features.size();
  columns_.clear();
  base_.resize(features);
  first_column_.assign(1, 0);
  for (std::size_t j = 0; j < features; ++j) {
    const std::size_t first = vertices.first[j], last = vertices.first[j + 1];
    std::size_t base = first;
    for (std::size_t p = first; p < last; ++p)
      if (vertices.list[p].cost < vertices.list[base].cost) base = p;
    base_[j] = base;
    if (vertices.list[first].atom >= 0) {
      for (std::size_t p = first; p < last; ++p)
        if (p != base) columns_.push_back({j, base, p, feature_key(j, 2 + p - first)});
    } else {
      for (std::size_t p = base; p + 1 < last; ++p) columns_.push_back({j, p, p + 1, feature_key(j, 2 * (p - base))});
      for (std::size_t p = base; p > first; --p) columns_.push_back({j, p, p - 1, feature_key(j, 2 * (base - p) + 1)});
    }
    first_column_.push_back(columns_.size());
  }
}

void Triangles::first_layer() {
  const std::size_t units = network_.units_, count = programme_.columns;
  std::vector<double>&terms = expression_[0], &constants = constants_[0];
  constants = network_.bias_;
  terms.assign(units * count, 0.0);
  for (std::size_t j = 0; j < base_.size(); ++j)
    for (std::size_t h = 0; h < units; ++h) constants[h] += effect(base_[j], j, h);
  for (std::size_t k = 0; k < first_column_.back(); ++k) {
    const Column& column = columns_[k];
    for (std::size_t h = 0; h < units; ++h)
      terms[h * count + k] = effect(column.to, column.feature, h) - effect(column.from, column.feature, h);
    programme_.cost[k] = bounds_->vertices.list[column.to].cost - bounds_->vertices.list[column.from].cost;
  }
}

// Adds weights . relu(z) of layer `at` to a function of the columns; returns what it adds without them.
double Triangles::add_relus(std::size_t at, const double* weights, double* terms) const {
  const std::size_t count = programme_.columns;
  const std::vector<double>&low = bounds_->low[at], &high = bounds_->high[at];
  double constant = 0;
  for (std::size_t h = 0; h < low.size(); ++h) {
    if (weights[h] == 0 || high[h] <= 0) continue;
    if (column_of_[at][h] >= 0) {
      terms[static_cast<std::size_t>(column_of_[at][h])] += weights[h];
      continue;
    }
    constant += weights[h] * constants_[at][h];
    const double* before = expression_[at].data() + h * count;
    for (std::size_t k = 0; k < count; ++k) terms[k] += weights[h] * before[k];
  }
  return constant;
}

void Triangles::next_layer(std::size_t at) {
  const Network::Layer& layer = network_.later_[at - 1];
  constants_[at] = layer.bias;
  expression_[at].assign(layer.outputs * programme_.columns, 0.0);
  for (std::size_t o = 0; o < layer.outputs; ++o)
    constants_[at][o] +=
        add_relus(at - 1, layer.weight.data() + o * layer.inputs, expression_[at].data() + o * programme_.columns);
}

double* Triangles::add_row(double low, double high, std::uint32_t key) {
  row_keys_.push_back(key);
  return programme_.add_row(low, high);
}

// The rows of one unit: that it is where it was decided to be, or within its triangle.
void Triangles::add_unit(std::size_t at, std::size_t h) {
  const double low = bounds_->low[at][h], high = bounds_->high[at][h], constant = constants_[at][h];
  const std::size_t count = programme_.columns;
  const double* terms = expression_[at].data() + h * count;
  row_of_[at][h] = static_cast<std::int32_t>(programme_.rows);
  if (decided_[at][h] != 0) {
    double* row = add_row((decided_[at][h] > 0 ? 0 : low) - constant, (decided_[at][h] > 0 ? high : 0) - constant,
                          unit_key(kUnitRow, at, h));
    std::copy(terms, terms + count, row);
    return;
  }
  const auto column = static_cast<std::size_t>(column_of_[at][h]);
  programme_.high[column] = high;
  double* lower = add_row(constant, constant - low, unit_key(kUnitRow, at, h));
  for (std::size_t k = 0; k < count; ++k) lower[k] = -terms[k];
  lower[column] += 1;
  const double slope = high / (high - low);
  double* chord = add_row(slope * (low - constant), -slope * constant, unit_key(kUnitRow, at, h, 1));
  for (std::size_t k = 0; k < count; ++k) chord[k] = slope * terms[k];
  chord[column] -= 1;
}

void Triangles::add_goals(const std::vector<Goal>& goals) {
  const Network::Layer& last = network_.later_.back();
  std::vector<double> weights;
  first_goal_ = programme_.rows;
  goal_count_ = goals.size();
  for (std::size_t g = 0; g < goals.size(); ++g) {
    weights.assign(last.inputs, 0.0);
    double constant = 0;
    for (std::size_t o = 0; o < last.outputs; ++o) {
      constant += goals[g].coefficient[o] * last.bias[o];
      for (std::size_t i = 0; i < last.inputs; ++i) weights[i] += goals[g].coefficient[o] * last.weight[o * last.inputs + i];
    }
    for (std::size_t i = 0; i < last.inputs; ++i) influence_.back()[i] += std::abs(weights[i]);
    double* row = add_row(0, 0, kOtherRow | static_cast<std::uint32_t>(g));
    constant += add_relus(bounds_->low.size() - 1, weights.data(), row);
    double most = constant;
    for (std::size_t k = 0; k < programme_.columns; ++k) most += std::max(0.0, row[k]) * programme_.high[k];
    const double rounding = tolerance::kRoundingsOfBound * goals[g].rounding(bounds_->size.back(), network_.roundoff_);
    const std::size_t variable = programme_.columns + programme_.rows - 1;
    programme_.low[variable] = goals[g].lower + rounding - constant;
    programme_.high[variable] = std::max(programme_.low[variable], most - constant);
  }
}

// Shares of a feature's other vertices are together at most 1.
void Triangles::add_shares() {
  for (std::size_t j = 0; j < base_.size(); ++j) {
    if (bounds_->vertices.list[base_[j]].atom < 0 && bounds_->vertices.list[bounds_->vertices.first[j]].atom < 0) continue;
    if (first_column_[j + 1] < first_column_[j] + 2) continue;
    double* row = add_row(0, 1, kOtherRow | static_cast<std::uint32_t>(1U << 20 | j));
    for (std::size_t k = first_column_[j]; k < first_column_[j + 1]; ++k) row[k] = 1;
  }
}

void Triangles::add_budget() {
  double* row = add_row(0, bounds_->vertices.spare, kOtherRow | static_cast<std::uint32_t>(1U << 21));
  std::copy_n(programme_.cost.begin(), first_column_.back(), row);
}

void Triangles::build(const Region& region, const std::vector<Goal>& goals, const ScoreWorkspace& workspace, bool with_budget) {
  bounds_ = static_cast<const Network::Workspace*>(&workspace);
  const std::size_t layers = bounds_->low.size();
  for (auto* each : {&column_of_, &row_of_, &decided_}) each->resize(layers);
  expression_.resize(layers);
  constants_.resize(layers);
  row_keys_.clear();
  add_features();
  cheapest_ = bounds_->vertices.cheapest;
  for (std::size_t at = 0; at < layers; ++at) {
    const std::size_t units = bounds_->low[at].size();
    for (auto* each : {&column_of_, &row_of_}) (*each)[at].assign(units, -1);
    decided_[at].assign(units, 0);
    for (const UnitSplit& split : region.splits)
      if (split.layer == at) decided_[at][split.unit] = split.on ? 1 : -1;
    for (std::size_t h = 0; h < units; ++h) {
      if (!(bounds_->low[at][h] < 0 && bounds_->high[at][h] > 0)) continue;
      column_of_[at][h] = static_cast<std::int32_t>(columns_.size());
      columns_.push_back({0, 0, 0, unit_key(kUnit, at, h)});
    }
  }
  programme_.reset(columns_.size());
  for (std::size_t at = 0; at < layers; ++at) {
    if (at == 0)
      first_layer();
    else
      next_layer(at);
    for (std::size_t h = 0; h < bounds_->low[at].size(); ++h)
      if (decided_[at][h] != 0 || column_of_[at][h] >= 0) add_unit(at, h);
  }
  influence_.assign(layers, {});
  influence_.back().assign(bounds_->low.back().size(), 0.0);
  add_goals(goals);
  for (std::size_t at = layers - 1; at > 0; --at) {
    const Network::Layer& layer = network_.later_[at - 1];
    influence_[at - 1].assign(layer.inputs, 0.0);
    for (std::size_t o = 0; o < layer.outputs; ++o)
      for (std::size_t i = 0; i < layer.inputs && bounds_->high[at][o] > 0; ++i)
        influence_[at - 1][i] += influence_[at][o] * std::abs(layer.weight[o * layer.inputs + i]);
  }
  add_shares();
  if (with_budget && bounds_->vertices.binding) add_budget();
  simplex_.load(programme_);
}

// -- its solution -------------------------------------------------------------------------------------------------------

void Triangles::start_from(const Basis& start) {
  std::vector<std::uint32_t> basic, nonbasic;
  auto place = [](const std::vector<std::uint32_t>& sorted, std::uint32_t key) {
    return std::binary_search(sorted.begin(), sorted.end(), key);
  };
  for (std::size_t k = 0; k < columns_.size(); ++k)
    if (place(start.columns, columns_[k].key)) basic.push_back(static_cast<std::uint32_t>(k));
  for (std::size_t r = 0; r < row_keys_.size(); ++r)
    if (place(start.rows, row_keys_[r])) nonbasic.push_back(static_cast<std::uint32_t>(columns_.size() + r));
  simplex_.start_from(basic, nonbasic);
}

Simplex::End Triangles::solve(const Basis& start, double cutoff) {
  start_from(start);
  const double enough = cutoff - cheapest_ + 2 * tolerance::bound_rounding(cutoff);
  const std::size_t most = tolerance::kPivotsPerRow * (programme_.rows + programme_.columns);
  perturb(std::isfinite(enough) ? std::max(enough, 0.0) : 1);
  simplex_.solve(kInf, most);
  simplex_.set_cost(programme_.cost);
  return simplex_.solve(enough, most);
}

Simplex::End Triangles::solve_for(const UnitSide& side, double enough) {
  const double* terms = expression_[side.layer].data() + side.unit * programme_.columns;
  std::vector<double> cost(programme_.columns);
  for (std::size_t k = 0; k < cost.size(); ++k) cost[k] = -side.sign * terms[k];
  simplex_.set_cost(cost);
  return simplex_.improve(side.sign * constants_[side.layer][side.unit] - enough, tolerance::kPivotsOfRange);
}

double Triangles::argument(std::size_t layer, std::size_t unit) const {
  const double* terms = expression_[layer].data() + unit * programme_.columns;
  double sum = constants_[layer][unit];
  for (std::size_t k = 0; k < programme_.columns; ++k) sum += terms[k] * simplex_.value(static_cast<std::uint32_t>(k));
  return sum;
}

// Raises every cost by a part of a small share of `room` that is its own.
void Triangles::perturb(double room) {
  std::vector<double> cost = programme_.cost;
  double part = 0;
  for (std::size_t k = 0; k < cost.size(); ++k) {
    part = std::fmod(part + tolerance::kGoldenRatio, 1.0);
    const double width = programme_.high[k] - programme_.low[k];
    if (width > 0) cost[k] += tolerance::kPerturbation * room * (1 + part) / (width * static_cast<double>(cost.size()));
  }
  simplex_.set_cost(cost);
}

Basis Triangles::basis_of(const Simplex& simplex) const {
  Basis made;
  for (std::size_t r = 0; r < simplex.rows(); ++r)
    if (simplex.basic(r) < simplex.columns()) made.columns.push_back(columns_[simplex.basic(r)].key);
  for (std::size_t k = 0; k < simplex.columns(); ++k)
    if (simplex.nonbasic(k) >= simplex.columns()) made.rows.push_back(row_keys_[simplex.nonbasic(k) - simplex.columns()]);
  std::sort(made.columns.begin(), made.columns.end());
  std::sort(made.rows.begin(), made.rows.end());
  return made;
}

const UnitMultipliers& Triangles::multipliers() {
  multipliers_.goals.resize(goal_count_);
  for (std::size_t g = 0; g < goal_count_; ++g) multipliers_.goals[g] = std::max(0.0, simplex_.multiplier(first_goal_ + g));
  multipliers_.units.resize(row_of_.size());
  multipliers_.chords.resize(row_of_.size());
  for (std::size_t at = 0; at < row_of_.size(); ++at) {
    multipliers_.units[at].assign(row_of_[at].size(), 0.0);
    multipliers_.chords[at].assign(row_of_[at].size(), 0.0);
    for (std::size_t h = 0; h < row_of_[at].size(); ++h) {
      if (row_of_[at][h] < 0) continue;
      const auto row = static_cast<std::size_t>(row_of_[at][h]);
      multipliers_.units[at][h] = simplex_.multiplier(row);
      if (column_of_[at][h] >= 0) multipliers_.chords[at][h] = simplex_.multiplier(row + 1);
    }
  }
  return multipliers_;
}

void Triangles::point(std::vector<double>& out) const {
  const Vertices& vertices = bounds_->vertices;
  out.resize(base_.size());
  for (std::size_t j = 0; j < base_.size(); ++j) {
    const Feature& f = network_.domain_.features[j];
    const Vertices::Vertex& base = vertices.list[base_[j]];
    auto value_of = [&](const Vertices::Vertex& vertex) {
      return vertex.atom >= 0 ? f.atom[static_cast<std::size_t>(vertex.atom)] : vertex.number;
    };
    out[j] = value_of(base);
    if (vertices.list[vertices.first[j]].atom >= 0) {
      double rest = 1, most = 0;
      std::size_t best = base_[j];
      for (std::size_t k = first_column_[j]; k < first_column_[j + 1]; ++k) {
        const double share = simplex_.value(static_cast<std::uint32_t>(k));
        rest -= share;
        if (share > most) {
          most = share;
          best = columns_[k].to;
        }
      }
      if (most > rest) out[j] = value_of(vertices.list[best]);
      continue;
    }
    double moved = 0;
    for (std::size_t k = first_column_[j]; k < first_column_[j + 1]; ++k)
      moved += simplex_.value(static_cast<std::uint32_t>(k)) *
               (vertices.list[columns_[k].to].number - vertices.list[columns_[k].from].number);
    if (moved == 0) continue;
    const double least = vertices.list[vertices.first[j]].number, most = vertices.list[vertices.first[j + 1] - 1].number;
    out[j] = std::clamp(base.number + moved, least, most);
  }
}

void Triangles::row(std::vector<double>& out) const {
  point(out);
  const Vertices& vertices = bounds_->vertices;
  for (std::size_t j = 0; j < out.size(); ++j) {
    const Feature& f = network_.domain_.features[j];
    const double base = vertices.list[base_[j]].number;
    if (f.grid == 0 || out[j] == base || vertices.list[vertices.first[j]].atom >= 0) continue;
    const double least = vertices.list[vertices.first[j]].number, most = vertices.list[vertices.first[j + 1] - 1].number;
    out[j] = out[j] > base ? std::min(most, f.up_to_grid(out[j])) : std::max(least, f.down_to_grid(out[j]));
  }
}

// -- for other programmes -----------------------------------------------------------------------------------------------

void Triangles::fill_rows(UnitRows& out) const {
  const std::vector<std::size_t> places = list_rows(out);
  const std::size_t count = places.size();
  out.constant.resize(count);
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t variable = programme_.columns + places[r];
    out.constant[r] = out.rows[r].sign > 0 ? -programme_.low[variable] : programme_.high[variable];
  }
  for (UnitRows::Relu& relu : out.relus) {
    const auto k = static_cast<std::size_t>(column_of_[relu.layer][relu.unit]);
    relu.adds.resize(count);
    for (std::size_t r = 0; r < count; ++r) relu.adds[r] = relu.high * entry(out, places, r, k);
  }
  const std::size_t features = base_.size();
  std::size_t atoms = 0;
  for (const Feature& f : network_.domain_.features) atoms += f.atom.size();
  out.slope.assign(features * count, 0.0);
  out.start.assign(features * count, 0.0);
  out.from.assign(features, 0.0);
  out.atoms.assign(atoms * count, 0.0);
  for (std::size_t j = 0; j < features; ++j) {
    if (bounds_->vertices.list[bounds_->vertices.first[j]].atom < 0)
      fill_numbers(j, places, out);
    else
      fill_shares(j, places, out);
  }
}

// The rows, and where each is in the programme.
std::vector<std::size_t> Triangles::list_rows(UnitRows& out) const {
  std::vector<std::size_t> places;
  const std::size_t layers = row_of_.size();
  out.rows.clear();
  out.relus.clear();
  out.units.clear();
  out.goals = goal_count_;
  for (std::size_t at = 0; at < layers; ++at) {
    out.units.push_back(row_of_[at].size());
    for (std::size_t h = 0; h < row_of_[at].size(); ++h) {
      if (row_of_[at][h] < 0) continue;
      const auto row = static_cast<std::size_t>(row_of_[at][h]);
      const auto layer = static_cast<std::uint32_t>(at), unit = static_cast<std::uint32_t>(h);
      if (column_of_[at][h] >= 0) out.relus.push_back({layer, unit, bounds_->high[at][h], {}, out.rows.size()});
      places.push_back(row);
      out.rows.push_back({at, h, false, decided_[at][h] < 0 ? -1.0 : 1.0});
      if (column_of_[at][h] < 0) continue;
      places.push_back(row + 1);
      out.rows.push_back({at, h, true, 1});
    }
  }
  for (std::size_t g = 0; g < goal_count_; ++g) {
    places.push_back(first_goal_ + g);
    out.rows.push_back({layers, g, false, 1});
  }
  return places;
}

double Triangles::entry(const UnitRows& rows, const std::vector<std::size_t>& places, std::size_t r, std::size_t column) const {
  return rows.rows[r].sign * programme_.matrix[places[r] * programme_.columns + column];
}

// A feature that is nothing but numbers: steps along its cost, all in proportion; the widest one tells best.
void Triangles::fill_numbers(std::size_t j, const std::vector<std::size_t>& places, UnitRows& out) const {
  const Vertices& vertices = bounds_->vertices;
  out.from[j] = vertices.list[base_[j]].number;
  std::size_t widest = columns_.size();
  double width = 0;
  for (std::size_t k = first_column_[j]; k < first_column_[j + 1]; ++k) {
    const double here = vertices.list[columns_[k].to].number - vertices.list[columns_[k].from].number;
    if (std::abs(here) <= std::abs(width)) continue;
    width = here;
    widest = k;
  }
  if (widest == columns_.size()) return;
  const std::size_t count = places.size();
  for (std::size_t r = 0; r < count; ++r) out.slope[j * count + r] = entry(out, places, r, widest) / width;
}

// A feature with atoms: a share of each vertex, but of the one that it is at if it has none of the others.
void Triangles::fill_shares(std::size_t j, const std::vector<std::size_t>& places, UnitRows& out) const {
  const Feature& f = network_.domain_.features[j];
  const Vertices& vertices = bounds_->vertices;
  const std::size_t first = vertices.first[j], last = vertices.first[j + 1], count = places.size();
  auto adds = [&](std::size_t p, std::size_t r) {
    for (std::size_t k = first_column_[j]; k < first_column_[j + 1]; ++k)
      if (columns_[k].to == p) return entry(out, places, r, k);
    return 0.0;
  };
  out.from[j] = vertices.list[last - 1].number;
  bool has_start = false;
  for (std::size_t p = first; p < last; ++p) {
    const Vertices::Vertex& vertex = vertices.list[p];
    for (std::size_t r = 0; r < count; ++r) {
      if (vertex.atom >= 0)
        out.atoms[(f.first_atom + static_cast<std::size_t>(vertex.atom)) * count + r] = adds(p, r);
      else if (!has_start)
        out.start[j * count + r] = adds(p, r);
      else if (vertex.number > out.from[j])
        out.slope[j * count + r] = (adds(p, r) - out.start[j * count + r]) / (vertex.number - out.from[j]);
    }
    if (vertex.atom >= 0 || has_start) continue;
    has_start = true;
    out.from[j] = vertex.number;
  }
}

void UnitRows::to_multipliers(const double* prices, UnitMultipliers& out) const {
  out.goals.assign(goals, 0.0);
  for (auto* each : {&out.units, &out.chords}) {
    each->resize(units.size());
    for (std::size_t at = 0; at < units.size(); ++at) (*each)[at].assign(units[at], 0.0);
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    if (row.layer == units.size())
      out.goals[row.unit] = prices[r];
    else
      (row.chord ? out.chords : out.units)[row.layer][row.unit] = row.sign * prices[r];
  }
}

void UnitRows::from_multipliers(const UnitMultipliers& multipliers, double times, double* prices) const {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    const double one = row.layer == units.size() ? multipliers.goals[row.unit]
                       : row.chord               ? multipliers.chords[row.layer][row.unit]
                                                 : row.sign * multipliers.units[row.layer][row.unit];
    prices[r] = times * one;
  }
}

// -- what to split on ---------------------------------------------------------------------------------------------------

std::vector<Triangles::Candidate> Triangles::candidates() const {
  std::vector<Candidate> made;
  bool free = true;  // no goal has a price: the relaxation reaches all of them at no cost
  for (std::size_t g = 0; g < goal_count_; ++g) free = free && simplex_.multiplier(first_goal_ + g) <= 0;
  for (std::size_t at = 0; at < column_of_.size(); ++at) {
    for (std::size_t h = 0; h < column_of_[at].size(); ++h) {
      if (column_of_[at][h] < 0) continue;
      const double relu = simplex_.value(static_cast<std::uint32_t>(column_of_[at][h]));
      const auto lower = static_cast<std::size_t>(row_of_[at][h]);
      const double above = simplex_.value(static_cast<std::uint32_t>(programme_.columns + lower)) - constants_[at][h];
      const double gap = std::min(above, relu);  // relu - max(0, z)
      if (gap <= tolerance::kLeastUnitGap * (bounds_->high[at][h] - bounds_->low[at][h])) continue;
      const double price = std::max(0.0, simplex_.multiplier(lower + 1));
      made.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(h), gap * (free ? influence_[at][h] : price)});
    }
  }
  std::sort(made.begin(), made.end(), [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  return made;
}

std::vector<Triangles::Candidate> Triangles::candidates_at(const double* row) const {
  const std::vector<std::vector<double>> arguments = network_.arguments(row);
  std::vector<Candidate> made;
  for (std::size_t at = 0; at < column_of_.size(); ++at) {
    for (std::size_t h = 0; h < column_of_[at].size(); ++h) {
      if (column_of_[at][h] < 0) continue;
      const double low = bounds_->low[at][h], high = bounds_->high[at][h], z = std::clamp(arguments[at][h], low, high);
      const double gap = high * (z - low) / (high - low) - std::max(0.0, z);
      if (gap <= tolerance::kLeastUnitGap * (high - low)) continue;
      made.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(h), gap * influence_[at][h]});
    }
  }
  std::sort(made.begin(), made.end(), [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  return made;
}

double Triangles::probe(const UnitSplit& split, double cutoff, Basis& basis) const {
  Simplex simplex = simplex_;
  if (split.on) {
    const double constant = constants_[split.layer][split.unit];
    simplex.set_bounds(
        static_cast<std::uint32_t>(programme_.columns) + static_cast<std::uint32_t>(row_of_[split.layer][split.unit]), constant,
        constant);
  } else {
    simplex.set_bounds(static_cast<std::uint32_t>(column_of_[split.layer][split.unit]), 0, 0);
  }
  const Simplex::End end = simplex.solve(cutoff - cheapest_, tolerance::kPivotsOfProbe);
  basis = basis_of(simplex);
  return end == Simplex::End::kInfeasible || end == Simplex::End::kCutOff ? cutoff : cheapest_ + simplex.objective();
}

}  // namespace likely::search
