#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/duals.hpp"
#include "search/fixing.hpp"

namespace likely::search::test {

namespace {

// A linear goal and a linear rule over the small domain's numbers.
struct Setting {
  Setting(unsigned seed, bool with_rule) : rng(seed) {
    problem.domain = small_domain(rng);
    problem.score = some_network(problem.domain, rng, {});
    box = some_box(problem.domain, rng);
    const Rows rows = rows_of(problem.domain, box);
    std::vector<double> outputs;
    problem.score->outputs(rows[static_cast<std::size_t>(below(rng, static_cast<int>(rows.size())))].data(), outputs);
    problem.alternatives.push_back({{Goal{{1.0}, outputs[0]}}, {}});
    if (with_rule)
      problem.rules.linear.emplace_back(problem.domain, std::vector<std::size_t>{0, 2},
                                        std::vector<double>{uniform(rng, -1, 1), uniform(rng, -1, 1)}, uniform(rng, -2, 3));
    relaxation = relaxed(*problem.score, problem.goals(0), box);
    lower = problem.goals(0)[0].lower - relaxation.rounding;
    cheapest = cheapest_row(problem.domain, box, row);
  }

  // The cheapest row that meets goal and rules, by enumeration.
  double optimum() const {
    double best = kInf;
    for (const std::vector<double>& other : rows_of(problem.domain, box)) {
      std::vector<double> outputs;
      problem.score->outputs(other.data(), outputs);
      if (problem.alternatives[0].met(outputs) && problem.rules.hold(other.data()))
        best = std::min(best, problem.domain.cost(other.data()));
    }
    return best;
  }

  Dual dual(const Multipliers& start = {}) const { return best_dual(problem, box, relaxation, lower, cheapest, start); }

  Rng rng;
  Problem problem;
  Box box;
  Relaxation relaxation;
  double lower = 0, cheapest = 0;
  std::vector<double> row;
};

}  // namespace

TEST_CASE("the cheapest row is the cheapest, and none is costlier than the greatest cost") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Setting setting(seed, false);
    double least = kInf, most = 0;
    for (const std::vector<double>& row : rows_of(setting.problem.domain, setting.box)) {
      least = std::min(least, setting.problem.domain.cost(row.data()));
      most = std::max(most, setting.problem.domain.cost(row.data()));
    }
    CHECK(setting.cheapest == doctest::Approx(least));
    CHECK(setting.problem.domain.cost(setting.row.data()) == doctest::Approx(least));
    CHECK(greatest_cost(setting.problem.domain, setting.box) >= most);
  }
}

TEST_CASE("the dual is below the cheapest answer, and not below the cheapest row") {
  int better = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Setting setting(seed, seed % 2 == 1);
    const Dual dual = setting.dual();
    CHECK(dual.bound <= setting.optimum() + 1e-9);
    CHECK(dual.bound >= setting.cheapest - 1e-9);
    better += dual.bound > setting.cheapest + 1e-6;
  }
  CHECK(better > 50);
}

TEST_CASE("the dual is the Lagrangian at its multipliers, and no other multiplier gives more") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Setting setting(seed, seed % 2 == 1);
    const Dual dual = setting.dual();
    auto at = [&](const Multipliers& multipliers) {
      return lagrangian(setting.problem, setting.box, setting.relaxation, setting.lower, multipliers);
    };
    CHECK(at(dual.multipliers) == dual.bound);
    for (int i = 0; i < 20; ++i) {
      Multipliers other = dual.multipliers;
      other.goal *= uniform(setting.rng, 0, 3);
      CHECK(at(other) <= dual.bound + 1e-6 * (1 + std::abs(dual.bound)));
    }
  }
}

TEST_CASE("where the search for multipliers begins changes nothing") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Setting setting(seed, seed % 2 == 1);
    const Dual cold = setting.dual();
    for (const double start : {1e-6, 0.1, 3.0, 1e4, cold.multipliers.goal}) {
      const Dual warm = setting.dual({start, 0, 0});
      CHECK(warm.bound == cold.bound);
      CHECK(warm.multipliers.goal == cold.multipliers.goal);
      CHECK(warm.multipliers.rule == cold.multipliers.rule);
    }
  }
}

TEST_CASE("a linear rule raises the bound where the dual breaks it") {
  int used = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting with(seed, true);
    const Dual dual = with.dual();
    with.problem.rules.linear.clear();
    CHECK(dual.bound >= with.dual().bound);
    used += dual.multipliers.rule > 0;
  }
  CHECK(used > 20);
}

TEST_CASE("reduced-cost fixing keeps every answer below the cut-off") {
  int fixed = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting setting(seed, seed % 2 == 1);
    Evaluation evaluation(setting.problem, 0);
    const double cutoff = setting.optimum() + uniform(setting.rng, 0, 0.5);
    if (cutoff == kInf) continue;
    Box left = setting.box;
    fixed += reduced_cost_fixing(setting.problem, evaluation, setting.relaxation, setting.dual(), cutoff, left);
    for (const std::vector<double>& row : rows_of(setting.problem.domain, setting.box)) {
      std::vector<double> outputs;
      setting.problem.score->outputs(row.data(), outputs);
      const bool answer = setting.problem.alternatives[0].met(outputs) && setting.problem.rules.hold(row.data());
      if (answer && setting.problem.domain.cost(row.data()) < cutoff) CHECK(left.contains(setting.problem.domain, row.data()));
    }
  }
  CHECK(fixed > 50);
}

}  // namespace likely::search::test
