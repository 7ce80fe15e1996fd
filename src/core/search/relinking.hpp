// Path relinking: answers between a row that prices point to and the answers that are known.
#pragma once

#include <cstdint>
#include <vector>

#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// From the row that the prices of each part point to, one value at a time, the one that brings most of what is missing per cost,
// until the row is an answer; that is then improved value by value. Values are those of known answers, of what the parts
// point to, and of neighbouring cells. (F. Glover, M. Laguna, R. Marti, "Fundamentals of scatter search and path relinking",
// Control and Cybernetics 29, 2000.) For likelihoods that jump from cell to cell, where the way straight to an answer crosses
// many.
void relink(const Problem& problem, const Node& node, const PricedParts& priced, SolutionPool& pool, Workspace& workspace);

}  // namespace likely::search
