// The main loop: first answers, then nodes from the queue, one by one or in rounds; what the result claims.
#include "search.hpp"

#include <algorithm>
#include <chrono>

#include "../tolerances.hpp"
#include "exchange.hpp"
#include "heuristics.hpp"
#include "pricing.hpp"
#include "seeking.hpp"
#include "tree_search.hpp"
#include "units.hpp"

namespace likely::search {

namespace {

// Of the root of an alternative before it waits in the queue.
std::int64_t root_id(std::uint32_t alternative) { return -1 - static_cast<std::int64_t>(alternative); }

// Whether local search with prices begins before the tree does.
bool searches_nearby(const Problem& problem) { return problem.likelihood && problem.likelihood->has_blocks(); }

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Search::Search(const Problem& problem, const Limits& limits, Poll poll)
    : problem_(problem),
      limits_(limits),
      poll_(std::move(poll)),
      expander_(problem),
      workers_(std::clamp<std::size_t>(limits.threads, 1, tolerance::kNodesOfRound)),
      workspaces_(workers_.threads()),
      pool_(problem.domain, limits),
      queue_(limits.open_nodes),
      has_price_work_(problem.nodes_before_prices > 0 && prices_pay_later(problem)),
      has_tree_work_(worth_tree_work(problem)),
      started_(now()),
      polled_(started_) {
  workspace_of(0);
}

void Search::follow(std::vector<double> row) {
  follower_ = std::make_unique<Follower>(problem_, std::move(row), workspace_of(0));
}

// No checker derives what decomposed trees say of a likelihood, nor what units say of a weighted one: the search does without.
void Search::record(std::size_t most_bytes) {
  if (problem_.likelihood) has_tree_work_ = false;
  workspace_of(0).records = true;
  if (problem_.likelihood_weight > 0) {
    workspace_of(0).units.reset();
    has_price_work_ = false;
  }
  for (Evaluation& evaluation : workspace_of(0).evaluations)
    evaluation.priced.keeps_best = evaluation.coherence_priced.keeps_best = true;
  recorder_ = std::make_unique<Recorder>(problem_, workspace_of(0), most_bytes);
  if (!follower_) follower_ = std::make_unique<Follower>(problem_);
  follower_->record(recorder_.get());
}

Result Search::run(const std::vector<std::vector<double>>& starts) {
  find_first_answers(starts);
  if (recorder_) {
    std::vector<std::int64_t> ids;
    for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) ids.push_back(root_id(a));
    recorder_->add_roots(ids);
  }
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) add_root(a);
  has_all_roots_ = true;
  while (!queue_.empty() && go_on()) {
    if (has_price_work_ && queue_.made() >= problem_.nodes_before_prices) begin_prices(starts);
    if (!walked_ && statistics_.nodes >= problem_.nodes_before_ranges) walk_from_others(starts);
    if (statistics_.nodes >= next_seeking_) seek_answers(starts);
    if (statistics_.nodes >= next_exchange_) exchange_in_answers();
    if (has_tree_work_ && statistics_.nodes == nodes_before_trees(problem_)) begin_trees(starts);
    if (statistics_.nodes >= problem_.nodes_before_rounds && !recorder_)
      look_at_round();
    else if (Node node = queue_.pop(); node.bound >= pool_.cutoff())
      prune(node);
    else
      look_at_one(std::move(node));
  }
  return finish();
}

void Search::find_first_answers(const std::vector<std::vector<double>>& starts) {
  Workspace& workspace = workspace_of(0);
  const auto more = [this] { return go_on(); };
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) known_rows(problem_, starts, a, pool_, workspace, more);
  single_change_scan(problem_, pool_, workspace, more);
  if (workspace.units) walk_regions(problem_, starts, 0, tolerance::kRegionStarts, pool_, workspace, more);
  if (searches_nearby(problem_)) search_from_known(starts);
}

// A search that is not over soon gains most by better answers: walks from the rows that it did not begin with.
void Search::walk_from_others(const std::vector<std::vector<double>>& starts) {
  walked_ = true;
  Workspace& workspace = workspace_of(0);
  if (!workspace.units) return;
  if (searches_nearby(problem_)) search_from_each(starts);
  walk_regions(problem_, starts, tolerance::kRegionStarts, tolerance::kMoreRegionStarts, pool_, workspace,
               [this] { return go_on(); });
}

// Exchanges in the best answer of every alternative, unless they were made in it before.
void Search::exchange_in_answers() {
  next_exchange_ = 2 * statistics_.nodes;
  if (problem_.likelihood_weight > 0 || !has_many_numbers(problem_.domain)) return;
  exchanged_.resize(problem_.alternatives.size(), kInf);
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    const Solution* best = pool_.best_of(a);
    if (best == nullptr || best->objective == exchanged_[a]) continue;
    exchange(problem_, a, best->row, pool_, workspace_of(0), [this] { return go_on(); });
    exchanged_[a] = pool_.best_of(a)->objective;
  }
}

// From more rows each time.
void Search::seek_answers(const std::vector<std::vector<double>>& starts) {
  next_seeking_ = 2 * statistics_.nodes;
  const std::size_t most = std::max(tolerance::kSoughtRows, sought_rows_);
  for (std::uint32_t a = 0; a < problem_.alternatives.size() && pool_.solutions().empty(); ++a)
    seek_answer(problem_, a, starts, sought_rows_, most, pool_, workspace_of(0), [this] { return go_on(); });
  sought_rows_ += most;
}

// Of every alternative, the best known row and what is near it: it may be better in the end than one that is better now, and
// others are made answers by walking towards it.
void Search::search_from_known(const std::vector<std::vector<double>>& starts) {
  Workspace& workspace = workspace_of(0);
  const auto more = [this] { return go_on(); };
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    SolutionPool own(problem_.domain, limits_);
    known_rows(problem_, starts, a, own, workspace, more);
    search_nearby(problem_, a, own, workspace, more);
    for (const Solution& solution : own.solutions()) pool_.add(solution);
  }
}

// Networks have many local optima: from the cheapest known rows, each by itself.
void Search::search_from_each(const std::vector<std::vector<double>>& starts) {
  Workspace& workspace = workspace_of(0);
  if (!workspace.units) return;
  const auto more = [this] { return go_on(); };
  const std::vector<std::vector<double>> rows = cheapest_first(problem_.domain, starts, starts.size());
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    std::size_t searched = 0;
    for (std::size_t i = 0; i < rows.size() && searched < tolerance::kRegionStarts && more(); ++i) {
      SolutionPool own(problem_.domain, limits_);
      known_rows(problem_, {rows[i]}, a, own, workspace, more);
      if (own.best_of(a) == nullptr) continue;
      ++searched;
      search_nearby(problem_, a, own, workspace, more);
      for (const Solution& solution : own.solutions()) pool_.add(solution);
    }
  }
}

void Search::add_root(std::uint32_t alternative) {
  Node root = root_node(problem_, alternative);
  if (!go_on()) {
    const bool narrow = root.box.narrow(problem_.domain);
    queue_.push(std::move(root), narrow);
    return;
  }
  if (recorder_) recorder_->begin(root_id(alternative), root, pool_.cutoff());
  Expansion expansion = expander_.expand_root(std::move(root), pool_, workspace_of(0), follower_.get());
  take_over(expansion);
}

// What decomposes trees takes longer than many small searches: one that is not over by now begins anew with it.
void Search::begin_trees(const std::vector<std::vector<double>>& starts) {
  has_tree_work_ = false;
  uses_trees_ = true;
  improve_answers(problem_, starts, pool_, workspace_of(0), [this] { return go_on(); });
  begin_anew();
}

// Prices take longer than many small searches, too. Nodes that are made from now on get them.
void Search::begin_prices(const std::vector<std::vector<double>>& starts) {
  has_price_work_ = false;
  if (problem_.likelihood) {
    search_from_known(starts);
    search_from_each(starts);
  }
  begin_anew();
}

// What is proved already holds of the new roots too.
void Search::begin_anew() {
  const double proved = queue_.lower();
  queue_.clear();
  std::vector<std::int64_t> ids;
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    ids.push_back(static_cast<std::int64_t>(queue_.made()));
    queue_.push(root_node(problem_, a, proved), false);
  }
  if (recorder_) recorder_->add_roots(ids);
}

// -- nodes --------------------------------------------------------------------------------------------------------------

void Search::look_at_one(Node node) {
  ++statistics_.nodes;
  if (follower_) follower_->count_node();
  if (recorder_) recorder_->begin(static_cast<std::int64_t>(node.order), node, pool_.cutoff());
  Expansion expansion = expander_.expand(std::move(node), pool_, workspace_of(0), follower_.get());
  take_over(expansion);
}

// A round of nodes, each looked at with what was known before the round, by whatever thread is free; what they find is taken
// over in their order. So all that is found and claimed is the same on any number of threads.
void Search::look_at_round() {
  std::uint64_t most = std::min<std::uint64_t>(tolerance::kNodesOfRound, limits_.nodes - statistics_.nodes);
  if (has_tree_work_ && statistics_.nodes < nodes_before_trees(problem_))
    most = std::min(most, nodes_before_trees(problem_) - statistics_.nodes);
  const std::size_t count = take_round(static_cast<std::size_t>(most));
  const std::size_t begun = workers_.run(
      count, [this](std::size_t i, std::size_t thread) { look(round_[i], thread); },
      [this](std::size_t so_far) { return go_on(so_far); });
  statistics_.nodes += begun;
  for (std::size_t i = 0; i < begun; ++i) {
    Turn& turn = round_[i];
    pool_.add_found(turn.pool);
    if (follower_) follower_->take_over(*turn.follower);
    take_over(turn.expansion);
  }
  for (std::size_t i = begun; i < count; ++i) {
    const bool narrow = round_[i].node.box.narrow(problem_.domain);
    queue_.push(std::move(round_[i].node), narrow);
  }
  lowest_of_round_ = kInf;
}

// The next nodes of one part of the queue, at most so many; returns how many.
std::size_t Search::take_round(std::size_t most) {
  std::size_t count = 0;
  const NodeQueue::Part part = queue_.next_part();
  while (count < most && !queue_.empty() && queue_.next_part() == part && go_on()) {
    Node node = queue_.pop();
    if (node.bound >= pool_.cutoff()) {
      prune(node);
      continue;
    }
    if (count == round_.size()) round_.emplace_back(pool_);
    Turn& turn = round_[count++];
    lowest_of_round_ = std::min(lowest_of_round_, node.bound);
    turn.node = std::move(node);
    turn.pool.begin_as(pool_);
    if (!follower_) continue;
    follower_->count_node();
    turn.follower = std::make_unique<Follower>(*follower_);
  }
  return count;
}

void Search::look(Turn& turn, std::size_t thread) {
  turn.expansion = expander_.expand(std::move(turn.node), turn.pool, workspace_of(thread), turn.follower.get());
}

void Search::take_over(Expansion& expansion) {
  queue_.prune(expansion.pruned);
  for (Expansion::Child& child : expansion.children) {
    if (recorder_) recorder_->add_child(queue_.made(), child.node);
    queue_.push(std::move(child.node), child.narrow);
  }
  if (recorder_) recorder_->end();
}

void Search::prune(const Node& node) {
  Expander::prune(node, pool_, follower_.get());
  queue_.prune(node.bound);
}

// Made by the thread that uses it, when it does so first.
Workspace& Search::workspace_of(std::size_t thread) {
  std::unique_ptr<Workspace>& workspace = workspaces_[thread];
  if (!workspace) workspace = std::make_unique<Workspace>(problem_);
  if (uses_trees_ && !workspace->trees) workspace->trees = std::make_unique<TreeWork>(problem_);
  return *workspace;
}

// -- what is known, and when to stop ------------------------------------------------------------------------------------

double Search::seconds() const { return now() - started_; }

Progress Search::progress(std::size_t begun) const {
  // Values are removed if they cannot be better than the cut-off: nothing more is known of rows between it and the incumbent.
  const double open = has_all_roots_ ? std::min(queue_.lower(), lowest_of_round_) : -kInf;
  return {seconds(), statistics_.nodes + begun, pool_.upper(),
          std::min({open, pool_.undecided(), pool_.upper(), pool_.cutoff()})};
}

bool Search::poll(std::size_t begun) {
  if (now() - polled_ <= tolerance::kSecondsBetweenPolls) return true;
  polled_ = now();
  trace_.push_back(progress(begun));
  return poll_(trace_.back());
}

// Whether no limit is reached, and nobody said to stop; once stopped, it remains so. `begun`: nodes of a round, which are not
// counted yet.
bool Search::go_on(std::size_t begun) {
  stopped_ = stopped_ || statistics_.nodes >= limits_.nodes || seconds() > limits_.seconds || !poll(begun);
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
  result.statistics = statistics_;
  result.statistics.most_open = queue_.most_open();
  for (const std::unique_ptr<Workspace>& workspace : workspaces_)
    if (workspace) result.statistics.add(workspace->statistics);
  result.seconds = last.seconds;
  result.trace = std::move(trace_);
  if (follower_) result.loss = follower_->loss();
  if (recorder_) {
    result.certificate = recorder_->take();
    result.truncated = recorder_->truncated();
  }
  return result;
}

}  // namespace likely::search
