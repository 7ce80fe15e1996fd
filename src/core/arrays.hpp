// Numpy arrays in and out of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <vector>

namespace likely {

template <class T>
using Array1 = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Array2 = nanobind::ndarray<const T, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Rows = Array2<double>;
using Vector = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<1>>;
using Matrix = nanobind::ndarray<nanobind::numpy, double, nanobind::ndim<2>>;

template <class T>
std::vector<T> to_vector(const Array1<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

inline Matrix make_matrix(std::size_t rows, std::size_t columns) {
  auto* data = new double[rows * columns];
  nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Matrix(data, {rows, columns}, owner);
}

inline Vector make_vector(std::size_t size) {
  auto* data = new double[size]();
  nanobind::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Vector(data, {size}, owner);
}

}  // namespace likely
