#include "curve.hpp"

#include <cmath>

namespace likely::search {

namespace {

double yeo_johnson(double x, double lambda) {
  if (x >= 0) return lambda == 0 ? std::log1p(x) : std::expm1(lambda * std::log1p(x)) / lambda;
  return lambda == 2 ? -std::log1p(-x) : -std::expm1((2 - lambda) * std::log1p(-x)) / (2 - lambda);
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
    default: return interpolated(z, step);
  }
}

// By how much the size of what a step is computed from exceeds its result.
double size_of(const CurveStep& step, double z, double result) {
  if (step.kind == CurveStep::Kind::kAffine) return std::abs(step.slope * z) + std::abs(step.intercept);
  if (step.kind == CurveStep::Kind::kInterpolate) return std::abs(step.values.front()) + std::abs(step.values.back());
  if (step.kind == CurveStep::Kind::kYeoJohnson) return 1 + std::abs(result);
  return std::abs(result);
}

}  // namespace

double Curve::at(double x) const {
  double z = slope * (x - center) + intercept;
  for (const CurveStep& step : steps) z = taken(step, z);
  return z;
}

Interval Curve::over(double low, double high) const {
  const double lost = tolerance::kRoundoffsOfFunction * tolerance::kRoundoff;
  double a = slope * (low - center) + intercept, b = slope * (high - center) + intercept;
  if (a > b) std::swap(a, b);
  const double size = std::max(this->size(low), this->size(high));
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
