// Likelihood and rewards of values in one bound; see `Likelihood::Priced`.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "likelihood.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

// -- parts --------------------------------------------------------------------------------------------------------------

// The components of a mixture, each with all that it is made of; the whole circuit is one part if it is no mixture, or if
// components share so much that it would be looked at many times over.
void Likelihood::make_parts(bool by_components) {
  const std::size_t root = circuit_.nodes() - 1;
  if (by_components && circuit_.kind(root) == NodeKind::kSum && !approximate_) {
    const auto children = circuit_.children(root);
    std::size_t size = 0, edges = 0;
    for (std::size_t i = 0; i <= root; ++i) edges += circuit_.children(i).size();
    for (std::size_t p = 0; p < children.size() && size <= tolerance::kMostPartSize * edges; ++p) {
      parts_.push_back({descendants(static_cast<std::size_t>(children[p])), {}, {}, log_of(circuit_.weights(root)[p])});
      size += parts_.back().nodes.size();
    }
    if (parts_.size() < children.size()) parts_.clear();
  }
  if (parts_.empty()) parts_.push_back({descendants(root), {}, {}});
  for (Part& part : parts_) {
    part.leaves.resize(variables_.size());
    for (std::size_t j = 0; j < variables_.size(); ++j)
      for (std::size_t l = 0; l < variables_[j].leaves.size(); ++l)
        if (std::binary_search(part.nodes.begin(), part.nodes.end(), variables_[j].leaves[l])) part.leaves[j].push_back(l);
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (std::binary_search(part.nodes.begin(), part.nodes.end(), circuit_.block_node(b))) part.blocks.push_back(b);
    const auto inner = [&](std::int32_t i) { return !circuit_.children(i).empty(); };
    part.product =
        std::count_if(part.nodes.begin(), part.nodes.end(), inner) <= 1 && circuit_.kind(part.nodes.back()) != NodeKind::kSum;
  }
}

// A node and all below it, in order.
std::vector<std::int32_t> Likelihood::descendants(std::size_t top) const {
  std::vector<bool> below(top + 1, false);
  below[top] = true;
  std::vector<std::int32_t> nodes;
  for (std::size_t i = top + 1; i-- > 0;) {
    if (!below[i]) continue;
    nodes.push_back(static_cast<std::int32_t>(i));
    for (const std::int32_t child : circuit_.children(i)) below[static_cast<std::size_t>(child)] = true;
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

// -- runs of cells ------------------------------------------------------------------------------------------------------

std::size_t Likelihood::run_width(const Variable& variable, const Range& range, std::size_t runs) const {
  const std::size_t from = variable.cell_row[static_cast<std::size_t>(range.first)],
                    to = variable.cell_row[static_cast<std::size_t>(range.last)];
  std::size_t width = 1;
  while (to / width - from / width + 1 > runs) width *= 2;
  return width;
}

Range Likelihood::run(const Box& box, std::size_t j, std::size_t r) const {
  return box.range[j].empty() ? box.range[j] : run(box, j, r, run_width(variables_[j], box.range[j]));
}

// The same of runs of so many rows of the tree.
Range Likelihood::run(const Box& box, std::size_t j, std::size_t r, std::size_t width) const {
  const Range& range = box.range[j];
  const Variable& variable = variables_[j];
  const std::size_t begin = (variable.cell_row[static_cast<std::size_t>(range.first)] / width + r) * width;
  const std::int32_t first = std::max(range.first, variable.first_cell(begin));
  const std::int32_t last = std::min(range.last, variable.first_cell(begin + width) - 1);
  if (first > last) return {1, 0, 0, 0};
  const Feature& f = domain_.features[j];
  return {first, last, std::max(range.low, f.low[static_cast<std::size_t>(first)]),
          std::min(range.high, f.high[static_cast<std::size_t>(last)])};
}

// The node of the tree that holds a run of cells.
std::size_t Likelihood::run_node(const Variable& variable, const Range& run, std::size_t width) {
  return (variable.tree->size + variable.cell_row[static_cast<std::size_t>(run.first)]) / width;
}

// -- upwards ------------------------------------------------------------------------------------------------------------

Likelihood::Priced Likelihood::priced() const {
  Priced made;
  made.rewards.slope.resize(domain_.features.size());
  made.rewards.at_anchor.resize(domain_.features.size());
  made.rewards.atom.resize(domain_.atoms);
  made.rewards.marginals = marginals_.get();
  made.log_value.assign(circuit_.nodes(), -kInf);
  made.log_down.assign(circuit_.nodes(), -kInf);
  made.leaf_at.assign(circuit_.nodes(), 0.0);
  made.down.assign(circuit_.nodes(), 0.0);
  made.most_down.assign(domain_.features.size(), -kInf);
  for (const BlockBound& block : blocks_) {
    made.tangents.push_back(block.tangent());
    made.block_rewards.emplace_back(block.count());
  }
  made.block_floors.assign(blocks_.size(), -kInf);
  return made;
}

// The greatest reward of the numbers of a range, and where it is.
std::pair<double, double> Likelihood::best_number(const Rewards& rewards, std::size_t j, const Range& range) const {
  const Feature& f = domain_.features[j];
  std::pair<double, double> best{-kInf, 0};
  each_segment(f, range, [&](const Segment& segment, double low, double high) {
    for (const double v : {low, high})
      if (const double reward = rewards.number(f, j, segment, v); reward > best.first) best = {reward, v};
  });
  return best;
}

// The greatest of leaves over runs of the box's cells.
void Likelihood::price_runs(const Box& box, const Part& part, std::size_t j, Priced& priced) const {
  const Variable& variable = variables_[j];
  if (box.range[j].empty()) return;
  const std::size_t width = run_width(variable, box.range[j]);
  for (std::size_t r = 0; r < tolerance::kPricedRuns; ++r) {
    const Range cells = run(box, j, r, width);
    if (cells.empty()) continue;
    const auto [reward, at] = best_number(priced.rewards, j, cells);
    const double* logs = variable.tree->log_node(run_node(variable, cells, width));
    const double more = reward + leaf_shift(j, cells);
    for (const std::size_t l : part.leaves[j]) {
      double& best = priced.log_value[variable.leaves[l]];
      if (logs[l] + more <= best) continue;
      best = logs[l] + more;
      priced.leaf_at[variable.leaves[l]] = at;
    }
  }
}

void Likelihood::price_leaves(const Box& box, const Hulls* hulls, const Part& part, std::size_t j, Priced& priced) const {
  const Variable& variable = variables_[j];
  const Feature& f = domain_.features[j];
  const double slope = priced.rewards.slope[j], at_anchor = priced.rewards.at_anchor[j], price = priced.rewards.cost;
  for (const std::size_t l : part.leaves[j]) {
    const std::int32_t leaf = variable.leaves[l];
    double &best = priced.log_value[leaf], &at = priced.leaf_at[leaf];
    best = -kInf;
    auto take = [&](double value, double v) {
      if (value <= best) return;
      best = value;
      at = v;
    };
    box.each_atom(f, [&](std::size_t k) { take(variable.log_atom(k)[l] + priced.rewards.atom[f.first_atom + k], f.atom[k]); });
    if (hulls == nullptr) continue;
    for (const Hulls::Corner& corner : hulls->of_leaf[leaf])
      take(corner.log_density + (slope * corner.offset + at_anchor - price * corner.cost), corner.value);
  }
  if (hulls == nullptr) price_runs(box, part, j, priced);
}

void Likelihood::price_block(const Box& box, std::size_t b, Priced& priced) const {
  const BlockBound& block = blocks_[b];
  block.bound(box, &priced.rewards, priced.tangents[b]);
  double floor = block_floor_[b];
  for (std::size_t i = 0; i < block.count(); ++i) {
    const std::size_t j = block.feature(i);
    double& most = priced.block_rewards[b][i];
    const Feature& f = domain_.features[j];
    const Range& range = box.range[j];
    most = range.empty() ? -kInf : best_number(priced.rewards, j, range).first - least_marginal(j, range.low, range.high);
    box.each_atom(
        f, [&](std::size_t k) { most = std::max(most, priced.rewards.atom[f.first_atom + k] - log_marginal(j, f.atom[k])); });
    floor += most;
  }
  priced.block_floors[b] = floor - block_scale_[b];
  priced.log_value[circuit_.block_node(b)] = std::max(priced.tangents[b].log_upper - block_scale_[b], priced.block_floors[b]);
}

// What the rewards of all features may be off, each relative to the sizes of its terms.
double Likelihood::reward_rounding(const Box& box, const Rewards& rewards) const {
  double size = marginals_ ? marginals_->size() : 0;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    double most = 0;
    each_segment(f, box.range[j], [&](const Segment& segment, double low, double high) {
      for (const double v : {low, high}) most = std::max(most, rewards.size(f, j, segment, v));
    });
    box.each_atom(f, [&](std::size_t k) { most = std::max(most, std::abs(rewards.atom[f.first_atom + k])); });
    size += most;
  }
  return tolerance::kRoundoff * static_cast<double>(domain_.features.size() + 8) * tolerance::kRoundingsOfBound * size;
}

double Likelihood::price(const Box& box, const Hulls* hulls, std::size_t alternative, std::size_t p, Priced& priced) const {
  const Part& part = parts_[p];
  const std::vector<double>& target = target_leaves_[alternative];
  for (std::size_t l = 0; l < target.size(); ++l)
    priced.log_value[circuit_.variable(variables_.size()).leaves[l]] = log_of(target[l]);
  double scale = -given_[alternative];
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    scale += variables_[j].log_scale;
    if (!part.leaves[j].empty()) price_leaves(box, hulls, part, j, priced);
  }
  for (const std::size_t b : part.blocks) price_block(box, b, priced);
  for (const std::int32_t i : part.nodes) {
    const auto children = circuit_.children(i);
    if (children.empty()) continue;
    if (circuit_.kind(i) == NodeKind::kProduct) {
      double sum = 0;
      for (const std::int32_t child : children) sum += priced.log_value[child];
      priced.log_value[i] = sum;
      continue;
    }
    const auto weights = circuit_.weights(i);
    double most = -kInf, sum = 0;
    for (std::size_t e = 0; e < children.size(); ++e)
      if (weights[e] > 0) most = std::max(most, priced.log_value[children[e]]);
    if (most > -kInf) {
      for (std::size_t e = 0; e < children.size(); ++e)
        if (weights[e] > 0) sum = together(sum, weights[e] * std::exp(priced.log_value[children[e]] - most));
      // Beside a child of next to no weight, all that counts may be too small for doubles.
      sum = std::max(sum, tolerance::kSmallestBoundLikelihood);
    }
    priced.log_value[i] = most + log_of(sum);
  }
  priced.shift = part.log_weight + scale + tolerance::kLogLikelihoodRounding + reward_rounding(box, priced.rewards);
  return priced.log_value[part.nodes.back()] + priced.shift;
}

// -- downwards ----------------------------------------------------------------------------------------------------------

double Likelihood::log_together(double one, double other) const {
  const double most = std::max(one, other), least = std::min(one, other);
  return approximate_ || least == -kInf ? most : most + std::log1p(std::exp(least - most));
}

void Likelihood::descend(std::size_t p, Priced& priced) const {
  const Part& part = parts_[p];
  for (const std::int32_t i : part.nodes) priced.log_down[i] = -kInf;
  priced.log_down[part.nodes.back()] = 0;
  for (std::size_t n = part.nodes.size(); n-- > 0;) {
    const std::int32_t i = part.nodes[n];
    const double down = priced.log_down[i];
    if (down == -kInf) continue;
    const auto children = circuit_.children(i);
    const auto weights = circuit_.weights(i);
    for (std::size_t e = 0; e < children.size(); ++e) {
      double add = down;
      if (circuit_.kind(i) == NodeKind::kSum) {
        add += log_of(weights[e]);
      } else if (priced.log_value[children[e]] > -kInf) {
        add += priced.log_value[i] - priced.log_value[children[e]];
      } else {
        for (std::size_t o = 0; o < children.size(); ++o)
          if (o != e) add += priced.log_value[children[o]];
      }
      double& to = priced.log_down[children[e]];
      to = log_together(to, add);
    }
  }
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    double& most = priced.most_down[j];
    most = -kInf;
    for (const std::size_t l : part.leaves[j]) most = std::max(most, priced.log_down[variables_[j].leaves[l]]);
    for (const std::size_t l : part.leaves[j]) {
      const std::int32_t leaf = variables_[j].leaves[l];
      priced.down[leaf] = most > -kInf ? std::exp(priced.log_down[leaf] - most) : 0;
    }
  }
}

// The leaves of feature j where they have the given values, each with what the rest of the circuit makes of it.
double Likelihood::leaves_part(const Part& part, const Priced& priced, std::size_t j, const double* values) const {
  if (priced.most_down[j] == -kInf) return -kInf;
  double total = 0;
  for (const std::size_t l : part.leaves[j]) total = together(total, priced.down[variables_[j].leaves[l]] * values[l]);
  return std::log(std::max(total, tolerance::kSmallestBoundLikelihood)) + priced.most_down[j];
}

double Likelihood::log_upper_atom(std::size_t p, const Priced& priced, std::size_t j, std::size_t atom) const {
  const Part& part = parts_[p];
  const Variable& variable = variables_[j];
  const double reward = priced.rewards.atom[domain_.features[j].first_atom + atom];
  double total = leaves_part(part, priced, j, variable.atom(atom)) + reward;
  for (const Place& place : places_[j]) {
    const double floor = priced.block_floors[place.block] - priced.block_rewards[place.block][place.variable] + reward -
                         log_marginal(j, domain_.features[j].atom[atom]);
    if (std::binary_search(part.blocks.begin(), part.blocks.end(), place.block))
      total = log_together(total, priced.log_down[circuit_.block_node(place.block)] + floor);
  }
  return total + priced.shift;
}

double Likelihood::log_upper_numbers(std::size_t p, const Priced& priced, const Box& box, std::size_t j,
                                     const Range& cells) const {
  const Part& part = parts_[p];
  const Variable& variable = variables_[j];
  const double reward = best_number(priced.rewards, j, cells).first;
  double total = -kInf;
  if (!part.leaves[j].empty()) {
    const std::size_t width = run_width(variable, box.range[j]);
    const double* values = variable.tree->node(run_node(variable, cells, width));
    total = leaves_part(part, priced, j, values) + reward + leaf_shift(j, cells);
  }
  const double floor_reward = places_[j].empty() ? 0 : reward - least_marginal(j, cells.low, cells.high);
  for (const Place& place : places_[j]) {
    if (!std::binary_search(part.blocks.begin(), part.blocks.end(), place.block)) continue;
    const BlockBound::Tangent& tangent = priced.tangents[place.block];
    double here = priced.block_floors[place.block] - priced.block_rewards[place.block][place.variable] + floor_reward;
    if (tangent.log_upper > -kInf) {
      const double term = blocks_[place.block].greatest(tangent, &priced.rewards, place.variable, cells.low, cells.high);
      here = std::max(here, tangent.log_upper - block_scale_[place.block] - tangent.greatest[place.variable] + term);
    }
    total = log_together(total, priced.log_down[circuit_.block_node(place.block)] + here);
  }
  return total + priced.shift;
}

}  // namespace likely::search
