#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/budget.hpp"

namespace likely::search::test {

namespace {

// How far the greatest score lies below the bound; every row must be below what is said of it.
double gap_of(const Domain& domain, const Score& score, const Goal& goal, const Box& box) {
  const Relaxation relaxation = relaxed(score, {goal}, box);
  double greatest = -kInf;
  for (const std::vector<double>& row : rows_of(domain, box)) {
    const double value = score_of(score, goal, row);
    CHECK(value <= bound_at(domain, relaxation, row) + relaxation.rounding);
    CHECK(bound_at(domain, relaxation, row) <= relaxation.upper + relaxation.rounding);
    greatest = std::max(greatest, value);
  }
  return relaxation.upper - greatest;
}

}  // namespace

TEST_CASE("goals and shares of the softmax") {
  const Goal goal{{1, -1}, 0.5};
  CHECK(goal.score({2, 1}) == 1);
  const Alternative alternative{{goal}, Share{0, 1, std::log(0.7), 0}};
  CHECK(alternative.met({2, 1}));          // 1 / (1 + 1 / e) = 0.73
  CHECK_FALSE(alternative.met({1.6, 1}));  // goal met, but 0.65
  CHECK_FALSE(alternative.met({1.2, 1}));
}

TEST_CASE("the bound of a linear model is exact") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto network = some_network(domain, rng, {});
    CHECK(gap_of(domain, *network, {{uniform(rng, -2, 2)}, 0}, some_box(domain, rng)) == doctest::Approx(0).epsilon(1e-9));
  }
}

TEST_CASE("the bound of a network is above every row") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto network = some_network(domain, rng, seed % 2 == 0 ? std::vector<std::size_t>{6} : std::vector<std::size_t>{5, 4});
    CHECK(gap_of(domain, *network, {{seed % 3 == 0 ? -1.0 : 1.0}, 0}, some_box(domain, rng)) >= -1e-9);
  }
}

TEST_CASE("the bound of a network is exact at a point") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto network = some_network(domain, rng, {5, 4});
    Box box = whole(domain);
    for (std::size_t j = 0; j < 3; ++j) box.fix(domain, j, below(rng, 3));
    CHECK(gap_of(domain, *network, {{1.0}, 0}, box) == doctest::Approx(0).epsilon(1e-9));
  }
}

TEST_CASE("a network over reals, by sampling") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const Domain domain = domain_of({reals(-3, 3, 0.5), reals(-1, 2, 0)});
    const auto network = some_network(domain, rng, {6});
    CHECK(gap_of(domain, *network, {{1.0}, 0}, some_box(domain, rng)) >= -1e-9);
  }
}

TEST_CASE("the bound of a network is above every row within the budget, and lower than that of the box") {
  int tighter = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const Domain domain = domain_of(
        {reals(-3, 3, 0.5, 0.7, 1.3), whole_numbers(0, 5, below(rng, 6)), categories({0, 0.5, 1.5}, 0), reals(-1, 2, 0)});
    const auto network = some_network(domain, rng, {6, 5});
    const Goal goal{{1.0}, 0};
    const Box box = some_box(domain, rng);
    const double budget = uniform(rng, 0.5, 4);
    const Relaxation within = relaxed(*network, {goal}, Region{box, budget}), all = relaxed(*network, {goal}, box);
    for (const std::vector<double>& row : rows_of(domain, box))
      if (domain.cost(row.data()) <= budget)
        CHECK(score_of(*network, goal, row) <= bound_at(domain, within, row) + within.rounding);
    tighter += within.upper < all.upper - 1e-6 ? 1 : 0;
  }
  CHECK(tighter > 50);
}

TEST_CASE("a knapsack is filled where the gain per cost is greatest") {
  const Domain domain = domain_of({reals(0, 10, 0, 1, 1), reals(0, 10, 0, 1, 2), categories({0, 3}, 0)});
  Vertices vertices;
  vertices.find(domain, {whole(domain), 8});
  REQUIRE(vertices.list.size() == 6);
  const double value[] = {0, 10, 0, 40, 0, 9};  // gains per cost: 1, 2, 3
  Knapsack knapsack;
  CHECK(knapsack.greatest(vertices, value) == doctest::Approx(9 + 5 * 2));
  vertices.find(domain, {whole(domain), 100});
  CHECK_FALSE(vertices.binding);
  CHECK(knapsack.greatest(vertices, value) == doctest::Approx(59));
}

TEST_CASE("slack is attributed only where there is a relaxation gap") {
  Rng rng(3);
  const Domain domain = small_domain(rng);
  const Goal goal{{1.0}, 0};
  const auto network = some_network(domain, rng, {6});
  Box box = whole(domain);
  Relaxation relaxation = relaxed(*network, {goal}, box);
  double all = 0;
  for (const double part : relaxation.attribution) all += part;
  CHECK(all > 0);
  for (std::size_t j = 0; j < 3; ++j) box.fix(domain, j, 0);
  relaxation = relaxed(*network, {goal}, box);
  for (const double part : relaxation.attribution) CHECK(part == 0);
}

TEST_CASE("a workspace that was used before changes nothing") {
  Rng rng(5);
  const Domain domain = small_domain(rng);
  const Goal goal{{1.0}, 0};
  const auto network = some_network(domain, rng, {6, 5});
  const auto forest = some_forest(domain, rng, 4);
  for (const Score* score : {static_cast<const Score*>(network.get()), static_cast<const Score*>(forest.get())}) {
    const auto used = score->workspace({goal});
    for (int i = 0; i < 20; ++i) {
      const Box box = some_box(domain, rng);
      Relaxation first;
      CHECK(score->enter({box}, *used));
      score->relax({box}, {goal}, 0, *used, first);
      const Relaxation second = relaxed(*score, {goal}, box);
      CHECK(first.upper == second.upper);
      CHECK(first.atom == second.atom);
      CHECK(first.cell == second.cell);
      CHECK(first.slope == second.slope);
    }
  }
}

TEST_CASE("the bound of one tree is exact, for the box and for every value") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto forest = some_forest(domain, rng, 1);
    const Goal goal{{1.0}, 0};
    const Box box = some_box(domain, rng);
    CHECK(gap_of(domain, *forest, goal, box) == doctest::Approx(0).epsilon(1e-9));
    const Relaxation relaxation = relaxed(*forest, {goal}, box);
    for (std::size_t j = 0; j < 3; ++j) {
      for (const double v : values_of(domain.features[j], box, j)) {
        double greatest = -kInf;
        for (const std::vector<double>& row : rows_of(domain, box))
          if (row[j] == v) greatest = std::max(greatest, score_of(*forest, goal, row));
        const Feature& f = domain.features[j];
        const double bound =
            f.atom.empty() ? relaxation.at_cell(f, f.cell_of(v)) : relaxation.at_atom(f, static_cast<std::size_t>(v));
        CHECK(bound == doctest::Approx(greatest).epsilon(1e-9));
      }
    }
  }
}

TEST_CASE("the bound of a forest is above every row") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const Domain domain = small_domain(rng);
    const auto forest = some_forest(domain, rng, 5);
    CHECK(gap_of(domain, *forest, {{seed % 2 == 0 ? 1.0 : -1.0}, 0}, some_box(domain, rng)) >= -1e-9);
  }
}

}  // namespace likely::search::test
