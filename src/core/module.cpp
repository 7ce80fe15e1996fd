// The Python face of the core: arrays in, arrays out, nothing kept but plain data.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "arrays.hpp"
#include "circuit.hpp"
#include "columns.hpp"
#include "gaussian_mixture.hpp"
#include "mixture.hpp"
#include "trees.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using likely::Array1;
using likely::make_matrix;
using likely::make_vector;
using likely::Matrix;
using likely::Rows;
using likely::to_vector;
using likely::Vector;

likely::Columns make_columns(Array1<std::int32_t> feature, Array1<bool> discrete, Array1<double> slope, Array1<double> center,
                             Array1<double> intercept, Array1<std::int64_t> start, Array1<double> tables) {
  std::vector<likely::Column> columns;
  const std::size_t count = feature.shape(0);
  for (const std::size_t given : {discrete.shape(0), slope.shape(0), center.shape(0), intercept.shape(0), start.shape(0)})
    if (given != count) throw std::invalid_argument("a column needs a feature, a slope, a center, an intercept and a table");
  for (std::size_t c = 0; c < count; ++c) {
    const std::size_t from = start.data()[c], to = c + 1 < count ? start.data()[c + 1] : tables.shape(0);
    if (from > to || to > tables.shape(0)) throw std::invalid_argument("tables of columns must follow each other");
    columns.push_back(
        {feature.data()[c], discrete.data()[c], slope.data()[c], center.data()[c], intercept.data()[c], from, to - from});
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
  std::vector<likely::TreeNode> parsed(nodes.shape(0) / sizeof(likely::TreeNode));
  std::memcpy(parsed.data(), nodes.data(), parsed.size() * sizeof(likely::TreeNode));
  new (self) likely::Trees(parsed, to_vector<std::int32_t>(roots), to_vector<std::int32_t>(output_of), to_vector<double>(values),
                           outputs);
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

void init_circuit(likely::Circuit* self, Array1<std::int32_t> kind, Array1<std::int64_t> start, Array1<std::int32_t> child,
                  Array1<double> weight, double floor) {
  new (self) likely::Circuit(to_vector<std::int32_t>(kind), to_vector<std::int64_t>(start), to_vector<std::int32_t>(child),
                             to_vector<double>(weight), floor);
}

void add_variable(likely::Circuit& circuit, Array1<double> breaks, Array1<std::int32_t> leaves, Rows steps,
                  Array1<std::int32_t> family, Rows parameters) {
  if (parameters.shape(0) != family.shape(0) || parameters.shape(1) != 3)
    throw std::invalid_argument("parameters must have a row (a, b, share) per leaf");
  std::vector<likely::Peaked> peaked;
  for (std::size_t l = 0; l < family.shape(0); ++l) {
    const double* leaf = parameters.data() + 3 * l;
    const std::int32_t number = family.data()[l];
    if (number < 0 || number > static_cast<std::int32_t>(likely::Family::kPoisson))
      throw std::invalid_argument("an unknown family");
    peaked.push_back({static_cast<likely::Family>(number), leaf[0], leaf[1], leaf[2]});
  }
  circuit.add_variable(to_vector<double>(breaks), to_vector<std::int32_t>(leaves), {steps.data(), steps.data() + steps.size()},
                       std::move(peaked));
}

// first: where the knots of each warp begin, and in the end how many there are; ends: lower and upper end per warp.
void add_block(likely::Circuit& circuit, std::int32_t node, Array1<std::int32_t> variables, Array1<std::int64_t> first,
               Array1<double> knots, Array1<double> values, Rows ends, Array1<double> mean, Array1<double> factor) {
  const std::size_t count = variables.shape(0), entries = first.shape(0);
  const std::int64_t* const from = first.data();
  if (entries != count + 1 || from[0] != 0 || !std::is_sorted(from, from + entries) || ends.shape(0) != count ||
      ends.shape(1) != 2 || from[count] != static_cast<std::int64_t>(knots.shape(0)) || values.shape(0) != knots.shape(0))
    throw std::invalid_argument("a block needs knots, values and two ends per warp");
  std::vector<likely::Warp> warps;
  for (std::size_t i = 0; i < count; ++i)
    warps.emplace_back(std::vector<double>(knots.data() + from[i], knots.data() + from[i + 1]),
                       std::vector<double>(values.data() + from[i], values.data() + from[i + 1]), ends.data()[2 * i],
                       ends.data()[2 * i + 1]);
  circuit.add_block(node, to_vector<std::int32_t>(variables), std::move(warps), to_vector<double>(mean),
                    to_vector<double>(factor));
}

void check_rows(const likely::Circuit& circuit, const Rows& rows) {
  if (rows.shape(1) != circuit.variables()) throw std::out_of_range("rows must have a column per variable");
}

likely::Algebra algebra_of(int number) {
  if (number < 0 || number > 2) throw std::invalid_argument("an algebra is 0, 1 or 2");
  return static_cast<likely::Algebra>(number);
}

Vector evaluate_circuit(const likely::Circuit& circuit, Rows rows, int algebra, std::size_t threads) {
  check_rows(circuit, rows);
  Vector out = make_vector(rows.shape(0));
  const likely::Algebra chosen = algebra_of(algebra);
  nb::gil_scoped_release free;
  circuit.evaluate(rows.data(), rows.shape(0), chosen, out.data(), threads);
  return out;
}

nb::tuple expect_circuit(const likely::Circuit& circuit, Rows rows, Array1<double> weights, std::size_t threads) {
  check_rows(circuit, rows);
  if (weights.shape(0) != rows.shape(0)) throw std::invalid_argument("there must be a weight per row");
  Vector out = make_vector(rows.shape(0)), edge = make_vector(circuit.edges()), leaf = make_vector(circuit.leaf_cells());
  {
    nb::gil_scoped_release free;
    circuit.expect(rows.data(), weights.data(), rows.shape(0), out.data(), edge.data(), leaf.data(), threads);
  }
  return nb::make_tuple(out, edge, leaf);
}

Matrix sweep_circuit(const likely::Circuit& circuit, Rows leaf_logs, int algebra) {
  if (leaf_logs.shape(1) != circuit.nodes()) throw std::out_of_range("leaf_logs must have a column per node");
  const std::size_t count = leaf_logs.shape(0), nodes = circuit.nodes();
  Matrix out = make_matrix(count, nodes);
  const likely::Algebra chosen = algebra_of(algebra);
  nb::gil_scoped_release free;
  for (std::size_t r = 0; r < count; ++r) circuit.sweep(leaf_logs.data() + r * nodes, chosen, out.data() + r * nodes);
  return out;
}

Matrix differentiate_circuit(const likely::Circuit& circuit, Rows values) {
  if (values.shape(1) != circuit.nodes()) throw std::out_of_range("values must have a column per node");
  const std::size_t count = values.shape(0), nodes = circuit.nodes();
  Matrix out = make_matrix(count, nodes);
  nb::gil_scoped_release free;
  for (std::size_t r = 0; r < count; ++r) circuit.differentiate(values.data() + r * nodes, out.data() + r * nodes);
  return out;
}

// bins: row x variable; offset: where the bins of each variable begin, and in the end how many there are.
nb::tuple expect_mixture(nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> bins,
                         Array1<double> row_weight, Array1<std::int64_t> offset,
                         nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu> ratio, Array1<float> weight,
                         std::size_t blocks, std::size_t threads) {
  const std::size_t rows = bins.shape(0), variables = bins.shape(1), all = ratio.shape(0), components = ratio.shape(1);
  const std::int64_t* const first = offset.data();
  const std::size_t entries = offset.shape(0);
  if (entries != variables + 1 || first[0] != 0 || !std::is_sorted(first, first + entries) ||
      static_cast<std::size_t>(first[variables]) != all)
    throw std::invalid_argument("offset must rise from 0, with an entry per variable, to the number of bins");
  if (row_weight.shape(0) != rows || weight.shape(0) != components || components == 0 || blocks == 0 || components % blocks != 0)
    throw std::invalid_argument("there must be a weight per row and component, and blocks of equal size");
  likely::BinnedRows binned{bins.data(), row_weight.data(), rows, {}};
  for (std::size_t j = 0; j < variables; ++j) {
    binned.offset.push_back(static_cast<std::size_t>(first[j]));
    const auto width = static_cast<std::size_t>(first[j + 1]) - binned.offset[j];
    for (std::size_t r = 0; r < rows; ++r)
      if (bins.data()[r * variables + j] >= width) throw std::out_of_range("a bin beyond those of its variable");
  }
  Vector log_ratio = make_vector(rows), total = make_vector(components);
  Matrix counts = make_matrix(all, components);
  std::fill_n(counts.data(), all * components, 0.0);
  {
    nb::gil_scoped_release free;
    likely::expect_mixture(binned, ratio.data(), weight.data(), all, components, blocks, log_ratio.data(), counts.data(),
                           total.data(), threads);
  }
  return nb::make_tuple(log_ratio, counts, total);
}

// z: row x column; root: component and row of it x column; shift: component x column.
Matrix gaussian_logs(Rows z, Rows root, Rows shift, Array1<double> constant, std::size_t threads) {
  const std::size_t columns = z.shape(1), components = constant.shape(0);
  if (root.shape(0) != components * columns || root.shape(1) != columns || shift.shape(0) != components ||
      shift.shape(1) != columns)
    throw std::invalid_argument("a component needs a root and a shift as wide as a row");
  Matrix out = make_matrix(z.shape(0), components);
  nb::gil_scoped_release free;
  likely::gaussian_logs({z.data(), z.shape(0), columns}, {root.data(), shift.data(), constant.data(), components}, out.data(),
                        threads);
  return out;
}

Matrix gaussian_sums(Rows z, Rows share, std::size_t threads) {
  if (share.shape(0) != z.shape(0)) throw std::invalid_argument("there must be shares of every row");
  const std::size_t wide = z.shape(1) + 1;
  Matrix out = make_matrix(share.shape(1), wide * wide);
  nb::gil_scoped_release free;
  likely::gaussian_sums({z.data(), z.shape(0), z.shape(1)}, share.data(), share.shape(1), out.data(), threads);
  return out;
}

}  // namespace

namespace likely {
void bind_search(nb::module_& m);
}

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of likely.";
  nb::class_<likely::Columns>(m, "Columns")
      .def(
          "__init__",
          [](likely::Columns* self, Array1<std::int32_t> feature, Array1<bool> discrete, Array1<double> slope,
             Array1<double> center, Array1<double> intercept, Array1<std::int64_t> start, Array1<double> tables) {
            new (self) likely::Columns(make_columns(feature, discrete, slope, center, intercept, start, tables));
          },
          "feature"_a, "discrete"_a, "slope"_a, "center"_a, "intercept"_a, "start"_a, "tables"_a)
      .def("expand", &expand, "rows"_a, "threads"_a = 0);
  nb::class_<likely::Trees>(m, "Trees")
      .def("__init__", &init_trees, "nodes"_a, "roots"_a, "output_of"_a, "values"_a, "outputs"_a)
      .def("score", &score_trees, "rows"_a, "base"_a, "threads"_a = 0);
  nb::class_<likely::Circuit>(m, "Circuit")
      .def("__init__", &init_circuit, "kind"_a, "start"_a, "child"_a, "weight"_a, "floor"_a)
      .def("add_variable", &add_variable, "breaks"_a, "leaves"_a, "steps"_a, "family"_a, "parameters"_a)
      .def("add_block", &add_block, "node"_a, "variables"_a, "first"_a, "knots"_a, "values"_a, "ends"_a, "mean"_a, "factor"_a)
      .def("evaluate", &evaluate_circuit, "rows"_a, "algebra"_a = 0, "threads"_a = 0)
      .def("expect", &expect_circuit, "rows"_a, "weights"_a, "threads"_a = 0)
      .def("sweep", &sweep_circuit, "leaf_logs"_a, "algebra"_a = 0)
      .def("differentiate", &differentiate_circuit, "values"_a);
  m.def("expect_mixture", &expect_mixture, "bins"_a, "row_weight"_a, "offset"_a, "ratio"_a, "weight"_a, "blocks"_a,
        "threads"_a = 0);
  m.def("gaussian_logs", &gaussian_logs, "z"_a, "root"_a, "shift"_a, "constant"_a, "threads"_a = 0);
  m.def("gaussian_sums", &gaussian_sums, "z"_a, "share"_a, "threads"_a = 0);
  likely::bind_search(m);
}
