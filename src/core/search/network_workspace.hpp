// Buffers in which a network's bounds are computed. Internal to the files of `Network`.
#pragma once

#include <vector>

#include "budget.hpp"
#include "network.hpp"

namespace likely::search {

struct Network::Workspace final : ScoreWorkspace {
  std::vector<std::vector<double>> low, high;  // what every hidden layer's units can be before their ReLU, layer by layer
  std::vector<std::vector<double>> size;       // and the sizes of the terms that it is the sum of, at most
  std::vector<double> width;                   // [feature][unit]: by how much a feature can move a unit of the first
  std::vector<std::vector<double>> gap;        // relaxation gap: by how much each unit may make a bound too high
  std::vector<std::size_t> unstable;           // units of a layer that may be on either side of 0
  std::vector<double> functions, constants;    // linear functions of the first layer, [unit][function]
  std::vector<double> maximum, most, slope, at_anchor;  // per function
  std::vector<double> least_of, most_of, exact;         // per unit of the first layer, of one feature
  std::vector<double> coefficient;                      // of a bound, carried backwards
  Vertices vertices;                                    // of the box, with what they cost
  Knapsack knapsack;
  std::vector<double> at_vertex;  // [function][vertex]
};

}  // namespace likely::search
