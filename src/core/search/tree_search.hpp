// The search over forests: bounds, splits and rows from the Lagrangian decomposition of their trees.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"
#include "propagation.hpp"

namespace likely::search {

// Whether a problem has a forest for which the decomposition can be worth its work.
bool worth_tree_work(const Problem& problem);
// Nodes after which a search that is not over begins anew with it.
std::uint64_t nodes_before_trees(const Problem& problem);

// Whether the decomposition is worth its work at a node. Not if the row that the prices of likelihood point to reaches the goals:
// what is to be decided is no matter of trees then; and not for a while where it was of no use.
bool trees_pay(const Problem& problem, const PricedParts& priced, Node& node);

// Raises the node's bound to that of the decomposition, and removes values by its reduced costs.
Outcome propagate_trees(const Problem& problem, Node& node, double cutoff, Evaluation& evaluation, Workspace& workspace,
                        Follower* follower);

// The parts of the node's box between which the decomposition is least decided; nothing if its row breaks a rule, which comes
// first.
std::vector<Box> split_trees(const Problem& problem, const Node& node, const Workspace& workspace);

// The row that the decomposition points to, made an answer.
void try_tree_row(const Problem& problem, const Node& node, SolutionPool& pool, Workspace& workspace);

// From the answers known so far and from the cheapest row, better ones; with a likelihood, from rows that the caller brings, too.
void improve_answers(const Problem& problem, const std::vector<std::vector<double>>& starts, SolutionPool& pool,
                     Workspace& workspace, const std::function<bool()>& more);

}  // namespace likely::search
