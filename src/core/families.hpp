// Parametric densities of one number, each with a single peak; the twin of likely.circuit's families.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace likely {

inline double log_of(double x) { return x > 0 ? std::log(x) : -std::numeric_limits<double>::infinity(); }

// Parametric families, numbered as in likely.circuit's families.
enum class Family : std::uint8_t { kNone = 0, kGaussian = 1, kLogNormal = 2, kExponential = 3, kGamma = 4, kPoisson = 5 };

// A parametric density with one peak.
struct Peaked {
  Family family;
  double a, b, share;
  double density(double v) const;
  double peak() const;
  double largest(double low, double high) const;  // over low <= v <= high
};

}  // namespace likely
