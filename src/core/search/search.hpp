// Branch and bound over boxes: the cheapest rows that reach a goal, are likely enough and keep the rules - with a proof.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "follow.hpp"
#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"
#include "queue.hpp"

namespace likely::search {

// Called now and then; false ends the search.
using Poll = std::function<bool(const Progress&)>;

class Search {
 public:
  Search(const Problem& problem, const Limits& limits, Poll poll);

  // A row to be followed; what loses it is in the result.
  void follow(std::vector<double> row);
  Result run(const std::vector<std::vector<double>>& starts);

 private:
  void find_first_answers(const std::vector<std::vector<double>>& starts);
  void search_from_known(const std::vector<std::vector<double>>& starts);
  void add_root(std::uint32_t alternative);
  void begin_trees();
  void process(Node node);
  bool propagate_node(Node& node, Evaluation& evaluation);
  bool is_done(const Node& node, const Evaluation& evaluation);
  std::vector<Box> parts_of(const Node& node, const Evaluation& evaluation);
  void branch(const Node& node, const Evaluation& evaluation);
  void prune(const Node& node);
  bool poll();
  bool go_on();
  Progress progress() const;
  Result finish();
  double seconds() const;

  const Problem& problem_;
  Limits limits_;
  Poll poll_;
  Workspace workspace_;
  SolutionPool pool_;
  NodeQueue queue_;
  std::unique_ptr<Follower> follower_;  // none unless a row is followed
  std::vector<Progress> trace_;
  bool has_tree_work_;      // a forest whose trees are decomposed if the search takes long
  bool constant_on_cells_;  // all but the cost, which is linear there: the cheapest row of a cell stands for all
  double started_ = 0, polled_ = 0;
  bool stopped_ = false;
  bool has_all_roots_ = false;  // before, nothing is known of rows that no node in the queue has
};

}  // namespace likely::search
