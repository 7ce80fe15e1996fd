#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/tree_duals.hpp"
#include "search/tree_moves.hpp"

namespace likely::search::test {

namespace {

// A forest over a small domain, a box, and the rows of it that reach a goal.
struct Setting {
  explicit Setting(unsigned seed)
      : rng(seed),
        domain(small_domain(rng)),
        forest(some_forest(domain, rng, 5)),
        links(*forest),
        box(seed % 3 == 0 ? whole(domain) : some_box(domain, rng)) {
    std::vector<double> scores;
    const Rows rows = rows_of(domain, box);
    for (const std::vector<double>& row : rows) scores.push_back(score(row));
    std::sort(scores.begin(), scores.end());
    goal = {{1}, scores[static_cast<std::size_t>(below(rng, static_cast<int>(scores.size())))] - 1e-9};
    for (const std::vector<double>& row : rows)
      if (score(row) >= goal.lower) answers.push_back(row);
  }

  double score(const std::vector<double>& row) const {
    std::vector<double> outputs;
    forest->outputs(row.data(), outputs);
    return outputs[0];
  }

  double cost(const std::vector<double>& row) const { return domain.cost(row.data()); }

  double cheapest() const {
    double least = kInf;
    for (const std::vector<double>& row : answers) least = std::min(least, cost(row));
    return least;
  }

  Rng rng;
  Domain domain;
  std::unique_ptr<Forest> forest;
  TreeLinks links;
  Box box;
  Goal goal;
  Rows answers;
};

}  // namespace

TEST_CASE("no row that reaches the goal costs less than the bound, whatever the shares and prices") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting setting(seed);
    TreePrices prices{std::vector<float>(setting.links.values), {uniform(setting.rng, 0, 4)}};
    for (float& share : prices.shares) share = static_cast<float>(uniform(setting.rng, -1, 1));
    TreeDuals duals(setting.links, {setting.goal});
    for (const int sweeps : {0, 1, 5}) {
      REQUIRE(duals.enter(setting.box, kInf, {setting.goal.lower}, &prices));
      duals.ascend(kInf, sweeps);
      CHECK(duals.bound(kInf) <= setting.cheapest());
    }
  }
}

TEST_CASE("values that a row below the cut-off has stay") {
  std::size_t removed = 0, bounded = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Setting setting(seed);
    const double cutoff = setting.cheapest() + uniform(setting.rng, 1e-6, 1);
    TreeDuals duals(setting.links, {setting.goal});
    const std::size_t before = setting.box.value_count(setting.domain);
    TreePrices prices;
    for (int round = 0; round < 3; ++round) {  // leaves that cost too much are gone, too
      REQUIRE(duals.enter(setting.box, cutoff, {setting.goal.lower}, round == 0 ? nullptr : &prices));
      duals.ascend(cutoff, 10);
      const double bound = duals.bound(cutoff);
      CHECK(bound <= setting.cheapest());
      bounded += bound > 0.5 * setting.cheapest() ? 1 : 0;
      prices = duals.prices();
      duals.reduce_costs();
      duals.filter(cutoff);
      for (const std::vector<double>& row : setting.answers)
        if (setting.cost(row) < cutoff) CHECK(setting.box.contains(setting.domain, row.data()));
    }
    removed += before - setting.box.value_count(setting.domain);
  }
  CHECK(removed > 300);
  CHECK(bounded > 300);
}

TEST_CASE("a box in which every row misses the goal or costs too much") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Setting setting(seed);
    TreeDuals duals(setting.links, {setting.goal});
    if (!duals.enter(setting.box, -1, {setting.goal.lower}, nullptr)) continue;
    FAIL("no row costs less than nothing");
  }
}

TEST_CASE("local search ends at rows that reach the goal, and saves") {
  std::size_t saved = 0, repaired = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting setting(seed);
    TreeMoves moves(*setting.forest, {setting.goal});
    for (const std::vector<double>& answer : setting.answers) {
      std::vector<double> row = answer;
      moves.improve(row);
      CHECK(setting.score(row) >= setting.goal.lower - 1e-12);
      CHECK(setting.cost(row) <= setting.cost(answer) + 1e-12);
      saved += setting.cost(row) < setting.cost(answer) ? 1 : 0;
    }
    for (const std::vector<double>& start : rows_of(setting.domain, setting.box)) {
      std::vector<double> row = start;
      if (!moves.repair(row, kInf)) continue;
      CHECK(setting.score(row) >= setting.goal.lower - 1e-12);
      repaired += setting.score(start) < setting.goal.lower ? 1 : 0;
    }
  }
  CHECK(saved > 1000);
  CHECK(repaired > 1000);
}

}  // namespace likely::search::test
