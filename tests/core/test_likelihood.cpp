#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/likelihood.hpp"

namespace likely::search::test {

namespace {

// A domain, a circuit over it and what the search makes of it.
struct Setting {
  explicit Setting(unsigned seed, bool approximate = false, double given = 0)
      : rng(seed),
        domain(small_domain(rng)),
        circuit(some_circuit(domain, rng, 3)),
        likelihood(*circuit, domain, {std::nan("")}, {given}, approximate),
        sweep(likelihood.sweep()) {}

  double exact(const std::vector<double>& row) { return likelihood.exact(row.data(), 0, buffers); }
  void evaluate(const Box& box) {
    likelihood.bound(box, 0, sweep);
    likelihood.differentiate(sweep);
  }

  Rng rng;
  Domain domain;
  std::unique_ptr<Circuit> circuit;
  Likelihood likelihood;
  Likelihood::Sweep sweep;
  Likelihood::RowBuffers buffers;
};

// Rewards that are some multiple of the costs, and some slope besides.
Rewards some_rewards(Setting& setting) {
  Rewards made;
  made.cost = 0.3 * (1 + below(setting.rng, 5));
  made.atom.resize(setting.domain.atoms);
  for (const Feature& f : setting.domain.features) {
    made.slope.push_back(0.5 * (below(setting.rng, 5) - 2));
    made.at_anchor.push_back(below(setting.rng, 3));
    for (std::size_t k = 0; k < f.atom.size(); ++k) made.atom[f.first_atom + k] = -made.cost * f.atom_cost[k];
  }
  return made;
}

double reward(const Setting& setting, const Rewards& rewards, std::size_t j, double v) {
  const Feature& f = setting.domain.features[j];
  if (const std::int32_t k = f.atom_of(v); k >= 0) return rewards.atom[f.first_atom + static_cast<std::size_t>(k)];
  return rewards.slope[j] * (v - f.anchor) + rewards.at_anchor[j] - rewards.cost * f.cost(v);
}

}  // namespace

TEST_CASE("the sweep is above every row, and at a point it is the row") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed, seed % 2 == 1);
    const Box box = some_box(setting.domain, setting.rng);
    setting.evaluate(box);
    const double upper = setting.sweep.log_upper;
    for (const std::vector<double>& row : rows_of(setting.domain, box)) CHECK(setting.exact(row) <= upper);
    const std::vector<double> row = rows_of(setting.domain, box).front();
    Box point = box;
    for (std::size_t j = 0; j < row.size(); ++j) point.fix(setting.domain, j, row[j]);
    setting.evaluate(point);
    CHECK(setting.sweep.log_upper == doctest::Approx(setting.exact(row)).epsilon(1e-6));
  }
}

TEST_CASE("derivatives bound the rows of every single value") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed, seed % 2 == 1);
    const Box box = some_box(setting.domain, setting.rng);
    setting.evaluate(box);
    for (const std::vector<double>& row : rows_of(setting.domain, box)) {
      for (std::size_t j = 0; j < row.size(); ++j) {
        const Feature& f = setting.domain.features[j];
        const std::int32_t k = f.atom_of(row[j]);
        const double upper =
            k >= 0 ? setting.likelihood.log_upper_atom(setting.sweep, j, static_cast<std::size_t>(k))
                   : setting.likelihood.log_upper_cell(setting.sweep, j, static_cast<std::size_t>(f.cell_of(row[j])));
        CHECK(setting.exact(row) <= upper);
        CHECK(upper <= setting.sweep.log_upper + 1e-8);
      }
    }
  }
}

TEST_CASE("the filter keeps every row that is likely enough") {
  int filtered = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const Box box = some_box(setting.domain, setting.rng);
    const Rows rows = rows_of(setting.domain, box);
    const double lower = setting.exact(rows[static_cast<std::size_t>(below(setting.rng, static_cast<int>(rows.size())))]);
    setting.evaluate(box);
    Box left = box;
    filtered += setting.likelihood.filter(left, setting.sweep, lower);
    for (const std::vector<double>& row : rows)
      if (setting.exact(row) >= lower) CHECK(left.contains(setting.domain, row.data()));
  }
  CHECK(filtered > 20);
}

TEST_CASE("what is given is taken from every log-likelihood") {
  Setting plain(7), conditional(7, false, -2.5);
  const Box box = whole(plain.domain);
  plain.evaluate(box);
  conditional.evaluate(box);
  CHECK(conditional.sweep.log_upper == doctest::Approx(plain.sweep.log_upper + 2.5));
  const std::vector<double> row = rows_of(plain.domain, box).front();
  CHECK(conditional.exact(row) == doctest::Approx(plain.exact(row) + 2.5));
}

// The priced bounds of all parts of a circuit over one box after another.
struct AllParts {
  explicit AllParts(const Likelihood& of) : likelihood(of), parts(of.parts(), of.priced()) {}

  // log of the sum of what work(part, priced) says.
  template <class Work>
  double sum(const Work& work) {
    double total = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) total += std::exp(work(p, parts[p]));
    return std::log(total);
  }
  double price(const Box& box, const Rewards& rewards) {
    likelihood.fill_hulls(box, hulls);
    return sum([&](std::size_t p, Likelihood::Priced& priced) {
      priced.rewards = rewards;
      const double upper = likelihood.price(box, &hulls, 0, p, priced);
      likelihood.descend(p, priced);
      return upper;
    });
  }

  const Likelihood& likelihood;
  std::vector<Likelihood::Priced> parts;
  Likelihood::Hulls hulls;
};

TEST_CASE("the priced bound is above likelihood and rewards together, also with one value fixed") {
  int mixtures = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed, seed % 2 == 1);
    AllParts all(setting.likelihood);
    mixtures += all.parts.size() > 1;
    for (int trial = 0; trial < 3; ++trial) {  // hulls of features that stay the same are used again
      const Box box = some_box(setting.domain, setting.rng);
      const Rewards rewards = some_rewards(setting);
      const double upper = all.price(box, rewards);
      for (const std::vector<double>& row : rows_of(setting.domain, box)) {
        double worth = setting.exact(row);
        for (std::size_t j = 0; j < row.size(); ++j) worth += reward(setting, rewards, j, row[j]);
        CHECK(worth <= upper);
        for (std::size_t j = 0; j < row.size(); ++j) {
          const Feature& f = setting.domain.features[j];
          if (const std::int32_t k = f.atom_of(row[j]); k >= 0)
            CHECK(worth <= all.sum([&](std::size_t p, const Likelihood::Priced& priced) {
              return setting.likelihood.log_upper_atom(p, priced, j, static_cast<std::size_t>(k));
            }));
          for (std::size_t r = 0; r < tolerance::kPricedRuns; ++r) {
            const Range run = setting.likelihood.run(box, j, r);
            if (!run.empty() && f.atom_of(row[j]) < 0 && run.low <= row[j] && row[j] <= run.high)
              CHECK(worth <= all.sum([&](std::size_t p, const Likelihood::Priced& priced) {
                return setting.likelihood.log_upper_numbers(p, priced, box, j, run);
              }));
          }
        }
      }
    }
  }
  CHECK(mixtures > 20);
}

TEST_CASE("of one cell per feature, the priced bound is the best row") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    if (!setting.likelihood.constant_on_cells()) continue;
    AllParts all(setting.likelihood);
    const std::vector<double> row = rows_of(setting.domain, whole(setting.domain)).front();
    Box box = whole(setting.domain);
    for (std::size_t j = 0; j < row.size(); ++j) box.fix(setting.domain, j, row[j]);
    const Rewards rewards = some_rewards(setting);
    double worth = setting.exact(row);
    for (std::size_t j = 0; j < row.size(); ++j) worth += reward(setting, rewards, j, row[j]);
    CHECK(all.price(box, rewards) == doctest::Approx(worth).epsilon(1e-6));
  }
}

TEST_CASE("circuits that are none are refused") {
  CHECK_THROWS_AS(Circuit({4}, {0, 0}, {}, {}, 0), std::invalid_argument);
  CHECK_THROWS_AS(Circuit({0}, {0, 0}, {}, {}, 0), std::invalid_argument);
  CHECK_THROWS_AS(Circuit({2, 0}, {0, 0, 1}, {1}, {1}, 0), std::invalid_argument);
}

TEST_CASE("the components of a mixture together are above every row, and every value takes off what it costs") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    const Box box = some_box(setting.domain, setting.rng);
    const double price = 0.3 * below(setting.rng, 5);
    REQUIRE(setting.likelihood.components() > 0);
    std::vector<Likelihood::ComponentTerms> terms(setting.likelihood.components());
    for (std::size_t p = 0; p < terms.size(); ++p) setting.likelihood.component_terms(box, 0, p, price, {}, terms[p]);
    for (const std::vector<double>& row : rows_of(setting.domain, box)) {
      double sum = 0;
      for (const Likelihood::ComponentTerms& of : terms) {
        double value = of.log_upper + price * setting.domain.cost(row.data());
        for (std::size_t j = 0; j < row.size(); ++j) {
          const Feature& f = setting.domain.features[j];
          const std::int32_t k = f.atom_of(row[j]);
          value -= k >= 0 ? of.costs.atom[f.first_atom + static_cast<std::size_t>(k)]
                          : of.costs.cell[f.first_cell + static_cast<std::size_t>(f.cell_of(row[j]))];
        }
        sum += std::exp(std::max(value, of.floor + price * setting.domain.cost(row.data())));
      }
      CHECK(std::log(sum) == doctest::Approx(setting.exact(row)).epsilon(1e-6));  // leaves are constant on these cells
      CHECK(std::log(sum) >= setting.exact(row));
    }
  }
}

}  // namespace likely::search::test
