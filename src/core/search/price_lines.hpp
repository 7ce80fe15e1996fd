// Lines above the log-likelihoods of the parts of a circuit, as functions of the cost; see `pricing.hpp`.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../tolerances.hpp"
#include "problem.hpp"

namespace likely::search {

// log t(x) <= height + rise * cost(x).
struct Line {
  double height, rise;
  double at(double cost) const { return height + rise * cost; }
};

inline double log_sum(const std::vector<Line>& lines, double cost) {
  double most = -kInf, sum = 0;
  for (const Line& line : lines) most = std::max(most, line.at(cost));
  if (most == -kInf) return most;
  for (const Line& line : lines) sum += std::exp(line.at(cost) - most);
  return most + std::log(sum);
}

// The least cost, from `low` on, at which the lines together come up to the threshold, from below; infinite if they never do.
inline double least_cost(const std::vector<Line>& lines, double threshold, double low) {
  if (log_sum(lines, low) >= threshold) return low;
  double high = low, step = 1 + std::abs(low);
  do {
    high += step;
    step *= 2;
    if (step > tolerance::kMostMultiplier) return kInf;
  } while (log_sum(lines, high) < threshold);
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    (log_sum(lines, middle) < threshold ? low : high) = middle;
  }
  return low;
}

}  // namespace likely::search
