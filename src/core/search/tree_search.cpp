#include "tree_search.hpp"

#include <algorithm>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "heuristics.hpp"
#include "tree_likelihood.hpp"

namespace likely::search {

// Of a likelihood, the decomposition must know the components as sums of terms; one with a weight, or coherence, it does not
// know. Where most features are categories, histograms and trees that are bounded one by one are quicker.
bool worth_tree_work(const Problem& problem) {
  const Forest* forest = problem.score->trees();
  if (forest == nullptr || problem.coherence || TreeLinks::size(*forest) > tolerance::kMostTreeWork) return false;
  if (!problem.likelihood) return true;
  const bool pays = problem.likelihood->has_blocks() || problem.score->trees_bound() || has_many_numbers(problem.domain);
  return pays && problem.likelihood_weight == 0 && problem.likelihood->components() > 0;
}

namespace {

std::uint64_t nodes_before_likely_trees(const Problem& problem) {
  return problem.nodes_before_trees +
         problem.nodes_before_trees * problem.likelihood->components() / tolerance::kComponentsPerWait;
}

}  // namespace

std::uint64_t nodes_before_trees(const Problem& problem) {
  if (!problem.likelihood) return problem.nodes_before_trees;
  if (problem.likelihood->has_blocks()) return std::min(problem.nodes_before_trees, tolerance::kNodesBeforeLikelyTrees);
  return problem.score->trees_bound() ? problem.nodes_before_trees : nodes_before_likely_trees(problem);
}

namespace {

// Whether the likelihood is decomposed with the trees. Trees that only bound the scores begin with the cost alone: nodes of a
// composite take long, and a decomposition for every component takes much longer.
bool decomposes_likelihood(const Problem& problem, const Node& node, double cutoff) {
  if (!problem.likelihood || cutoff == kInf || problem.likelihood_threshold == -kInf) return false;
  return !problem.score->trees_bound() || problem.likelihood->has_blocks() || node.order >= nodes_before_likely_trees(problem);
}

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
  auto made = std::make_shared<TreeNodePrices>(TreeNodePrices{duals.prices(), {}, 0});
  if (!first) made->parts = node.tree_prices->parts;
  node.tree_prices = std::move(made);
  duals.reduce_costs();
  return true;
}

}  // namespace

bool trees_pay(const Problem& problem, const PricedParts& priced, Node& node) {
  if (!problem.likelihood || !problem.likelihood->has_blocks() || priced.pointed.empty()) return true;
  if (node.tree_wait > 0) {
    --node.tree_wait;
    return false;
  }
  const std::size_t largest = priced.largest();
  std::vector<double> row = priced.pointed[largest], outputs;
  if (row.empty()) return true;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = problem.domain.features[j];
    if (f.atom_of(row[j]) < 0 && !f.low.empty()) row[j] = f.nearest(row[j]);
  }
  problem.score->outputs(row.data(), outputs);
  return !problem.alternatives[node.alternative].met(outputs);
}

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
  if (problem.score->trees_bound()) {
    TreeGains gains;
    problem.score->bound_by_trees(region_of(node, cutoff), goals, *workspace.scores[node.alternative], gains);
    for (std::size_t g = 0; g < goals.size(); ++g) lower[g] -= gains.rounding[g];
    duals.set_gains(std::move(gains));
  }
  workspace.trees->solved = false;
  workspace.trees->terms.at.clear();
  const bool likely = decomposes_likelihood(problem, node, cutoff);
  bool decided = false, useful = true;
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
      decided = bounds.decided();
      useful = bounds.useful() || !problem.likelihood->has_blocks();
    }
    if (after(node.box.any_empty(problem.domain) ? Outcome::kEmpty : Outcome::kOpen) == Outcome::kEmpty) return Outcome::kEmpty;
    if (static_cast<double>(node.box.value_count(problem.domain)) > tolerance::kSameWidth * before) break;
  }
  node.tree_pause = useful ? 0
                           : static_cast<std::uint8_t>(
                                 std::min(tolerance::kTreePauseGrowth * (node.tree_pause + 1), tolerance::kLongestTreePause));
  node.tree_wait = node.tree_pause;
  workspace.trees->solved = useful && !decided;
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
                        Workspace& workspace, const TreeMoves::More& more = TreeMoves::always) {
  TreeMoves& moves = workspace.trees->moves[alternative];
  const double best = pool.best();
  if (!moves.repair(row, pool.cutoff(), more) || !test_row(problem, row, alternative, pool, workspace)) return;
  if (!(pool.best() < best)) return;
  moves.improve(row, more);
  test_row(problem, row, alternative, pool, workspace);
  if (problem.likelihood) pull_back(problem, std::vector<double>(row), alternative, pool, workspace);
}

// The row that the decomposition points to; with a likelihood, the numbers of its cells that are best for the component.
std::vector<double> pointed_row(const Problem& problem, const Node& node, const TreeWork& work) {
  std::vector<double> row;
  work.duals[node.alternative].cheapest_row(row);
  for (std::size_t j = 0; !work.terms.at.empty() && j < row.size(); ++j) {
    const Feature& f = problem.domain.features[j];
    if (const std::int32_t c = f.cell_of(row[j]); c >= 0)
      if (const double best = f.nearest(work.terms.at[f.first_cell + static_cast<std::size_t>(c)]); f.cell_of(best) == c)
        row[j] = best;
  }
  return row;
}

// Known answers, the best first, that are worth the search for better ones.
std::vector<Solution> answers_to_improve(const Problem& problem, const std::vector<std::vector<double>>& starts,
                                         const SolutionPool& pool, Workspace& workspace) {
  std::vector<Solution> out(pool.solutions());
  if (!problem.likelihood) return out;
  std::vector<Solution> known;
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a)
    for (const std::vector<double>& row : starts)
      if (row.size() == problem.domain.features.size() && whole(problem.domain).contains(problem.domain, row.data()) &&
          is_answer(problem, row, a, workspace))
        known.push_back({row, problem.domain.cost(row.data()), 0, 0, a});
  std::stable_sort(known.begin(), known.end(), [](const Solution& a, const Solution& b) { return a.objective < b.objective; });
  if (known.size() > tolerance::kImprovedStarts) known.resize(tolerance::kImprovedStarts);
  out.insert(out.end(), known.begin(), known.end());
  return out;
}

}  // namespace

void try_tree_row(const Problem& problem, const Node& node, SolutionPool& pool, Workspace& workspace) {
  if (!workspace.trees->solved) return;
  std::vector<double> row = pointed_row(problem, node, *workspace.trees);
  if (const Solution* best = pool.best_of(node.alternative); problem.likelihood && best != nullptr)
    walk_towards(problem, row, std::vector<double>(best->row), node.alternative, pool, workspace);
  if (!problem.likelihood || node.order % tolerance::kNodesBetweenRepairs == 0)
    repair_and_improve(problem, row, node.alternative, pool, workspace);
}

void improve_answers(const Problem& problem, const std::vector<std::vector<double>>& starts, SolutionPool& pool,
                     Workspace& workspace, const std::function<bool()>& more) {
  for (const Solution& each : answers_to_improve(problem, starts, pool, workspace)) {
    if (!more()) return;
    std::vector<double> row = each.row;
    workspace.trees->moves[each.alternative].improve(row, more);
    if (test_row(problem, row, each.alternative, pool, workspace) && problem.likelihood)
      pull_back(problem, row, each.alternative, pool, workspace);
  }
  for (std::uint32_t a = 0; a < problem.alternatives.size() && more(); ++a) {
    std::vector<double> row;
    cheapest_row(problem.domain, whole(problem.domain), row);
    repair_and_improve(problem, row, a, pool, workspace, more);
  }
}

}  // namespace likely::search
