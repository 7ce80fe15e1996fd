#include "curve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

double yeo_johnson(double x, double lambda) {
  if (x >= 0) return lambda == 0 ? std::log1p(x) : std::expm1(lambda * std::log1p(x)) / lambda;
  return lambda == 2 ? -std::log1p(-x) : -std::expm1((2 - lambda) * std::log1p(-x)) / (2 - lambda);
}

// The number that a standard normal variable is below with this probability. The logarithm of the distribution function rises and
// bends downwards, so that Newton's steps from the left stay there and end at the number: up to a half, the distribution function
// of -x is no more than exp(-x * x / 2) / 2, and what is that small a probability's number is further left.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);  // exact
  double x = -std::sqrt(-2 * std::log(2 * p));
  for (int i = 0; i < tolerance::kQuantileSteps; ++i) {
    const double below = 0.5 * std::erfc(-x * 0.70710678118654752440);
    const double density = 0.39894228040143267794 * std::exp(-0.5 * x * x);
    const double step = std::log(p / below) * below / density;
    x += step;
    if (std::abs(step) <= tolerance::kRoundoff * std::abs(x)) break;
  }
  return x;
}

double interpolated(double z, const CurveStep& step) {
  if (z <= step.knots.front()) return step.values.front();
  if (z >= step.knots.back()) return step.values.back();
  const auto next = static_cast<std::size_t>(std::upper_bound(step.knots.begin(), step.knots.end(), z) - step.knots.begin());
  const double share = (z - step.knots[next - 1]) / (step.knots[next] - step.knots[next - 1]);
  return step.values[next - 1] + share * (step.values[next] - step.values[next - 1]);
}

double taken(const CurveStep& step, double z) {
  using Kind = CurveStep::Kind;
  switch (step.kind) {
    case Kind::kAffine: return step.slope * z + step.intercept;
    case Kind::kAtLeast: return std::max(z, step.intercept);
    case Kind::kAtMost: return std::min(z, step.intercept);
    case Kind::kLog1p: return std::log1p(std::max(z, -1 + 0x1p-53));
    case Kind::kLog: return std::log(std::max(z, 5e-324));  // an interval may end just outside
    case Kind::kSqrt: return std::sqrt(std::max(z, 0.0));
    case Kind::kExpm1: return std::expm1(z);
    case Kind::kExp: return std::exp(z);
    case Kind::kSquare: return z * z;
    case Kind::kYeoJohnson: return yeo_johnson(z, step.slope);
    case Kind::kAbove: return z > step.intercept ? 1 : 0;
    case Kind::kNormalQuantile: return normal_quantile(std::clamp(z, 1e-300, 1 - tolerance::kRoundoff));
    default: return interpolated(z, step);
  }
}

// By how much the size of what a step is computed from exceeds its result.
double size_of(const CurveStep& step, double z, double result) {
  if (step.kind == CurveStep::Kind::kAffine) return std::abs(step.slope * z) + std::abs(step.intercept);
  if (step.kind == CurveStep::Kind::kInterpolate) return std::abs(step.values.front()) + std::abs(step.values.back());
  if (step.kind == CurveStep::Kind::kYeoJohnson || step.kind == CurveStep::Kind::kNormalQuantile) return 1 + std::abs(result);
  return std::abs(result);
}

Shape turned(Shape shape) {
  return shape == Shape::kConvex ? Shape::kConcave : shape == Shape::kConcave ? Shape::kConvex : shape;
}

// Of a step by itself.
Shape shape_of(const CurveStep& step) {
  using Kind = CurveStep::Kind;
  switch (step.kind) {
    case Kind::kAffine: return Shape::kStraight;
    case Kind::kAtMost:
    case Kind::kLog1p:
    case Kind::kLog:
    case Kind::kSqrt: return Shape::kConcave;
    case Kind::kAtLeast:
    case Kind::kExpm1:
    case Kind::kExp:
    case Kind::kSquare: return Shape::kConvex;
    case Kind::kYeoJohnson: return step.slope >= 1 ? Shape::kConvex : Shape::kConcave;
    default: return Shape::kOther;
  }
}

// Of a step after what has a shape: a function that rises and bends as what it is applied to does keeps that.
Shape after(Shape before, const CurveStep& step) {
  if (step.kind == CurveStep::Kind::kAffine) return step.slope < 0 ? turned(before) : before;
  const Shape own = shape_of(step);
  if (before == Shape::kStraight) return own;
  return own == before && step.kind != CurveStep::Kind::kSquare ? own : Shape::kOther;
}

// The greatest that a concave function can be that is known at equally distant numbers: between two of them it lies below the
// lines through their neighbours.
double greatest_of_concave(const std::vector<double>& known) {
  double most = std::max(known.front(), known.back());
  for (std::size_t i = 0; i + 1 < known.size(); ++i) {
    const double left = i > 0 ? known[i] + std::max(0.0, known[i] - known[i - 1]) : known[i + 1];
    const double right = i + 2 < known.size() ? known[i + 1] + std::max(0.0, known[i + 1] - known[i + 2]) : left;
    double bound = std::min(left, right);
    if (i == 0) bound = right;
    if (i + 2 == known.size()) bound = left;
    most = std::max(most, bound);
  }
  return most;
}

}  // namespace

Shape Curve::shape() const {
  Shape shape = Shape::kStraight;
  for (const CurveStep& step : steps) shape = after(shape, step);
  return shape;
}

Line Curve::above(double sign, double low, double high, int parts, Tight tight) const {
  const Interval at_low = over(low, low), at_high = over(high, high);
  const double a = sign * (sign > 0 ? at_low.high : at_low.low), b = sign * (sign > 0 ? at_high.high : at_high.low);
  const double width = high - low;
  double slope = (b - a) / (high - low);
  const Interval all = over(low, high);
  const double level = sign > 0 ? all.high : -all.low;
  if (!std::isfinite(slope)) return {0, level};
  const double lost = std::max({at_low.high - at_low.low, at_high.high - at_high.low,
                                tolerance::kRoundoffsOfFunction * tolerance::kRoundoff * (std::abs(a) + std::abs(b))});
  const Shape bends = sign > 0 ? shape() : turned(shape());
  double raised = 0, start = a;
  if (bends == Shape::kConcave) {
    std::vector<double> known;
    for (int i = 0; i <= parts; ++i) {
      const double x = i == parts ? high : low + width * i / parts;
      known.push_back(sign * at(x) - a - slope * (x - low));
    }
    raised = greatest_of_concave(known);
  } else if (bends == Shape::kOther && piecewise) {
    const auto first =
        std::lower_bound(kinks.begin(), kinks.end(), low, [](const Interval& at, double v) { return at.high < v; });
    const double near = tolerance::kNearKink * width;
    for (auto kink = first; tight != Tight::kAtBothEnds && kink != kinks.end() && kink->low <= high; ++kink) {
      const Interval part = over(std::max(kink->low, low), std::min(kink->high, high));
      const double value = sign > 0 ? part.high : -part.low;
      if (tight == Tight::kAtLow && kink->low > low + near) slope = std::max(slope, (value - a) / (kink->low - low));
      if (tight == Tight::kAtHigh && kink->high < high - near) slope = std::min(slope, (b - value) / (high - kink->high));
    }
    if (tight == Tight::kAtHigh) start = b - slope * width;
    for (auto kink = first; kink != kinks.end() && kink->low <= high; ++kink) {
      const double from = std::max(kink->low, low), to = std::min(kink->high, high);
      const Interval part = over(from, to);
      raised = std::max(raised, (sign > 0 ? part.high : -part.low) - start - std::min(slope * (from - low), slope * (to - low)));
    }
    raised = std::max({raised, a - start, b - start - slope * width});
  } else if (bends == Shape::kOther) {
    for (int i = 0; i < parts; ++i) {
      const double from = low + width * i / parts, to = i + 1 == parts ? high : low + width * (i + 1) / parts;
      const Interval part = over(from, to);
      raised = std::max(raised, (sign > 0 ? part.high : -part.low) - a - std::min(slope * (from - low), slope * (to - low)));
    }
  }
  return {slope, start + std::max(raised, 0.0) + 2 * lost};
}

// Kinks of clipping and interpolation, carried back through the linear steps before them.
void Curve::find_kinks() {
  using Kind = CurveStep::Kind;
  kinks.clear();
  piecewise = slope != 0;
  bool interpolates = false;
  for (std::size_t s = 0; s < steps.size() && piecewise; ++s) {
    const CurveStep& step = steps[s];
    const bool bends = step.kind == Kind::kAtLeast || step.kind == Kind::kAtMost || step.kind == Kind::kInterpolate;
    piecewise = (step.kind == Kind::kAffine && step.slope != 0) || (bends && !interpolates);
    if (!bends || !piecewise) continue;
    const std::vector<double> ends = step.kind == Kind::kInterpolate ? step.knots : std::vector<double>{step.intercept};
    for (double at : ends) {
      double off = std::abs(at);
      for (std::size_t before = s; before-- > 0;) {
        if (steps[before].kind != Kind::kAffine) continue;  // clipping leaves what it does not clip
        off = (off + std::abs(steps[before].intercept)) / std::abs(steps[before].slope);
        at = (at - steps[before].intercept) / steps[before].slope;
      }
      off = (off + std::abs(intercept)) / std::abs(slope) + std::abs(center);
      at = (at - intercept) / slope + center;
      off = tolerance::kRoundoffsOfFunction * tolerance::kRoundoff * static_cast<double>(s + 1) * (off + std::abs(at));
      kinks.push_back({at - off, at + off});
    }
    interpolates = step.kind == Kind::kInterpolate;
  }
  std::sort(kinks.begin(), kinks.end(), [](const Interval& a, const Interval& b) { return a.low < b.low; });
}

double Curve::at(double x) const {
  double z = slope * (x - center) + intercept;
  for (const CurveStep& step : steps) z = taken(step, z);
  return z;
}

Interval Curve::over(double low, double high) const {
  const double lost = tolerance::kRoundoffsOfFunction * tolerance::kRoundoff;
  double a = slope * (low - center) + intercept, b = slope * (high - center) + intercept;
  if (a > b) std::swap(a, b);
  const bool exact = slope == 1 && center == 0 && intercept == 0;  // then a number that is at a jump is at it
  const double size = exact ? 0 : std::max(this->size(low), this->size(high));
  a -= lost * size;
  b += lost * size;
  for (const CurveStep& step : steps) {
    const bool turns = step.kind == CurveStep::Kind::kSquare && a < 0 && b > 0;
    double from = taken(step, a), to = taken(step, b);
    const double terms = std::max(size_of(step, a, from), size_of(step, b, to));
    if (from > to) std::swap(from, to);
    a = turns ? 0 : from - lost * terms;
    b = to + lost * terms;
  }
  return {a, b};
}

}  // namespace likely::search
