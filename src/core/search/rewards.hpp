// What the values of features are worth in a Lagrangian: multiplied gains less multiplied costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "domain.hpp"

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

// Linear in the numbers of a feature on every segment of its costs, and a table of its atoms.
struct Rewards {
  double cost = 0;                       // what a unit of cost takes
  std::vector<double> slope, at_anchor;  // per feature: of numbers, without their cost
  std::vector<double> atom;              // over all atoms, with their cost

  double number(const Feature& f, std::size_t j, const Segment& segment, double v) const {
    return slope[j] * (v - f.anchor) + at_anchor[j] - cost * segment.cost(v);
  }
  // The sizes of the terms of that.
  double size(const Feature& f, std::size_t j, const Segment& segment, double v) const {
    return std::abs(slope[j] * (v - f.anchor)) + std::abs(at_anchor[j]) + cost * segment.cost(v);
  }
};

}  // namespace likely::search
