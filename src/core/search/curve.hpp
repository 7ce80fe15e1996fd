// What a model reads of a feature's numbers: slope * (x - center) + intercept, and whatever preprocessing does to it after.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../tolerances.hpp"
#include "score_functions.hpp"

namespace likely::search {

// One step of a preprocessing. All but kSquare never fall, or, times a negative number, never rise.
struct CurveStep {
  enum class Kind { kAffine, kAtLeast, kAtMost, kLog1p, kLog, kSqrt, kExpm1, kExp, kSquare, kYeoJohnson, kAbove, kInterpolate };

  Kind kind;
  double slope = 1, intercept = 0;     // kAffine; kAtLeast, kAtMost, kAbove: the end is `intercept`; kYeoJohnson: its power is `slope`
  std::vector<double> knots, values;  // kInterpolate, constant beyond them
};

struct Curve {
  double slope = 0, center = 0, intercept = 0;
  std::vector<CurveStep> steps;  // none: the input is linear

  bool linear() const { return steps.empty(); }
  double at(double x) const;
  // Its values for numbers from low to high, however they are rounded.
  Interval over(double low, double high) const;
  // The sizes of the terms of slope * (x - center) + intercept.
  double size(double x) const { return std::abs(slope) * (std::abs(x) + std::abs(center)) + std::abs(intercept); }
};

}  // namespace likely::search
