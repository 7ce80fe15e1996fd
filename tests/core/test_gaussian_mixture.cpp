#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "build.hpp"
#include "gaussian_mixture.hpp"

namespace likely::search::test {

TEST_CASE("log-densities and sums of Gaussians are those of the formulas, for every remainder of a tile") {
  Rng rng(7);
  for (const std::size_t columns : {0, 1, 3, 4, 7, 8, 9}) {
    for (const std::size_t count : {0, 1, 8, 63, 64, 65, 130}) {
      const std::size_t components = 3, wide = columns + 1;
      std::vector<double> z(count * columns), root(components * columns * columns), shift(components * columns),
          constant(components);
      std::vector<double> share(count * components), logs(count * components), sums(components * wide * wide, -1);
      for (double& value : z) value = uniform(rng, -2, 2);
      for (double& value : shift) value = uniform(rng, -1, 1);
      for (double& value : constant) value = uniform(rng, -1, 1);
      for (double& value : share) value = uniform(rng, 0, 1) < 0.3 ? 0 : uniform(rng, 0, 1);
      for (std::size_t k = 0; k < components; ++k)
        for (std::size_t i = 0; i < columns; ++i)
          for (std::size_t j = 0; j <= i; ++j) root[(k * columns + i) * columns + j] = uniform(rng, -1, 1);
      gaussian_logs({z.data(), count, columns}, {root.data(), shift.data(), constant.data(), components}, logs.data(), 2);
      gaussian_sums({z.data(), count, columns}, share.data(), components, sums.data(), 2);
      for (std::size_t k = 0; k < components; ++k) {
        std::vector<double> expected(wide * wide);
        for (std::size_t r = 0; r < count; ++r) {
          double square = 0;
          for (std::size_t i = 0; i < columns; ++i) {
            double white = -shift[k * columns + i];
            for (std::size_t j = 0; j <= i; ++j) white += root[(k * columns + i) * columns + j] * z[r * columns + j];
            square += white * white;
          }
          CHECK(logs[r * components + k] == doctest::Approx(constant[k] - square / 2));
          const auto at = [&](std::size_t i) { return i == 0 ? 1.0 : z[r * columns + i - 1]; };
          for (std::size_t i = 0; i < wide; ++i)
            for (std::size_t j = 0; j < wide; ++j) expected[i * wide + j] += share[r * components + k] * at(i) * at(j);
        }
        for (std::size_t i = 0; i < wide * wide; ++i) CHECK(sums[k * wide * wide + i] == doctest::Approx(expected[i]));
      }
    }
  }
}

}  // namespace likely::search::test
