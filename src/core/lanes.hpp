// Lanes: four doubles at once, in registers; the arithmetic is that of each of them.
#pragma once

#include <cstddef>
#include <cstring>

namespace likely {

#if defined(__GNUC__)
using Lanes = double __attribute__((vector_size(32)));
#else
struct Lanes {
  double value[4];
};

inline Lanes& operator+=(Lanes& a, const Lanes& b) {
  for (std::size_t l = 0; l < 4; ++l) a.value[l] += b.value[l];
  return a;
}

inline Lanes operator*(const Lanes& a, const Lanes& b) {
  return {{a.value[0] * b.value[0], a.value[1] * b.value[1], a.value[2] * b.value[2], a.value[3] * b.value[3]}};
}

inline Lanes operator*(double a, const Lanes& b) { return {{a * b.value[0], a * b.value[1], a * b.value[2], a * b.value[3]}}; }
#endif

constexpr std::size_t kLanes = 4;

inline void load(const double* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }
inline void store(const Lanes& from, double* to) { std::memcpy(to, &from, sizeof from); }

}  // namespace likely
