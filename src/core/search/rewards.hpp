// What the values of features are worth in a Lagrangian: multiplied gains less multiplied costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "domain.hpp"
#include "marginals.hpp"

namespace likely::search {

// Calls work(segment, low, high) with the part of every segment of the costs that lies in a range.
template <class Work>
void each_segment(const Feature& f, const Range& range, const Work& work) {
  if (range.empty()) return;
  const auto first = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(range.first)]);
  const auto last = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(range.last)]);
  for (std::size_t s = first; s <= last; ++s) {
    const double low = std::max(f.segments[s].low, range.low), high = std::min(f.segments[s].high, range.high);
    if (low <= high) work(f.segments[s], low, high);
  }
}

// Linear in the numbers of a feature on every segment of its costs, and a table of its atoms; to Gaussian blocks, less the
// logarithms of marginals besides, where these are given.
struct Rewards {
  double cost = 0;                       // what a unit of cost takes
  std::vector<double> slope, at_anchor;  // per feature: of numbers, without their cost
  std::vector<double> atom;              // over all atoms, with their cost
  const Marginals* marginals = nullptr;

  double number(const Feature& f, std::size_t j, const Segment& segment, double v) const {
    return slope[j] * (v - f.anchor) + at_anchor[j] - cost * segment.cost(v);
  }
  // The sizes of the terms of that.
  double size(const Feature& f, std::size_t j, const Segment& segment, double v) const {
    return std::abs(slope[j] * (v - f.anchor)) + std::abs(at_anchor[j]) + cost * segment.cost(v);
  }
  // Calls work(from, to, at_from, at_to) for intervals of low..high: what is taken off there is at least the line between these.
  template <class Work>
  void each_line_less(std::size_t j, double low, double high, const Work& work) const {
    if (marginals == nullptr)
      work(low, high, 0.0, 0.0);
    else
      marginals->each_line(j, low, high, work);
  }
};

}  // namespace likely::search
