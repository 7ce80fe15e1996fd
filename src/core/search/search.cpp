// The main loop, in the order of docs/engine.md: propagation, answers on the way, branching, what the result claims.
#include "search.hpp"

#include <algorithm>
#include <chrono>

#include "../tolerances.hpp"
#include "branching.hpp"
#include "heuristics.hpp"
#include "propagation.hpp"
#include "tree_search.hpp"
#include "units.hpp"

namespace likely::search {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Search::Search(const Problem& problem, const Limits& limits, Poll poll)
    : problem_(problem),
      limits_(limits),
      poll_(std::move(poll)),
      workspace_(problem),
      pool_(problem.domain, limits),
      has_tree_work_(worth_tree_work(problem)),
      constant_on_cells_(problem.score->constant_on_cells() && problem.rules.linear.empty() &&
                         (!problem.likelihood || problem.likelihood->constant_on_cells()) &&
                         (!problem.coherence || problem.coherence->constant_on_cells())) {}

void Search::follow(std::vector<double> row) { follower_ = std::make_unique<Follower>(problem_, std::move(row), workspace_); }

Result Search::run(const std::vector<std::vector<double>>& starts) {
  started_ = now();
  polled_ = started_;
  find_first_answers(starts);
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) add_root(a);
  has_all_roots_ = true;
  while (!queue_.empty() && go_on()) {
    if (has_tree_work_ && workspace_.statistics.nodes == problem_.nodes_before_trees) begin_trees();
    Node node = queue_.pop();
    if (node.bound >= pool_.cutoff())
      prune(node);
    else
      process(std::move(node));
  }
  return finish();
}

void Search::find_first_answers(const std::vector<std::vector<double>>& starts) {
  const auto more = [this] { return go_on(); };
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) known_rows(problem_, starts, a, pool_, workspace_, more);
  single_change_scan(problem_, pool_, workspace_, more);
  if (workspace_.units) walk_regions(problem_, starts, pool_, workspace_, more);
  if (problem_.likelihood && problem_.likelihood->has_blocks() && problem_.likelihood_weight == 0) search_from_known(starts);
}

// Of every alternative, the best known row and what is near it: it may be better in the end than one that is better now, and
// others are made answers by walking towards it.
void Search::search_from_known(const std::vector<std::vector<double>>& starts) {
  const auto more = [this] { return go_on(); };
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    SolutionPool own(problem_.domain, limits_);
    known_rows(problem_, starts, a, own, workspace_, more);
    search_nearby(problem_, a, own, workspace_, more);
    for (const Solution& solution : own.solutions()) pool_.add(solution);
  }
}

void Search::add_root(std::uint32_t alternative) {
  Node root = root_node(problem_, alternative);
  Evaluation& evaluation = workspace_.evaluations[alternative];
  if (go_on()) {
    if (!propagate_node(root, evaluation)) return;
    try_node(problem_, root, evaluation, pool_, workspace_);
  }
  const bool narrow = root.box.narrow(problem_.domain);
  queue_.push(std::move(root), narrow);
}

// What decomposes trees takes longer than many small searches: one that is not over by now begins anew with it. What is proved
// already holds of the new roots too.
void Search::begin_trees() {
  has_tree_work_ = false;
  workspace_.trees = std::make_unique<TreeWork>(problem_);
  improve_answers(problem_, pool_, workspace_, [this] { return go_on(); });
  const double proved = queue_.lower();
  queue_.clear();
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) queue_.push(root_node(problem_, a, proved), false);
}

void Search::process(Node node) {
  ++workspace_.statistics.nodes;
  if (follower_) follower_->count_node();
  Evaluation& evaluation = workspace_.evaluations[node.alternative];
  if (!propagate_node(node, evaluation)) return;
  try_node(problem_, node, evaluation, pool_, workspace_);
  if (workspace_.units) try_solution(problem_, node, pool_, workspace_);
  if (workspace_.trees) try_tree_row(problem_, node, pool_, workspace_);
  if (is_done(node, evaluation)) return;
  // Below an undecided row nothing more can be claimed than there is: rows that hardly differ are not worth the search.
  const bool futile = node.bound >= pool_.undecided() && node.box.narrow(problem_.domain);
  if (node.bound < pool_.cutoff() && !futile)
    branch(node, evaluation);
  else
    prune(node);
}

// -- propagation --------------------------------------------------------------------------------------------------------

bool Search::propagate_node(Node& node, Evaluation& evaluation) {
  if (follower_) follower_->watch(node, pool_);
  const Outcome outcome = propagate(problem_, node, pool_.cutoff(), evaluation, workspace_, follower_.get());
  if (outcome == Outcome::kCutOff) queue_.prune(node.bound);
  return outcome == Outcome::kOpen;
}

void Search::prune(const Node& node) {
  if (follower_) {
    follower_->watch(node, pool_);
    follower_->after(Step::kPruning, node, false);
  }
  queue_.prune(node.bound);
}

// -- answers ------------------------------------------------------------------------------------------------------------

// Whether nothing in the node can be new: it is one row, or its cheapest row stands for all, or all its rows are one answer to
// the pool and one that is no costlier is known. The cheapest row was tested before.
bool Search::is_done(const Node& node, const Evaluation& evaluation) {
  auto account = [&](Step step) {
    if (!follower_) return;
    follower_->watch(node, pool_);
    follower_->after(step, node, false);
  };
  if (node.box.narrow(problem_.domain)) end_points(problem_, node, evaluation, pool_, workspace_);
  const std::optional<SolutionPool::Key> key = pool_.common_key(node.box);
  if (node.box.single(problem_.domain) || (key && constant_on_cells_ && node.box.single_cells(problem_.domain))) {
    account(Step::kExactTest);
    return true;
  }
  if (!key || !pool_.covers(*key, node.bound)) return false;
  account(Step::kPool);
  return true;
}

// -- branching ----------------------------------------------------------------------------------------------------------

std::vector<Box> Search::parts_of(const Node& node, const Evaluation& evaluation) {
  if (std::vector<Box> parts = split_fraction(problem_, node, workspace_); !parts.empty()) return parts;
  if (std::vector<Box> parts = split_trees(problem_, node, pool_.cutoff(), workspace_); !parts.empty()) return parts;
  if (const std::optional<Cut> cut = largest_gap(problem_, node, evaluation)) return split_at(problem_.domain, node.box, *cut);
  RowValues& values = workspace_.row_values;
  evaluate_row(problem_, evaluation.cheapest, node.alternative, workspace_, values);
  const std::size_t j = choose_feature(problem_, node, evaluation, values, pool_.cutoff());
  return split(problem_.domain, node.box, j, evaluation.cheapest[j]);
}

void Search::branch(const Node& node, const Evaluation& evaluation) {
  if (std::vector<Node> sides = split_unit(node, pool_.cutoff(), workspace_); !sides.empty()) {
    const bool narrow = node.box.narrow(problem_.domain);
    for (Node& part : sides) queue_.push(std::move(part), narrow);
    return;
  }
  std::vector<Box> parts = parts_of(node, evaluation);
  if (follower_) {
    follower_->watch(node, pool_);
    follower_->after_branching(parts);
  }
  for (Box& part : parts) {
    const bool narrow = part.narrow(problem_.domain);
    queue_.push({std::move(part), node.bound, node.alternative, 0, node.multipliers, node.prices, node.splits, node.basis,
                 node.coherence_prices, node.tree_prices},
                narrow);
  }
}

// -- what is known, and when to stop ------------------------------------------------------------------------------------

double Search::seconds() const { return now() - started_; }

Progress Search::progress() const {
  // Values are removed if they cannot be better than the cut-off: nothing more is known of rows between it and the incumbent.
  const double open = has_all_roots_ ? queue_.lower() : -kInf;
  return {seconds(), workspace_.statistics.nodes, pool_.upper(),
          std::min({open, pool_.undecided(), pool_.upper(), pool_.cutoff()})};
}

bool Search::poll() {
  if (now() - polled_ <= tolerance::kSecondsBetweenPolls) return true;
  polled_ = now();
  trace_.push_back(progress());
  return poll_(trace_.back());
}

// Whether no limit is reached, and nobody said to stop; once stopped, it remains so.
bool Search::go_on() {
  stopped_ = stopped_ || workspace_.statistics.nodes >= limits_.nodes || seconds() > limits_.seconds || !poll();
  return !stopped_;
}

Result Search::finish() {
  const std::vector<Solution> solutions = pool_.take();
  const Progress last = progress();
  trace_.push_back(last);
  Result result;
  result.solutions = solutions;
  result.upper = solutions.empty() ? kInf : solutions.back().objective;
  const bool complete = queue_.empty() && !(pool_.undecided() < pool_.cutoff());
  result.lower = complete && !pool_.full() ? pool_.most_allowed() : last.lower;
  result.status = complete ? (solutions.empty() ? Status::kInfeasible : Status::kOptimal)
                           : (solutions.empty() ? Status::kUnknown : Status::kFeasible);
  result.statistics = workspace_.statistics;
  result.seconds = last.seconds;
  result.trace = std::move(trace_);
  if (follower_) result.loss = follower_->loss();
  return result;
}

}  // namespace likely::search
