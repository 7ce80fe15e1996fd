// What is asked of a search, and what it answers.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../tolerances.hpp"
#include "domain.hpp"
#include "likelihood.hpp"
#include "rules.hpp"
#include "score.hpp"

namespace likely::search {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// Minimise cost(x) - weight log p(x) over rows x of the domain that keep the rules, with log p(x) >= threshold, with values
// that fit together, and all goals of at least one alternative.
struct Problem {
  Domain domain;
  std::unique_ptr<Score> score;
  std::vector<Alternative> alternatives;
  std::unique_ptr<Likelihood> likelihood;  // none: every row is likely enough
  double likelihood_threshold = -kInf;     // -inf: none
  double likelihood_weight = 0;
  // With a weight and no blocks: the same with prices of their own for the components of a mixture, for a search that takes long.
  // None if a component is no product.
  std::unique_ptr<Likelihood> components;
  // How well values fit together: the coherence of a circuit with blocks, or the likelihood of one whose leaves are ratios.
  std::unique_ptr<Likelihood> coherence;  // none: they need not
  double coherence_threshold = -kInf;
  Rules rules;
  std::uint64_t nodes_before_trees = tolerance::kNodesBeforeTrees;    // after which the trees of a forest are decomposed
  std::uint64_t nodes_before_prices = tolerance::kNodesBeforePrices;  // after which histograms have a price of likelihood
  // after which units have prices together with the likelihood, of the nodes that have prices
  std::uint64_t nodes_before_unit_prices = tolerance::kNodesBeforeUnitPrices;
  std::uint64_t nodes_before_ranges = tolerance::kNodesBeforeRanges;  // after which ranges of hidden units are narrowed
  std::uint64_t nodes_before_rounds = tolerance::kNodesBeforeRounds;  // after which nodes are looked at in rounds

  const std::vector<Goal>& goals(std::uint32_t alternative) const { return alternatives[alternative].goals; }
};

struct Limits {
  double seconds = kInf;
  std::uint64_t nodes = std::numeric_limits<std::uint64_t>::max();
  double absolute_gap = 0, relative_gap = 0;
  std::size_t solutions = 1;    // how many of the cheapest that differ
  bool other_features = false;  // each with another set of changed features
  double pool_gap = kInf;       // and none costlier than the best by more than this share of it
  std::uint64_t open_nodes = std::numeric_limits<std::uint64_t>::max();  // in memory at a time, beyond which the search plunges
  std::size_t threads = 1;
};

struct Solution {
  std::vector<double> row;
  double objective, cost, log_likelihood;
  std::uint32_t alternative;
};

enum class Status { kOptimal, kFeasible, kInfeasible, kUnknown };

// How far a search is: no answer that is not known is below `lower`, the last one asked for is known at `upper`.
struct Progress {
  double seconds;
  std::uint64_t nodes;
  double upper, lower;
};

// Counted and timed on the way; one per thread, whose seconds add up.
struct Statistics {
  std::uint64_t nodes = 0;
  std::uint64_t tested = 0;     // rows, exactly
  std::uint64_t filtered = 0;   // atoms and cells that propagation removed
  std::uint64_t most_open = 0;  // nodes, at a time
  double seconds_score = 0, seconds_likelihood = 0;

  void add(const Statistics& other);
};

// The steps of the search that can remove rows from it.
enum class Step {
  kRules,
  kScore,
  kLikelihood,
  kCoherence,
  kCostBound,
  kReducedCostFixing,
  kJointBound,
  kJointCoherence,
  kUnits,
  kTrees,
  kExactTest,
  kPool,
  kBranching,
  kPruning,
};
const char* name_of(Step step);

// A followed row that a step removed although it is better than the cut-off then was.
struct Loss {
  Step step;
  std::uint64_t node;  // how many nodes were processed before
  double objective;    // of the row
  double cutoff;
};

struct Result {
  Status status = Status::kUnknown;
  std::vector<Solution> solutions;     // the best first
  double upper = kInf, lower = -kInf;  // the last wanted solution's objective, and what no other can be below
  Statistics statistics;
  double seconds = 0;
  std::vector<Progress> trace;
  std::optional<Loss> loss;  // of a row that was followed
  std::string certificate;   // if it was recorded
  bool truncated = false;    // and is longer than asked for
};

}  // namespace likely::search
