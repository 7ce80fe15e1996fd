// The Python face of the core: arrays in, arrays out, nothing kept but plain data.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "columns.hpp"
#include "trees.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

template <class T>
std::vector<T> to_vector(const Array1<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

Matrix make_matrix(std::size_t rows, std::size_t columns) {
  auto* data = new double[rows * columns];
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
  return Matrix(data, {rows, columns}, owner);
}

likely::Columns make_columns(Array1<std::int32_t> feature, Array1<bool> discrete, Array1<double> slope, Array1<double> intercept,
                             Array1<std::int64_t> start, Array1<double> tables) {
  std::vector<likely::Column> columns;
  const std::size_t count = feature.shape(0);
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t from = start.data()[c], to = c + 1 < count ? start.data()[c + 1] : tables.shape(0);
    columns.push_back({feature.data()[c], discrete.data()[c], slope.data()[c], intercept.data()[c], from, to - from});
  }
  return {std::move(columns), to_vector<double>(tables)};
}

Matrix expand(const likely::Columns& columns, Rows rows, std::size_t threads) {
  const std::size_t count = rows.shape(0), width = columns.size();
  Matrix out = make_matrix(count, width);
  nb::gil_scoped_release free;
  columns.expand(rows.data(), count, rows.shape(1), out.data(), threads);
  return out;
}

void init_trees(likely::Trees* self, Array1<std::uint8_t> nodes, Array1<std::int32_t> roots, Array1<std::int32_t> output_of,
                Array1<double> values, std::size_t outputs) {
  std::vector<likely::Node> parsed(nodes.shape(0) / sizeof(likely::Node));
  std::memcpy(parsed.data(), nodes.data(), parsed.size() * sizeof(likely::Node));
  new (self) likely::Trees(parsed, to_vector<std::int32_t>(roots), to_vector<std::int32_t>(output_of),
                           to_vector<double>(values), outputs);
}

Matrix score_trees(const likely::Trees& trees, Rows rows, Array1<double> base, std::size_t threads) {
  const std::size_t count = rows.shape(0), outputs = trees.outputs();
  if (base.shape(0) != outputs) throw std::invalid_argument("base must have one entry per output");
  Matrix out = make_matrix(count, outputs);
  nb::gil_scoped_release free;
  for (std::size_t r = 0; r < count; ++r) std::copy_n(base.data(), outputs, out.data() + r * outputs);
  trees.add(rows.data(), count, rows.shape(1), out.data(), threads);
  return out;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of likely.";
  nb::class_<likely::Columns>(m, "Columns")
      .def("__init__",
           [](likely::Columns* self, Array1<std::int32_t> feature, Array1<bool> discrete, Array1<double> slope,
              Array1<double> intercept, Array1<std::int64_t> start, Array1<double> tables) {
             new (self) likely::Columns(make_columns(feature, discrete, slope, intercept, start, tables));
           },
           "feature"_a, "discrete"_a, "slope"_a, "intercept"_a, "start"_a, "tables"_a)
      .def("expand", &expand, "rows"_a, "threads"_a = 0);
  nb::class_<likely::Trees>(m, "Trees")
      .def("__init__", &init_trees, "nodes"_a, "roots"_a, "output_of"_a, "values"_a, "outputs"_a)
      .def("score", &score_trees, "rows"_a, "base"_a, "threads"_a = 0);
}
