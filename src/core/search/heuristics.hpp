// Primal heuristics: rows that may be answers, each tested exactly and kept in the pool if it is one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// Rows that the caller brings, each with its changes removed as far as it stays an answer; while there is `more` time.
void known_rows(const Problem& problem, const std::vector<std::vector<double>>& rows, std::uint32_t alternative,
                SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more);

// Those of some rows that are in the domain, the cheapest first; at most so many.
std::vector<std::vector<double>> cheapest_first(const Domain& domain, const std::vector<std::vector<double>>& rows,
                                                std::size_t most);

// The features of a row, the costliest first.
std::vector<std::size_t> by_cost(const std::vector<Feature>& features, const std::vector<double>& row);

// Single-change scan: every change of one feature of the cheapest row.
void single_change_scan(const Problem& problem, SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more);

// Change removal (1-opt): takes changes back, the costliest first, as long as the row remains an answer.
void remove_changes(const Problem& problem, std::vector<double> row, std::uint32_t alternative, SolutionPool& pool,
                    Workspace& workspace);

// Of the numbers between one with which a row is an answer and one with which it is none, the one next to the latter with which
// it is, by bisection.
double nearest_answer(const Feature& f, double enough, double missed, const std::function<bool(double)>& is_one);

// Pull back: every number goes back towards the factual as far as the row remains an answer (bisection), the costliest change
// first.
void pull_back(const Problem& problem, std::vector<double> row, std::uint32_t alternative, SolutionPool& pool,
               Workspace& workspace);

// The cheapest row of a node's box and, if it is no answer, greedy repair and two-variable moves for each goal.
void try_node(const Problem& problem, const Node& node, const Evaluation& evaluation, SolutionPool& pool, Workspace& workspace);

// Greedy repair: from the cheapest row, the changes that gain most per cost, until the relaxation is content; and then
// some, since the score itself is less. Each row on the way is tested.
void greedy_repair(const Problem& problem, const Node& node, const Relaxation& relaxation, double lower, SolutionPool& pool,
                   Workspace& workspace);

// Two-variable moves: a linear programme of two rows has an optimal vertex with two numbers that are at no end. From the
// row of the dual, every two reals moved so that the goal is just reached and the linear rule just kept.
void two_variable_moves(const Problem& problem, const Node& node, const Relaxation& relaxation, double lower, const Dual& dual,
                        SolutionPool& pool, Workspace& workspace);

// End-point enumeration: of a narrow box, every choice of the ends of its intervals of reals.
void end_points(const Problem& problem, const Node& node, const Evaluation& evaluation, SolutionPool& pool, Workspace& workspace);

// From the row that a node's prices point to: a box of a few parts of the warps around it has a better one, and so on, down to
// single parts, on which bounds are exact.
void dive(const Problem& problem, Node node, const Evaluation& evaluation, SolutionPool& pool, Workspace& workspace);

// An answer that costs little, from a row that may be none and one that is: the first answer on the way from the former to the
// latter, pulled back.
void walk_towards(const Problem& problem, const std::vector<double>& row, const std::vector<double>& answer,
                  std::uint32_t alternative, SolutionPool& pool, Workspace& workspace);
// A row that prices point to, with every number on its grid.
std::vector<double> on_grid(const Domain& domain, std::vector<double> row);
// What the prices of likelihood, or of coherence, point to, made an answer.
void try_priced_rows(const Problem& problem, const Node& node, const PricedParts& priced, SolutionPool& pool,
                     Workspace& workspace);
// Local search around an answer where likelihood has a price: with a network's units on the sides where they are, and the
// features of blocks on a few parts of their warps, bounds are nearly exact; what prices point to is made an answer, straight or
// by relinking; from the better one again, and with fewer parts if there is none; while there is `more` time.
void search_nearby(const Problem& problem, std::uint32_t alternative, SolutionPool& pool, Workspace& workspace,
                   const std::function<bool()>& more);

}  // namespace likely::search
