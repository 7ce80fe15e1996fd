// The expectation step of mixtures of independent variables, many components at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace likely {

// Rows by their bins: bins[r * variables + j] is the bin of variable j in row r, counted over all variables together
// (`offset` is added per variable).
struct BinnedRows {
  const std::uint16_t* bins;
  const double* weight;
  std::size_t count;
  std::vector<std::size_t> offset;  // per variable
};

// ratio[b * components + c]: the probability of bin b under component c over its probability in the whole table (1 for
// the bin of an unknown value). The components form `blocks` mixtures of equal size, averaged; each block's weights sum
// to 1. Responsibilities are normalised within a block, so that every block is a mixture of its own.
//
// log_ratio[r] = log of the averaged mixture's density over that of the independent marginals;
// counts[b * components + c] and total[c]: expected rows per bin and component, and per component.
// Sums are made in the same order on any number of threads.
void expect_mixture(const BinnedRows& rows, const float* ratio, const float* weight, std::size_t bins, std::size_t components,
                    std::size_t blocks, double* log_ratio, double* counts, double* total, std::size_t threads);

}  // namespace likely
