// The greatest value of a sum over features that rows of a box have within a budget of cost: a continuous knapsack, bounded by
// its Lagrangian dual (Dantzig 1957, "Discrete-variable extremum problems").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain.hpp"
#include "score.hpp"

namespace likely::search {

// Of every feature the atoms of a box, and the numbers at which the lower convex hull of its cost bends: a function that is
// linear in the numbers, less any multiple of the cost, is greatest at one of them.
struct Vertices {
  struct Vertex {
    double number;      // if it is no atom
    std::int32_t atom;  // -1: none
    double cost;        // beyond the feature's cheapest
  };

  std::vector<Vertex> list;
  std::vector<std::size_t> first;  // per feature, and in the end how many there are
  double cheapest = 0;             // what the cheapest row costs
  double spare = 0;                // what a row may cost beyond the cheapest
  bool binding = false;            // whether some row costs more than that

  void find(const Domain& domain, const Region& region);

 private:
  void add_numbers(const Feature& f, const Range& range);
  std::vector<Vertex> ends_;
};

// Finds the greatest value of functions within the budget; keeps its buffers.
class Knapsack {
 public:
  // An upper bound of sum_j value(v_j) over rows of the region; `value` is per vertex. Rounding of values and costs is in it,
  // but not what the values themselves are off.
  double greatest(const Vertices& vertices, const double* value);

 private:
  struct Item {
    double gain_per_cost, cost;
  };
  double multiplier(const Vertices& vertices, const double* value);
  std::vector<Item> items_;
};

}  // namespace likely::search
