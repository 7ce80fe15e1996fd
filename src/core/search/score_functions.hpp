// Functions of scores, of one number or of a group: values, bounds over intervals, and lines above and below. The twin of
// likely/predictor/functions.py.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace likely::search {

struct Interval {
  double low, high;
};

// slope * x + intercept
struct Line {
  double slope, intercept;
};

// A function of scale * x + shift; none of them falls in it.
struct ScoreFunction {
  enum class Kind {
    kIdentity,
    kRelu,
    kLogistic,
    kTanh,
    kClip,
    kAbove,
    kAtLeast,
    kConfidence,
    kInterpolate,
    kSoftplus,
    kElu,
    kRisingSilu,
    kRisingGelu,
    kSoftmax,
    kShares,
    kLargest,
  };

  Kind kind = Kind::kIdentity;
  double scale = 1, shift = 0;
  std::vector<double> knots, values;  // of kInterpolate

  // Whether it is one of all numbers of a group: it rises (if scale does) in its own number, and falls in the others.
  bool of_group() const { return kind >= Kind::kSoftmax; }
  bool jumps() const { return kind == Kind::kAbove || kind == Kind::kAtLeast || kind == Kind::kLargest; }

  double at(double x) const;
  // Its values where x lies in an interval, however they are rounded.
  Interval over(Interval x) const;
  // Lines that all these values lie below, or above.
  Line above(Interval x) const;
  Line below(Interval x) const;
  // Of number k of a group.
  double at(std::span<const double> x, std::size_t k) const;
  Interval over(std::span<const Interval> x, std::size_t k) const;
  // How much faster than x it can grow: 0 if it jumps, which no factor says.
  double steepness() const;

 private:
  double base(double z) const;   // of z = scale * x + shift
  double slope(double z) const;  // of those that are smooth
  Line base_above(double low, double high) const;
  Line base_below(double low, double high) const;
  Line s_shaped_above(double low, double high) const;
  Line curved_above(double low, double high, double sign) const;
  double curvature(double least) const;
  Line knots_above(double low, double high, bool mirrored) const;
  Interval argument(Interval x) const;
  Line of_argument(Line line, Interval z, double sign) const;
};

}  // namespace likely::search
