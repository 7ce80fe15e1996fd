#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "build.hpp"
#include "gaussian.hpp"

namespace likely::search::test {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Three pieces; the domain ends above, not below.
Warp half_open() { return Warp({0, 1, 3}, {-1, 0.5, 1}, -kInfinity, 4); }

double log_normal(double z, double mean, double deviation) {
  const double u = (z - mean) / deviation;
  return -0.5 * u * u - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
}

// A circuit of one block of three variables and, beside it, a product of a block of two and a leaf.
std::unique_ptr<Circuit> some_blocks(Rng& rng, double floor) {
  auto made = std::make_unique<Circuit>(std::vector<std::int32_t>{3, 3, 2, 1, 0}, std::vector<std::int64_t>{0, 0, 0, 0, 2, 4},
                                        std::vector<std::int32_t>{1, 2, 0, 3}, std::vector<double>{1, 1, 0.4, 0.6}, floor);
  made->add_variable({}, {}, {}, {});
  made->add_variable({-2, 0, 2}, {2}, {0, 0.3, 0.2, 0}, {{Family::kNone, 0, 0, 0}});
  made->add_variable({}, {}, {}, {});
  const Warp plain({0, 1}, {0, 1}, -kInfinity, kInfinity);
  const auto near = [&] { return uniform(rng, -1, 1); };
  made->add_block(0, {0, 1, 2}, {half_open(), plain, plain}, {near(), near(), near()}, {1, near(), 0.5, near(), near(), 2});
  made->add_block(1, {0, 2}, {half_open(), plain}, {near(), near()}, {0.7, near(), 1});
  return made;
}

}  // namespace

TEST_CASE("a warp is linear between knots, and goes to infinity at the end of its domain with a continuous slope") {
  const Warp warp = half_open();
  CHECK(warp.at(0.5).z == doctest::Approx(-0.25));
  CHECK(warp.at(0.5).log_slope == doctest::Approx(std::log(1.5)));
  CHECK(warp.at(1).log_slope == doctest::Approx(std::log(0.25)));  // at a knot the piece above
  CHECK(warp.at(-10).z == doctest::Approx(-16));
  CHECK(warp.at(3.5).z == doctest::Approx(1 + 0.25 * std::log(2)));
  CHECK(warp.at(3.5).log_slope == doctest::Approx(std::log(0.5)));
  CHECK(warp.at(3).log_slope == doctest::Approx(std::log(0.25)));
  CHECK(warp.at(4).log_slope == -kInfinity);
  CHECK(warp.at(100).log_slope == -kInfinity);
  CHECK(std::isnan(warp.at(std::nan("")).z));
  CHECK_THROWS_AS(Warp({0}, {0}, -1, 1), std::invalid_argument);
  CHECK_THROWS_AS(Warp({0, 1}, {1, 0}, -1, 2), std::invalid_argument);
  CHECK_THROWS_AS(Warp({0, 1}, {0, 1}, 0, 2), std::invalid_argument);
}

TEST_CASE("the density of a block is the product of its conditionals, and unknown values are summed over") {
  // L = [[2, 0], [1, 3]]: z0 ~ N(1, 2), z1 ~ N(-1, sqrt 10), z1 | z0 ~ N(-1 + (z0 - 1) / 2, 3)
  const GaussianBlock block({0, 1}, {0, 1}, {1, -1}, {2, 1, 3});
  GaussianBlock::Marginal marginal;
  const double nan = std::nan("");
  const std::vector<double> z{0.3, nan, 0.3, nan, 2.0, 2.0, nan, nan}, slope{0.1, 0, 0.1, 0, 0.2, 0.2, 0, 0};
  std::vector<double> whitened(8), out(4);
  block.log_density(z.data(), slope.data(), 4, whitened.data(), out.data());
  CHECK(out[0] == doctest::Approx(0.3 + log_normal(0.3, 1, 2) + log_normal(2, -1 + (0.3 - 1) / 2, 3)));
  CHECK(block.log_marginal(z.data(), slope.data(), 4, marginal) == doctest::Approx(out[0]));
  CHECK(block.log_marginal(z.data() + 1, slope.data() + 1, 4, marginal) ==
        doctest::Approx(0.2 + log_normal(2, -1, std::sqrt(10))));
  CHECK(block.log_marginal(z.data() + 2, slope.data() + 2, 4, marginal) == doctest::Approx(0.1 + log_normal(0.3, 1, 2)));
  CHECK(block.log_marginal(z.data() + 3, slope.data() + 3, 4, marginal) == 0);
  CHECK_THROWS_AS(GaussianBlock({0}, {0}, {0}, {0}), std::invalid_argument);
  CHECK_THROWS_AS(GaussianBlock({0, 1}, {0, 1}, {0, 0}, {1, 1}), std::invalid_argument);
}

TEST_CASE("rows alone and rows in batches have the same bits, and nothing is NaN") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const auto circuit = some_blocks(rng, seed % 3 == 0 ? 0 : 1e-9);
    constexpr std::size_t kCount = 70;
    std::vector<double> rows, out(kCount), room;
    for (std::size_t i = 0; i < 3 * kCount; ++i)
      rows.push_back(below(rng, 5) == 0 ? std::nan("") : below(rng, 20) == 0 ? 1e300 : uniform(rng, -6, 6));
    for (const Algebra algebra : {Algebra::kSum, Algebra::kUnder}) {
      circuit->evaluate(rows.data(), kCount, algebra, out.data(), 1);
      for (std::size_t r = 0; r < kCount; ++r) {
        CHECK(!std::isnan(out[r]));
        CHECK(circuit->evaluate_row(rows.data() + 3 * r, algebra, room) == out[r]);
      }
    }
  }
}

TEST_CASE("rows so unlikely that their densities underflow keep their logarithms") {
  // Variance 1 in 30 variables, 20 deviations away: log p = -30 (200 + log(2 pi) / 2)
  constexpr std::size_t kWidth = 30;
  Circuit circuit({3, 3, 0}, {0, 0, 0, 2}, {0, 1}, {0.5, 0.5}, 0);
  std::vector<std::int32_t> variables;
  std::vector<double> factor;
  for (std::size_t i = 0; i < kWidth; ++i) {
    circuit.add_variable({}, {}, {}, {});
    variables.push_back(static_cast<std::int32_t>(i));
    for (std::size_t k = 0; k <= i; ++k) factor.push_back(k == i ? 1 : 0);
  }
  const std::vector<Warp> warps(kWidth, Warp({0, 1}, {0, 1}, -kInfinity, kInfinity));
  for (std::int32_t node = 0; node < 2; ++node)
    circuit.add_block(node, variables, warps, std::vector<double>(kWidth, 0.0), factor);
  const std::vector<double> row(kWidth, 20.0);
  double log = 0;
  circuit.evaluate(row.data(), 1, Algebra::kSum, &log, 1);
  CHECK(log == doctest::Approx(kWidth * log_normal(20, 0, 1)));
}

}  // namespace likely::search::test
