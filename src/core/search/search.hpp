// Branch and bound over boxes: the cheapest rows that reach a goal, are likely enough and keep the rules - with a proof.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "expansion.hpp"
#include "follow.hpp"
#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"
#include "queue.hpp"
#include "workers.hpp"

namespace likely::search {

// Called now and then; false ends the search.
using Poll = std::function<bool(const Progress&)>;

class Search {
 public:
  Search(const Problem& problem, const Limits& limits, Poll poll);

  // A row to be followed; what loses it is in the result.
  void follow(std::vector<double> row);
  // Writes down the tree, up to so many bytes; the certificate is in the result. Nodes are then looked at one by one.
  void record(std::size_t most_bytes);
  Result run(const std::vector<std::vector<double>>& starts);

 private:
  // A node of a round, and what the look at it finds, beside those of other threads.
  struct Turn {
    explicit Turn(const SolutionPool& known) : pool(known) {}

    Node node;
    SolutionPool pool;
    std::unique_ptr<Follower> follower;
    Expansion expansion;
  };

  void find_first_answers(const std::vector<std::vector<double>>& starts);
  void walk_from_others(const std::vector<std::vector<double>>& starts);
  void exchange_in_answers();
  void seek_answers(const std::vector<std::vector<double>>& starts);
  void search_from_known(const std::vector<std::vector<double>>& starts);
  void search_from_each(const std::vector<std::vector<double>>& starts);
  void add_root(std::uint32_t alternative);
  void begin_trees(const std::vector<std::vector<double>>& starts);
  void begin_prices(const std::vector<std::vector<double>>& starts);
  void begin_anew();
  void look_at_one(Node node);
  void look_at_round();
  std::size_t take_round(std::size_t most);
  void look(Turn& turn, std::size_t thread);
  void take_over(Expansion& expansion);
  Workspace& workspace_of(std::size_t thread);
  void prune(const Node& node);
  bool poll(std::size_t begun);
  bool go_on(std::size_t begun = 0);
  Progress progress(std::size_t begun = 0) const;
  Result finish();
  double seconds() const;

  const Problem& problem_;
  Limits limits_;
  Poll poll_;
  Expander expander_;
  Workers workers_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // per thread; that of the caller's is the first
  SolutionPool pool_;
  NodeQueue queue_;
  std::vector<Turn> round_;             // as many as a round can have; used again for every round
  double lowest_of_round_ = kInf;       // of the nodes that are neither in the queue nor done
  std::unique_ptr<Follower> follower_;  // none unless a row is followed, or the tree recorded
  std::unique_ptr<Recorder> recorder_;
  Statistics statistics_;
  std::vector<Progress> trace_;
  bool has_price_work_;      // a threshold that gets prices if the search takes long
  bool has_tree_work_;       // a forest whose trees are decomposed if the search takes long
  bool uses_trees_ = false;  // and they are by now
  double started_, polled_;
  bool stopped_ = false;
  bool walked_ = false;                                            // from all known rows
  std::uint64_t next_exchange_ = tolerance::kNodesBeforeExchange;  // after so many nodes
  std::vector<double> exchanged_;                                  // per alternative: the objective of the answer after the last
  std::uint64_t next_seeking_ = tolerance::kNodesBeforeSeeking;    // after so many nodes, if there is no answer
  std::size_t sought_rows_ = 0;                                    // from which answers were sought
  bool has_all_roots_ = false;  // before, nothing is known of rows that no node in the queue has
};

}  // namespace likely::search
