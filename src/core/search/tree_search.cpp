#include "tree_search.hpp"

#include <algorithm>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "heuristics.hpp"
#include "tree_likelihood.hpp"

namespace likely::search {

// Of a likelihood, the decomposition must know the components as sums of terms; one with a weight, or coherence, it does not
// know.
bool worth_tree_work(const Problem& problem) {
  const Forest* forest = problem.score->trees();
  if (forest == nullptr || problem.coherence || TreeLinks::size(*forest) > tolerance::kMostTreeWork) return false;
  return !problem.likelihood || (problem.likelihood_weight == 0 && problem.likelihood->components() > 0);
}

std::uint64_t nodes_before_trees(const Problem& problem) {
  const bool slow = problem.likelihood && problem.likelihood->has_blocks();
  return slow ? std::min(problem.nodes_before_trees, tolerance::kNodesBeforeLikelyTrees) : problem.nodes_before_trees;
}

namespace {

// The node's bound from the decomposition of the cost alone; false if no row is left.
bool bound_by_cost(const std::vector<double>& lower, double cutoff, TreeDuals& duals, Node& node) {
  const bool first = node.tree_prices == nullptr;
  double bound = kInf;
  if (duals.enter(node.box, cutoff, lower, first ? nullptr : &node.tree_prices->cost)) {
    duals.ascend(cutoff, first ? tolerance::kFirstTreeSweeps : tolerance::kTreeSweeps);
    bound = duals.bound(cutoff);
  }
  if (bound == kInf) return false;
  node.bound = std::max(node.bound, bound);
  if (node.bound >= cutoff) return true;
  node.tree_prices = std::make_shared<const TreeNodePrices>(
      TreeNodePrices{duals.prices(), first ? std::vector<TreePartPrices>() : node.tree_prices->parts});
  duals.reduce_costs();
  return true;
}

}  // namespace

Outcome propagate_trees(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                        Follower* follower) {
  auto after = [&](Outcome outcome) {
    if (follower != nullptr) follower->after(Step::kTrees, node, outcome == Outcome::kOpen);
    return outcome;
  };
  TreeDuals& duals = workspace.trees->duals[node.alternative];
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  std::vector<double> lower;
  for (std::size_t g = 0; g < goals.size(); ++g) lower.push_back(goals[g].lower - evaluation.relaxations[g].rounding);
  workspace.trees->solved = false;
  workspace.trees->terms.at.clear();
  const bool likely = problem.likelihood && cutoff < kInf && problem.likelihood_threshold > -kInf;
  for (int round = 0; round < tolerance::kTreeRounds; ++round) {
    const auto before = static_cast<double>(node.box.value_count(problem.domain));
    if (!bound_by_cost(lower, cutoff, duals, node)) return after(Outcome::kEmpty);
    if (node.bound >= cutoff) return after(Outcome::kCutOff);
    duals.filter(cutoff);
    workspace.trees->gap = std::min(cutoff, tolerance::kNoCutoff) - node.bound;
    if (likely && !node.box.any_empty(problem.domain)) {
      TreeLikelihood bounds(problem, lower, cutoff, workspace, node);
      bounds.bound();
      if (node.bound >= cutoff) return after(Outcome::kCutOff);
      bounds.filter();
      workspace.trees->gap = bounds.above();
    }
    if (after(node.box.any_empty(problem.domain) ? Outcome::kEmpty : Outcome::kOpen) == Outcome::kEmpty) return Outcome::kEmpty;
    if (static_cast<double>(node.box.value_count(problem.domain)) > tolerance::kSameWidth * before) break;
  }
  workspace.trees->solved = true;
  return Outcome::kOpen;
}

std::vector<Box> split_trees(const Problem& problem, const Node& node, const Workspace& workspace) {
  if (!workspace.trees || !workspace.trees->solved) return {};
  const TreeDuals& duals = workspace.trees->duals[node.alternative];
  std::vector<double> row;
  duals.cheapest_row(row);
  if (!problem.rules.hold(row.data())) return {};
  const TreeDuals::Cut cut = duals.best_cut(workspace.trees->gap);
  if (cut.rank == 0) return {};
  std::vector<Box> parts(2, node.box);
  if (cut.atom >= 0) {
    const Feature& f = problem.domain.features[cut.feature];
    parts[0].drop_atom(f, static_cast<std::size_t>(cut.atom));
    parts[1].fix(problem.domain, cut.feature, f.atom[static_cast<std::size_t>(cut.atom)]);
  } else {
    const Range& range = node.box.range[cut.feature];
    parts[0].keep_cells(problem.domain, cut.feature, range.first, cut.cell);
    parts[1].keep_cells(problem.domain, cut.feature, cut.cell + 1, range.last);
  }
  return parts;
}

namespace {

// A row that costs less than the best answer is worth the search for a better one still.
void repair_and_improve(const Problem& problem, std::vector<double>& row, std::uint32_t alternative, SolutionPool& pool,
                        Workspace& workspace) {
  TreeMoves& moves = workspace.trees->moves[alternative];
  const double best = pool.best();
  if (!moves.repair(row, pool.cutoff()) || !test_row(problem, row, alternative, pool, workspace)) return;
  if (!(pool.best() < best)) return;
  moves.improve(row);
  test_row(problem, row, alternative, pool, workspace);
}

}  // namespace

void try_tree_row(const Problem& problem, const Node& node, SolutionPool& pool, Workspace& workspace) {
  if (!workspace.trees->solved) return;
  std::vector<double> row;
  workspace.trees->duals[node.alternative].cheapest_row(row);
  const Solution* best = pool.best_of(node.alternative);
  if (!problem.likelihood) repair_and_improve(problem, row, node.alternative, pool, workspace);
  if (!problem.likelihood || best == nullptr || workspace.trees->terms.at.empty()) return;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = problem.domain.features[j];
    if (const std::int32_t c = f.cell_of(row[j]); c >= 0)
      row[j] = f.nearest(workspace.trees->terms.at[f.first_cell + static_cast<std::size_t>(c)]);
  }
  walk_towards(problem, row, std::vector<double>(best->row), node.alternative, pool, workspace);
}

void improve_answers(const Problem& problem, SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more) {
  for (const Solution& each : std::vector<Solution>(pool.solutions())) {
    if (!more()) return;
    std::vector<double> row = each.row;
    workspace.trees->moves[each.alternative].improve(row);
    test_row(problem, row, each.alternative, pool, workspace);
  }
  for (std::uint32_t a = 0; a < problem.alternatives.size() && more(); ++a) {
    std::vector<double> row;
    cheapest_row(problem.domain, whole(problem.domain), row);
    repair_and_improve(problem, row, a, pool, workspace);
  }
}

}  // namespace likely::search
