// The Python face of the exact engine: a problem is put together part by part, and solved.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "arrays.hpp"
#include "search/composite.hpp"
#include "search/forest.hpp"
#include "search/network.hpp"
#include "search/propagation.hpp"
#include "search/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace likely {

namespace {

using search::Problem;
using Region = std::vector<std::pair<double, double>>;

void add_feature(Problem& problem, Array1<double> atom, Array1<double> atom_cost, Array1<double> low, Array1<double> high,
                 Rows segments, Array1<std::int32_t> segment, double grid, double factual, double anchor) {
  if (atom.shape(0) != atom_cost.shape(0) || low.shape(0) != high.shape(0) || segment.shape(0) != low.shape(0) ||
      segments.shape(1) != 4)
    throw std::invalid_argument("a feature needs a cost per atom, two ends and a segment per cell, four numbers per segment");
  search::Feature made;
  made.atom = to_vector<double>(atom);
  made.atom_cost = to_vector<double>(atom_cost);
  made.low = to_vector<double>(low);
  made.high = to_vector<double>(high);
  made.segment = to_vector<std::int32_t>(segment);
  for (std::size_t s = 0; s < segments.shape(0); ++s) {
    const double* ends = segments.data() + 4 * s;
    made.segments.push_back({ends[0], ends[1], ends[2], ends[3]});
  }
  for (std::int32_t place : made.segment)
    if (place < 0 || static_cast<std::size_t>(place) >= made.segments.size())
      throw std::invalid_argument("a cell without a segment");
  made.grid = grid;
  made.factual = factual;
  made.anchor = anchor;
  problem.domain.features.push_back(std::move(made));
  problem.domain.finish();
}

using FirstLayer = std::tuple<Rows, Rows, Rows>;  // atoms, slopes, values at anchors

search::Network::FirstLayer first_layer(const Problem& problem, const FirstLayer& given, std::size_t units) {
  const auto& [atoms, slopes, at_anchors] = given;
  const std::size_t features = problem.domain.features.size();
  auto fits = [units](const Rows& rows, std::size_t count) {
    return rows.shape(0) == count && (count == 0 || rows.shape(1) == units);
  };
  if (!fits(atoms, problem.domain.atoms) || !fits(slopes, features) || !fits(at_anchors, features))
    throw std::invalid_argument("a network needs what every atom, and every feature's numbers, add to each unit");
  auto entries = [](const Rows& rows) { return std::vector<double>(rows.data(), rows.data() + rows.size()); };
  return {entries(atoms), entries(slopes), entries(at_anchors)};
}

// `inputs` has a row (slope, center, intercept) for each input that is linear in the numbers of its feature.
search::Network::Inputs inputs_of(const Problem& problem, const Array1<std::int32_t>& feature, const Rows& inputs,
                                  const Rows& weights, std::size_t units) {
  const std::size_t count = feature.shape(0);
  const bool fits = inputs.shape(0) == count && weights.shape(0) == count &&
                    (count == 0 || (inputs.shape(1) == 3 && weights.shape(1) == units));
  if (!fits || !std::is_sorted(feature.data(), feature.data() + count) ||
      (count > 0 &&
       (feature.data()[0] < 0 || static_cast<std::size_t>(feature.data()[count - 1]) >= problem.domain.features.size())))
    throw std::invalid_argument("inputs must be in the order of their features, with three numbers and a weight per unit each");
  search::Network::Inputs made;
  for (std::size_t i = 0; i < count; ++i) {
    const double* numbers = inputs.data() + 3 * i;
    made.inputs.push_back({static_cast<std::size_t>(feature.data()[i]), numbers[0], numbers[1], numbers[2]});
  }
  made.weights.assign(weights.data(), weights.data() + weights.size());
  return made;
}

void set_network(Problem& problem, const FirstLayer& first, const FirstLayer& sizes,
                 const std::tuple<Array1<std::int32_t>, Rows, Rows>& inputs, std::size_t terms, Array1<double> bias,
                 const std::vector<std::pair<Rows, Array1<double>>>& later) {
  const std::size_t units = bias.shape(0);
  const auto& [feature, numbers, weights] = inputs;
  std::vector<search::Network::Layer> layers;
  std::size_t width = units;
  for (const auto& [weight, offset] : later) {
    if (weight.shape(1) != width || weight.shape(0) != offset.shape(0)) throw std::invalid_argument("layers that do not fit");
    layers.push_back({width, weight.shape(0), {weight.data(), weight.data() + weight.size()}, to_vector<double>(offset)});
    width = weight.shape(0);
  }
  problem.score = std::make_unique<search::Network>(
      problem.domain, first_layer(problem, first, units), first_layer(problem, sizes, units),
      inputs_of(problem, feature, numbers, weights, units), terms, to_vector<double>(bias), std::move(layers));
}

using GivenForest =
    std::tuple<Array1<std::uint8_t>, Array1<std::int32_t>, Array1<std::int32_t>, Array1<double>, Array1<double>, double>;

std::unique_ptr<search::Forest> forest_of(const Problem& problem, const GivenForest& given) {
  const auto& [nodes, roots, output_of, values, base, divisor] = given;
  std::vector<TreeNode> parsed(nodes.shape(0) / sizeof(TreeNode));
  std::memcpy(parsed.data(), nodes.data(), parsed.size() * sizeof(TreeNode));
  return std::make_unique<search::Forest>(problem.domain, std::move(parsed), to_vector<std::int32_t>(roots),
                                          to_vector<std::int32_t>(output_of), to_vector<double>(values), to_vector<double>(base),
                                          divisor);
}

// The forest; where the terms of each of its values start; their inputs and weights.
using GivenLinearForest = std::tuple<GivenForest, std::vector<std::size_t>, std::vector<std::uint32_t>, std::vector<double>>;

search::Composite::LinearForest linear_forest_of(const Problem& problem, const GivenLinearForest& given, std::size_t inputs) {
  const auto& [forest, starts, terms, weights] = given;
  const std::size_t values = std::get<3>(forest).shape(0);
  const bool fits = starts.size() == values + 1 && starts.front() == 0 && starts.back() == terms.size() &&
                    std::is_sorted(starts.begin(), starts.end()) && weights.size() == terms.size() &&
                    std::all_of(terms.begin(), terms.end(), [inputs](std::uint32_t term) { return term < inputs; });
  if (!fits) throw std::invalid_argument("the terms of linear leaves must be weights of inputs, and start in order");
  return {forest_of(problem, forest), starts, terms, weights};
}

using Doubles = std::vector<double>;
// kind, slope, intercept, knots, values
using GivenStep = std::tuple<int, double, double, Doubles, Doubles>;
// feature, atoms, slope, center, intercept, steps
using GivenInput = std::tuple<std::size_t, Doubles, double, double, double, std::vector<GivenStep>>;
// kind, scale, shift, knots, values
using GivenFunction = std::tuple<int, double, double, Doubles, Doubles>;
// kind, source, place, reads, weights, sizes, bias, its size, roundings
using GivenUnit = std::tuple<int, std::size_t, std::size_t, std::vector<std::uint32_t>, Doubles, Doubles, double, double, double>;

search::Composite::Input input_of(const Problem& problem, const GivenInput& given) {
  const auto& [feature, atoms, slope, center, intercept, steps] = given;
  if (feature >= problem.domain.features.size() ||
      (!atoms.empty() && atoms.size() != problem.domain.features[feature].atom.size()))
    throw std::invalid_argument("an input must be of a feature, with an entry for each of its atoms");
  search::Composite::Input made{feature, atoms, {slope, center, intercept, {}, false, {}}};
  for (const auto& [kind, by, end, knots, values] : steps)
    made.curve.steps.push_back({static_cast<search::CurveStep::Kind>(kind), by, end, knots, values});
  made.curve.find_kinks();
  return made;
}

// Units that read units before them only, from sources that are there.
search::Composite::Unit unit_of(const GivenUnit& given, std::size_t before, std::size_t inputs, std::size_t forests,
                                std::size_t functions, const std::vector<search::Composite::LinearForest>& linear) {
  using Kind = search::Composite::Kind;
  const auto& [kind, source, place, reads, weights, sizes, bias, bias_size, roundings] = given;
  search::Composite::Unit made{static_cast<Kind>(kind), source, place, reads, weights, sizes, bias, bias_size, roundings};
  const std::size_t sources = made.kind == Kind::kInput        ? inputs
                              : made.kind == Kind::kTrees      ? forests
                              : made.kind == Kind::kSum        ? source + 1
                              : made.kind == Kind::kLinearTree ? linear.size()
                                                               : functions;
  const bool weighed = made.kind != Kind::kSum || (weights.size() == reads.size() && sizes.size() == reads.size());
  if (source >= sources || !weighed || (made.kind == Kind::kFunction && place >= reads.size()) ||
      (made.kind == Kind::kLinearTree && place >= linear[source].trees->all_trees().size()) ||
      std::any_of(reads.begin(), reads.end(), [before](std::uint32_t read) { return read >= before; }))
    throw std::invalid_argument("a unit must read units before it, and a source that is there");
  return made;
}

// Returns how many relaxations a goal has: goals are to be given so often.
std::size_t set_composite(Problem& problem, const std::vector<GivenInput>& inputs, const std::vector<GivenForest>& forests,
                          const std::vector<GivenLinearForest>& linear_forests, const std::vector<GivenFunction>& functions,
                          const std::vector<GivenUnit>& units, const std::vector<std::uint32_t>& outputs) {
  std::vector<search::Composite::Input> read;
  for (const GivenInput& input : inputs) read.push_back(input_of(problem, input));
  std::vector<std::unique_ptr<search::Forest>> trees;
  for (const GivenForest& forest : forests) trees.push_back(forest_of(problem, forest));
  std::vector<search::Composite::LinearForest> linear;
  for (const GivenLinearForest& forest : linear_forests) linear.push_back(linear_forest_of(problem, forest, read.size()));
  std::vector<search::ScoreFunction> made;
  for (const auto& [kind, scale, shift, knots, values] : functions)
    made.push_back({static_cast<search::ScoreFunction::Kind>(kind), scale, shift, knots, values});
  std::vector<search::Composite::Unit> graph;
  for (const GivenUnit& unit : units)
    graph.push_back(unit_of(unit, graph.size(), read.size(), trees.size(), made.size(), linear));
  for (const std::uint32_t output : outputs)
    if (output >= graph.size()) throw std::invalid_argument("an output must be a unit");
  auto score = std::make_unique<search::Composite>(problem.domain, std::move(read), std::move(trees), std::move(linear),
                                                   std::move(made), std::move(graph), outputs);
  const std::size_t count = score->relaxations_per_goal();
  problem.score = std::move(score);
  return count;
}

// Returns of every output the least sizes of its terms, and how far it varies.
nb::tuple set_forest(Problem& problem, Array1<std::uint8_t> nodes, Array1<std::int32_t> roots, Array1<std::int32_t> output_of,
                     Array1<double> values, Array1<double> base, double divisor) {
  auto made = forest_of(problem, {nodes, roots, output_of, values, base, divisor});
  const nb::tuple sizes = nb::make_tuple(made->least_size(), made->spread());
  problem.score = std::move(made);
  return sizes;
}

void add_alternative(Problem& problem, Rows coefficients, Array1<double> lower, std::optional<search::Share> share) {
  const std::size_t outputs = problem.score ? problem.score->greatest_rounding().size() : 0;
  if (coefficients.shape(0) == 0 || coefficients.shape(1) != outputs || lower.shape(0) != coefficients.shape(0) ||
      (share && share->output >= outputs))
    throw std::invalid_argument("goals need a coefficient per output of the score, and a lower end each");
  std::vector<search::Goal> goals;
  for (std::size_t g = 0; g < coefficients.shape(0); ++g) {
    const double* row = coefficients.data() + g * coefficients.shape(1);
    goals.push_back({{row, row + coefficients.shape(1)}, lower.data()[g]});
  }
  problem.alternatives.push_back({std::move(goals), share});
}

void refuse_other_variables(const Problem& problem, const Circuit& circuit) {
  if (circuit.variables() != problem.domain.features.size() && circuit.variables() != problem.domain.features.size() + 1)
    throw std::invalid_argument("the circuit must have the domain's features, and at most a target besides");
}

void set_circuit(Problem& problem, const Circuit& circuit, Array1<double> targets, Array1<double> given, bool approximate,
                 double threshold, double weight) {
  refuse_other_variables(problem, circuit);
  if (targets.shape(0) != problem.alternatives.size() || given.shape(0) != targets.shape(0))
    throw std::invalid_argument("there must be a target, and the log-likelihood of what is given, per alternative");
  problem.likelihood = std::make_unique<search::Likelihood>(
      circuit, problem.domain, to_vector<double>(targets), to_vector<double>(given), approximate,
      search::Likelihood::Measure::kLikelihood, weight == 0 || circuit.blocks() > 0);
  problem.likelihood_threshold = threshold;
  problem.likelihood_weight = weight;
  problem.components.reset();
  if (weight == 0 || circuit.blocks() > 0 || problem.score->trees() != nullptr || !search::has_many_numbers(problem.domain))
    return;
  auto components = std::make_unique<search::Likelihood>(circuit, problem.domain, to_vector<double>(targets),
                                                         to_vector<double>(given), approximate);
  if (components->has_product_parts()) problem.components = std::move(components);
}

// Of a circuit with blocks; of one without, `circuit` has the ratios of its leaves and marginals, which cells keep constant.
void set_coherence(Problem& problem, const Circuit& circuit, Array1<double> targets, double threshold) {
  refuse_other_variables(problem, circuit);
  if (targets.shape(0) != problem.alternatives.size()) throw std::invalid_argument("there must be a target per alternative");
  using Measure = search::Likelihood::Measure;
  problem.coherence = std::make_unique<search::Likelihood>(circuit, problem.domain, to_vector<double>(targets),
                                                           std::vector<double>(targets.shape(0), 0.0), false,
                                                           circuit.blocks() > 0 ? Measure::kCoherence : Measure::kLikelihood);
  problem.coherence_threshold = threshold;
}

std::vector<search::Literal> literals_of(const Problem& problem, const std::vector<std::pair<std::size_t, Region>>& literals) {
  std::vector<search::Literal> made;
  for (const auto& [feature, region] : literals) {
    if (feature >= problem.domain.features.size()) throw std::out_of_range("a rule about a feature that is not there");
    made.emplace_back(problem.domain, feature, region);
  }
  return made;
}

// Whether no cell of a feature has a breakpoint inside: all its numbers lie before it, or from it on.
bool cut_at(const Problem& problem, std::size_t feature, Array1<double> breakpoints) {
  if (feature >= problem.domain.features.size()) throw std::out_of_range("a feature that is not there");
  const search::Feature& f = problem.domain.features[feature];
  return std::all_of(breakpoints.data(), breakpoints.data() + breakpoints.size(), [&f](double at) {
    const auto above = std::upper_bound(f.low.begin(), f.low.end(), at) - f.low.begin();  // the first cell that begins above
    return above == 0 || f.low[above - 1] == at || f.high[above - 1] < at;
  });
}

const char* status_name(search::Status status) {
  switch (status) {
    case search::Status::kOptimal: return "optimal";
    case search::Status::kFeasible: return "feasible";
    case search::Status::kInfeasible: return "infeasible";
    default: return "unknown";
  }
}

std::vector<std::vector<double>> rows_of(const Rows& array) {
  std::vector<std::vector<double>> rows;
  for (std::size_t r = 0; r < array.shape(0); ++r)
    rows.emplace_back(array.data() + r * array.shape(1), array.data() + (r + 1) * array.shape(1));
  return rows;
}

nb::dict to_python(const search::Result& result, bool interrupted) {
  nb::list solutions;
  for (const search::Solution& solution : result.solutions)
    solutions.append(
        nb::make_tuple(solution.row, solution.objective, solution.cost, solution.log_likelihood, solution.alternative));
  nb::list trace;
  for (const search::Progress& at : result.trace) trace.append(nb::make_tuple(at.seconds, at.nodes, at.upper, at.lower));
  nb::dict out;
  out["status"] = status_name(result.status);
  out["solutions"] = solutions;
  out["upper"] = result.upper;
  out["lower"] = result.lower;
  out["nodes"] = result.statistics.nodes;
  out["tested"] = result.statistics.tested;
  out["filtered"] = result.statistics.filtered;
  out["most_open"] = result.statistics.most_open;
  out["seconds"] = result.seconds;
  out["seconds_score"] = result.statistics.seconds_score;
  out["seconds_likelihood"] = result.statistics.seconds_likelihood;
  out["trace"] = trace;
  out["interrupted"] = interrupted;
  out["certificate"] = result.certificate;
  out["truncated"] = result.truncated;
  out["loss"] = nb::none();
  if (result.loss)
    out["loss"] =
        nb::make_tuple(search::name_of(result.loss->step), result.loss->node, result.loss->objective, result.loss->cutoff);
  return out;
}

nb::dict solve(const Problem& problem, double seconds, std::uint64_t nodes, double absolute_gap, double relative_gap,
               std::size_t solutions, bool other_features, double pool_gap, std::uint64_t open_nodes, std::size_t threads,
               Rows starts, nb::object callback, std::optional<std::vector<double>> follow, std::size_t certificate) {
  if (!problem.score || problem.alternatives.empty()) throw std::invalid_argument("a problem needs a score and a goal");
  const std::vector<std::vector<double>> rows = rows_of(starts);
  bool interrupted = false;
  search::Poll poll = [&](const search::Progress& progress) {
    nb::gil_scoped_acquire held;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (callback.is_none()) return true;
      return nb::cast<bool>(callback(progress.seconds, progress.nodes, progress.upper, progress.lower));
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;  // what another handler of signals raises is for the caller
      interrupted = true;
      return false;
    }
  };
  search::Result result;
  {
    nb::gil_scoped_release free;
    const search::Limits limits{seconds,        nodes,    absolute_gap, relative_gap, solutions,
                                other_features, pool_gap, open_nodes,   threads};
    search::Search engine(problem, limits, poll);
    if (follow) engine.follow(std::move(*follow));
    if (certificate > 0) engine.record(certificate);
    result = engine.run(rows);
  }
  return to_python(result, interrupted);
}

// One box, propagated as the search does it, with an incumbent's objective to beat: whether a row may be left, a lower
// bound of the objective, and per feature the atoms and the range of numbers that are left. For tests.
nb::tuple propagated(const Problem& problem, const std::vector<std::vector<std::size_t>>& atoms, Rows ranges,
                     std::uint32_t alternative, double incumbent) {
  search::Node node = search::root_node(problem, alternative);
  search::Box& box = node.box;
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
    const search::Feature& f = problem.domain.features[j];
    for (std::size_t k = 0; k < f.atom.size(); ++k)
      if (std::find(atoms[j].begin(), atoms[j].end(), k) == atoms[j].end()) box.drop_atom(f, k);
    const double low = ranges.data()[2 * j], high = ranges.data()[2 * j + 1];
    if (low <= high)
      box.keep_numbers(problem.domain, j, low, high);
    else
      box.drop_numbers(j);
  }
  search::Workspace workspace(problem);
  const search::Outcome outcome = propagate(problem, node, incumbent, workspace.evaluations[alternative], workspace);
  nb::list left;
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
    std::vector<std::size_t> kept;
    box.each_atom(problem.domain.features[j], [&](std::size_t k) { kept.push_back(k); });
    const search::Range& range = box.range[j];
    left.append(nb::make_tuple(kept, range.empty() ? 1.0 : range.low, range.empty() ? 0.0 : range.high));
  }
  return nb::make_tuple(outcome == search::Outcome::kOpen, node.bound, left);
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<search::Share>(m, "Share")
      .def(nb::init<std::size_t, double, double, double>(), "output"_a, "scale"_a, "low"_a, "high"_a);
  nb::class_<Problem>(m, "SearchProblem")
      .def(nb::init<>())
      .def("add_feature", &add_feature, "atom"_a, "atom_cost"_a, "low"_a, "high"_a, "segments"_a, "segment"_a, "grid"_a,
           "factual"_a, "anchor"_a)
      .def("set_network", &set_network, "first"_a, "sizes"_a, "inputs"_a, "terms"_a, "bias"_a, "later"_a)
      .def("set_forest", &set_forest, "nodes"_a, "roots"_a, "output_of"_a, "values"_a, "base"_a, "divisor"_a)
      .def("set_composite", &set_composite, "inputs"_a, "forests"_a, "linear_forests"_a, "functions"_a, "units"_a, "outputs"_a)
      .def("add_alternative", &add_alternative, "coefficients"_a, "lower"_a, "share"_a.none())
      .def("set_circuit", &set_circuit, "circuit"_a, "targets"_a, "given"_a, "approximate"_a, "threshold"_a, "weight"_a,
           nb::keep_alive<1, 2>())
      .def("set_coherence", &set_coherence, "circuit"_a, "targets"_a, "threshold"_a, nb::keep_alive<1, 2>())
      .def(
          "add_clause",
          [](Problem& problem, const std::vector<std::pair<std::size_t, Region>>& literals) {
            problem.rules.clauses.push_back({literals_of(problem, literals)});
          },
          "literals"_a)
      .def(
          "add_at_most",
          [](Problem& problem, const std::vector<std::pair<std::size_t, Region>>& literals, std::size_t count) {
            problem.rules.at_most.push_back({literals_of(problem, literals), count});
          },
          "literals"_a, "count"_a)
      .def(
          "add_linear",
          [](Problem& problem, const std::vector<std::size_t>& features, const std::vector<double>& coefficients, double upper) {
            problem.rules.linear.emplace_back(problem.domain, features, coefficients, upper);
          },
          "features"_a, "coefficients"_a, "upper"_a)
      .def_rw("nodes_before_trees", &search::Problem::nodes_before_trees)
      .def_rw("nodes_before_prices", &search::Problem::nodes_before_prices)
      .def_rw("nodes_before_unit_prices", &search::Problem::nodes_before_unit_prices)
      .def_rw("nodes_before_ranges", &search::Problem::nodes_before_ranges)
      .def_rw("nodes_before_rounds", &search::Problem::nodes_before_rounds)
      .def("cut_at", &cut_at, "feature"_a, "breakpoints"_a)
      .def(
          "contains",
          [](const Problem& problem, const std::vector<double>& row) {
            return row.size() == problem.domain.features.size() &&
                   search::whole(problem.domain).contains(problem.domain, row.data());
          },
          "row"_a)
      .def("propagated", &propagated, "atoms"_a, "ranges"_a, "alternative"_a, "incumbent"_a)
      .def("solve", &solve, "seconds"_a, "nodes"_a, "absolute_gap"_a, "relative_gap"_a, "solutions"_a, "other_features"_a,
           "pool_gap"_a, "open_nodes"_a, "threads"_a, "starts"_a, "callback"_a.none(), "follow"_a.none(), "certificate"_a);
}

}  // namespace likely
