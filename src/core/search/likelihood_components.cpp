// The components of a mixture as sums of terms of one feature each; see `Likelihood::ComponentTerms`.
#include <algorithm>
#include <cmath>
#include <limits>

#include "likelihood.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

// -- which leaf of a component is whose -----------------------------------------------------------------------------------

// The leaves and blocks below a node that has products only; false if there is another kind of node.
bool Likelihood::gather_component(std::int32_t node, Component& out) const {
  const auto children = circuit_.children(node);
  if (!children.empty()) {
    if (circuit_.kind(node) == NodeKind::kSum) return false;
    return std::all_of(children.begin(), children.end(), [&](std::int32_t child) { return gather_component(child, out); });
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (circuit_.block_node(b) != node) continue;
    out.blocks.push_back(b);
    return true;
  }
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const auto& leaves = variables_[j].leaves;
    const auto found = std::find(leaves.begin(), leaves.end(), node);
    if (found == leaves.end()) continue;
    out.leaf[j] = static_cast<std::int32_t>(found - leaves.begin());
    return true;
  }
  const auto& targets = circuit_.variable(variables_.size()).leaves;
  const auto found = std::find(targets.begin(), targets.end(), node);
  out.target = static_cast<std::int32_t>(found - targets.begin());
  return true;
}

void Likelihood::make_components() {
  const auto root = static_cast<std::int32_t>(circuit_.nodes() - 1);
  const bool mixture = circuit_.kind(root) == NodeKind::kSum && !circuit_.children(root).empty();
  const std::size_t count = mixture ? circuit_.children(root).size() : 1;
  if (marginals_) return;
  for (std::size_t k = 0; k < count; ++k) {
    Component made;
    made.leaf.assign(variables_.size(), -1);
    if (mixture) made.log_weight = log_of(circuit_.weights(root)[k]);
    if (!gather_component(mixture ? circuit_.children(root)[k] : root, made)) {
      components_.clear();
      return;
    }
    std::sort(made.blocks.begin(), made.blocks.end());
    components_.push_back(std::move(made));
  }
}

// -- terms ----------------------------------------------------------------------------------------------------------------

void Likelihood::set_cost_rewards(double cost_price, Rewards& rewards) const {
  rewards.cost = cost_price;
  rewards.slope.assign(domain_.features.size(), 0.0);
  rewards.at_anchor.assign(domain_.features.size(), 0.0);
  rewards.atom.resize(domain_.atoms);
  for (const Feature& f : domain_.features)
    for (std::size_t k = 0; k < f.atom.size(); ++k) rewards.atom[f.first_atom + k] = -cost_price * f.atom_cost[k];
}

// The greatest term of a leaf over the box; every value costs what it is below that.
double Likelihood::leaf_terms(const Box& box, std::size_t j, std::size_t leaf, ComponentTerms& out) const {
  const Variable& variable = variables_[j];
  const Feature& f = domain_.features[j];
  double most = -kInf;
  box.each_atom(f, [&](std::size_t k) {
    out.costs.atom[f.first_atom + k] = -(variable.log_atom(k)[leaf] + out.rewards.atom[f.first_atom + k]);
    most = std::max(most, -out.costs.atom[f.first_atom + k]);
  });
  const Range& range = box.range[j];
  for (std::int32_t c = range.first; c <= range.last; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const Range cell{c, c, std::max(range.low, f.low[at]), std::min(range.high, f.high[at])};
    const auto [reward, where] = best_number(out.rewards, j, cell);
    out.costs.cell[f.first_cell + at] = -(variable.tree->log_node(variable.tree->size + variable.cell_row[at])[leaf] + reward);
    out.at[f.first_cell + at] = where;
    most = std::max(most, -out.costs.cell[f.first_cell + at]);
  }
  if (most == -kInf) return most;
  box.each_atom(f, [&](std::size_t k) { out.costs.atom[f.first_atom + k] += most; });
  for (std::int32_t c = range.first; c <= range.last; ++c) out.costs.cell[f.first_cell + static_cast<std::size_t>(c)] += most;
  return most;
}

// The same of a block, with the tangent at a point; and its floor. An atom has no part in a block: rows with one have its floor.
std::pair<double, double> Likelihood::block_terms(const Box& box, std::size_t b, const double* points,
                                                  ComponentTerms& out) const {
  const BlockBound& block = blocks_[b];
  BlockBound::Tangent tangent = block.tangent();
  for (std::size_t i = 0; points != nullptr && i < block.count(); ++i) tangent.at[i] = block.mean()[i] + points[i];
  tangent.settled = points != nullptr;
  block.bound(box, &out.rewards, tangent);
  double floor = block_floor_[b] - block_scale_[b];
  for (std::size_t i = 0; i < block.count(); ++i) {
    const std::size_t j = block.feature(i);
    const Feature& f = domain_.features[j];
    const Range& range = box.range[j];
    double most = range.empty() ? -kInf : best_number(out.rewards, j, range).first;
    box.each_atom(f, [&](std::size_t k) {
      most = std::max(most, out.rewards.atom[f.first_atom + k]);
      out.costs.atom[f.first_atom + k] = kInf;
    });
    floor += most;
    for (std::int32_t c = range.first; tangent.log_upper > -kInf && c <= range.last; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const BlockBound::Best best =
          block.best(tangent, &out.rewards, i, std::max(range.low, f.low[at]), std::min(range.high, f.high[at]));
      out.costs.cell[f.first_cell + at] = tangent.greatest[i] - best.value;
      out.at[f.first_cell + at] = best.value > -kInf ? block.warp(i).inverse(best.z) : f.low[at];
    }
  }
  return {tangent.log_upper - block_scale_[b], floor};
}

void Likelihood::component_terms(const Box& box, std::size_t alternative, std::size_t component, double cost_price,
                                 const std::vector<double>& points, ComponentTerms& out) const {
  const Component& own = components_[component];
  set_cost_rewards(cost_price, out.rewards);
  out.costs.cell.resize(domain_.cells);
  out.costs.atom.resize(domain_.atoms);
  out.at.resize(domain_.cells);
  out.floor = -kInf;
  double total = own.log_weight - given_[alternative] + tolerance::kLogLikelihoodRounding + reward_rounding(box, out.rewards);
  if (own.target >= 0) total += log_of(target_leaves_[alternative][static_cast<std::size_t>(own.target)]);
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    total += variables_[j].log_scale;
    if (own.leaf[j] >= 0) total += leaf_terms(box, j, static_cast<std::size_t>(own.leaf[j]), out);
  }
  std::vector<std::pair<double, double>> blocks;
  std::size_t first = 0;
  out.log_upper = total;
  for (const std::size_t b : own.blocks) {
    blocks.push_back(block_terms(box, b, points.empty() ? nullptr : points.data() + first, out));
    out.log_upper += blocks.back().first;
    first += blocks_[b].count();
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {  // that is at its floor, the others at their best
    double floor = total + blocks[b].second;
    for (std::size_t other = 0; other < blocks.size(); ++other)
      if (other != b) floor += std::max(blocks[other].first, blocks[other].second);
    out.floor = std::max(out.floor, floor);
  }
}

// -- candidates -----------------------------------------------------------------------------------------------------------

void Likelihood::fill_leaf_cells(const Box& box, std::size_t j, std::size_t leaf, const CellGains& gains,
                                 PartTerms& terms) const {
  const Variable& variable = variables_[j];
  const Feature& f = domain_.features[j];
  const Range& range = box.range[j];
  std::vector<double> gain(terms.prices);
  auto add = [&](bool atom, std::size_t k, double log_density, double v) {
    if (!(log_density > -kInf) || !gains(j, atom, k, v, gain.data())) return;
    std::copy(gain.begin(), gain.end(), terms.add(log_density, 0, v));
  };
  box.each_atom(f, [&](std::size_t k) { add(true, k, variable.log_atom(k)[leaf], f.atom[k]); });
  for (std::int32_t c = range.first; c <= range.last; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const double log_density = variable.tree->log_node(variable.tree->size + variable.cell_row[at])[leaf];
    const Segment& segment = f.segments[static_cast<std::size_t>(f.segment[at])];
    const double low = std::max(range.low, f.low[at]), high = std::min(range.high, f.high[at]);
    add(false, at, log_density, segment.cost(low) <= segment.cost(high) ? low : high);
  }
}

// The middle of a narrow cell, or the ends of a wide one and points in between.
void Likelihood::fill_block_cells(const Box& box, const BlockBound& block, std::size_t i, const CellGains& gains,
                                  PartTerms& terms) const {
  const std::size_t j = block.feature(i);
  const Feature& f = domain_.features[j];
  const Warp& warp = block.warp(i);
  const Range& range = box.range[j];
  std::vector<double> gain(terms.prices);
  const double least = std::nextafter(warp.lower(), kInf), most = std::nextafter(warp.upper(), -kInf);
  for (std::int32_t c = range.first; c <= range.last; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const double low = std::max({range.low, f.low[at], least}), high = std::min({range.high, f.high[at], most});
    if (!(low <= high)) continue;
    const double z_low = warp.at(low).z, z_high = warp.at(high).z;
    const int pieces = static_cast<int>(std::min((z_high - z_low) / tolerance::kWideTerm, tolerance::kMostCorners));
    for (int piece = 0; piece <= pieces; ++piece) {
      const double share = pieces == 0 ? 0.5 : static_cast<double>(piece) / pieces;
      const double x = std::clamp(warp.inverse(z_low + share * (z_high - z_low)), low, high);
      const double away = warp.at(x).z - block.mean()[i];
      if (gains(j, false, at, x, gain.data()))
        std::copy(gain.begin(), gain.end(), terms.add(warp.at(x).log_slope - 0.5 * block.left(i) * away * away, away, x));
    }
  }
}

bool Likelihood::fill_cells(const Box& box, std::size_t component, const CellGains& gains, std::size_t prices,
                            PartTerms& terms) const {
  const Component& own = components_[component];
  std::size_t count = 0, first = 0;
  for (const std::size_t b : own.blocks) count += blocks_[b].count();
  terms.reset(count, prices);
  auto empty = [&] { return terms.terms.back().first == terms.terms.back().last; };
  for (const std::size_t b : own.blocks) {
    const BlockBound& block = blocks_[b];
    for (std::size_t i = 0; i < block.count(); ++i) {
      for (std::size_t k = 0; k < block.count(); ++k) terms.rest[(first + i) * count + first + k] = block.rest(i, k);
      terms.begin(block.feature(i), static_cast<std::ptrdiff_t>(first + i));
      fill_block_cells(box, block, i, gains, terms);
      if (empty()) return false;
    }
    first += block.count();
  }
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    if (own.leaf[j] < 0) continue;
    terms.begin(j, -1);
    fill_leaf_cells(box, j, static_cast<std::size_t>(own.leaf[j]), gains, terms);
    if (empty()) return false;
  }
  return true;
}

}  // namespace likely::search
