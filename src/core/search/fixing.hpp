// Values that no row better than the cut-off can have.
#pragma once

#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// Reduced-cost fixing (Dantzig, Fulkerson and Johnson 1954; Nemhauser and Wolsey 1988, II.5): a value goes if the dual
// bound, with the feature's least reduced cost replaced by the value's, exceeds the cut-off. True if any went.
bool reduced_cost_fixing(const Problem& problem, const Evaluation& evaluation, std::size_t goal, double cutoff, Box& box);

// Cost, score and likelihood in one bound: each component of the circuit has values of its own that it finds likely, and
// they are not the cheap ones. Raises the node's bound; values whose own joint bound exceeds the cut-off go. True if any
// went.
bool joint_bound(const Problem& problem, const Evaluation& evaluation, std::size_t goal, double cutoff, Node& node,
                 Likelihood::Joint& joint);

}  // namespace likely::search
