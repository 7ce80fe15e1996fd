// What a goal asks of a classifier's outputs, and upper bounds of a score over a box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "domain.hpp"

namespace likely::search {

// A goal is score(x) = sum_o coefficient_o output_o(x) >= lower.
struct Goal {
  std::vector<double> coefficient;  // per output
  double lower;

  double score(const std::vector<double>& outputs) const;
  // By how much the score may be off if each output may be off by so much, times `factor`.
  double rounding(const std::vector<double>& of_outputs, double factor = 1) const;
};

// Whether a row reaches a goal: undecided if rounding alone tells, and rounding is no small part of what is asked for.
enum class Verdict { kMissed, kMet, kUndecided };

// log of the share of one output in the softmax of all lies between two numbers.
struct Share {
  std::size_t output;
  double scale, low, high;

  bool holds(const std::vector<double>& outputs, double rounding) const;
};

// All goals must be met. A share is looked at when a row is tested; the goals are what follows from it and is linear.
struct Alternative {
  std::vector<Goal> goals;
  std::optional<Share> share;

  // `rounding`: by how much each output may be off.
  Verdict judge(const std::vector<double>& outputs, const std::vector<double>& rounding) const;
  bool met(const std::vector<double>& outputs) const;
};

// An upper bound of a score over a box. It is either a sum over features,
//   score(x) <= constant + sum_j a_j(x_j),   a_j linear in numbers and a table of atoms,
// or, for trees, given per single value: score(x) <= atom[k], cell[c] for all rows of the box with that value.
struct Relaxation {
  bool additive = true;
  double upper = 0;     // the greatest over the box
  double rounding = 0;  // by how much the bound, or the score of a row, may be off for want of digits
  double constant = 0;
  std::vector<double> slope;  // per feature: a_j(v) = slope_j (v - anchor_j) + at_anchor_j
  std::vector<double> at_anchor;
  std::vector<double> atom;         // over all atoms: a_j, or the bound
  std::vector<double> cell;         // over all cells: the bound; trees only
  std::vector<double> greatest;     // per feature: the greatest a_j over the box
  std::vector<double> attribution;  // slack attribution: a feature's part in how far the bound may lie above the score

  double at_number(const Feature& f, std::size_t j, double v) const { return slope[j] * (v - f.anchor) + at_anchor[j]; }
  double at_atom(const Feature& f, std::size_t k) const { return atom[f.first_atom + k]; }
  double at_cell(const Feature& f, std::int32_t c) const { return cell[f.first_cell + static_cast<std::size_t>(c)]; }
};

// A hidden unit of a network that is decided to be on (its pre-activation is not below 0) or off (not above).
struct UnitSplit {
  std::uint32_t layer, unit;
  bool on;
};

// What hidden units can be before their ReLU, per layer and unit, in all rows of interest: of a node's box and splits, that reach
// all goals and cost no more than the cut-off did when this was found.
struct UnitRanges {
  std::vector<std::vector<double>> low, high;
};

// The rows of a node that are of interest: those of a box that cost no more than a budget, with some units decided.
struct Region {
  const Box& box;
  double budget = std::numeric_limits<double>::infinity();
  std::span<const UnitSplit> splits = {};
  const UnitRanges* known = nullptr;  // if more is known of units than follows from the others
};

// Tables of the goals of one alternative, and buffers in which relaxations are computed; one per thread. Each classifier has
// its own.
struct ScoreWorkspace {
  ScoreWorkspace() = default;
  ScoreWorkspace(const ScoreWorkspace&) = delete;
  ScoreWorkspace& operator=(const ScoreWorkspace&) = delete;
  virtual ~ScoreWorkspace() = default;
};

class Forest;
class Network;

// What the leaves of trees add to the scores of goals, or to upper bounds of them.
struct TreeGains {
  std::vector<double> leaf;      // per leaf and goal
  std::vector<double> base;      // per goal: what all rows have
  std::vector<double> rounding;  // per goal: by how much the sum, or the score of a row, may be off for want of digits
};

// A classifier, as far as the search must know it.
class Score {
 public:
  Score() = default;
  Score(const Score&) = delete;
  Score& operator=(const Score&) = delete;
  virtual ~Score() = default;

  virtual std::unique_ptr<ScoreWorkspace> workspace(const std::vector<Goal>& goals) const = 0;
  // Computes what the relaxations of all goals share; to be called before them. False if the region has no row.
  virtual bool enter(const Region& region, ScoreWorkspace& workspace) const = 0;
  // An upper bound of the score of goal g over the region that was entered. `workspace` is one of the same goals.
  virtual void relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
                     Relaxation& out) const = 0;
  // What the form scores, up to `rounding`; of trees, to the last bit.
  virtual void outputs(const double* row, std::vector<double>& out) const = 0;
  // By how much each output of the row may differ between two ways of computing it.
  virtual void rounding(const double* row, std::vector<double>& out) const = 0;
  // The same, at most, of all rows of the domain.
  virtual const std::vector<double>& greatest_rounding() const = 0;
  // Whether the outputs are the same all over a cell.
  virtual bool constant_on_cells() const = 0;
  // The network whose hidden units can be split on; none if there are none.
  virtual const Network* hidden_units() const { return nullptr; }
  // The trees that the scores are sums of, or over a region are bounded by; none if there are none.
  virtual const Forest* trees() const { return nullptr; }
  // Whether they only bound the scores: then, what their leaves add to bounds of all goals that hold for the rows of a region,
  // which was entered, that reach the goals.
  virtual bool trees_bound() const { return false; }
  virtual void bound_by_trees(const Region& /*region*/, const std::vector<Goal>& /*goals*/, ScoreWorkspace& /*workspace*/,
                              TreeGains& /*out*/) const {}
  // And, as a guess, what they add near a row, where the sum is the row's score.
  virtual void guess_by_trees(const double* /*row*/, const std::vector<Goal>& /*goals*/, TreeGains& /*out*/) const {}
};

}  // namespace likely::search
