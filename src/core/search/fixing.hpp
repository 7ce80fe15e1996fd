// Values that no row better than the cut-off can have.
#pragma once

#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// Reduced-cost fixing (Dantzig, Fulkerson and Johnson 1954; Nemhauser and Wolsey 1988, II.5): a value goes if the dual
// bound, with the feature's least reduced cost replaced by the value's, exceeds the cut-off. True if any went.
bool reduced_cost_fixing(const Problem& problem, const Evaluation& evaluation, const Relaxation& relaxation, const Dual& dual,
                         double cutoff, Box& box);

}  // namespace likely::search
