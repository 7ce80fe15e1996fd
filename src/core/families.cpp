#include "families.hpp"

#include <algorithm>

#include "values.hpp"

namespace likely {

namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

}  // namespace

double Peaked::density(double v) const {
  if (family == Family::kNone || !(std::abs(v) < kLargest)) return 0;
  switch (family) {
    case Family::kGaussian: {
      const double z = (v - a) / b;
      return share * std::exp(-0.5 * z * z - std::log(b) - kHalfLogTwoPi);
    }
    case Family::kLogNormal: {
      if (v <= 0) return 0;
      const double log_v = std::log(v), z = (log_v - a) / b;
      return share * std::exp(-0.5 * z * z - std::log(b) - kHalfLogTwoPi - log_v);
    }
    case Family::kExponential: return v < 0 ? 0 : share * a * std::exp(-a * v);
    case Family::kGamma:
      if (v < 0) return 0;
      return share * std::exp(a * std::log(b) + (a == 1 ? 0 : (a - 1) * log_of(v)) - b * v - std::lgamma(a));
    case Family::kPoisson:
      if (v < 0 || v != std::floor(v)) return 0;
      return share * std::exp(v * std::log(a) - a - std::lgamma(v + 1));
    case Family::kNone: break;
  }
  return 0;
}

double Peaked::peak() const {
  switch (family) {
    case Family::kGaussian: return a;
    case Family::kLogNormal: return std::exp(a - b * b);
    case Family::kGamma: return (a - 1) / b;
    case Family::kPoisson: return std::floor(a);
    default: return 0;
  }
}

double Peaked::largest(double low, double high) const {
  if (family == Family::kPoisson) {
    low = std::ceil(low);
    high = std::floor(high);
    if (low > high) return 0;
  }
  return density(std::min(std::max(peak(), low), high));
}

}  // namespace likely
