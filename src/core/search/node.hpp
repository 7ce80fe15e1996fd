// A node of the tree, what one evaluation of it finds out, and the buffers in which it does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "likelihood.hpp"
#include "problem.hpp"
#include "score.hpp"
#include "tree_duals.hpp"
#include "tree_moves.hpp"
#include "triangles.hpp"

namespace likely::search {

// Dual variables of the Lagrangian of one goal: of the goal's inequality, and of at most one linear rule.
struct Multipliers {
  double goal = 0;
  double rule = 0;
  std::size_t rule_index = 0;  // which rule, if its multiplier is positive

  // What the linear rule adds per unit of feature j: its multiplier times its coefficient.
  double rule_slope(const Rules& rules, std::size_t j) const { return rule > 0 ? rule * rules.linear[rule_index].dense[j] : 0; }
};

// Prices, in nats: of a unit of cost, of each goal and of each linear rule; and the points of the tangents that went with them.
// What follows from a network's units is one more goal, the last.
struct Prices {
  double cost = 0;
  std::vector<double> goals, rules, points;

  bool operator==(const Prices& other) const = default;
};

// A bound of the cost of all rows of a box, and the multipliers that give it. What the rounding of its terms may have added
// is already taken off.
struct Dual {
  double bound = 0;
  Multipliers multipliers;
  double rounding = 0;  // that much
};

// Per part of a circuit, the prices of a network's units; none of parts that have no programme of their own.
using UnitPricesOfParts = std::vector<UnitMultipliers>;

// What waits in the queue: small, since many do. Whatever else is known of a node is computed anew when it is its turn.
struct Node {
  Box box;
  double bound = -kInf;  // no row of the box has a lower objective
  std::uint32_t alternative = 0;
  std::uint64_t order = 0;                               // in which nodes were made
  std::vector<Multipliers> multipliers;                  // per goal: of the last evaluation, the parent's at first
  std::vector<Prices> prices;                            // per part of the circuit, alike; none before they were sought
  std::shared_ptr<const UnitPricesOfParts> unit_prices;  // of units together with the likelihood, alike: perhaps from far above
  std::vector<UnitSplit> splits;                         // of hidden units, on the way from the root
  std::shared_ptr<const UnitRanges> ranges;              // what units can be: found at the node or above it; none at first
  Basis basis;                                           // of the programme of its units: the parent's at first
  std::vector<Prices> coherence_prices;                  // as prices, where values must fit together
  std::shared_ptr<const TreeNodePrices> tree_prices;     // of the decomposition of its trees: the parent's at first
  // On so many nodes on the way down trees are not decomposed, and units have no new prices; of these, those left.
  std::uint8_t tree_pause = 0, tree_wait = 0, unit_pause = 0, unit_wait = 0;
};

// Whether boxes would have to be cut in many directions: what takes time at every node, to decide units and to seek prices, pays
// then.
bool has_many_numbers(const Domain& domain);

// About how much memory a node takes; what it shares with its siblings is counted with each.
std::size_t bytes_of(const Node& node);

// All rows, for an alternative.
inline Node root_node(const Problem& problem, std::uint32_t alternative, double bound = -kInf) {
  Node node;
  node.box = whole(problem.domain);
  node.bound = bound;
  node.alternative = alternative;
  return node;
}

// The rows of a node that cost at most so much.
inline Region region_of(const Node& node, double most) { return {node.box, most, node.splits, node.ranges.get()}; }

// What prices say of every part of a circuit.
struct PricedParts {
  const Likelihood* likelihood = nullptr;  // that they are parts of
  bool sought = false;                     // whether prices were sought, or are those of the goals alone
  std::vector<Likelihood::Priced> parts;
  Likelihood::Hulls hulls;     // of the box
  std::vector<double> shares;  // of each part in what is asked for, at the node's bound
  // Per part: the row that its prices point to, numbers off their grids; and by how much, in nats, each feature's term is below
  // that bound at its value there. Empty where no prices were sought.
  std::vector<std::vector<double>> pointed, gaps;
  // For a certificate: the prices that gave the node's bound, if they are not the last ones.
  bool keeps_best = false;
  std::vector<Prices> best;

  // The part with the largest share; as many as there are if there is none.
  std::size_t largest() const {
    return static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  }
  void make_room(const Likelihood& likelihood);  // when it is first needed: many searches end without prices
};

// What propagation finds out about a node: of its box as it is at the end (`cheapest` and what follows), or as it was when
// the step was last done (the others; a bound over a larger box still holds).
struct Evaluation {
  Evaluation(const Problem& problem, std::uint32_t alternative);

  std::vector<Relaxation> relaxations;   // per goal
  std::vector<Dual> duals;               // per goal
  Likelihood::Sweep sweep;               // if there is a likelihood
  Likelihood::Sweep coherence_sweep;     // if values must fit together
  std::vector<double> cheapest;          // the cheapest row
  PricedParts priced, coherence_priced;  // if there is a likelihood, if values must fit together
};

// What likelihood adds to the cost of every row of a node, at least; after the likelihood was bounded.
inline double likely_part(const Problem& problem, const Evaluation& evaluation) {
  return problem.likelihood_weight > 0 ? -problem.likelihood_weight * evaluation.sweep.log_upper : 0;
}

// What a row of the node that is better than the cut-off costs at most.
inline double most_cost_of(const Problem& problem, const Evaluation& evaluation, double cutoff) {
  const double likely = likely_part(problem, evaluation);
  if (likely == 0 || cutoff == kInf) return cutoff;
  return cutoff - likely + tolerance::bound_rounding(cutoff) + tolerance::bound_rounding(likely);
}

// The classifier's outputs, the log-likelihood and the coherence of a row.
struct RowValues {
  std::vector<double> outputs;
  std::vector<double> rounding;  // of the outputs, where it had to be looked at
  double log_likelihood = 0, coherence = 0;
};

// What prices of a network's units together with the likelihood say of the node that is looked at.
struct UnitPricing {
  bool found = false;                            // whether such prices were sought
  UnitRows rows;                                 // the programme's, which have prices
  std::vector<Relaxation> aggregates;            // per part of the circuit: the inequalities that these give
  std::vector<Triangles::Candidate> candidates;  // the units that are most worth deciding, in nats
  double slack = 0;                              // by how many nats the likelihood is above what is asked for
};

// The linear programme of a network's units and what it says of the node that it was last solved for.
struct UnitWork {
  explicit UnitWork(const Network& of) : network(of), triangles(of), walk(of), walk_score(of.workspace({})) {}

  const Network& network;
  Triangles triangles;
  Relaxation aggregate;  // the inequality that its multipliers give, and the bound that this gives
  UnitPricing priced;
  Dual dual;
  double most_cost = kInf, likely_part = 0;  // of a row of the node that is better than the cut-off; what its likelihood adds
  bool solved = false;                       // whether that is of the node that is looked at
  Triangles walk;                            // that of regions which are walked through, and what their units can be
  std::unique_ptr<ScoreWorkspace> walk_score;
};

// The decomposition of the trees of every alternative, and local search.
struct TreeWork {
  explicit TreeWork(const Problem& problem);

  TreeLinks links;
  std::vector<TreeDuals> duals;  // per alternative
  std::vector<TreeMoves> moves;
  bool solved = false;               // whether the duals are of the node that is looked at
  double gap = 0;                    // what their bound of the node lacks, in cost or, with a likelihood, in nats
  Likelihood::ComponentTerms terms;  // of the component that they are of; none if they are of the cost alone
};

// Buffers and counters of one thread: passed to every step, and nothing in them is read that the step did not write.
struct Workspace {
  explicit Workspace(const Problem& problem);

  std::vector<Evaluation> evaluations;                  // per alternative, used again for every node
  std::vector<std::unique_ptr<ScoreWorkspace>> scores;  // per alternative
  std::unique_ptr<UnitWork> units;                      // if a network's units are worth the work
  std::unique_ptr<TreeWork> trees;                      // if a forest turned out to be worth the work
  bool records = false;                                 // whether somebody derives again what is claimed
  Likelihood::RowBuffers row_buffers;
  RowValues row_values;  // of a row that is tested
  Statistics statistics;
};

}  // namespace likely::search
