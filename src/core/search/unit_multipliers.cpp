// The inequality over features that follows from prices of goals, of ReLUs and of decided units, by weak duality.
#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "network_workspace.hpp"

namespace likely::search {

namespace {

// A unit: the prices of what is known of it, and what it can be before its ReLU.
struct Unit {
  double price, chord, low, high;

  // An upper bound of c relu(z) plus, for every price, what it is paid for (which is not negative) is what is returned times z,
  // and what is added to `constant`.
  double slope(double c, double& constant) const {
    if (high <= 0) {  // price z >= price low, or <= 0
      constant -= std::max(0.0, price) * low;
      return price;
    }
    if (low >= 0) {
      constant -= std::min(0.0, price) * high;
      return c + price;
    }
    const double steepness = high / (high - low), relu = c + price - chord;
    constant += std::min(0.0, price) * low - std::max(0.0, chord) * steepness * low + std::max(0.0, relu) * high;
    return chord * steepness - price;
  }
  double size() const { return std::abs(price) + std::abs(chord); }
};

}  // namespace

// A linear function of the first layer: its constant (the biases are not in it) and the sizes of all terms.
struct Network::Carried {
  double constant = 0, size = 0;
};

// Carries the prices of goals and units, and one unit that is to be bounded, backwards to the first layer (work.coefficient).
Network::Carried Network::carry_backwards(const std::vector<Goal>& goals, const UnitMultipliers& multipliers,
                                          const UnitSide* side, Workspace& work) const {
  const Layer& last = later_.back();
  std::vector<double>& coefficient = work.coefficient;
  coefficient.assign(last.inputs, 0.0);
  double constant = 0, size = 0;
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const double price = multipliers.goals[g];
    constant -= price * goals[g].lower;
    size += price * (std::abs(goals[g].lower) + goals[g].rounding(work.size.back()));
    for (std::size_t o = 0; o < last.outputs; ++o) {
      const double weight = price * goals[g].coefficient[o];
      constant += weight * last.bias[o];
      for (std::size_t i = 0; i < last.inputs; ++i) coefficient[i] += weight * last.weight[o * last.inputs + i];
    }
  }
  for (std::size_t at = later_.size() - 1;; --at) {
    for (std::size_t h = 0; h < coefficient.size(); ++h) {
      const Unit unit{multipliers.units[at][h], multipliers.chords[at][h], work.low[at][h], work.high[at][h]};
      coefficient[h] = unit.slope(coefficient[h], constant);
      size += unit.size() * (work.size[at][h] + std::max(std::abs(unit.low), std::abs(unit.high)));
    }
    if (side != nullptr && side->layer == at) {
      coefficient[side->unit] += side->sign;
      size += work.size[at][side->unit];
    }
    if (at == 0) break;
    const Layer& before = later_[at - 1];
    std::vector<double> carried(before.inputs, 0.0);
    for (std::size_t o = 0; o < before.outputs; ++o) {
      if (coefficient[o] == 0) continue;
      constant += coefficient[o] * before.bias[o];
      for (std::size_t i = 0; i < before.inputs; ++i) carried[i] += coefficient[o] * before.weight[o * before.inputs + i];
    }
    coefficient = std::move(carried);
  }
  return {constant, size};
}

void Network::aggregate(const Region& region, const std::vector<Goal>& goals, const UnitMultipliers& multipliers,
                        ScoreWorkspace& workspace, Relaxation& out) const {
  auto& work = static_cast<Workspace&>(workspace);
  const Carried carried = carry_backwards(goals, multipliers, nullptr, work);
  out.constant = carried.constant + bias_part(work.coefficient);
  bound_by_feature(region.box, work.coefficient, out);
  out.rounding = tolerance::kRoundingsOfBound * roundoff_ * carried.size;
}

double Network::greatest_of_unit(const Region& region, const std::vector<Goal>& goals, const UnitMultipliers& multipliers,
                                 const UnitSide& side, ScoreWorkspace& workspace) const {
  auto& work = static_cast<Workspace&>(workspace);
  const Carried carried = carry_backwards(goals, multipliers, &side, work);
  work.functions.assign(work.coefficient.begin(), work.coefficient.end());
  maximise(region.box, 1, work);
  return carried.constant + bias_part(work.coefficient) + work.maximum[0] +
         tolerance::kRoundingsOfBound * roundoff_ * carried.size;
}

std::vector<std::vector<double>> Network::above_argument(const ScoreWorkspace& workspace) const {
  const auto& work = static_cast<const Workspace&>(workspace);
  std::vector<std::vector<double>> made(later_.size());
  for (std::size_t at = 0; at < later_.size(); ++at)
    for (std::size_t h = 0; h < work.low[at].size(); ++h)
      if (work.high[at][h] >= -work.low[at][h]) made[at].push_back(static_cast<double>(h));
  return made;
}

std::vector<std::vector<double>> Network::arguments(const double* row) const {
  std::vector<std::vector<double>> made{first_layer(row)};
  for (std::size_t at = 0; at + 1 < later_.size(); ++at) made.push_back(next_layer(at, made.back()));
  return made;
}

std::vector<UnitSplit> Network::sides(const double* row) const {
  std::vector<double> z = first_layer(row), size, next_size;
  first_layer_sizes(whole(domain_), size);
  std::vector<UnitSplit> made;
  for (std::size_t at = 0; at < later_.size(); ++at) {
    for (std::size_t h = 0; h < z.size(); ++h)
      if (std::abs(z[h]) > tolerance::kRoundingsOfBound * roundoff_ * size[h])
        made.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(h), z[h] > 0});
    z = next_layer(at, std::move(z));
    next_layer_sizes(at + 1, size, next_size);
    size.swap(next_size);
  }
  return made;
}

}  // namespace likely::search
