// What hidden units can be before their ReLU in the rows of a node that are of interest: optimisation-based bound tightening
// (Caprara and Locatelli 2010, "Global optimization problems and domain reduction strategies") by the programme of triangles,
// with goals, decided units and the budget as rows.
#pragma once

#include <memory>

#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// The ranges of the units of a node whose programme was solved, none wider than those that it had; none if no row of it is of
// interest. The programme in the workspace is another one then.
std::shared_ptr<const UnitRanges> tighten_ranges(const Problem& problem, const Node& node, double cutoff, Workspace& workspace);

}  // namespace likely::search
