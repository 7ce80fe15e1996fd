// Both steps of expectation-maximisation of mixtures of Gaussians, many rows and components at once.
#pragma once

#include <cstddef>

namespace likely {

// Rows of numbers, one after the other.
struct NumberRows {
  const double* z;
  std::size_t count;
  std::size_t columns;
};

// Gaussians by what makes their columns independent: root * z - shift is standard normal, up to the constant of the logarithm.
// A root is lower triangular (columns x columns, zeros above the diagonal), the inverse of the Cholesky factor of a covariance;
// of a column that a component does not see, row and column are 0.
struct Gaussians {
  const double* root;
  const double* shift;
  const double* constant;
  std::size_t components;
};

// out[r * components + k] = constant[k] - |root[k] z[r] - shift[k]|^2 / 2
void gaussian_logs(const NumberRows& rows, const Gaussians& gaussians, double* out, std::size_t threads);

// out[k] (columns + 1, squared) = sum over rows of share[r * components + k] * (1, z[r])' (1, z[r]), symmetric. A share that is
// almost none of its row's counts as none (`tolerance::kSmallestShare`). Sums are made in the same order on any number of
// threads.
void gaussian_sums(const NumberRows& rows, const double* share, std::size_t components, double* out, std::size_t threads);

}  // namespace likely
