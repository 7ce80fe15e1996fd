// The Gaussian blocks among the leaves of `Likelihood`.
#include <algorithm>
#include <cmath>
#include <limits>

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
    made.bound(everything, nullptr, tangent);
    const double count = static_cast<double>(made.count());
    block_floor_.push_back(count * log_of(circuit_.floor()));
    block_scale_.push_back(0);
    const double share = std::max(tangent.log_upper, block_floor_[b]) / count;
    for (std::size_t i = 0; i < made.count(); ++i) {
      places_[made.feature(i)].push_back({b, i});
      double& scale = feature_scale_[made.feature(i)];
      scale = std::max(scale, std::isfinite(share) ? share : 0);
    }
  }
}

// The logarithm of a block that is at most so likely, scaled.
double Likelihood::log_block(std::size_t b, double log_upper) const {
  return std::max(log_upper, block_floor_[b]) - block_scale_[b];
}

void Likelihood::bound_blocks(const Box& box, Sweep& sweep) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].bound(box, nullptr, sweep.tangents[b]);
    const std::int32_t node = circuit_.block_node(b);
    const double log = log_block(b, sweep.tangents[b].log_upper);
    sweep.leaf[node] = std::exp(log);
  }
}

// What the blocks of a feature add to U_j where it has one of the numbers low..high.
double Likelihood::block_part(const Sweep& sweep, std::size_t j, double low, double high) const {
  double total = 0;
  for (const Place& place : places_[j]) {
    const BlockBound::Tangent& tangent = sweep.tangents[place.block];
    const double others = tangent.log_upper - tangent.greatest[place.variable];
    const double here =
        tangent.log_upper == -kInf ? -kInf : blocks_[place.block].greatest(tangent, nullptr, place.variable, low, high);
    const double log = log_block(place.block, here == -kInf ? -kInf : others + here);
    total = together(total, sweep.derivative[circuit_.block_node(place.block)] * std::exp(log));
  }
  return total;
}

// The same where it has no number: a block has its least density there.
double Likelihood::block_floors(const Sweep& sweep, std::size_t j) const {
  double total = 0;
  for (const Place& place : places_[j])
    total = together(total, sweep.derivative[circuit_.block_node(place.block)] * std::exp(log_block(place.block, -kInf)));
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

}  // namespace likely::search
