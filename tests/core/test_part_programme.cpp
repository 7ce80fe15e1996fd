#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "search/part_programme.hpp"

namespace {

using likely::search::PartProgramme;
using likely::search::PartTerms;

// F itself, with its kinks.
double exact(const PartTerms& t, const std::vector<double>& point, const std::vector<double>& prices) {
  const std::size_t n = t.coordinates;
  double value = 0;
  std::vector<double> pull(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) pull[i] += t.rest[i * n + k] * point[k];
  for (std::size_t i = 0; i < n; ++i) value += 0.5 * point[i] * pull[i];
  for (std::size_t a = 0; a < t.prices; ++a) value += t.per_price[a] * prices[a];
  for (const PartTerms::Term& term : t.terms) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = term.first; k < term.last; ++k) {
      double here = t.height[k];
      if (term.coordinate >= 0) here -= pull[static_cast<std::size_t>(term.coordinate)] * t.z[k];
      for (std::size_t a = 0; a < t.prices; ++a) here += prices[a] * t.gain[k * t.prices + a];
      most = std::max(most, here);
    }
    value += most;
  }
  return value;
}

// Terms on a grid of coordinates, with a cost that grows away from 0 and a goal that is linear; and a leaf.
PartTerms random_terms(std::size_t count, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  PartTerms t;
  t.reset(count, 2);
  std::vector<double> root(count * count);
  for (double& one : root) one = unit(random) - 0.5;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t m = 0; m < count; ++m) t.rest[i * count + k] += 3 * root[i * count + m] * root[k * count + m];
  double most_goal = 0;
  for (std::size_t i = 0; i < count; ++i) {
    t.begin(i, static_cast<std::ptrdiff_t>(i));
    const double start = 4 * (unit(random) - 0.5), weight = 0.5 + unit(random), gain = unit(random) - 0.3;
    for (int step = 0; step <= 16; ++step) {
      const double z = 0.5 * (step - 8);
      double* out = t.add(unit(random) - 0.3 * z * z, z, z);
      out[0] = -weight * std::abs(z - start);
      out[1] = gain * z;
    }
    most_goal += 4 * std::abs(gain);
  }
  t.begin(count, -1);
  for (int k = 0; k < 3; ++k) {
    double* out = t.add(-unit(random), 0, k);
    out[0] = -unit(random);
    out[1] = unit(random);
  }
  t.per_price = {1.5 * static_cast<double>(count), -0.3 * most_goal};
  return t;
}

}  // namespace

TEST_CASE("the programme of a part: no point near the last one, and none at random, is better") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 60; ++round) {
    const PartTerms terms = random_terms(1 + static_cast<std::size_t>(round % 6), random);
    std::vector<double> point(terms.coordinates, 0.0), prices{1.0, 0.5};
    PartProgramme programme;
    programme.lower(terms, 0, point, prices);
    const double least = exact(terms, point, prices);
    REQUIRE(std::isfinite(least));
    for (const double price : prices) CHECK(price > 0);
    CHECK(programme.steps() <= 25);
    const double allowed = 1e-4 * (1 + std::abs(least));
    for (const double far : {1e-3, 1e-2, 0.1, 1.0}) {
      for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> other(point), others(prices);
        for (double& one : other) one += far * normal(random);
        for (double& one : others) one = std::max(0.0, one * (1 + far * normal(random)));
        CHECK(exact(terms, other, others) > least - allowed);
      }
    }
  }
}

TEST_CASE("the programme of a part: what is fixed stays, and means lie between a term's candidates") {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const PartTerms terms = random_terms(3, random);
    std::vector<double> point(3, 0.0), prices{0.7, 0.2};
    PartProgramme programme;
    programme.lower(terms, 1, point, prices);
    CHECK(prices[0] == 0.7);
    for (std::size_t place = 0; place < terms.terms.size(); ++place) {
      const PartTerms::Term& term = terms.terms[place];
      const auto begin = terms.value.begin();
      const auto [low, high] =
          std::minmax_element(begin + static_cast<std::ptrdiff_t>(term.first), begin + static_cast<std::ptrdiff_t>(term.last));
      CHECK(programme.mean_value(place) >= *low - 1e-9);
      CHECK(programme.mean_value(place) <= *high + 1e-9);
      CHECK(std::count(begin + static_cast<std::ptrdiff_t>(term.first), begin + static_cast<std::ptrdiff_t>(term.last),
                       programme.best_value(terms, term)) > 0);
    }
  }
}

TEST_CASE("the programme of a part: one parabola and one goal have their least value where the calculation says") {
  // The greatest of -z^2 / 2 where z >= 1 is -1/2, and the price of a unit of the goal is 1.
  PartTerms terms;
  terms.reset(1, 1);
  terms.rest = {1.0};
  terms.begin(0, 0);
  for (int step = -40; step <= 40; ++step) {
    const double z = 0.1 * step;
    terms.add(0, z, z)[0] = z;
  }
  terms.per_price = {-1.0};
  std::vector<double> point{0.0}, prices{0.1};
  PartProgramme programme;
  programme.lower(terms, 0, point, prices);
  CHECK(exact(terms, point, prices) == doctest::Approx(-0.5).epsilon(1e-3));
  CHECK(prices[0] == doctest::Approx(1.0).epsilon(1e-3));
  CHECK(programme.mean_value(0) == doctest::Approx(1.0).epsilon(1e-3));
}

TEST_CASE("the programme of a part: gains whose worth follows come to what the same terms with a gain per price do") {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int round = 0; round < 30; ++round) {
    const std::size_t prices = 6, gains = 2;
    PartTerms few, all;
    for (PartTerms* terms : {&few, &all}) {
      terms->reset(3, prices);
      for (std::size_t i = 0; i < 3; ++i) terms->rest[i * 3 + i] = 0.5;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      double* worth = few.begin(i, static_cast<std::ptrdiff_t>(i), gains);
      std::vector<double> worths(gains * prices);
      for (double& one : worths) one = unit(random);
      for (std::size_t a = 0; a < prices; ++a) worths[a] = std::abs(worths[a]);
      std::copy(worths.begin(), worths.end(), worth);
      all.begin(i, static_cast<std::ptrdiff_t>(i));
      for (int step = -6; step <= 6; ++step) {
        const double z = 0.5 * step, height = unit(random) - 0.3 * z * z;
        double* out = few.add(height, z, z);
        double* each = all.add(height, z, z);
        out[0] = -std::abs(z);
        out[1] = z;
        for (std::size_t a = 0; a < prices; ++a) each[a] = out[0] * worths[a] + out[1] * worths[prices + a];
      }
    }
    few.per_price = all.per_price = std::vector<double>(prices, 1.0);
    std::vector<double> point(3, 0.0), price(prices, 1.0), other_point(point), other_price(price);
    PartProgramme programme, other;
    programme.lower(few, 0, point, price);
    other.lower(all, 0, other_point, other_price);
    const double least = exact(all, point, price);
    CHECK(least == doctest::Approx(exact(all, other_point, other_price)).epsilon(1e-3));
    for (std::size_t a = 0; a < prices; ++a)
      CHECK(few.gain_of(few.terms[1], few.terms[1].first + 3, a) ==
            doctest::Approx(all.gain_of(all.terms[1], all.terms[1].first + 3, a)));
  }
}
