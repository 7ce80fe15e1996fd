#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/duals.hpp"
#include "search/simplex.hpp"
#include "search/triangles.hpp"
#include "search/unit_ranges.hpp"

namespace likely::search::test {

namespace {

LinearProgramme some_programme(Rng& rng, std::size_t columns, std::size_t rows) {
  LinearProgramme made;
  made.reset(columns);
  for (std::size_t k = 0; k < columns; ++k) made.cost[k] = uniform(rng, -1, 2);
  for (std::size_t r = 0; r < rows; ++r) {
    const double from = uniform(rng, -2, 1);
    double* row = made.add_row(from, from + uniform(rng, 0, 3));
    for (std::size_t k = 0; k < columns; ++k) row[k] = uniform(rng, -1, 1);
  }
  return made;
}

// min over bounds of the Lagrangian at the simplex's multipliers.
double dual_value(const LinearProgramme& programme, const Simplex& simplex) {
  double total = 0;
  for (std::size_t r = 0; r < programme.rows; ++r) {
    const double y = simplex.multiplier(r);
    total += y * (y > 0 ? programme.low : programme.high)[programme.columns + r];
  }
  for (std::size_t k = 0; k < programme.columns; ++k) {
    double reduced = programme.cost[k];
    for (std::size_t r = 0; r < programme.rows; ++r)
      reduced -= simplex.multiplier(r) * programme.matrix[r * programme.columns + k];
    total += reduced * (reduced > 0 ? programme.low : programme.high)[k];
  }
  return total;
}

// A domain in which boxes are wide, and a network over it.
struct Setting {
  explicit Setting(unsigned seed)
      : rng(seed),
        domain(domain_of({reals(-3, 3, 0.5, 0.7, 1.3), reals(-2, 2, 0, 1, 0.4), categories({0, 0.5, 1.5}, 0), reals(-1, 2, 0)})),
        network(some_network(domain, rng, seed % 2 == 0 ? std::vector<std::size_t>{7} : std::vector<std::size_t>{6, 5})) {}

  std::vector<UnitSplit> some_splits(const std::vector<double>& row) {
    std::vector<UnitSplit> made;
    for (const UnitSplit& side : network->sides(row.data()))
      if (below(rng, 3) == 0) made.push_back(side);
    return made;
  }

  double score(const std::vector<double>& row) const {
    std::vector<double> outputs;
    network->outputs(row.data(), outputs);
    return outputs[0];
  }

  Rng rng;
  Domain domain;
  std::unique_ptr<Network> network;
};

bool on_sides(const Network& network, const std::vector<UnitSplit>& splits, const std::vector<double>& row) {
  const std::vector<UnitSplit> sides = network.sides(row.data());
  return std::all_of(splits.begin(), splits.end(), [&](const UnitSplit& split) {
    return std::any_of(sides.begin(), sides.end(), [&](const UnitSplit& side) {
      return side.layer == split.layer && side.unit == split.unit && side.on == split.on;
    });
  });
}

double at_row(const Domain& domain, const Relaxation& relaxation, const std::vector<double>& row) {
  double sum = relaxation.constant;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const std::int32_t k = domain.features[j].atom_of(row[j]);
    sum += k >= 0 ? relaxation.at_atom(domain.features[j], static_cast<std::size_t>(k))
                  : relaxation.at_number(domain.features[j], j, row[j]);
  }
  return sum;
}

}  // namespace

TEST_CASE("the simplex ends with values and multipliers of one objective, or shows that there are no values") {
  int optimal = 0, infeasible = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const LinearProgramme programme = some_programme(rng, 2 + seed % 9, 1 + seed % 7);
    double beyond = 1;  // what no values cost
    for (const double cost : programme.cost) beyond += std::max(0.0, cost);
    Simplex simplex;
    simplex.load(programme);
    const Simplex::End end = simplex.solve(beyond, 1000);
    REQUIRE(end != Simplex::End::kStopped);
    if (end != Simplex::End::kOptimal) {
      ++infeasible;
      CHECK(dual_value(programme, simplex) >= beyond - 1e-7);
      continue;
    }
    ++optimal;
    double objective = 0;
    for (std::size_t k = 0; k < programme.columns; ++k) {
      const double value = simplex.value(static_cast<std::uint32_t>(k));
      CHECK(value >= -1e-8);
      CHECK(value <= 1 + 1e-8);
      objective += programme.cost[k] * value;
    }
    CHECK(objective == doctest::Approx(simplex.objective()).epsilon(1e-7));
    CHECK(dual_value(programme, simplex) == doctest::Approx(objective).epsilon(1e-7));
  }
  CHECK(optimal > 100);
  CHECK(infeasible > 10);
}

TEST_CASE("a simplex that goes on from a basis comes to the same objective") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const LinearProgramme programme = some_programme(rng, 8, 4);
    Simplex first, second;
    first.load(programme);
    if (first.solve(kInf, 1000) != Simplex::End::kOptimal) continue;
    std::vector<std::uint32_t> basic, nonbasic;
    for (std::size_t r = 0; r < first.rows(); ++r)
      if (first.basic(r) < first.columns()) basic.push_back(first.basic(r));
    for (std::size_t k = 0; k < first.columns(); ++k)
      if (first.nonbasic(k) >= first.columns()) nonbasic.push_back(first.nonbasic(k));
    second.load(programme);
    second.start_from(basic, nonbasic);
    const std::size_t pivots = second.pivots();
    CHECK(second.solve(kInf, 1000) == Simplex::End::kOptimal);
    CHECK(second.pivots() == pivots);
    CHECK(second.objective() == doctest::Approx(first.objective()).epsilon(1e-7));
  }
}

TEST_CASE("from values that are possible, the primal method comes to the objective of the dual one") {
  int improved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    LinearProgramme programme = some_programme(rng, 2 + seed % 9, 1 + seed % 7);
    Simplex primal, dual;
    primal.load(programme);
    if (primal.solve(kInf, 1000) != Simplex::End::kOptimal) continue;
    for (double& cost : programme.cost) cost = uniform(rng, -1, 1);
    dual.load(programme);
    REQUIRE(dual.solve(kInf, 1000) == Simplex::End::kOptimal);
    primal.set_cost(programme.cost);
    improved += primal.objective() > dual.objective() + 1e-6 ? 1 : 0;
    CHECK(primal.improve(-kInf, 1000) == Simplex::End::kOptimal);
    CHECK(primal.objective() == doctest::Approx(dual.objective()).epsilon(1e-7));
    CHECK(dual_value(programme, primal) == doctest::Approx(dual.objective()).epsilon(1e-7));
  }
  CHECK(improved > 100);
}

TEST_CASE("the inequality of any multipliers holds for every row of a region that reaches the goal") {
  int held = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const Box box = some_box(setting.domain, setting.rng);
    const Rows rows = rows_of(setting.domain, box);
    const std::vector<double>& row = rows[static_cast<std::size_t>(below(setting.rng, static_cast<int>(rows.size())))];
    const std::vector<UnitSplit> splits = setting.some_splits(row);
    const std::vector<Goal> goals{{{1.0}, setting.score(row) - 0.1}};
    const double budget = setting.domain.cost(row.data()) + uniform(setting.rng, 0, 1);
    const Region region{box, budget, splits};
    const auto workspace = setting.network->workspace(goals);
    REQUIRE(setting.network->enter(region, *workspace));
    UnitMultipliers multipliers{{uniform(setting.rng, 0, 3)}, {}, {}};
    for (const std::size_t width : seed % 2 == 0 ? std::vector<std::size_t>{7} : std::vector<std::size_t>{6, 5}) {
      for (auto* prices : {&multipliers.units, &multipliers.chords}) {
        prices->emplace_back();
        for (std::size_t h = 0; h < width; ++h) prices->back().push_back(uniform(setting.rng, -1, 2));
      }
    }
    Relaxation inequality;
    setting.network->aggregate(region, goals, multipliers, *workspace, inequality);
    for (const std::vector<double>& other : rows) {
      if (setting.domain.cost(other.data()) > budget || setting.score(other) < goals[0].lower) continue;
      if (!on_sides(*setting.network, splits, other)) continue;
      CHECK(at_row(setting.domain, inequality, other) >= -inequality.rounding);
      ++held;
    }
  }
  CHECK(held > 100);
}

// What the units of one row are before their ReLU.
UnitRanges arguments(const Setting& setting, const std::vector<double>& row) {
  Box box = whole(setting.domain);
  for (std::size_t j = 0; j < row.size(); ++j) box.fix(setting.domain, j, row[j]);
  const auto workspace = setting.network->workspace({});
  setting.network->enter({box}, *workspace);
  return setting.network->ranges(*workspace);
}

TEST_CASE("no unit of a row that reaches the goal is beyond the bound of any multipliers") {
  int held = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const Box box = some_box(setting.domain, setting.rng);
    const Rows rows = rows_of(setting.domain, box);
    const std::vector<double>& row = rows[static_cast<std::size_t>(below(setting.rng, static_cast<int>(rows.size())))];
    const std::vector<UnitSplit> splits = setting.some_splits(row);
    const std::vector<Goal> goals{{{1.0}, setting.score(row) - 0.1}};
    const double budget = setting.domain.cost(row.data()) + uniform(setting.rng, 0, 1);
    const Region region{box, budget, splits};
    const auto workspace = setting.network->workspace(goals);
    REQUIRE(setting.network->enter(region, *workspace));
    const UnitRanges ranges = setting.network->ranges(*workspace);
    UnitMultipliers multipliers{{uniform(setting.rng, 0, 3)}, {}, {}};
    for (const std::vector<double>& layer : ranges.low) {
      for (auto* prices : {&multipliers.units, &multipliers.chords}) {
        prices->emplace_back();
        for (std::size_t h = 0; h < layer.size(); ++h) prices->back().push_back(uniform(setting.rng, -1, 2));
      }
    }
    const std::size_t layer = static_cast<std::size_t>(below(setting.rng, static_cast<int>(ranges.low.size())));
    const auto unit = static_cast<std::size_t>(below(setting.rng, static_cast<int>(ranges.low[layer].size())));
    for (const double sign : {1.0, -1.0}) {
      const double bound = setting.network->greatest_of_unit(region, goals, multipliers, {layer, unit, sign}, *workspace);
      for (const std::vector<double>& other : rows) {
        if (setting.domain.cost(other.data()) > budget || setting.score(other) < goals[0].lower) continue;
        if (!on_sides(*setting.network, splits, other)) continue;
        const UnitRanges at = arguments(setting, other);
        CHECK((sign > 0 ? at.low : at.high)[layer][unit] * sign <= bound);
        ++held;
      }
    }
  }
  CHECK(held > 100);
}

TEST_CASE(
    "ranges of units hold for every row that reaches the goal within the cut-off, and the programme says the same in them") {
  int held = 0, narrower = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const Rows rows = rows_of(setting.domain, whole(setting.domain));
    const std::vector<double>& row = rows[static_cast<std::size_t>(below(setting.rng, static_cast<int>(rows.size())))];
    Problem problem;
    problem.domain = setting.domain;
    problem.alternatives.push_back({{{{1.0}, setting.score(row) - 0.1}}, std::nullopt});
    Rng rng = setting.rng;
    Network* network = setting.network.get();
    problem.score = std::move(setting.network);
    setting.network.reset();
    Node node = root_node(problem, 0);
    for (const UnitSplit& side : network->sides(row.data()))
      if (below(rng, 3) == 0) node.splits.push_back(side);
    const double cutoff = problem.domain.cost(row.data()) + 0.3;
    Workspace workspace(problem);
    REQUIRE(workspace.units);
    ScoreWorkspace& score = *workspace.scores[0];
    REQUIRE(network->enter(region_of(node, cutoff), score));
    const UnitRanges before = network->ranges(score);
    node.ranges = tighten_ranges(problem, node, cutoff, workspace);
    REQUIRE(node.ranges);
    for (std::size_t at = 0; at < before.low.size(); ++at) {
      for (std::size_t h = 0; h < before.low[at].size(); ++h) {
        CHECK(node.ranges->low[at][h] >= before.low[at][h]);
        CHECK(node.ranges->high[at][h] <= before.high[at][h]);
        narrower += node.ranges->high[at][h] - node.ranges->low[at][h] < 0.8 * (before.high[at][h] - before.low[at][h]) ? 1 : 0;
      }
    }
    for (const std::vector<double>& other : rows) {
      std::vector<double> outputs;
      network->outputs(other.data(), outputs);
      if (problem.domain.cost(other.data()) > cutoff || outputs[0] < problem.goals(0)[0].lower) continue;
      if (!on_sides(*network, node.splits, other)) continue;
      Node single = node;
      for (std::size_t j = 0; j < other.size(); ++j) single.box.fix(problem.domain, j, other[j]);
      CHECK(network->enter(region_of(single, cutoff), score));  // its units are within the ranges
      ++held;
    }
  }
  CHECK(held > 100);
  CHECK(narrower > 100);
}

TEST_CASE("the programme's bound is below every row that reaches the goal, and its row is one if all units are decided") {
  int exact = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting setting(seed);
    const Box box = whole(setting.domain);
    const Rows rows = rows_of(setting.domain, box);
    const std::vector<double>& row = rows[static_cast<std::size_t>(below(setting.rng, static_cast<int>(rows.size())))];
    const bool all = seed % 3 == 0;
    const std::vector<UnitSplit> splits = all ? setting.network->sides(row.data()) : setting.some_splits(row);
    const std::vector<Goal> goals{{{1.0}, setting.score(row) - 0.1}};
    Problem problem;
    problem.domain = setting.domain;
    const double budget = setting.domain.cost(row.data()) + 0.5;
    const Region region{box, budget, splits};
    const auto workspace = setting.network->workspace(goals);
    REQUIRE(setting.network->enter(region, *workspace));
    Triangles triangles(*setting.network);
    triangles.build(region, goals, *workspace);
    REQUIRE(triangles.solve({}, kInf) == Simplex::End::kOptimal);
    Relaxation inequality;
    setting.network->aggregate(region, goals, triangles.multipliers(), *workspace, inequality);
    const double bound = lagrangian(problem, box, inequality, -inequality.rounding, {1, 0, 0});
    CHECK(bound == doctest::Approx(triangles.objective()).epsilon(1e-6));
    for (const std::vector<double>& other : rows)
      if (setting.score(other) >= goals[0].lower && on_sides(*setting.network, splits, other))
        CHECK(bound <= setting.domain.cost(other.data()) + 1e-9);
    std::vector<double> solution;
    triangles.row(solution);
    if (!all || !on_sides(*setting.network, splits, solution)) continue;
    if (setting.domain.cost(solution.data()) > triangles.objective() + 1e-9) continue;  // a share of a category
    CHECK(setting.score(solution) >= goals[0].lower - 1e-9);
    ++exact;
  }
  CHECK(exact > 3);
}

// What a row of the programme comes to at a row of the table, with the ReLUs that it has.
double at_row(const Setting& setting, const UnitRows& rows, std::size_t r, const std::vector<double>& row) {
  const std::size_t count = rows.rows.size();
  const std::vector<std::vector<double>> z = setting.network->arguments(row.data());
  double sum = rows.constant[r];
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = setting.domain.features[j];
    const std::int32_t k = f.atom_of(row[j]);
    sum += k >= 0 ? rows.atoms[(f.first_atom + static_cast<std::size_t>(k)) * count + r]
                  : rows.start[j * count + r] + rows.slope[j * count + r] * (row[j] - rows.from[j]);
  }
  for (const UnitRows::Relu& relu : rows.relus) sum += std::max(0.0, z[relu.layer][relu.unit]) / relu.high * relu.adds[r];
  return sum;
}

TEST_CASE("rows of the programme hold at every row that reaches the goal, and their prices are its multipliers") {
  int held = 0, tight = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const Box box = whole(setting.domain);
    const Rows table = rows_of(setting.domain, box);
    const std::vector<double>& row = table[static_cast<std::size_t>(below(setting.rng, static_cast<int>(table.size())))];
    const std::vector<UnitSplit> splits = setting.some_splits(row);
    const std::vector<Goal> goals{{{1.0}, setting.score(row) - 0.1}};
    const double budget = setting.domain.cost(row.data()) + 0.5;
    const Region region{box, budget, splits};
    const auto workspace = setting.network->workspace(goals);
    REQUIRE(setting.network->enter(region, *workspace));
    Triangles triangles(*setting.network);
    triangles.build(region, goals, *workspace);
    REQUIRE(triangles.solve({}, kInf) == Simplex::End::kOptimal);
    UnitRows rows;
    triangles.fill_rows(rows);
    for (const std::vector<double>& other : table) {
      if (setting.domain.cost(other.data()) > budget || setting.score(other) < goals[0].lower) continue;
      if (!on_sides(*setting.network, splits, other)) continue;
      for (std::size_t r = 0; r < rows.rows.size(); ++r) {
        const double left = at_row(setting, rows, r, other);
        CHECK(left >= -1e-9);
        tight += left < 1e-9 ? 1 : 0;
        ++held;
      }
    }
    const UnitMultipliers multipliers = triangles.multipliers();
    std::vector<double> prices(rows.rows.size());
    rows.from_multipliers(multipliers, 2, prices.data());
    for (const double price : prices) CHECK(price >= -1e-9);
    UnitMultipliers twice;
    rows.to_multipliers(prices.data(), twice);
    CHECK(twice.goals[0] == 2 * multipliers.goals[0]);
    for (std::size_t at = 0; at < twice.units.size(); ++at)
      for (std::size_t h = 0; h < twice.units[at].size(); ++h) {
        CHECK(twice.units[at][h] == 2 * multipliers.units[at][h]);
        CHECK(twice.chords[at][h] == 2 * multipliers.chords[at][h]);
      }
  }
  CHECK(held > 100);
  CHECK(tight > 100);
}

}  // namespace likely::search::test
