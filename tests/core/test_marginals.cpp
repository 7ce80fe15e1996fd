// Marginals of circuits with blocks, the lines below them, and coherence, which is bounded with these.
#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/likelihood.hpp"
#include "search/marginals.hpp"

namespace likely::search::test {

namespace {

Warp some_warp(Rng& rng) {
  std::vector<double> knots{uniform(rng, -3.5, -2)}, values{uniform(rng, -3, -1)};
  for (int k = below(rng, 4) + 1; k > 0; --k) {
    knots.push_back(knots.back() + uniform(rng, 0.2, 1.5));
    values.push_back(values.back() + uniform(rng, 0.1, 2));
  }
  const double ends[] = {-kInf, -4.001, -3.8};
  return Warp(knots, values, ends[below(rng, 3)], below(rng, 2) == 0 ? kInf : 5);
}

// Cuts the cell of a number in two: leaves are constant on cells.
void cut(Feature& f, double at) {
  const auto c = f.cell_of(at);
  f.low.insert(f.low.begin() + c + 1, at);
  f.high.insert(f.high.begin() + c, std::nextafter(at, -kInf));
  f.segment.insert(f.segment.begin() + c, f.segment[static_cast<std::size_t>(c)]);
}

// Two reals, one with an atom, and a category. Of three components one has a block of both reals, one a block of one of them and
// a leaf, and one a block of both that has other warps.
struct Setting {
  explicit Setting(unsigned seed) : rng(seed) {
    Feature with_atom = reals(-4, 5, uniform(rng, -3, 4), uniform(rng, 0, 3), uniform(rng, 0, 3));
    with_atom.atom = {-100};
    with_atom.atom_cost = {uniform(rng, 0, 3)};
    for (const double at : {0.0, 2.0}) cut(with_atom, at);
    domain = domain_of({with_atom, reals(-4, 5, uniform(rng, -3, 4)), categories({0, 1}, 0)});
    const double floors[] = {0, 1e-16, 1e-3};
    // 0..2: blocks, 3: a leaf of feature 0, 4..6: leaves of the category, 7..9: products, 10: the sum
    circuit = std::make_unique<Circuit>(std::vector<std::int32_t>{3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 0},
                                        std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 2, 5, 7, 10},
                                        std::vector<std::int32_t>{0, 4, 1, 3, 5, 2, 6, 7, 8, 9},
                                        std::vector<double>{1, 1, 1, 1, 1, 1, 1, 0.5, 0.3, 0.2}, floors[below(rng, 3)]);
    const Peaked none{Family::kNone, 0, 0, 0};
    circuit->add_variable({-101, -99, 0, 2}, {3}, {0, 0.4, 0, 0.2, 0}, {none});
    circuit->add_variable({}, {}, {}, {});
    circuit->add_variable({0.5}, {4, 5, 6}, {0.2, 0.8, 0.5, 0.5, 0.9, 0.1}, {none, none, none});
    const Warp first = some_warp(rng), second = some_warp(rng);
    const bool shared = below(rng, 2) == 0;
    auto near = [&] { return uniform(rng, -1, 1); };
    auto wide = [&] { return uniform(rng, 0.1, 1); };
    circuit->add_block(0, {0, 1}, {first, second}, {near(), near()}, {wide(), near(), wide()});
    circuit->add_block(1, {1}, {second}, {near()}, {wide()});
    circuit->add_block(2, {0, 1}, {shared ? first : some_warp(rng), shared ? second : some_warp(rng)}, {near(), near()},
                       {wide(), near(), wide()});
    coherence = std::make_unique<Likelihood>(*circuit, domain, std::vector<double>{std::nan("")}, std::vector<double>{0}, false,
                                             Likelihood::Measure::kCoherence);
  }

  double alone(std::size_t j, double v) {
    std::vector<double> row(3, std::nan("")), nodes;
    row[j] = v;
    return circuit->evaluate_row(row.data(), Algebra::kSum, nodes);
  }
  double exact(const std::vector<double>& row) {
    Likelihood::RowBuffers buffers;
    return coherence->exact(row.data(), 0, buffers);
  }

  Box some_box() {
    Box box = whole(domain);
    for (std::size_t j = 0; j < 2; ++j) {
      const double a = uniform(rng, -4, 5), b = below(rng, 4) > 0 ? uniform(rng, -4, 5) : a + uniform(rng, 0, 0.01);
      if (below(rng, 3) > 0) box.keep_numbers(domain, j, std::min(a, b), std::max(a, b));
    }
    if (below(rng, 2) == 0) box.drop_atom(domain.features[0], 0);
    return box;
  }
  std::vector<double> some_row(const Box& box) {
    std::vector<double> row;
    for (std::size_t j = 0; j < 2; ++j) row.push_back(uniform(rng, box.range[j].low, box.range[j].high));
    if (box.has_atom(domain.features[0], 0) && below(rng, 4) == 0) row[0] = -100;
    row.push_back(below(rng, 2));
    return row;
  }

  Rng rng;
  Domain domain;
  std::unique_ptr<Circuit> circuit;
  std::unique_ptr<Likelihood> coherence;
};

double log_sum(double one, double other) {
  const double most = std::max(one, other);
  return most == -kInf ? most : most + std::log1p(std::exp(std::min(one, other) - most));
}

double slack(double log) { return 1e-9 * (1 + std::abs(log)); }

}  // namespace

TEST_CASE("marginals are the circuit's where nothing else is known") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Setting setting(seed);
    const Marginals marginals(*setting.circuit, setting.domain);
    for (int draw = 0; draw < 50; ++draw) {
      const std::vector<double> row = setting.some_row(setting.some_box());
      for (std::size_t j = 0; j < 3; ++j) {
        const double log = setting.alone(j, row[j]);
        CHECK((marginals.log(j, row[j]) == log || std::abs(marginals.log(j, row[j]) - log) <= slack(log)));
      }
    }
    CHECK(marginals.log(0, std::nan("")) == 0);
  }
}

TEST_CASE("lines are below marginals, hold every number that has a density, and come near where they are short") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting setting(seed);
    const Marginals marginals(*setting.circuit, setting.domain);
    for (int interval = 0; interval < 20; ++interval) {
      const std::size_t j = static_cast<std::size_t>(below(setting.rng, 2));
      const double from = uniform(setting.rng, -4, 5), to = std::min(5.0, from + std::pow(10, uniform(setting.rng, -15, 1)));
      double covered = from;
      const double least = marginals.least(j, from, to);
      marginals.each_line(j, from, to, [&](double low, double high, double at_low, double at_high) {
        for (double v = covered; v < low; v += std::max((low - covered) / 4, 1e-9)) CHECK(marginals.log(j, v) == -kInf);
        covered = std::nextafter(high, kInf);
        CHECK(marginals.log(j, low) >= at_low);
        CHECK(marginals.log(j, high) >= at_high);
        for (int k = 0; k <= 5; ++k) CHECK(marginals.log(j, low + (high - low) * k / 5) >= std::min(at_low, at_high));
        CHECK(least <= std::min(at_low, at_high));
        if (high - low < 1e-7 && std::abs(at_low) < 100) CHECK(marginals.log(j, low) - at_low < 1e-3);
      });
    }
  }
}

TEST_CASE("no row of a box fits together better than the bound of coherence, also with one value fixed") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Setting setting(seed);
    Likelihood::Sweep sweep = setting.coherence->sweep();
    for (int boxes = 0; boxes < 5; ++boxes) {
      const Box box = setting.some_box();
      setting.coherence->bound(box, 0, sweep);
      setting.coherence->differentiate(sweep);
      for (int draw = 0; draw < 40; ++draw) {
        const std::vector<double> row = setting.some_row(box);
        const double fit = setting.exact(row);
        CHECK(fit <= sweep.log_upper);
        for (std::size_t j = 0; j < 3; ++j) {
          const Feature& f = setting.domain.features[j];
          const std::int32_t k = f.atom_of(row[j]);
          CHECK(fit <= (k >= 0 ? setting.coherence->log_upper_atom(sweep, j, static_cast<std::size_t>(k))
                               : setting.coherence->log_upper_cell(sweep, j, static_cast<std::size_t>(f.cell_of(row[j])))));
        }
      }
    }
  }
}

TEST_CASE("the bound of coherence comes near the row as boxes shrink to it") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Setting setting(seed);
    Likelihood::Sweep sweep = setting.coherence->sweep();
    const std::vector<double> row{uniform(setting.rng, -1.9, 2), uniform(setting.rng, -1.9, 2), 0};
    if (!(setting.exact(row) > -20)) continue;
    Box box = whole(setting.domain);
    box.fix(setting.domain, 2, 0);
    box.drop_atom(setting.domain.features[0], 0);
    for (std::size_t j = 0; j < 2; ++j) box.keep_numbers(setting.domain, j, row[j], row[j] + 1e-7);
    setting.coherence->bound(box, 0, sweep);
    CHECK(sweep.log_upper - setting.exact(row) < 1e-3);
  }
}

TEST_CASE("with prices the bound of coherence is above coherence and rewards together") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Setting setting(seed);
    const Likelihood& coherence = *setting.coherence;
    std::vector<Likelihood::Priced> parts(coherence.parts(), coherence.priced());
    const Box box = setting.some_box();
    Rewards rewards = parts[0].rewards;
    rewards.cost = uniform(setting.rng, 0, 2);
    for (std::size_t j = 0; j < 3; ++j) {
      const Feature& f = setting.domain.features[j];
      rewards.slope[j] = uniform(setting.rng, -2, 2);
      rewards.at_anchor[j] = uniform(setting.rng, -1, 1);
      for (std::size_t k = 0; k < f.atom.size(); ++k) rewards.atom[f.first_atom + k] = -rewards.cost * f.atom_cost[k];
    }
    Likelihood::Hulls hulls;
    coherence.fill_hulls(box, hulls);
    double upper = -kInf;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].rewards = rewards;
      upper = log_sum(upper, coherence.price(box, &hulls, 0, p, parts[p]));
      coherence.descend(p, parts[p]);
    }
    for (int draw = 0; draw < 60; ++draw) {
      const std::vector<double> row = setting.some_row(box);
      double worth = setting.exact(row);
      for (std::size_t j = 0; j < 3; ++j) {
        const Feature& f = setting.domain.features[j];
        const std::int32_t k = f.atom_of(row[j]);
        worth += k >= 0 ? rewards.atom[f.first_atom + static_cast<std::size_t>(k)]
                        : rewards.slope[j] * (row[j] - f.anchor) + rewards.at_anchor[j] - rewards.cost * f.cost(row[j]);
      }
      if (worth == -kInf) continue;
      CHECK(worth <= upper + slack(worth));
      for (std::size_t j = 0; j < 2; ++j) {
        if (row[j] == -100) continue;
        const Range point{setting.domain.features[j].cell_of(row[j]), setting.domain.features[j].cell_of(row[j]), row[j], row[j]};
        double here = -kInf;
        for (std::size_t p = 0; p < parts.size(); ++p)
          here = log_sum(here, coherence.log_upper_numbers(p, parts[p], box, j, point));
        CHECK(worth <= here + slack(worth));
      }
    }
  }
}

}  // namespace likely::search::test
