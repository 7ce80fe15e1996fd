// In the order of docs/engine.md: propagation, answers on the way, branching.
#include "expansion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "../tolerances.hpp"
#include "branching.hpp"
#include "heuristics.hpp"
#include "propagation.hpp"
#include "tree_search.hpp"
#include "units.hpp"

namespace likely::search {

struct Expander::Look {
  Look(Node looked_at, SolutionPool& known, Workspace& buffers, Follower* watcher)
      : node(std::move(looked_at)),
        evaluation(buffers.evaluations[node.alternative]),
        pool(known),
        workspace(buffers),
        follower(watcher) {}

  Node node;
  Evaluation& evaluation;
  SolutionPool& pool;
  Workspace& workspace;
  Follower* follower;
};

namespace {

// Whether prices point to rows that are worth a closer look: at the root, and now and then. What units know of a node is in the
// workspace, and would be lost; what trees know of it, too: there, the look comes last.
bool points_to_rows(const Problem& problem, const Workspace& workspace) {
  return problem.likelihood && problem.likelihood->has_blocks() && !workspace.units;
}

// Whether likelihood is what makes the node costly: its bound is above that of the network alone. The programme's solution, which
// knows nothing of likelihood, then says little about where to split.
bool likelihood_binds(const Problem& problem, const Node& node, const Evaluation& evaluation, const Workspace& workspace) {
  if (!problem.likelihood || !workspace.units || !workspace.units->solved || node.prices.empty() || !evaluation.priced.sought)
    return false;
  const double by_units = workspace.units->dual.bound + workspace.units->likely_part;
  return node.bound > by_units + tolerance::kBindingShare * (1 + std::abs(by_units));
}

// Where the programme of units knows of nothing more to decide: the unit whose triangle is furthest off at the row that prices
// point to; nothing if that row misses the goals by less than the likelihood, in nats, and a feature can be cut.
std::vector<Node> split_where_priced(const Problem& problem, const Node& node, const PricedParts& priced,
                                     const std::optional<Cut>& cut, Workspace& workspace) {
  const std::size_t largest = priced.largest();
  if (largest == priced.shares.size() || priced.pointed[largest].empty()) return {};
  const std::vector<double> row = on_grid(problem.domain, priced.pointed[largest]);
  RowValues& values = workspace.row_values;
  evaluate_row(problem, row, node.alternative, workspace, values);
  double price = 0, missing = 0;
  for (const double one : node.prices[largest].goals) price += one;
  for (const Goal& goal : problem.goals(node.alternative)) missing += std::max(0.0, goal.lower - goal.score(values.outputs));
  if (!(missing > 0)) return {};
  const double against =
      problem.likelihood_weight > 0 ? cut ? cut->gap : 0 : problem.likelihood_threshold - values.log_likelihood;
  if (cut && price * missing < std::max(0.0, against)) return {};
  return split_unit_at(node, row, workspace);
}

// Whether prices of units and likelihood together tell where to branch: what is to be gained there is not little beside what the
// likelihood can lose.
bool joint_prices_tell(const Workspace& workspace, const std::optional<Cut>& cut) {
  if (!workspace.units || !workspace.units->priced.found) return false;
  const UnitPricing& priced = workspace.units->priced;
  const double of_unit = priced.candidates.empty() ? 0 : priced.candidates[0].gain, of_cut = cut ? cut->gap : 0;
  return std::max(of_unit, of_cut) > std::max(0.0, tolerance::kTellingShare * priced.slack);
}

}  // namespace

Expander::Expander(const Problem& problem)
    : problem_(problem),
      constant_on_cells_(problem.score->constant_on_cells() && problem.rules.linear.empty() &&
                         (!problem.likelihood || problem.likelihood->constant_on_cells()) &&
                         (!problem.coherence || problem.coherence->constant_on_cells())) {}

Expansion Expander::expand_root(Node root, SolutionPool& pool, Workspace& workspace, Follower* follower) const {
  Look look(std::move(root), pool, workspace, follower);
  Expansion out;
  if (!propagate_node(look, out)) return out;
  try_node(problem_, look.node, look.evaluation, pool, workspace);
  if (points_to_rows(problem_, workspace)) dive(problem_, look.node, look.evaluation, pool, workspace);
  const bool narrow = look.node.box.narrow(problem_.domain);
  out.children.push_back({std::move(look.node), narrow});
  return out;
}

Expansion Expander::expand(Node node, SolutionPool& pool, Workspace& workspace, Follower* follower) const {
  Look look(std::move(node), pool, workspace, follower);
  Expansion out;
  if (!propagate_node(look, out)) return out;
  try_node(problem_, look.node, look.evaluation, pool, workspace);
  const bool dives = std::has_single_bit(look.node.order) && points_to_rows(problem_, workspace);
  if (dives && !workspace.trees) dive(problem_, look.node, look.evaluation, pool, workspace);
  if (workspace.units) try_solution(problem_, look.node, pool, workspace);
  if (workspace.trees) try_tree_row(problem_, look.node, pool, workspace);
  if (is_done(look)) return out;
  // Below an undecided row nothing more can be claimed than there is: rows that hardly differ are not worth the search.
  const bool futile = look.node.bound >= pool.undecided() && look.node.box.narrow(problem_.domain);
  if (look.node.bound < pool.cutoff() && !futile) {
    branch(look, out);
  } else {
    prune(look.node, pool, follower);
    out.pruned = look.node.bound;
  }
  if (dives && workspace.trees) {
    look.node.tree_wait = tolerance::kLongestTreePause;
    dive(problem_, look.node, look.evaluation, pool, workspace);
  }
  return out;
}

// -- propagation --------------------------------------------------------------------------------------------------------

bool Expander::propagate_node(Look& look, Expansion& out) const {
  if (look.follower != nullptr) look.follower->watch(look.node, look.pool);
  const Outcome outcome = propagate(problem_, look.node, look.pool.cutoff(), look.evaluation, look.workspace, look.follower);
  if (outcome == Outcome::kCutOff) out.pruned = look.node.bound;
  return outcome == Outcome::kOpen;
}

void Expander::prune(const Node& node, const SolutionPool& pool, Follower* follower) {
  if (follower == nullptr) return;
  follower->watch(node, pool);
  follower->after(Step::kPruning, node, false);
}

// -- answers ------------------------------------------------------------------------------------------------------------

// Whether nothing in the node can be new: it is one row, or its cheapest row stands for all, or all its rows are one answer to
// the pool and one that is no costlier is known. The cheapest row was tested before.
bool Expander::is_done(Look& look) const {
  const Node& node = look.node;
  auto account = [&](Step step) {
    if (look.follower == nullptr) return;
    look.follower->watch(node, look.pool);
    look.follower->after(step, node, false);
  };
  if (node.box.narrow(problem_.domain)) end_points(problem_, node, look.evaluation, look.pool, look.workspace);
  const std::optional<SolutionPool::Key> key = look.pool.common_key(node.box);
  if (node.box.single(problem_.domain) || (key && constant_on_cells_ && node.box.single_cells(problem_.domain))) {
    account(Step::kExactTest);
    return true;
  }
  if (!key || !look.pool.covers(*key, node.bound)) return false;
  account(Step::kPool);
  return true;
}

// -- branching ----------------------------------------------------------------------------------------------------------

std::vector<Box> Expander::parts_of(Look& look, const std::optional<Cut>& cut) const {
  const Node& node = look.node;
  const double cutoff = look.pool.cutoff();
  if (cut && (joint_prices_tell(look.workspace, cut) || likelihood_binds(problem_, node, look.evaluation, look.workspace)))
    return split_at(problem_.domain, node.box, *cut);
  if (std::vector<Box> parts = split_fraction(problem_, node, look.workspace); !parts.empty()) return parts;
  if (std::vector<Box> parts = split_trees(problem_, node, look.workspace); !parts.empty()) return parts;
  if (cut) return split_at(problem_.domain, node.box, *cut);
  const std::vector<double>& cheapest = look.evaluation.cheapest;
  RowValues& values = look.workspace.row_values;
  evaluate_row(problem_, cheapest, node.alternative, look.workspace, values);
  const std::size_t j = choose_feature(problem_, node, look.evaluation, values, cutoff);
  return split(problem_.domain, node.box, j, cheapest[j]);
}

// Nodes with a unit on either side; none if boxes are to be split.
std::vector<Node> Expander::sides_of(Look& look, const std::optional<Cut>& cut) const {
  const Node& node = look.node;
  if (joint_prices_tell(look.workspace, cut)) {
    const std::vector<Triangles::Candidate>& candidates = look.workspace.units->priced.candidates;
    if (cut && (candidates.empty() || candidates[0].gain <= cut->gap)) return {};
    return split_unit_off(node, candidates[0]);
  }
  std::vector<Node> sides = split_unit(node, look.pool.cutoff(), look.workspace);
  if (!sides.empty() || !likelihood_binds(problem_, node, look.evaluation, look.workspace)) return sides;
  return split_where_priced(problem_, node, look.evaluation.priced, cut, look.workspace);
}

void Expander::branch(Look& look, Expansion& out) const {
  const Node& node = look.node;
  const std::vector<double>& cheapest = look.evaluation.cheapest;
  std::vector<Box> parts;
  // No bound knows of a rule that the cheapest row breaks, and reals could be split for ever before it is decided.
  if (const std::optional<std::size_t> j = problem_.rules.undecided(problem_.domain, node.box, cheapest.data())) {
    parts = split(problem_.domain, node.box, *j, cheapest[*j]);
  } else {
    const std::optional<Cut> cut = largest_gap(problem_, node, look.evaluation);
    if (std::vector<Node> sides = sides_of(look, cut); !sides.empty()) {
      const bool narrow = node.box.narrow(problem_.domain);
      for (Node& part : sides) out.children.push_back({std::move(part), narrow});
      return;
    }
    parts = parts_of(look, cut);
  }
  if (look.follower != nullptr) {
    look.follower->watch(node, look.pool);
    look.follower->after_branching(parts);
  }
  for (Box& part : parts) {
    const bool narrow = part.narrow(problem_.domain);
    Node child{std::move(part),  node.bound,     node.alternative,      0,
               node.multipliers, node.prices,    node.unit_prices,      node.splits,
               node.ranges,      node.basis,     node.coherence_prices, node.tree_prices,
               node.tree_pause,  node.tree_wait, node.unit_pause,       node.unit_wait};
    out.children.push_back({std::move(child), narrow});
  }
}

}  // namespace likely::search
