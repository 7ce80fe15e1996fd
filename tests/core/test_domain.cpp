#include <doctest/doctest.h>

#include "build.hpp"

namespace likely::search::test {

TEST_CASE("cells and atoms are found by value") {
  const Feature n = whole_numbers(0, 5, 2), c = categories({0, 1, 2}, 1);
  CHECK(n.cell_of(3) == 3);
  CHECK(n.cell_of(2.5) == -1);
  CHECK(n.cell_of(-1) == -1);
  CHECK(n.cell_of(6) == -1);
  CHECK(c.atom_of(2) == 2);
  CHECK(c.atom_of(3) == -1);
  CHECK(n.has(0));
  CHECK_FALSE(c.has(0.5));
}

TEST_CASE("costs are linear on segments") {
  const Feature n = whole_numbers(0, 5, 2, 3, 0.5), c = categories({0, 1.5}, 0);
  CHECK(n.cost(2) == 0);
  CHECK(n.cost(0) == 6);
  CHECK(n.cost(5) == doctest::Approx(1.5));
  CHECK(c.cost(1) == 1.5);
  CHECK_THROWS_AS(n.cost(7), std::invalid_argument);
}

TEST_CASE("grid arithmetic rounds to what a person writes") {
  Feature cents;
  cents.grid = 0.01;
  CHECK(cents.multiple(7) == 0.07);
  CHECK(cents.down_to_grid(0.0749) == 0.07);
  CHECK(cents.up_to_grid(0.0701) == 0.08);
  CHECK(cents.down_to_grid(0.07) == 0.07);
  CHECK(cents.up_to_grid(0.07) == 0.07);
  CHECK(cents.up_to_grid(0.1 + 0.2) == 0.3);  // 0.30000000000000004 is 0.3
  CHECK(cents.slack(1e300) == 0.25);
  Feature hundreds;
  hundreds.grid = 100;
  CHECK(hundreds.down_to_grid(399.999999) == 300);
  CHECK(hundreds.up_to_grid(301) == 400);
  const Feature real;
  CHECK(real.up_to_grid(0.123) == 0.123);
}

TEST_CASE("a whole box has every value, a restricted one fewer") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), categories({0, 1, 2}, 0)});
  Box box = whole(domain);
  CHECK(box.value_count(domain) == 9);
  CHECK_FALSE(box.any_empty(domain));
  CHECK(box.keep_cells(domain, 0, 1, 3));
  CHECK_FALSE(box.keep_cells(domain, 0, 0, 4));
  CHECK(box.range[0].low == 1);
  CHECK(box.range[0].high == 3);
  box.drop_atom(domain.features[1], 0);
  CHECK(box.value_count(domain) == 5);
  const std::vector<double> inside{2, 1}, no_number{4, 1}, no_atom{2, 0}, no_value{2, 1.5};
  CHECK(box.contains(domain, inside.data()));
  CHECK_FALSE(box.contains(domain, no_number.data()));
  CHECK_FALSE(box.contains(domain, no_atom.data()));
  CHECK_FALSE(box.contains(domain, no_value.data()));
}

TEST_CASE("numbers are kept up to the grid") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2)});
  Box box = whole(domain);
  CHECK(box.keep_numbers(domain, 0, 0.5, 4.2));
  CHECK(box.range[0].low == 1);
  CHECK(box.range[0].high == 4);
  CHECK_FALSE(box.keep_numbers(domain, 0, 0.5, 4.2));
  CHECK(box.keep_numbers(domain, 0, 2.1, 2.9));
  CHECK(box.empty(domain, 0));
}

TEST_CASE("a box of one value per feature, or of tiny parts of its numbers, is narrow") {
  const Domain domain = domain_of({reals(0, 10, 4), categories({0, 1}, 0)});
  Box box = whole(domain);
  box.fix(domain, 1, 1);
  CHECK(box.single(domain, 1));
  CHECK_FALSE(box.narrow(domain));
  box.keep_numbers(domain, 0, 5, 5 + 1e-12);
  CHECK_FALSE(box.single(domain, 0));
  CHECK(box.single_cell(domain, 0));
  CHECK(box.narrow(domain));
}

TEST_CASE("atoms beyond the first word") {
  std::vector<double> costs(130, 1.0);
  const Domain domain = domain_of({categories(costs, 0)});
  const Feature& f = domain.features[0];
  Box box = whole(domain);
  CHECK(box.atom_count(f) == 130);
  box.drop_atom(f, 129);
  CHECK_FALSE(box.has_atom(f, 129));
  box.fix(domain, 0, 128);
  std::vector<std::size_t> left;
  box.each_atom(f, [&](std::size_t k) { left.push_back(k); });
  CHECK(left == std::vector<std::size_t>{128});
}

}  // namespace likely::search::test
