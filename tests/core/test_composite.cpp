#include <doctest/doctest.h>

#include <array>

#include "build.hpp"
#include "search/composite.hpp"
#include "search/search.hpp"

namespace likely::search::test {

namespace {

using Kind = ScoreFunction::Kind;
using Unit = Composite::Unit;

constexpr std::array kSingle{Kind::kIdentity, Kind::kRelu,       Kind::kLogistic,   Kind::kTanh,        Kind::kClip,
                             Kind::kAbove,    Kind::kAtLeast,    Kind::kConfidence, Kind::kInterpolate, Kind::kSoftplus,
                             Kind::kElu,      Kind::kRisingSilu, Kind::kRisingGelu};
constexpr std::array kGroups{Kind::kSoftmax, Kind::kShares, Kind::kLargest};

ScoreFunction some_function(Rng& rng, Kind kind) {
  ScoreFunction made{kind, uniform(rng, -2, 2), uniform(rng, -1, 1), {}, {}};
  if (kind != Kind::kInterpolate) return made;
  double knot = -2, value = -1;
  for (int i = 0; i < 5; ++i) {
    made.knots.push_back(knot += uniform(rng, 0.1, 1));
    made.values.push_back(value += std::max(0.0, uniform(rng, -0.5, 1)));
  }
  return made;
}

Interval some_interval(Rng& rng, double size) {
  const double low = uniform(rng, -size, size), high = below(rng, 4) == 0 ? low : uniform(rng, low, size);
  return {low, high};
}

// A graph while it grows: units by their numbers.
struct Growing {
  std::vector<Composite::Input> inputs;
  std::vector<std::unique_ptr<Forest>> forests;
  std::vector<Composite::LinearForest> linear_forests;
  std::vector<ScoreFunction> functions;
  std::vector<Unit> units;

  std::uint32_t add(Unit unit) {
    units.push_back(std::move(unit));
    return static_cast<std::uint32_t>(units.size() - 1);
  }
  std::uint32_t input(Composite::Input given) {
    inputs.push_back(std::move(given));
    return add({Composite::Kind::kInput, inputs.size() - 1, 0, {}, {}, {}, 0, 0, 0});
  }
  std::uint32_t trees(std::unique_ptr<Forest> forest) {
    forests.push_back(std::move(forest));
    return add({Composite::Kind::kTrees, forests.size() - 1, 0, {}, {}, {}, 0, 0, 0});
  }
  // Trees whose leaves weigh up to two of the inputs so far, a unit each.
  std::vector<std::uint32_t> linear_trees(std::unique_ptr<Forest> forest, Rng& rng) {
    Composite::LinearForest made{nullptr, {0}, {}, {}};
    std::vector<std::uint32_t> reads, trees;
    for (std::uint32_t u = 0; u < units.size(); ++u)
      if (units[u].kind == Composite::Kind::kInput) reads.push_back(u);
    std::size_t values = 0;  // those of leaves that no row reaches are among them
    for (const Forest::Leaf& leaf : forest->all_leaves()) values = std::max(values, leaf.value + 1);
    for (std::size_t v = 0; v < values; ++v) {
      for (int term = below(rng, 3); term > 0; --term) {
        made.inputs.push_back(static_cast<std::uint32_t>(below(rng, static_cast<int>(inputs.size()))));
        made.weights.push_back(uniform(rng, -1, 1));
      }
      made.starts.push_back(made.inputs.size());
    }
    const std::size_t count = forest->all_trees().size();
    made.trees = std::move(forest);
    linear_forests.push_back(std::move(made));
    for (std::size_t t = 0; t < count; ++t)
      trees.push_back(add({Composite::Kind::kLinearTree, linear_forests.size() - 1, t, reads, {}, {}, 0, 0, 0}));
    return trees;
  }
  std::uint32_t sum(const std::vector<std::uint32_t>& reads, const std::vector<double>& weights, double bias) {
    std::vector<double> sizes;
    for (const double w : weights) sizes.push_back(std::abs(w));
    return add({Composite::Kind::kSum, 0, 0, reads, weights, sizes, bias, std::abs(bias), double(reads.size() + 2)});
  }
  std::vector<std::uint32_t> function(ScoreFunction given, const std::vector<std::uint32_t>& reads) {
    functions.push_back(std::move(given));
    std::vector<std::uint32_t> made;
    for (std::size_t place = 0; place < reads.size(); ++place)
      made.push_back(add({Composite::Kind::kFunction, functions.size() - 1, place, reads, {}, {}, 0, 0, 0}));
    return made;
  }
  std::unique_ptr<Composite> finish(const Domain& domain, std::vector<std::uint32_t> outputs) {
    return std::make_unique<Composite>(domain, std::move(inputs), std::move(forests), std::move(linear_forests),
                                       std::move(functions), std::move(units), std::move(outputs));
  }
};

// An input of a feature, linear or curved.
Composite::Input some_input(const Domain& domain, Rng& rng, std::size_t j, bool curved) {
  Composite::Input made{j, {}, {uniform(rng, -1, 1), uniform(rng, -1, 1), uniform(rng, -1, 1), {}, false, {}}};
  for (std::size_t k = 0; k < domain.features[j].atom.size(); ++k) made.atoms.push_back(uniform(rng, -1, 1));
  if (curved) made.curve.steps = {{CurveStep::Kind::kYeoJohnson, uniform(rng, 0, 2), 0, {}, {}}};
  made.curve.find_kinks();
  return made;
}

std::vector<double> some_weights(Rng& rng, std::size_t count) {
  std::vector<double> made(count);
  for (double& w : made) w = uniform(rng, -2, 2);
  return made;
}

// Two layers of functions over sums of inputs and, if asked for, trees; groups among them.
std::unique_ptr<Composite> some_composite(const Domain& domain, Rng& rng, bool trees, bool curved) {
  Growing graph;
  std::vector<std::uint32_t> last;
  for (std::size_t j = 0; j < domain.features.size(); ++j) last.push_back(graph.input(some_input(domain, rng, j, curved)));
  for (int f = 0; trees && f < 2; ++f) last.push_back(graph.trees(some_forest(domain, rng, 3)));
  for (int layer = 0; layer < 2; ++layer) {
    std::vector<std::uint32_t> made;
    for (int u = 0; u < 4; ++u) {
      const std::uint32_t sum = graph.sum(last, some_weights(rng, last.size()), uniform(rng, -1, 1));
      const Kind kind = kSingle[static_cast<std::size_t>(below(rng, static_cast<int>(kSingle.size())))];
      made.push_back(graph.function(some_function(rng, kind), {sum})[0]);
    }
    if (below(rng, 2) == 0)
      for (const std::uint32_t part : graph.function({Kind::kSoftmax, 1, 0, {}, {}}, {made[0], made[1], made[2]}))
        made.push_back(part);
    last = std::move(made);
  }
  return graph.finish(domain, {graph.sum(last, some_weights(rng, last.size()), 0), last[0]});
}

// A sum of trees with linear leaves, and a function of it.
std::unique_ptr<Composite> some_linear_trees(const Domain& domain, Rng& rng, bool curved) {
  Growing graph;
  for (std::size_t j = 0; j < domain.features.size(); ++j) graph.input(some_input(domain, rng, j, curved));
  const std::vector<std::uint32_t> trees = graph.linear_trees(some_forest(domain, rng, 3), rng);
  const std::uint32_t sum = graph.sum(trees, some_weights(rng, trees.size()), uniform(rng, -1, 1));
  return graph.finish(domain, {sum, graph.function({Kind::kLogistic, 2, 0, {}, {}}, {sum})[0]});
}

// Every row is below all that is said of it, and of the box; how far the greatest lies below that.
double gap_of(const Domain& domain, const Composite& composite, const Goal& goal, const Box& box, const Rows& rows) {
  const std::vector<Goal> goals(composite.relaxations_per_goal(), goal);
  const auto workspace = composite.workspace(goals);
  REQUIRE(composite.enter({box}, *workspace));
  double least = kInf, greatest = -kInf;
  for (std::size_t g = 0; g < goals.size(); ++g) {
    Relaxation relaxation;
    composite.relax({box}, goals, g, *workspace, relaxation);
    for (const std::vector<double>& row : rows) {
      const double value = score_of(composite, goal, row);
      CHECK(value <= bound_at(domain, relaxation, row) + relaxation.rounding);
      CHECK(value <= relaxation.upper + relaxation.rounding);
      greatest = std::max(greatest, value);
    }
    least = std::min(least, relaxation.upper);
  }
  return least - greatest;
}

Goal some_goal(Rng& rng) { return {{uniform(rng, -1, 1), uniform(rng, -1, 1)}, 0}; }

// The votes of linear functions of the features, over all.
std::unique_ptr<Composite> some_votes(const Domain& domain, Rng& rng, int voters) {
  Growing graph;
  std::vector<std::uint32_t> inputs, votes;
  for (std::size_t j = 0; j < domain.features.size(); ++j) inputs.push_back(graph.input(some_input(domain, rng, j, false)));
  for (int v = 0; v < voters; ++v) {
    const std::uint32_t score = graph.sum(inputs, some_weights(rng, inputs.size()), uniform(rng, -0.5, 0.5));
    votes.push_back(graph.function({v % 2 == 0 ? Kind::kAbove : Kind::kAtLeast, 1, 0, {}, {}}, {score})[0]);
  }
  return graph.finish(domain, {graph.sum(votes, std::vector<double>(votes.size(), 1.0), 0)});
}

// Rows of a domain of reals and categories, at random.
Rows sampled(const Domain& domain, Rng& rng, int count) {
  Rows rows;
  for (int i = 0; i < count; ++i) {
    std::vector<double> row;
    for (const Feature& f : domain.features)
      row.push_back(f.low.empty() ? below(rng, static_cast<int>(f.atom.size())) : uniform(rng, f.low.front(), f.high.back()));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

TEST_CASE("functions of one number lie within their bounds and between their lines") {
  for (const Kind kind : kSingle) {
    for (unsigned seed = 0; seed < 60; ++seed) {
      Rng rng(seed);
      const ScoreFunction function = some_function(rng, kind);
      const Interval x = some_interval(rng, seed % 3 == 0 ? 40.0 : 3.0), range = function.over(x);
      const Line above = function.above(x), below = function.below(x);
      for (int i = 0; i <= 64; ++i) {
        const double at = i == 64 ? x.high : x.low + (x.high - x.low) * i / 64, value = function.at(at);
        CHECK(range.low <= value);
        CHECK(value <= range.high);
        CHECK(value <= above.slope * at + above.intercept + 1e-14);
        CHECK(below.slope * at + below.intercept - 1e-14 <= value);
      }
    }
  }
}

TEST_CASE("lines of smooth functions close on narrow intervals") {
  for (const Kind kind : {Kind::kLogistic, Kind::kTanh, Kind::kSoftplus, Kind::kElu, Kind::kRisingSilu, Kind::kRisingGelu}) {
    for (const double low : {-4.0, -1.4, -0.05, 0.3, 6.0}) {
      const ScoreFunction function{kind, 1, 0, {}, {}};
      for (const double width : {0.4, 0.1}) {
        const Line above = function.above({low, low + width}), below = function.below({low, low + width});
        const double middle = low + width / 2;
        CHECK((above.slope - below.slope) * middle + above.intercept - below.intercept <= 0.5 * width * width);
      }
    }
  }
}

TEST_CASE("functions of a group lie within their bounds") {
  for (const Kind kind : kGroups) {
    for (unsigned seed = 0; seed < 60; ++seed) {
      Rng rng(seed);
      const ScoreFunction function{kind, kind == Kind::kShares ? 1.0 : uniform(rng, -2, 2), 0, {}, {}};
      std::vector<Interval> box;
      for (int i = 0; i < 3; ++i) {
        const double low = uniform(rng, kind == Kind::kShares ? 0 : -3, 2);
        box.push_back({low, uniform(rng, low, 3)});
      }
      for (int i = 0; i < 50; ++i) {
        std::vector<double> x;
        for (const Interval& each : box) x.push_back(below(rng, 3) == 0 ? each.low : uniform(rng, each.low, each.high));
        for (std::size_t k = 0; k < 3; ++k) {
          const Interval range = function.over(box, k);
          CHECK(range.low <= function.at(x, k));
          CHECK(function.at(x, k) <= range.high);
        }
      }
    }
  }
}

TEST_CASE("quantiles of the normal distribution have their probabilities, and rise") {
  Curve curve{1, 0, 0, {{CurveStep::Kind::kNormalQuantile, 1, 0, {}, {}}}, false, {}};
  double before = -kInf;
  for (const double p : {1e-12, 1e-7, 1e-3, 0.1, 0.3, 0.4999999, 0.5, 0.500001, 0.7, 0.975, 1 - 1e-7}) {
    const double x = curve.at(p);
    CHECK(0.5 * std::erfc(-x / std::sqrt(2.0)) == doctest::Approx(p).epsilon(1e-13));
    CHECK(x > before);
    before = x;
  }
  CHECK(curve.at(0.5) == 0);
  CHECK(curve.at(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-14));
}

TEST_CASE("the bounds of a composite are above every row") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto composite = some_composite(domain, rng, seed % 2 == 0, seed % 3 == 0);
    const Box box = some_box(domain, rng);
    gap_of(domain, *composite, some_goal(rng), box, rows_of(domain, box));
  }
}

TEST_CASE("the bounds of a composite over reals, by sampling") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Domain domain = domain_of({reals(-3, 3, 0.5), categories({0, 0.5, 1.5}, 0), reals(-1, 2, 0)});
    const auto composite = some_composite(domain, rng, false, seed % 2 == 0);
    const Box box = some_box(domain, rng);
    gap_of(domain, *composite, some_goal(rng), box, rows_of(domain, box));
  }
}

TEST_CASE("the bounds of a composite are exact at a point") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto composite = some_composite(domain, rng, seed % 2 == 0, seed % 3 == 0);
    Box box = whole(domain);
    for (std::size_t j = 0; j < 3; ++j) box.fix(domain, j, below(rng, 3));
    const double gap = gap_of(domain, *composite, some_goal(rng), box, rows_of(domain, box));
    CHECK(gap == doctest::Approx(0).epsilon(1e-9));
  }
}

TEST_CASE("the bounds of linear trees are above every row, and exact at a point") {
  for (unsigned seed = 0; seed < 120; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto composite = some_linear_trees(domain, rng, seed % 3 == 0);
    const Goal goal = some_goal(rng);
    const Box box = some_box(domain, rng);
    gap_of(domain, *composite, goal, box, rows_of(domain, box));
    Box point = whole(domain);
    for (std::size_t j = 0; j < 3; ++j) point.fix(domain, j, below(rng, 3));
    CHECK(gap_of(domain, *composite, goal, point, rows_of(domain, point)) == doctest::Approx(0).epsilon(1e-9));
  }
}

TEST_CASE("linear trees over one cell of every feature are a linear function, and bounded exactly") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const Domain domain = domain_of({reals(0.1, 0.9, 0.5), categories({0, 0.5, 1.5}, 0), reals(1.1, 1.9, 1.5)});
    const auto composite = some_linear_trees(domain, rng, false);
    Box box = whole(domain);
    const int cell = below(rng, 2);
    box.keep_cells(domain, 0, cell, cell);
    box.keep_cells(domain, 2, 1, 1);
    box.fix(domain, 1, below(rng, 3));
    CHECK(gap_of(domain, *composite, {{1.0, 0.0}, 0}, box, rows_of(domain, box)) == doctest::Approx(0).epsilon(1e-9));
  }
}

// What the leaves that a row reaches add to a goal.
double added_up(const Forest& trees, const TreeGains& gains, const Domain& domain, const std::vector<double>& row) {
  Box point = whole(domain);
  for (std::size_t j = 0; j < row.size(); ++j) point.fix(domain, j, row[j]);
  double total = gains.base[0];
  for (std::size_t l = 0; l < trees.all_leaves().size(); ++l)
    if (trees.reaches(point, trees.all_leaves()[l])) total += gains.leaf[l];
  return total;
}

TEST_CASE("sums of trees are above functions of trees, for rows that reach the goal; guesses are exact at their row") {
  std::size_t reached = 0, near = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    Growing graph;
    std::vector<std::uint32_t> scores, made;
    for (int f = 0; f < 3; ++f) scores.push_back(graph.trees(some_forest(domain, rng, 3)));
    for (int u = 0; u < 3; ++u) {
      const Kind kind = kSingle[static_cast<std::size_t>(below(rng, static_cast<int>(kSingle.size())))];
      const bool mixes = below(rng, 2) == 0;
      const std::uint32_t sum = graph.sum(scores, some_weights(rng, 3), uniform(rng, -1, 1));
      made.push_back(graph.function(some_function(rng, kind), {mixes ? sum : scores[static_cast<std::size_t>(u)]})[0]);
    }
    made.push_back(scores[0]);
    const auto composite = graph.finish(domain, {graph.sum(made, some_weights(rng, 4), 0), made[0]});
    REQUIRE(composite->trees_bound());
    const Box box = some_box(domain, rng);
    const Rows rows = rows_of(domain, box);
    Goal goal = some_goal(rng);
    goal.lower = score_of(*composite, goal, rows[static_cast<std::size_t>(below(rng, static_cast<int>(rows.size())))]);
    const auto workspace = composite->workspace({goal});
    REQUIRE(composite->enter({box}, *workspace));
    Relaxation relaxation;
    composite->relax({box}, {goal}, 0, *workspace, relaxation);
    TreeGains gains;
    composite->bound_by_trees({box}, {goal}, *workspace, gains);
    for (const std::vector<double>& row : rows) {
      const double score = score_of(*composite, goal, row);
      TreeGains guess;
      composite->guess_by_trees(row.data(), {goal}, guess);
      CHECK(added_up(*composite->trees(), guess, domain, row) == doctest::Approx(score).epsilon(1e-9));
      if (score < goal.lower) continue;
      const double above = added_up(*composite->trees(), gains, domain, row) - score;
      CHECK(above >= -gains.rounding[0] - relaxation.rounding);
      ++reached;
      near += above < 0.5 ? 1 : 0;
    }
  }
  CHECK(reached > 500);
  CHECK(near > reached / 4);
}

TEST_CASE("hard votes over reals: no bound is below a row, and no row is cheaper than what is proved") {
  int solved = 0;
  for (unsigned seed = 0; seed < 25; ++seed) {
    Rng rng(seed);
    Problem problem;
    problem.domain = domain_of({reals(-1, 1, 0.2), reals(-1, 1, -0.3, 0.7, 1.4), categories({0, 0.5, 1.5}, 0)});
    auto votes = some_votes(problem.domain, rng, 5);
    const Rows rows = sampled(problem.domain, rng, 400);
    const Goal goal{{1.0}, 3};
    const Box box = whole(problem.domain);
    gap_of(problem.domain, *votes, goal, box, rows);
    const std::size_t times = votes->relaxations_per_goal();
    problem.score = std::move(votes);
    problem.alternatives.push_back({std::vector<Goal>(times, goal), std::nullopt});
    Limits limits;
    limits.nodes = 4000;
    limits.absolute_gap = 1e-6;
    const Result result = Search(problem, limits, [](const Progress&) { return true; }).run({});
    double cheapest = kInf;
    for (const std::vector<double>& row : rows)
      if (score_of(*problem.score, goal, row) >= 3) cheapest = std::min(cheapest, problem.domain.cost(row.data()));
    CHECK(result.lower <= cheapest + 1e-9);
    if (result.status == Status::kInfeasible) CHECK(cheapest == kInf);
    if (!result.solutions.empty()) CHECK(score_of(*problem.score, goal, result.solutions[0].row) >= 3);
    solved += result.status == Status::kOptimal || result.status == Status::kInfeasible ? 1 : 0;
  }
  CHECK(solved >= 20);
}

}  // namespace likely::search::test
