// What the look at one node does: propagation, rows that may be answers, branching.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "branching.hpp"
#include "follow.hpp"
#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// What is left of a node when it was looked at: nodes in its place, or none.
struct Expansion {
  struct Child {
    Node node;
    bool narrow;
  };
  std::vector<Child> children;
  double pruned = kInf;  // the bound of what is not looked at further because it reached the cut-off
};

// Looks at nodes. All that it needs besides is given with each node, so that threads can share one.
class Expander {
 public:
  explicit Expander(const Problem& problem);

  // `pool`: the answers that are known, and gets those that are found. `follower`: none if no row is followed.
  Expansion expand(Node node, SolutionPool& pool, Workspace& workspace, Follower* follower) const;
  // The same of a root, which is not split yet.
  Expansion expand_root(Node root, SolutionPool& pool, Workspace& workspace, Follower* follower) const;
  // A node that is not looked at, since its bound reached the cut-off.
  static void prune(const Node& node, const SolutionPool& pool, Follower* follower);

 private:
  struct Look;  // at one node

  bool propagate_node(Look& look, Expansion& out) const;
  bool is_done(Look& look) const;
  std::vector<Node> sides_of(Look& look, const std::optional<Cut>& cut) const;
  std::vector<Box> parts_of(Look& look, const std::optional<Cut>& cut) const;
  void branch(Look& look, Expansion& out) const;

  const Problem& problem_;
  bool constant_on_cells_;  // all but the cost, which is linear there: the cheapest row of a cell stands for all
};

}  // namespace likely::search
