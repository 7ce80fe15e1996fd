// The Gaussian blocks among the leaves of `Likelihood`.
#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"
#include "likelihood.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

// A block is divided by the scales of its features, as leaves are by theirs: every induced tree has one factor per feature.
void Likelihood::make_blocks() {
  places_.resize(domain_.features.size());
  feature_scale_.assign(domain_.features.size(), -kInf);
  const Box everything = whole(domain_);
  for (std::size_t b = 0; b < circuit_.blocks(); ++b) {
    const GaussianBlock& block = circuit_.block(b);
    std::vector<const Warp*> warps;
    for (std::size_t i = 0; i < block.variables().size(); ++i) warps.push_back(&circuit_.warp(block.warp(i)));
    const BlockBound& made = blocks_.emplace_back(block, std::move(warps), domain_);
    BlockBound::Tangent tangent = made.tangent();
    made.bound(everything, no_rewards(), tangent);
    const double count = static_cast<double>(made.count());
    block_floor_.push_back(count * log_of(circuit_.floor()));
    block_scale_.push_back(0);
    const double share = std::max(tangent.log_upper, block_floor_[b]) / count;
    for (std::size_t i = 0; i < made.count(); ++i) {
      places_[made.feature(i)].push_back({b, i});
      double& scale = feature_scale_[made.feature(i)];
      scale = std::max(scale, std::isfinite(share) ? std::min(share, tolerance::kMostLogScale) : 0);
    }
  }
}

double Likelihood::least_marginal(std::size_t j, double low, double high) const {
  return marginals_ && in_blocks(j) && circuit_.floor() > 0 ? marginals_->least(j, low, high) : 0;
}

double Likelihood::least_marginal(std::size_t j, const Box& box) const {
  if (!marginals_ || !in_blocks(j)) return 0;
  const Range& range = box.range[j];
  double least = range.empty() ? kInf : least_marginal(j, range.low, range.high);
  box.each_atom(domain_.features[j],
                [&](std::size_t k) { least = std::min(least, log_marginal(j, domain_.features[j].atom[k])); });
  return least;
}

double Likelihood::log_marginal(std::size_t j, double v) const {
  return marginals_ && circuit_.floor() > 0 ? marginals_->log(j, v) : 0;
}

// Within one cell, leaves over marginals still vary: the logarithm of the greatest on a part of it over that on all of it.
double Likelihood::leaf_shift(std::size_t j, const Range& range) const {
  const std::vector<double>& least = variables_[j].cell_least;
  if (least.empty() || variables_[j].leaves.empty() || range.first != range.last) return 0;
  const double of_cell = least[static_cast<std::size_t>(range.first)];
  return of_cell < kInf ? std::min(0.0, of_cell - marginals_->least(j, range.low, range.high)) : 0;
}

// The logarithm of a block that is at most so likely, scaled; its least density may be divided by less, by so much.
double Likelihood::log_block(const Sweep& sweep, std::size_t b, double log_upper, double more) const {
  double floor = block_floor_[b] - more;
  for (std::size_t i = 0; i < blocks_[b].count(); ++i) floor -= sweep.least[blocks_[b].feature(i)];
  return std::max(log_upper, floor) - block_scale_[b];
}

void Likelihood::bound_blocks(const Box& box, Sweep& sweep) const {
  sweep.in_doubles = true;
  for (std::size_t j = 0; j < variables_.size(); ++j) sweep.least[j] = least_marginal(j, box);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].bound(box, no_rewards(), sweep.tangents[b]);
    const double log = log_block(sweep, b, sweep.tangents[b].log_upper);
    sweep.in_doubles &= log <= tolerance::kMostLogOfBlock;
    sweep.leaf[circuit_.block_node(b)] = std::exp(std::min(log, tolerance::kMostLogOfBlock));
  }
}

// What the blocks of a feature add to U_j where it has one of the numbers low..high.
double Likelihood::block_part(const Sweep& sweep, std::size_t j, double low, double high) const {
  const double more = places_[j].empty() ? 0 : least_marginal(j, low, high) - sweep.least[j];
  double total = 0;
  for (const Place& place : places_[j]) {
    const BlockBound::Tangent& tangent = sweep.tangents[place.block];
    const double others = tangent.log_upper - tangent.greatest[place.variable];
    const double here =
        tangent.log_upper == -kInf ? -kInf : blocks_[place.block].greatest(tangent, no_rewards(), place.variable, low, high);
    const double log = log_block(sweep, place.block, here == -kInf ? -kInf : others + here, more);
    const double down = sweep.derivative[circuit_.block_node(place.block)];
    total = together(total, log <= tolerance::kMostLogScale ? down * std::exp(log) : kInf);  // of numbers beyond the box
  }
  return total;
}

// The same where it has an atom: a block has its least density there.
double Likelihood::block_floors(const Sweep& sweep, std::size_t j, double v) const {
  const double more = places_[j].empty() ? 0 : log_marginal(j, v) - sweep.least[j];
  double total = 0;
  for (const Place& place : places_[j])
    total = together(total,
                     sweep.derivative[circuit_.block_node(place.block)] * std::exp(log_block(sweep, place.block, -kInf, more)));
  return total;
}

// -- gaps ---------------------------------------------------------------------------------------------------------------

void Likelihood::add_gaps(std::size_t p, const Priced& priced, double share, std::vector<double>& gaps) const {
  std::vector<double> of_variable;
  for (const std::size_t b : parts_[p].blocks) {
    if (priced.tangents[b].log_upper == -kInf) continue;
    blocks_[b].gaps(priced.tangents[b], of_variable);
    for (std::size_t i = 0; i < blocks_[b].count(); ++i) gaps[blocks_[b].feature(i)] += share * of_variable[i];
  }
}

double Likelihood::between(std::size_t p, const Priced& priced, std::size_t j) const {
  for (const Place& place : places_[j]) {
    if (!std::binary_search(parts_[p].blocks.begin(), parts_[p].blocks.end(), place.block)) continue;
    const BlockBound::Tangent& tangent = priced.tangents[place.block];
    return blocks_[place.block].warp(place.variable).inverse(0.5 * (tangent.at[place.variable] + tangent.where[place.variable]));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// -- terms --------------------------------------------------------------------------------------------------------------

bool Likelihood::fill_terms(const Box& box, const Hulls& hulls, std::size_t p, const Gains& gains, std::size_t prices,
                            PartTerms& terms) const {
  const Part& part = parts_[p];
  if (!part.product) return false;
  std::size_t count = 0, first = 0;
  for (const std::size_t b : part.blocks) count += blocks_[b].count();
  terms.reset(count, prices);
  for (const std::size_t b : part.blocks) {
    const BlockBound& block = blocks_[b];
    for (std::size_t i = 0; i < block.count(); ++i) {
      for (std::size_t k = 0; k < block.count(); ++k) terms.rest[(first + i) * count + first + k] = block.rest(i, k);
      const std::size_t j = block.feature(i);
      const Range& range = box.range[j];
      gains.begin(j, static_cast<std::ptrdiff_t>(first + i), terms);
      if (range.empty()) return false;
      block.each_corner(i, range.low, range.high, [&](double x, double z, double log_slope) {
        const double away = z - block.mean()[i];
        const double height = log_slope - log_marginal(j, x) - 0.5 * block.left(i) * away * away;
        if (terms.repeats(x))  // where two parts meet, the more likely one counts
          terms.height.back() = std::max(terms.height.back(), height);
        else
          gains.gains(j, x, terms.add(height, away, x));
      });
      if (terms.terms.back().first == terms.terms.back().last) return false;
    }
    first += block.count();
  }
  for (std::size_t j = 0; j < variables_.size(); ++j)
    if (!part.leaves[j].empty() && !fill_leaf(box, hulls, j, part.leaves[j][0], gains, terms)) return false;
  return true;
}

const Likelihood::Place& Likelihood::place_of(std::size_t p, std::size_t j) const {
  return *std::find_if(places_[j].begin(), places_[j].end(), [&](const Place& place) {
    return std::binary_search(parts_[p].blocks.begin(), parts_[p].blocks.end(), place.block);
  });
}

double Likelihood::value_at(std::size_t p, std::size_t j, double away) const {
  const Place& place = place_of(p, j);
  const BlockBound& block = blocks_[place.block];
  return block.warp(place.variable).inverse(block.mean()[place.variable] + away);
}

double Likelihood::height_at(std::size_t p, std::size_t j, double v, double away) const {
  if (!parts_[p].leaves[j].empty()) {
    const std::int32_t cell = domain_.features[j].cell_of(domain_.features[j].nearest(v));
    const Variable& variable = variables_[j];
    return variable.tree->log_node(variable.tree->size +
                                   variable.cell_row[static_cast<std::size_t>(cell)])[parts_[p].leaves[j][0]];
  }
  const Place& place = place_of(p, j);
  const BlockBound& block = blocks_[place.block];
  return block.warp(place.variable).at(v).log_slope - log_marginal(j, v) - 0.5 * block.left(place.variable) * away * away;
}

void Likelihood::set_points(std::size_t p, const std::vector<double>& points, Priced& priced) const {
  std::size_t first = 0;
  for (const std::size_t b : parts_[p].blocks) {
    BlockBound::Tangent& tangent = priced.tangents[b];
    tangent.settled = !points.empty();
    for (std::size_t i = 0; i < blocks_[b].count(); ++i)
      tangent.at[i] = blocks_[b].mean()[i] + (tangent.settled ? points[first + i] : 0);
    first += blocks_[b].count();
  }
}

bool Likelihood::rests_on_floor(std::size_t p, const Priced& priced) const {
  return std::any_of(parts_[p].blocks.begin(), parts_[p].blocks.end(),
                     [&](std::size_t b) { return priced.tangents[b].log_upper - block_scale_[b] < priced.block_floors[b]; });
}

std::vector<double> Likelihood::points(std::size_t p, const Priced& priced) const {
  std::vector<double> made;
  for (const std::size_t b : parts_[p].blocks)
    for (std::size_t i = 0; i < blocks_[b].count(); ++i) made.push_back(priced.tangents[b].at[i] - blocks_[b].mean()[i]);
  return made;
}

std::vector<double> Likelihood::points(const Sweep& sweep) const {
  std::vector<double> made;
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t i = 0; i < blocks_[b].count(); ++i) made.push_back(sweep.tangents[b].at[i] - blocks_[b].mean()[i]);
  return made;
}

std::pair<double, double> Likelihood::neighbours(std::size_t j, double v, std::size_t parts) const {
  double low = -kInf, high = kInf;
  for (const Place& place : places_[j]) {
    const Warp& warp = blocks_[place.block].warp(place.variable);
    const std::size_t at = warp.part_of(v), last = std::min(at + parts, warp.parts().size() - 1);
    low = std::max(low, warp.parts()[at - std::min(at, parts)].low);
    high = std::min(high, warp.parts()[last].high);
  }
  return {low, high};
}

}  // namespace likely::search
