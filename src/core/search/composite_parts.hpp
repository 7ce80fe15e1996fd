// What the bounds of a composite are computed in; of `composite.cpp` and `linear_trees.cpp` only.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "composite.hpp"

namespace likely::search {

inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

inline double size_of(const Interval& range) { return std::max(std::abs(range.low), std::abs(range.high)); }

// A linear function of units that is an upper bound: while it is carried backwards, of units less and less far from the inputs.
struct Composite::Carried {
  std::vector<double> coefficient;  // per unit
  double constant = 0;
  double slack = 0;  // what rounding may add
};

// One value of a box.
struct Composite::Value {
  std::size_t feature, place;  // of an atom or cell among those of all features
  bool atom;
  double low, high;  // of a cell, within the box
};

// The leaves of a linear tree that a box reaches, and what the units that the tree reads can be in rows that reach each.
struct Composite::Reached {
  std::vector<std::uint32_t> leaf;
  std::vector<Interval> range;  // leaf x unit
};

struct Composite::Workspace final : ScoreWorkspace {
  std::vector<std::vector<Goal>> requests;               // of each forest: bounds of what is wanted
  std::vector<std::unique_ptr<ScoreWorkspace>> forests;  // theirs
  std::vector<std::vector<Relaxation>> relaxations;      // of each forest and request
  std::vector<std::size_t> upper, lower;                 // per unit: the request that bounds an output of a forest
  std::vector<std::size_t> asked;                        // of each forest: so many requests are of every node; others of
  std::vector<std::size_t> late_upper, late_lower;       // these outputs, for bounds by sums of trees
  struct Ask {
    std::vector<std::pair<std::size_t, std::size_t>> trees;  // requests: forest and number
    std::vector<std::pair<std::uint32_t, double>> units;     // functions that trees have a part in, and their coefficients
    Carried inputs;                                          // the rest, before it is carried backwards
  };
  std::vector<Ask> asks;                       // per goal, if there are trees
  std::vector<std::uint8_t> needs;             // per unit: which of its bounds per value are needed
  std::vector<Interval> range;                 // per unit, over the box
  std::vector<Reached> reached;                // per unit: of linear trees, their leaves
  std::vector<Value> values;                   // of the box
  std::vector<std::vector<double>> low, high;  // per unit that trees have a part in, and value
  Carried carried;
  Relaxation relaxation;
  std::vector<double> gaps, buffer;
};

}  // namespace likely::search
