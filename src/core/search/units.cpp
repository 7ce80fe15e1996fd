#include "units.hpp"

#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "fixing.hpp"
#include "heuristics.hpp"
#include "unit_ranges.hpp"

namespace likely::search {

namespace {

using tolerance::bound_rounding;

// Solves the programme of a node and evaluates its multipliers; false if the node has no row.
bool solve_units(const Problem& problem, Node& node, Workspace& workspace) {
  UnitWork& units = *workspace.units;
  const Region region = region_of(node, units.most_cost);
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  ScoreWorkspace& score = *workspace.scores[node.alternative];
  if (!problem.score->enter(region, score)) return false;
  units.triangles.build(region, goals, score);
  units.triangles.solve(node.basis, units.most_cost);
  node.basis = units.triangles.basis();
  units.network.aggregate(region, goals, units.triangles.multipliers(), score, units.aggregate);
  if (units.aggregate.upper < -units.aggregate.rounding) return false;
  units.dual = best_dual(problem, node.box, units.aggregate, -units.aggregate.rounding, 0, {1, 0, 0});
  node.bound = std::max(node.bound, units.dual.bound + units.likely_part - bound_rounding(units.dual.bound));
  return true;
}

// A search that is not over soon is a hard one: what units can be is worth the time then. A checker could not derive it from what
// a certificate has.
bool ranges_pay(const Problem& problem, const Node& node, double cutoff, const Follower* follower) {
  return cutoff < kInf && node.order >= problem.nodes_before_ranges && !(follower != nullptr && follower->records());
}

// The node with narrower ranges of its units; false if it has no row that is better than the cut-off.
bool narrow_units(const Problem& problem, Node& node, Workspace& workspace) {
  node.ranges = tighten_ranges(problem, node, workspace.units->most_cost, workspace);
  return node.ranges && solve_units(problem, node, workspace);
}

}  // namespace

Outcome propagate_units(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                        Follower* follower) {
  auto after = [&](Step step, Outcome outcome) {
    if (follower != nullptr) follower->after(step, node, outcome == Outcome::kOpen);
    return outcome;
  };
  workspace.units->likely_part = likely_part(problem, evaluation);
  workspace.units->most_cost = most_cost_of(problem, evaluation, cutoff);
  bool narrows = ranges_pay(problem, node, cutoff, follower);
  for (int round = 0; round < tolerance::kUnitRounds; ++round) {
    auto outcome = [&](bool left) {
      return after(Step::kUnits, !left ? Outcome::kEmpty : node.bound >= cutoff ? Outcome::kCutOff : Outcome::kOpen);
    };
    Outcome found = outcome(solve_units(problem, node, workspace));
    if (found == Outcome::kOpen && narrows) found = outcome(narrow_units(problem, node, workspace));
    if (found != Outcome::kOpen) return found;
    narrows = false;
    if (cutoff == kInf) break;
    const bool changed =
        reduced_cost_fixing(problem, evaluation, workspace.units->aggregate, workspace.units->dual, cutoff, node.box);
    const bool empty = node.box.any_empty(problem.domain);
    if (after(Step::kReducedCostFixing, empty ? Outcome::kEmpty : Outcome::kOpen) != Outcome::kOpen) return Outcome::kEmpty;
    if (!changed) break;
  }
  workspace.units->solved = true;
  return Outcome::kOpen;
}

std::vector<Node> split_unit(const Node& node, double cutoff, Workspace& workspace) {
  if (!workspace.units || !workspace.units->solved) return {};
  const double likely = workspace.units->likely_part, most_cost = cutoff - likely, before = node.bound - likely;
  const Triangles& triangles = workspace.units->triangles;
  const std::vector<Triangles::Candidate> candidates = triangles.candidates();
  std::vector<Node> best;
  double most = -kInf;
  const std::size_t most_probes = node.ranges ? tolerance::kProbedUnits : tolerance::kProbedUnitsAtFirst;
  for (std::size_t i = 0; i < std::min(candidates.size(), most_probes); ++i) {
    std::vector<Node> parts(2, node);
    double gained = 1;
    for (const bool on : {false, true}) {
      const UnitSplit split{candidates[i].layer, candidates[i].unit, on};
      Node& part = parts[on ? 1 : 0];
      const double estimate = triangles.probe(split, most_cost, part.basis);
      part.splits.push_back(split);
      gained *= std::max(std::min(estimate, most_cost) - before, tolerance::kLeastGain);
    }
    if (gained > most) {
      most = gained;
      best = std::move(parts);
    }
  }
  return best;
}

std::vector<Node> split_unit_off(const Node& node, const Triangles::Candidate& unit) {
  std::vector<Node> parts(2, node);
  for (const bool on : {false, true}) parts[on ? 1 : 0].splits.push_back({unit.layer, unit.unit, on});
  return parts;
}

std::vector<Node> split_unit_at(const Node& node, const std::vector<double>& row, const Workspace& workspace) {
  const std::vector<Triangles::Candidate> candidates = workspace.units->triangles.candidates_at(row.data());
  return candidates.empty() ? std::vector<Node>() : split_unit_off(node, candidates[0]);
}

std::vector<Box> split_fraction(const Problem& problem, const Node& node, const Workspace& workspace) {
  if (!workspace.units || !workspace.units->solved) return {};
  std::vector<double> point;
  workspace.units->triangles.point(point);
  std::vector<Box> parts;
  double most = 0;
  for (std::size_t j = 0; j < point.size(); ++j) {
    const Feature& f = problem.domain.features[j];
    const Range& range = node.box.range[j];
    if (f.grid == 0 || f.atom_of(point[j]) >= 0 || range.empty() || node.box.atom_count(f) > 0) continue;
    const double below = f.down_to_grid(point[j]), above = f.up_to_grid(point[j]);
    const double fraction = std::min(point[j] - below, above - point[j]) / f.grid;
    if (!(fraction > tolerance::kLeastFraction) || below < range.low || above > range.high) continue;
    const double rank = fraction * std::abs(f.cost(above) - f.cost(below));
    if (rank <= most) continue;
    most = rank;
    parts.assign(2, node.box);
    parts[0].keep_numbers(problem.domain, j, range.low, below);
    parts[1].keep_numbers(problem.domain, j, above, range.high);
  }
  return parts;
}

namespace {

// Walks from a row; `cheapest` is where to.
void walk_from(const Problem& problem, std::vector<double> point, std::uint32_t alternative, const std::vector<double>& cheapest,
               SolutionPool& pool, Workspace& workspace) {
  UnitWork& units = *workspace.units;
  const Box box = whole(problem.domain);
  std::vector<double> row;
  double before = kInf;
  for (int step = 0; step < tolerance::kRegionSteps; ++step) {
    const std::vector<UnitSplit> sides = units.network.sides(point.data());
    const Region region{box, kInf, sides};
    if (!problem.score->enter(region, *units.walk_score)) return;
    units.walk.build(region, problem.goals(alternative), *units.walk_score);
    if (units.walk.solve({}, before) != Simplex::End::kOptimal) return;
    if (before < kInf && units.walk.objective() > before - bound_rounding(before)) return;
    before = units.walk.objective();
    units.walk.row(row);
    if (test_row(problem, row, alternative, pool, workspace)) pull_back(problem, row, alternative, pool, workspace);
    units.walk.point(point);
    for (std::size_t j = 0; j < point.size(); ++j)
      if (problem.domain.features[j].atom_of(point[j]) < 0 && problem.domain.features[j].atom_of(cheapest[j]) < 0)
        point[j] += tolerance::kRegionStep * (cheapest[j] - point[j]);
  }
}

}  // namespace

void try_solution(const Problem& problem, const Node& node, SolutionPool& pool, Workspace& workspace) {
  if (!workspace.units->solved) return;
  std::vector<double> row;
  workspace.units->triangles.row(row);
  const double before = pool.best();
  const Solution* known = pool.best_of(node.alternative);
  if (test_row(problem, row, node.alternative, pool, workspace)) {
    pull_back(problem, row, node.alternative, pool, workspace);
  } else if (known != nullptr && (node.ranges || node.order % tolerance::kNodesBetweenWalks == 0) &&
             problem.domain.cost(row.data()) <
                 pool.cutoff() - workspace.units->likely_part) {  // the programme knows nothing of likelihood, and ReLUs roughly
    walk_towards(problem, row, std::vector<double>(known->row), node.alternative, pool, workspace);
  }
  if (problem.likelihood) return;
  std::vector<double> cheapest;
  cheapest_row(problem.domain, whole(problem.domain), cheapest);
  if (node.ranges) walk_from(problem, row, node.alternative, cheapest, pool, workspace);  // takes less than the ranges did
  if (pool.best() < before)
    walk_from(problem, std::vector<double>(pool.best_of(node.alternative)->row), node.alternative, cheapest, pool, workspace);
}

void walk_regions(const Problem& problem, const std::vector<std::vector<double>>& rows, std::size_t first, std::size_t count,
                  SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more) {
  if (problem.likelihood) return;
  std::vector<double> cheapest;
  cheapest_row(problem.domain, whole(problem.domain), cheapest);
  const std::vector<Solution> known = pool.solutions();
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    std::vector<std::vector<double>> from;
    for (const Solution& each : known)
      if (each.alternative == a) from.push_back(each.row);
    from.insert(from.end(), rows.begin(), rows.end());
    from = cheapest_first(problem.domain, from, first + count);
    for (std::size_t i = first; i < from.size() && more(); ++i) walk_from(problem, from[i], a, cheapest, pool, workspace);
  }
}

}  // namespace likely::search
