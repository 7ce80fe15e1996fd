#include "likelihood_changes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

double log_sum(const std::vector<double>& terms) {
  double most = -kInf, sum = 0;
  for (const double term : terms) most = std::max(most, term);
  if (most == -kInf) return most;
  for (const double term : terms) sum += std::exp(term - most);
  return most + std::log(sum);
}

}  // namespace

std::vector<double> Likelihood::numbers_between(std::size_t j, double low, double high) const {
  std::vector<double> out;
  if (places_[j].empty()) return out;
  const Place& place = places_[j].front();
  blocks_[place.block].each_corner(place.variable, low, high, [&](double x, double, double) {
    const double v = domain_.features[j].nearest(x);
    if (low <= v && v <= high && (out.empty() || v > out.back())) out.push_back(v);
  });
  return out;
}

LikelihoodChanges::LikelihoodChanges(const Likelihood& likelihood, std::size_t alternative, double enough,
                                     const std::vector<std::vector<double>>& numbers)
    : likelihood_(likelihood),
      alternative_(alternative),
      enough_(enough),
      cell_row_(numbers.size()),
      warps_(numbers.size()),
      leaves_(numbers.size()),
      parabolas_(numbers.size()),
      of_number_(numbers.size()),
      of_atom_(numbers.size()) {
  for (std::size_t j = 0; j < numbers.size(); ++j) {
    const Feature& f = likelihood.domain_.features[j];
    of_number_[j].resize(numbers[j].size());
    of_atom_[j].resize(f.atom.size());
    for (const double v : numbers[j])
      cell_row_[j].push_back(likelihood.variables_[j].cell_row[static_cast<std::size_t>(f.cell_of(v))]);
  }
  for (std::size_t b = 0; b < likelihood.blocks_.size(); ++b) {
    const BlockBound& block = likelihood.blocks_[b];
    precision_.push_back(likelihood.circuit_.block(b).precision());
    warped_.emplace_back();
    for (std::size_t i = 0; i < block.count(); ++i) {
      const std::size_t j = block.feature(i);
      const auto known =
          std::find_if(warps_[j].begin(), warps_[j].end(), [&](const Warped& one) { return one.warp == &block.warp(i); });
      warped_.back().push_back(static_cast<std::size_t>(known - warps_[j].begin()));
      if (known != warps_[j].end()) continue;
      warps_[j].push_back({&block.warp(i), {}});
      for (const double v : numbers[j]) warps_[j].back().points.push_back(block.warp(i).at(v));
    }
  }
}

double LikelihoodChanges::log_leaf(std::size_t j, std::size_t leaf, double v) const {
  const Likelihood::Variable& variable = likelihood_.variables_[j];
  const Feature& f = likelihood_.domain_.features[j];
  if (const std::int32_t k = f.atom_of(v); k >= 0) return variable.log_atom(static_cast<std::size_t>(k))[leaf];
  return variable.tree->log_node(variable.tree->size + variable.cell_row[static_cast<std::size_t>(f.cell_of(v))])[leaf];
}

// The logarithm of a block; its parabolas are added, without what other factors of the component are. -inf where a value has no
// density: its least one is of no use to local search.
double LikelihoodChanges::enter_block(std::size_t b, const std::vector<double>& row) {
  const BlockBound& block = likelihood_.blocks_[b];
  const std::size_t count = block.count();
  double slopes = 0, quadratic = 0;
  z_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = block.feature(i);
    const bool atom = likelihood_.domain_.features[j].atom_of(row[j]) >= 0;
    const Warp::Point point = atom ? Warp::Point{0, -kInf} : block.warp(i).at(row[j]);
    z_[i] = point.z - block.mean()[i];
    slopes += point.log_slope;
  }
  if (slopes == -kInf) return -kInf;
  pull_.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < count; ++k) pull_[i] += precision_[b][i * count + k] * z_[k];
    quadratic += z_[i] * pull_[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double own = block.warp(i).at(row[block.feature(i)]).log_slope;
    parabolas_[block.feature(i)].push_back(
        {warped_[b][i], -own, z_[i] + block.mean()[i], -pull_[i], precision_[b][i * count + i]});
  }
  return slopes - 0.5 * quadratic - likelihood_.circuit_.block(b).log_normaliser();
}

// The logarithm of a component; what it is without a feature's own factor is kept with that, unless it is far below `least`.
double LikelihoodChanges::enter(std::size_t k, const std::vector<double>& row, double least) {
  const Likelihood::Component& own = likelihood_.components_[k];
  double total = own.log_weight - likelihood_.given_[alternative_];
  if (own.target >= 0) total += std::log(likelihood_.target_leaves_[alternative_][static_cast<std::size_t>(own.target)]);
  if (!(total > -kInf)) return -kInf;
  std::vector<std::size_t> parabolas(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) parabolas[j] = parabolas_[j].size();
  for (const std::size_t b : own.blocks) total += enter_block(b, row);
  std::vector<double> of_leaf(row.size(), 0.0);
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (own.leaf[j] < 0) continue;
    of_leaf[j] = log_leaf(j, static_cast<std::size_t>(own.leaf[j]), row[j]);
    total += of_leaf[j] + likelihood_.variables_[j].log_scale;
  }
  const bool counts = total > -kInf && total >= least;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (!counts) parabolas_[j].resize(parabolas[j]);
    if (counts && own.leaf[j] >= 0) leaves_[j].push_back({static_cast<std::size_t>(own.leaf[j]), total - of_leaf[j]});
    for (std::size_t i = parabolas[j]; i < parabolas_[j].size(); ++i) parabolas_[j][i].rest += total;
  }
  return total;
}

// Of one value. Where the largest term alone is enough, or all together are far from it, that is near enough.
double LikelihoodChanges::of_terms() const {
  double most = -kInf;
  for (const double term : terms_) most = std::max(most, term);
  return most >= enough_ || most < enough_ - tolerance::kFarBelow ? most : log_sum(terms_);
}

// All numbers and atoms of a feature.
void LikelihoodChanges::fill(std::size_t j) {
  const Likelihood::Variable& variable = likelihood_.variables_[j];
  for (std::size_t i = 0; i < of_number_[j].size(); ++i) {
    terms_.clear();
    const double* logs = leaves_[j].empty() ? nullptr : variable.tree->log_node(variable.tree->size + cell_row_[j][i]);
    for (const Leaf& leaf : leaves_[j]) terms_.push_back(leaf.rest + logs[leaf.leaf]);
    for (const Parabola& one : parabolas_[j]) {
      const Warp::Point& point = warps_[j][one.warped].points[i];
      const double moved = point.z - one.at;
      terms_.push_back(one.rest + point.log_slope + moved * (one.slope - 0.5 * one.curvature * moved));
    }
    of_number_[j][i] = of_terms();
  }
  for (std::size_t k = 0; k < of_atom_[j].size(); ++k) {
    terms_.clear();
    for (const Leaf& leaf : leaves_[j]) terms_.push_back(leaf.rest + variable.log_atom(k)[leaf.leaf]);
    of_atom_[j][k] = of_terms();
  }
}

double LikelihoodChanges::evaluate(const std::vector<double>& row) {
  std::vector<double> totals;
  auto enter_all = [&](double least) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      leaves_[j].clear();
      parabolas_[j].clear();
    }
    totals.clear();
    for (std::size_t k = 0; k < likelihood_.components_.size(); ++k) totals.push_back(enter(k, row, least));
  };
  enter_all(kInf);
  enter_all(*std::max_element(totals.begin(), totals.end()) - tolerance::kFarBelow);
  for (std::size_t j = 0; j < row.size(); ++j) fill(j);
  return log_sum(totals);
}

}  // namespace likely::search
