// Propagation: what can be said of a node's rows without looking at them one by one.
#pragma once

#include "follow.hpp"
#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

enum class Outcome {
  kOpen,    // rows may be left that are better than the cut-off
  kEmpty,   // no row is left
  kCutOff,  // the node's bound is at the cut-off, or above
};

// Removes values from the node's box that no answer better than the cut-off has, and raises its bound, until nothing more
// follows: rules, score, likelihood and cost, in rounds. `evaluation` gets what was learned on the way.
Outcome propagate(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                  Follower* follower = nullptr);

}  // namespace likely::search
