// How one double stands for any value of a feature; the twin of likely/schema/values.py.
#pragma once

#include <cmath>

namespace likely {

inline constexpr double kLargest = 0x1p999;  // numbers lie within +-kLargest; what lies below is a special code
inline constexpr double kCodeUnit = 0x1p1000;

inline bool is_code(double x) { return x < -kLargest; }

inline bool is_whole(double x) { return x == std::floor(x); }

// The k of the k-th special code, as a double.
inline double code_place(double x) { return std::round(-x / kCodeUnit) - 1; }

}  // namespace likely
