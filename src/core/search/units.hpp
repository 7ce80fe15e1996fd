// The search over hidden units of a network: bounds and rows from the linear programme of its triangles, and splits of units.
#pragma once

#include <functional>
#include <vector>

#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"
#include "propagation.hpp"

namespace likely::search {

// Raises the node's bound to that of the linear programme, evaluated as a Lagrangian, and removes values by its reduced costs.
Outcome propagate_units(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                        Follower* follower);

// The node with its most promising unit on, and with it off; nothing if no unit is left to decide.
std::vector<Node> split_unit(const Node& node, double cutoff, Workspace& workspace);

// The same for a given unit.
std::vector<Node> split_unit_off(const Node& node, const Triangles::Candidate& unit);

// The same for the unit whose triangle is furthest off at a row; nothing if all are exact there.
std::vector<Node> split_unit_at(const Node& node, const std::vector<double>& row, const Workspace& workspace);

// The parts of the node's box below and above the solution's value of a feature that lies between two numbers of its grid;
// nothing if there is none.
std::vector<Box> split_fraction(const Problem& problem, const Node& node, const Workspace& workspace);

// The solution of the node's programme as a row.
void try_solution(const Problem& problem, const Node& node, SolutionPool& pool, Workspace& workspace);

// From known rows, by their costs those from place `first` on, so many: the best row with all units on the sides where they are,
// a step across towards the cheapest row, and again.
void walk_regions(const Problem& problem, const std::vector<std::vector<double>>& rows, std::size_t first, std::size_t count,
                  SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more);

}  // namespace likely::search
