// How one double stands for any value of a feature; the twin of likely/schema/values.py.
#pragma once

#include <cmath>
#include <cstddef>

namespace likely {

inline constexpr double kLargest = 0x1p999;   // numbers lie within +-kLargest; what lies below is a special code
inline constexpr double kCodeUnit = 0x1p1000;

inline bool is_code(double x) { return x < -kLargest; }

// The k of the k-th special code.
inline std::size_t code_index(double x) { return static_cast<std::size_t>(std::llround(-x / kCodeUnit)) - 1; }

}  // namespace likely
