// The rules of a counterfactual as propagators: they remove only values that no row that keeps the rule can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "domain.hpp"

namespace likely::search {

// "Feature lies in a region". No cell straddles an end of the region.
class Literal {
 public:
  Literal(const Domain& domain, std::size_t feature, const std::vector<std::pair<double, double>>& region);

  enum class State { kNever, kSometimes, kAlways };
  State state(const Domain& domain, const Box& box) const;
  // Keep only values inside (or outside) the region; of numbers, up to the outermost cells that are.
  bool keep(const Domain& domain, Box& box, bool inside) const;
  bool holds(const double* row) const;
  std::size_t feature() const { return feature_; }

 private:
  std::size_t feature_;
  std::vector<std::pair<double, double>> region_;
  std::vector<std::int32_t> inside_before_;  // cells inside the region before each cell
  std::vector<std::uint64_t> atoms_;
};

struct Clause {  // at least one literal holds
  std::vector<Literal> literals;
};

struct AtMost {  // at most `count` literals hold
  std::vector<Literal> literals;
  std::size_t count;
};

// sum of coefficient * x <= upper, where all x are numbers. Boxes are bounded in offsets from the features' anchors:
// sum of coefficient * (x - anchor) <= rest.
struct LinearRule {
  LinearRule(const Domain& domain, std::vector<std::size_t> features, std::vector<double> coefficients, double upper);

  std::vector<std::size_t> features;
  std::vector<double> coefficients;  // of each of these
  std::vector<double> dense;         // of every feature of the domain: 0 where the rule does not ask about it
  double upper, rest;
  std::vector<double> anchors;  // of each of the features
  bool whole;                   // all terms are whole numbers, whatever the row

  bool applies(const Domain& domain, const Box& box) const;  // to all rows of a box
  // Exact if all terms of the row are whole numbers; otherwise it may be exceeded by what adding up the terms may lose.
  bool holds(const double* row) const;
  // The relaxed right-hand side in offsets: `rest`, and what rounding and the test's slack may add to the sum over a box.
  double relaxed_rest(const Box& box) const;
};

struct Rules {
  std::vector<Clause> clauses;
  std::vector<AtMost> at_most;
  std::vector<LinearRule> linear;

  // Removes values until nothing more follows; false if no row is left.
  bool propagate(const Domain& domain, Box& box) const;
  bool hold(const double* row) const;
  // A feature that decides a clause or an at-most rule that a row of the box breaks; none if it breaks none that is open.
  std::optional<std::size_t> undecided(const Domain& domain, const Box& box, const double* row) const;
};

}  // namespace likely::search
