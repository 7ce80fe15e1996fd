#include "score_functions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

using tolerance::kRoundoff;

double logistic(double z) { return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }

// What makes z * logistic(z) and z * (normal distribution function of z) rise everywhere: neither falls by more than 0.13 per
// unit.
constexpr double kRise = 5.0 / 32;

// The distribution function of the standard normal distribution, and its density.
double normal(double z) { return 0.5 * std::erfc(-z * 0.70710678118654752440); }
double normal_density(double z) { return 0.39894228040143267794 * std::exp(-0.5 * z * z); }

double interpolated(double z, const std::vector<double>& knots, const std::vector<double>& values) {
  if (z <= knots.front()) return values.front();
  if (z >= knots.back()) return values.back();
  const auto next = static_cast<std::size_t>(std::upper_bound(knots.begin(), knots.end(), z) - knots.begin());
  const double share = (z - knots[next - 1]) / (knots[next] - knots[next - 1]);
  return values[next - 1] + share * (values[next] - values[next - 1]);
}

// An interval of values with what computing them may lose.
Interval widened(double low, double high, double size = 0) {
  const double relative = tolerance::kRoundoffsOfFunction * kRoundoff;
  return {low - relative * (std::abs(low) + size), high + relative * (std::abs(high) + size)};
}

}  // namespace

double ScoreFunction::base(double z) const {
  switch (kind) {
    case Kind::kRelu: return std::max(z, 0.0);
    case Kind::kLogistic: return logistic(z);
    case Kind::kTanh: return std::tanh(z);
    case Kind::kClip: return std::clamp(z, 0.0, 1.0);
    case Kind::kAbove: return z > 0 ? 1 : 0;
    case Kind::kAtLeast: return z >= 0 ? 1 : 0;
    case Kind::kConfidence: return z / (3 * (std::abs(z) + 1));
    case Kind::kInterpolate: return interpolated(z, knots, values);
    case Kind::kSoftplus: return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
    case Kind::kElu: return z > 0 ? z : std::expm1(z);
    case Kind::kRisingSilu: return z * logistic(z) + kRise * z;
    case Kind::kRisingGelu: return z * normal(z) + kRise * z;
    default: return z;
  }
}

double ScoreFunction::slope(double z) const {
  switch (kind) {
    case Kind::kLogistic: return logistic(z) * logistic(-z);
    case Kind::kTanh: return 1 - std::tanh(z) * std::tanh(z);
    case Kind::kSoftplus: return logistic(z);
    case Kind::kElu: return z > 0 ? 1 : std::exp(z);
    default: return 1 / (3 * (std::abs(z) + 1) * (std::abs(z) + 1));  // kConfidence
  }
}

// How far the slope of one that bends both ways changes per unit, at most, where |z| is no less than this.
double ScoreFunction::curvature(double least) const {
  if (kind == Kind::kRisingSilu) return std::min(0.5, (2 + least) * std::exp(-least));
  return normal_density(least) * std::max(2.0, least * least);
}

double ScoreFunction::steepness() const {
  switch (kind) {
    case Kind::kRisingSilu:
    case Kind::kRisingGelu: return std::abs(scale) * 1.3;  // no more than 1.13, and the rise
    case Kind::kLogistic: return std::abs(scale) / 4;
    case Kind::kConfidence: return std::abs(scale) / 3;
    case Kind::kAbove:
    case Kind::kAtLeast:
    case Kind::kLargest: return 0;
    case Kind::kInterpolate: {
      double most = 0;
      for (std::size_t i = 1; i < knots.size(); ++i)
        most = std::max(most, (values[i] - values[i - 1]) / (knots[i] - knots[i - 1]));
      return std::abs(scale) * most;
    }
    default: return std::abs(scale);
  }
}

double ScoreFunction::at(double x) const { return base(scale * x + shift); }

// What scale * x + shift can be, however it is rounded.
Interval ScoreFunction::argument(Interval x) const {
  double low = scale * x.low + shift, high = scale * x.high + shift;
  if (scale < 0) std::swap(low, high);
  if (scale == 1 && shift == 0) return {low, high};
  return widened(low, high, std::abs(shift));
}

Interval ScoreFunction::over(Interval x) const {
  const Interval z = argument(x);
  if (jumps()) return {base(z.low), base(z.high)};
  return widened(base(z.low), base(z.high), kind == Kind::kInterpolate ? std::abs(values.back()) + std::abs(values.front()) : 0);
}

// -- lines ----------------------------------------------------------------------------------------------------------------

// A line of z as one of x, moved by `sign` times what computing it and the function may lose on an interval of z.
Line ScoreFunction::of_argument(Line line, Interval z, double sign) const {
  const double most = std::max(std::abs(z.low), std::abs(z.high)) + std::abs(shift);
  const double size =
      std::abs(line.slope) * most + std::abs(line.intercept) + std::max(std::abs(base(z.low)), std::abs(base(z.high)));
  const double lost = tolerance::kRoundoffsOfFunction * kRoundoff * size;
  return {line.slope * scale, line.intercept + line.slope * shift + sign * lost};
}

Line ScoreFunction::above(Interval x) const {
  const Interval z = argument(x);
  return of_argument(base_above(z.low, z.high), z, 1);
}

Line ScoreFunction::below(Interval x) const {
  const Interval z = argument(x);
  return of_argument(base_below(z.low, z.high), z, -1);
}

Line ScoreFunction::base_above(double low, double high) const {
  const double at_low = base(low), at_high = base(high);
  if (!(high > low) || at_low == at_high) return {0, at_high};
  switch (kind) {
    case Kind::kIdentity: return {1, 0};
    case Kind::kRelu: return {(at_high - at_low) / (high - low), at_high - (at_high - at_low) / (high - low) * high};
    case Kind::kLogistic:
    case Kind::kTanh:
    case Kind::kConfidence: return s_shaped_above(low, high);
    case Kind::kSoftplus:
    case Kind::kElu: {  // they bend upwards: the chord
      const double chord = (at_high - at_low) / (high - low);
      return {chord, std::max(at_high - chord * high, at_low - chord * low)};
    }
    case Kind::kRisingSilu:
    case Kind::kRisingGelu: return curved_above(low, high, 1);
    case Kind::kAbove:
    case Kind::kAtLeast: return low < 0 ? Line{-1 / low, 1} : Line{0, 1};  // through (low, 0) and (0, 1)
    default: return knots_above(low, high, false);
  }
}

Line ScoreFunction::base_below(double low, double high) const {
  const double at_low = base(low), at_high = base(high);
  if (!(high > low) || at_low == at_high) return {0, at_low};
  switch (kind) {
    case Kind::kIdentity: return {1, 0};
    case Kind::kRelu: return high > -low ? Line{1, 0} : Line{0, 0};
    case Kind::kAbove:
    case Kind::kAtLeast: return high > 0 ? Line{1 / high, 0} : Line{0, 0};  // through (0, 0) and (high, 1)
    case Kind::kSoftplus:
    case Kind::kElu: {  // a tangent
      const double middle = 0.5 * low + 0.5 * high;
      return {slope(middle), base(middle) - slope(middle) * middle};
    }
    case Kind::kRisingSilu:
    case Kind::kRisingGelu: {
      const Line turned = curved_above(low, high, -1);
      return {-turned.slope, -turned.intercept};
    }
    case Kind::kLogistic:
    case Kind::kTanh:
    case Kind::kConfidence: {
      // f is point symmetric around (0, f(0)): what is below it at z is, mirrored, above it at -z.
      const Line mirrored = s_shaped_above(-high, -low);
      return {mirrored.slope, 2 * base(0) - mirrored.intercept};
    }
    default: {
      const Line mirrored = knots_above(-high, -low, true);
      return {mirrored.slope, -mirrored.intercept};
    }
  }
}

// Convex below 0, concave above: the tangent at d >= 0 is above the function from 0 on, and left of it if it is at `low`. The
// flattest that is not, at `high`, lies below the chord.
Line ScoreFunction::s_shaped_above(double low, double high) const {
  const double at_low = base(low), at_high = base(high), chord = (at_high - at_low) / (high - low);
  if (high <= 0) return {chord, std::max(at_high - chord * high, at_low - chord * low)};
  auto tangent = [&](double d) { return Line{slope(d), base(d) - slope(d) * d}; };
  auto above_low = [&](const Line& line) { return line.slope * low + line.intercept >= at_low; };
  if (low >= 0) return tangent(0.5 * low + 0.5 * high);
  if (!above_low(tangent(high))) return {chord, std::max(at_high - chord * high, at_low - chord * low)};
  double steep = 0, flat = high;
  for (int i = 0; i < tolerance::kTangentSteps; ++i) {
    const double middle = 0.5 * steep + 0.5 * flat;
    (above_low(tangent(middle)) ? flat : steep) = middle;
  }
  return tangent(flat);
}

// The chord of `sign` times the function, raised above the function's values at the ends of parts, and by what it can rise
// between them: a function whose slope changes by no more than c per unit is, between two numbers w apart, no more than c w w / 8
// above the line through their values.
Line ScoreFunction::curved_above(double low, double high, double sign) const {
  const double chord = sign * (base(high) - base(low)) / (high - low);
  const double width = (high - low) / tolerance::kActivationParts;
  auto over_chord = [&](double z) { return sign * base(z) - chord * z; };
  double most = std::max(over_chord(low), over_chord(high)), before = over_chord(low), from = low;
  for (int i = 1; i <= tolerance::kActivationParts; ++i) {
    const double to = i == tolerance::kActivationParts ? high : low + width * i, here = over_chord(to);
    const double least = from <= 0 && to >= 0 ? 0 : std::min(std::abs(from), std::abs(to));
    most = std::max(most, std::max(before, here) + 0.125 * curvature(least) * (to - from) * (to - from));
    from = to;
    before = here;
  }
  return {chord, most};
}

// The chord, raised to the highest knot between its ends; of the function turned by half around 0 if `mirrored`.
Line ScoreFunction::knots_above(double low, double high, bool mirrored) const {
  const double sign = mirrored ? -1 : 1;
  auto value = [&](double z) { return sign * base(sign * z); };
  const double chord = (value(high) - value(low)) / (high - low);
  double most = std::max(value(high) - chord * high, value(low) - chord * low);
  auto raise = [&](double z) {
    if (z > low && z < high) most = std::max(most, value(z) - chord * z);
  };
  if (kind == Kind::kClip) {
    raise(0);
    raise(sign);
  } else {
    for (const double knot : knots) raise(sign * knot);
  }
  return {chord, most};
}

// -- groups ---------------------------------------------------------------------------------------------------------------

double ScoreFunction::at(std::span<const double> x, std::size_t k) const {
  auto z = [&](std::size_t i) { return scale * x[i] + shift; };
  if (kind == Kind::kLargest) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < x.size(); ++i)
      if (z(i) > z(best)) best = i;
    return best == k ? 1 : 0;
  }
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += kind == Kind::kSoftmax ? std::exp(z(i) - z(k)) : z(i);
  if (kind == Kind::kSoftmax) return 1 / total;
  return total == 0 ? 1 / static_cast<double>(x.size()) : z(k) / total;
}

// The least is where its own number is least and all others are greatest, and the other way round.
Interval ScoreFunction::over(std::span<const Interval> x, std::size_t k) const {
  auto end = [&](bool greatest) {
    std::vector<double> ends;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Interval z = argument(x[i]);
      ends.push_back((i == k) == greatest ? z.high : z.low);
    }
    const ScoreFunction plain{kind, 1, 0, {}, {}};
    if (kind != Kind::kLargest) return plain.at(ends, k);
    for (std::size_t i = 0; i < ends.size(); ++i)  // of equals, any may be the first
      if (i != k && (greatest ? ends[i] > ends[k] : ends[i] >= ends[k])) return 0.0;
    return 1.0;
  };
  if (kind == Kind::kLargest) return {end(false), end(true)};
  const double least = end(false), most = end(true);
  if (kind == Kind::kSoftmax) {  // an exponential loses as much as its argument is large
    double size = 0;
    for (const Interval& each : x) size = std::max({size, std::abs(argument(each).low), std::abs(argument(each).high)});
    return widened(least, most, size * most);
  }
  const Interval wide = widened(least, most);
  // Parts that are all 0 share alike; a part that rounding makes less than 0 is 0.
  bool may_vanish = true;
  for (const Interval& part : x) may_vanish &= argument(part).low <= 0;
  if (!may_vanish) return wide;
  return {0, 1};
}

}  // namespace likely::search
