// Which feature a node is split on, and how.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// The feature that does most for what the node's cheapest row misses: the score's share of a feature is how much of the
// room it loses at its cheapest value, and the likelihood's and a linear rule's share likewise; in a weighted objective, the
// share is of the gap that is still to close. What is already satisfied does not count. `values` are the cheapest row's.
std::size_t choose_feature(const Problem& problem, const Node& node, const Evaluation& evaluation, const RowValues& values,
                           double cutoff);

// The parts of a box, split on feature j, the one with its cheapest value last: numbers into below the factual, above it
// and the cell of the factual, or in the middle; atoms into the cheapest and the rest, or all atoms against the numbers.
std::vector<Box> split(const Domain& domain, const Box& box, std::size_t j, double cheapest);

// A number of a feature at which to cut.
struct Cut {
  std::size_t feature;
  double at;
  double gap;  // in nats
};
// Where the bound of a likelihood with blocks is farthest above what its terms are, if that is far enough to matter.
std::optional<Cut> largest_gap(const Problem& problem, const Node& node, const Evaluation& evaluation);
std::vector<Box> split_at(const Domain& domain, const Box& box, const Cut& cut);

}  // namespace likely::search
