#include <doctest/doctest.h>

#include "build.hpp"

namespace likely::search::test {

namespace {

using Region = std::vector<std::pair<double, double>>;

// Propagation keeps every row of the box that keeps the rules, and says that none is left only if that is so.
void check_against_enumeration(const Domain& domain, const Rules& rules, const Box& before) {
  Box after = before;
  const bool possible = rules.propagate(domain, after);
  for (const std::vector<double>& row : rows_of(domain, before)) {
    if (!rules.hold(row.data())) continue;
    REQUIRE(possible);
    CHECK(after.contains(domain, row.data()));
  }
}

}  // namespace

TEST_CASE("a literal holds never, sometimes or always") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2)});
  const Literal literal(domain, 0, Region{{1, 2}, {4, 4}});
  Box box = whole(domain);
  CHECK(literal.state(domain, box) == Literal::State::kSometimes);
  CHECK(literal.keep(domain, box, true));
  CHECK(box.range[0].low == 1);  // of numbers, up to the outermost cells
  CHECK(box.range[0].high == 4);
  box.fix(domain, 0, 2);
  CHECK(literal.state(domain, box) == Literal::State::kAlways);
  box = whole(domain);
  box.fix(domain, 0, 3);
  CHECK(literal.state(domain, box) == Literal::State::kNever);
  const std::vector<double> row{4};
  CHECK(literal.holds(row.data()));
}

TEST_CASE("clauses propagate their last literal") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), categories({0, 1, 1}, 0)});
  Rules rules;
  rules.clauses.push_back({{Literal(domain, 0, Region{{4, 5}}), Literal(domain, 1, Region{{2, 2}})}});
  Box box = whole(domain);
  CHECK(rules.propagate(domain, box));
  CHECK(box.value_count(domain) == 9);
  box.fix(domain, 1, 0);
  CHECK(rules.propagate(domain, box));
  CHECK(box.range[0].low == 4);
  box.keep_numbers(domain, 0, 0, 3);
  CHECK_FALSE(rules.propagate(domain, box));
}

TEST_CASE("at most so many literals hold") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), whole_numbers(0, 5, 2), whole_numbers(0, 5, 2)});
  Rules rules;
  AtMost rule{{}, 1};
  for (std::size_t j = 0; j < 3; ++j) rule.literals.emplace_back(domain, j, Region{{3, 5}});
  rules.at_most.push_back(rule);
  Box box = whole(domain);
  box.fix(domain, 0, 4);
  CHECK(rules.propagate(domain, box));
  CHECK(box.range[1].high == 2);
  CHECK(box.range[2].high == 2);
  box = whole(domain);
  box.fix(domain, 0, 4);
  box.fix(domain, 1, 5);
  CHECK_FALSE(rules.propagate(domain, box));
}

TEST_CASE("a rule that a row breaks and the box leaves open names a feature") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), whole_numbers(0, 5, 2)});
  const Literal hole(domain, 0, Region{{0, 1}, {4, 5}}), high(domain, 1, Region{{4, 5}});
  const Rules either{{Clause{{hole, high}}}, {}, {}}, alone{{Clause{{hole}}}, {}, {}}, few{{}, {AtMost{{hole, high}, 1}}, {}};
  const std::vector<double> breaks{2, 0}, keeps{4, 0}, both{4, 4};
  Box box = whole(domain);
  CHECK(either.undecided(domain, box, breaks.data()) == std::optional<std::size_t>{0});
  CHECK(alone.undecided(domain, box, breaks.data()) == std::optional<std::size_t>{0});  // outermost cells are inside
  CHECK(few.undecided(domain, box, both.data()) == std::optional<std::size_t>{0});
  CHECK(!either.undecided(domain, box, keeps.data()));
  CHECK(!few.undecided(domain, box, keeps.data()));
  box.keep_numbers(domain, 0, 2, 3);
  CHECK(either.undecided(domain, box, breaks.data()) == std::optional<std::size_t>{1});
  CHECK(!alone.undecided(domain, box, breaks.data()));  // decided: propagation ends such a box
}

TEST_CASE("linear rules tighten by activities") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), whole_numbers(0, 5, 2)});
  Rules rules;
  rules.linear.emplace_back(domain, std::vector<std::size_t>{0, 1}, std::vector<double>{1, -1}, -3.0);
  CHECK(rules.linear[0].dense == std::vector<double>{1, -1});
  Box box = whole(domain);
  CHECK(rules.propagate(domain, box));
  CHECK(box.range[0].high == 2);
  CHECK(box.range[1].low == 3);
  box.keep_numbers(domain, 1, 0, 3);
  CHECK(rules.propagate(domain, box));
  CHECK(box.single(domain, 0));
  const std::vector<double> kept{0, 3}, broken{1, 3};
  CHECK(rules.hold(kept.data()));
  CHECK_FALSE(rules.hold(broken.data()));
  CHECK(rules.linear[0].relaxed_rest(box) > -3);
}

TEST_CASE("a rule over whole numbers is exact, however large they are") {
  const double large = 1.7e15;
  Feature start = whole_numbers(0, 5, 2), end = whole_numbers(0, 5, 3);
  for (Feature* f : {&start, &end}) {
    for (std::vector<double>* numbers : {&f->low, &f->high})
      for (double& v : *numbers) v += large;
    for (Segment& segment : f->segments) {
      segment.low += large;
      segment.high += large;
    }
    f->factual += large;
    f->anchor += large;
  }
  const Domain domain = domain_of({start, end});
  const LinearRule ordered(domain, {0, 1}, {1, -1}, 0);
  CHECK(ordered.whole);
  CHECK(ordered.rest == 1);
  for (const std::vector<double>& row : rows_of(domain, whole(domain))) CHECK(ordered.holds(row.data()) == (row[0] <= row[1]));
  Rules rules;
  rules.linear.push_back(ordered);
  check_against_enumeration(domain, rules, whole(domain));
  Box box = whole(domain);
  box.fix(domain, 1, large + 2);
  CHECK(rules.propagate(domain, box));
  CHECK(box.range[0].high == large + 2);
}

TEST_CASE("a rule over reals may be exceeded by rounding alone") {
  const Domain domain = domain_of({reals(0, 1, 0.5), reals(0, 1, 0.5), reals(0, 1, 0.5)});
  const LinearRule sum(domain, {0, 1, 2}, {1, 1, -1}, 0);
  const std::vector<double> rounded{0.1, 0.2, 0.3}, above{0.1, 0.2 + 1e-12, 0.3};
  CHECK(sum.holds(rounded.data()));
  CHECK_FALSE(sum.holds(above.data()));
}

TEST_CASE("linear rules of other sizes are refused") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2)});
  CHECK_THROWS_AS(LinearRule(domain, {0}, {1, 2}, 0), std::invalid_argument);
  CHECK_THROWS_AS(LinearRule(domain, {1}, {1}, 0), std::out_of_range);
}

TEST_CASE("random rules against enumeration") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const Domain domain = domain_of({whole_numbers(0, 5, 2), whole_numbers(0, 4, 1), categories({0, 1, 1}, 0)});
    Rules rules;
    auto literal = [&] {
      const auto j = static_cast<std::size_t>(below(rng, 3));
      const double low = below(rng, 4);
      return Literal(domain, j, Region{{low, low + below(rng, 3)}});
    };
    for (int i = 0; i < 2; ++i) rules.clauses.push_back({{literal(), literal()}});
    rules.at_most.push_back({{literal(), literal(), literal()}, static_cast<std::size_t>(below(rng, 3))});
    rules.linear.emplace_back(domain, std::vector<std::size_t>{0, 1},
                              std::vector<double>{uniform(rng, -2, 2), uniform(rng, -2, 2)}, uniform(rng, -4, 6));
    check_against_enumeration(domain, rules, some_box(domain, rng));
  }
}

}  // namespace likely::search::test
