// The rules of a counterfactual as propagators: they remove only values that no row that keeps the rule can have.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct LinearRow {  // sum of coefficient * x <= upper, where all x are numbers
  std::vector<std::size_t> features;
  std::vector<double> coefficients;
  double upper;

  bool applies(const Domain& domain, const Box& box) const;  // to all rows of a box
  double eased(const Box& box) const;  // `upper`, and what rounding may add to the sum
};

struct Rules {
  std::vector<Clause> clauses;
  std::vector<AtMost> at_most;
  std::vector<LinearRow> linear;

  // Removes values until nothing more follows; false if no row is left.
  bool propagate(const Domain& domain, Box& box) const;
  bool hold(const double* row) const;
};

}  // namespace likely::search
