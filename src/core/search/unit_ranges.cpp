#include "unit_ranges.hpp"

#include <algorithm>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

// The ranges of one layer, end by end. Each is the optimum of the same programme with another objective, from the solution
// before.
class LayerRanges {
 public:
  LayerRanges(const Network& network, Triangles& triangles, const Region& region, const std::vector<Goal>& goals,
              ScoreWorkspace& score, std::size_t layer, UnitRanges& ranges)
      : network_(network),
        triangles_(triangles),
        region_(region),
        goals_(goals),
        score_(score),
        layer_(layer),
        low_(ranges.low[layer]),
        high_(ranges.high[layer]),
        least_(low_.size(), kInf),
        most_(low_.size(), -kInf) {}

  // False if no row is left. Ends when there were too many pivots: what is known then holds.
  bool tighten(std::size_t most_pivots) {
    for (const double sign : {1.0, -1.0})
      for (std::size_t h = 0; h < low_.size() && triangles_.pivots() < most_pivots; ++h)
        if (triangles_.unstable(layer_, h) && !tighten_end({layer_, h, sign})) return false;
    return true;
  }

 private:
  // Solutions of the programme show how far an end can move: where that is little, it is not sought.
  bool tighten_end(const UnitSide& side) {
    double &low = low_[side.unit], &high = high_[side.unit];
    if (low >= 0 || high <= 0) return true;
    const double little = tolerance::kLeastRangeGain * (high - low);
    if (side.sign > 0 ? most_[side.unit] >= high - little : least_[side.unit] <= low + little) return true;
    const Simplex::End end = triangles_.solve_for(side, side.sign > 0 ? high - little : -(low + little));
    note_solution();
    if (end == Simplex::End::kCutOff) return true;
    const double bound = network_.greatest_of_unit(region_, goals_, triangles_.multipliers(), side, score_);
    if (side.sign > 0)
      high = std::min(high, bound);
    else
      low = std::max(low, -bound);
    return low <= high;
  }

  void note_solution() {
    for (std::size_t h = 0; h < least_.size(); ++h) {
      if (!triangles_.unstable(layer_, h)) continue;
      const double z = triangles_.argument(layer_, h);
      least_[h] = std::min(least_[h], z);
      most_[h] = std::max(most_[h], z);
    }
  }

  const Network& network_;
  Triangles& triangles_;
  const Region& region_;
  const std::vector<Goal>& goals_;
  ScoreWorkspace& score_;
  std::size_t layer_;
  std::vector<double>&low_, &high_;
  std::vector<double> least_, most_;  // of the units in solutions so far
};

}  // namespace

std::shared_ptr<const UnitRanges> tighten_ranges(const Problem& problem, const Node& node, double cutoff, Workspace& workspace) {
  UnitWork& units = *workspace.units;
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  ScoreWorkspace& score = *workspace.scores[node.alternative];
  auto ranges = std::make_shared<UnitRanges>(units.network.ranges(score));
  Basis basis = node.basis;
  for (std::size_t at = 0; at < ranges->low.size(); ++at) {
    const Region region{node.box, cutoff, node.splits, ranges.get()};
    if (!problem.score->enter(region, score)) return nullptr;
    *ranges = units.network.ranges(score);
    units.triangles.build(region, goals, score, true);
    if (units.triangles.solve(basis, kInf) != Simplex::End::kOptimal) break;  // what that means is for the node's bound to say
    basis = units.triangles.basis();
    const std::size_t pivots =
        units.triangles.pivots() + tolerance::kRangeWork / std::max<std::size_t>(units.triangles.size(), 1);
    if (!LayerRanges(units.network, units.triangles, region, goals, score, at, *ranges).tighten(pivots)) return nullptr;
  }
  return ranges;
}

}  // namespace likely::search
