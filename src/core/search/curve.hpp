// What a model reads of a feature's numbers: slope * (x - center) + intercept, and whatever preprocessing does to it after.
#pragma once

#include <cmath>
#include <vector>

#include "score_functions.hpp"

namespace likely::search {

// One step of a preprocessing. All but kSquare never fall, or, times a negative number, never rise.
struct CurveStep {
  enum class Kind {
    kAffine,
    kAtLeast,
    kAtMost,
    kLog1p,
    kLog,
    kSqrt,
    kExpm1,
    kExp,
    kSquare,
    kYeoJohnson,
    kAbove,
    kInterpolate,
    kNormalQuantile,
  };

  Kind kind;
  double slope = 1,
         intercept = 0;  // kAffine; kAtLeast, kAtMost, kAbove: the end is `intercept`; kYeoJohnson: its power is `slope`
  std::vector<double> knots, values;  // kInterpolate, constant beyond them
};

// Whether the graph of a function bends upwards or downwards, or is not known to do either.
enum class Shape { kStraight, kConvex, kConcave, kOther };

struct Curve {
  double slope = 0, center = 0, intercept = 0;
  std::vector<CurveStep> steps;  // none: the input is linear
  // Where it is linear between numbers, these, each within an interval that allows for rounding; see `find_kinks`.
  bool piecewise = false;
  std::vector<Interval> kinks;

  // To be called once the steps are there.
  void find_kinks();
  bool linear() const { return steps.empty(); }
  double at(double x) const;
  // Its values for numbers from low to high, however they are rounded.
  Interval over(double low, double high) const;
  // A line above `sign` times it, for numbers from low to high, which differ: slope, and value at `low`. Where it bends one way,
  // the line is off by the square of the distance, and less the more parts are looked at. Where it is linear between kinks, the
  // line may be tight at one end: there, changes of the feature cost least.
  enum class Tight { kAtBothEnds, kAtLow, kAtHigh };
  Line above(double sign, double low, double high, int parts, Tight tight = Tight::kAtBothEnds) const;
  Shape shape() const;
  // The sizes of the terms of slope * (x - center) + intercept.
  double size(double x) const { return std::abs(slope) * (std::abs(x) + std::abs(center)) + std::abs(intercept); }
};

}  // namespace likely::search
