#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "build.hpp"
#include "search/likelihood_changes.hpp"
#include "search/propagation.hpp"
#include "search/search.hpp"

namespace likely::search::test {

namespace {

// A forest and a mixture over a small domain, and the rows that reach the goal and are as likely as some of them are.
struct Setting {
  explicit Setting(unsigned seed) : rng(seed) {
    problem.domain = small_domain(rng);
    problem.score = some_forest(problem.domain, rng, 5);
    circuit = some_circuit(problem.domain, rng, 3);
    problem.likelihood = std::make_unique<Likelihood>(*circuit, problem.domain, std::vector<double>{std::nan("")},
                                                      std::vector<double>{0.0}, seed % 4 == 3);
    rows = rows_of(problem.domain, whole(problem.domain));
    std::vector<double> scores, logs;
    for (const std::vector<double>& row : rows) {
      scores.push_back(score(row));
      logs.push_back(log(row));
    }
    auto some = [&](std::vector<double> of) {
      std::sort(of.begin(), of.end());
      return of[static_cast<std::size_t>(below(rng, static_cast<int>(of.size())))] - 1e-9;
    };
    problem.alternatives.push_back({{{{1.0}, some(scores)}}, std::nullopt});
    problem.likelihood_threshold = some(logs);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (scores[i] >= problem.goals(0)[0].lower && logs[i] >= problem.likelihood_threshold) answers.push_back(rows[i]);
  }

  double score(const std::vector<double>& row) const {
    std::vector<double> outputs;
    problem.score->outputs(row.data(), outputs);
    return outputs[0];
  }
  double log(const std::vector<double>& row) { return problem.likelihood->exact(row.data(), 0, buffers); }
  double cost(const std::vector<double>& row) const { return problem.domain.cost(row.data()); }
  double cheapest() const {
    double least = kInf;
    for (const std::vector<double>& row : answers) least = std::min(least, cost(row));
    return least;
  }

  Rng rng;
  Problem problem;
  std::unique_ptr<Circuit> circuit;
  Likelihood::RowBuffers buffers;
  Rows rows, answers;
};

}  // namespace

TEST_CASE("rows that reach the goal are below the lines of all components together, whatever the prices and shares") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Setting setting(seed);
    const Likelihood& likelihood = *setting.problem.likelihood;
    const TreeLinks links(*setting.problem.score->trees());
    TreeDuals duals(links, setting.problem.goals(0));
    Box box = some_box(setting.problem.domain, setting.rng);
    const double lower = setting.problem.goals(0)[0].lower;
    for (const int sweeps : {0, 1, 5}) {
      std::vector<std::pair<double, double>> lines;
      for (std::size_t p = 0; p < likelihood.components(); ++p) {
        TreePrices prices{std::vector<float>(links.values), {uniform(setting.rng, 0, 4)}};
        for (float& share : prices.shares) share = static_cast<float>(uniform(setting.rng, -1, 1));
        const double price = uniform(setting.rng, 0, 3);
        Likelihood::ComponentTerms terms;
        likelihood.component_terms(box, 0, p, price, {}, terms);
        REQUIRE(duals.enter(box, kInf, {lower}, &prices, &terms.costs));
        duals.ascend(kInf, sweeps);
        lines.emplace_back(std::max(terms.log_upper - duals.bound(kInf), terms.floor), price);
      }
      for (const std::vector<double>& row : rows_of(setting.problem.domain, box)) {
        if (setting.score(row) < lower) continue;
        double sum = 0;
        for (const auto& [height, price] : lines) sum += std::exp(height + price * setting.cost(row));
        CHECK(setting.log(row) <= std::log(sum));
      }
    }
  }
}

TEST_CASE("likely rows below the cut-off stay, and cost as much as the bound") {
  std::size_t removed = 0, bounded = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Setting setting(seed);
    if (setting.answers.empty()) continue;
    const double cutoff = setting.cheapest() + uniform(setting.rng, 1e-6, 1);
    Workspace workspace(setting.problem);
    workspace.trees = std::make_unique<TreeWork>(setting.problem);
    Evaluation evaluation(setting.problem, 0);
    Node node = root_node(setting.problem, 0);
    for (int depth = 0; depth < 3; ++depth) {  // from the prices of the node above
      const Node before = node;
      const Outcome outcome = propagate(setting.problem, node, cutoff, evaluation, workspace);
      for (const std::vector<double>& row : setting.answers) {
        if (!(setting.cost(row) < cutoff) || !before.box.contains(setting.problem.domain, row.data())) continue;
        CHECK(outcome == Outcome::kOpen);
        CHECK(node.box.contains(setting.problem.domain, row.data()));
        CHECK(node.bound <= setting.cost(row));
      }
      if (outcome != Outcome::kOpen) break;
      removed += before.box.value_count(setting.problem.domain) - node.box.value_count(setting.problem.domain);
      bounded += node.bound > 0.5 * setting.cheapest() ? 1 : 0;
      const std::size_t j = static_cast<std::size_t>(below(setting.rng, static_cast<int>(node.box.range.size())));
      const Range& range = node.box.range[j];
      if (range.first < range.last) node.box.keep_cells(setting.problem.domain, j, range.first, range.last - 1);
    }
  }
  CHECK(removed > 300);
  CHECK(bounded > 100);
}

TEST_CASE("searches with decomposed trees and a likelihood find the cheapest row, on any number of threads") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Setting setting(seed);
    setting.problem.nodes_before_trees = seed % 3;
    setting.problem.nodes_before_rounds = 2;
    std::vector<Result> results;
    for (const std::size_t threads : {1, 3}) {
      Limits limits;
      limits.threads = threads;
      results.push_back(Search(setting.problem, limits, [](const Progress&) { return true; }).run({}));
    }
    CHECK(results[0].statistics.nodes == results[1].statistics.nodes);
    CHECK(results[0].upper == results[1].upper);
    CHECK(results[0].status == (setting.answers.empty() ? Status::kInfeasible : Status::kOptimal));
    if (!setting.answers.empty()) CHECK(results[0].upper == doctest::Approx(setting.cheapest()));
  }
}

TEST_CASE("what a change does to the likelihood of a row") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    Setting setting(seed);
    if (seed % 4 == 3) continue;  // sums are what is told of
    const Domain& domain = setting.problem.domain;
    std::vector<std::vector<double>> numbers;
    for (const Feature& f : domain.features) numbers.push_back(f.low);
    LikelihoodChanges changes(*setting.problem.likelihood, 0, 0.0, numbers);
    std::vector<double> row = setting.rows[static_cast<std::size_t>(below(setting.rng, static_cast<int>(setting.rows.size())))];
    CHECK(changes.evaluate(row) == doctest::Approx(setting.log(row)));
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double own = row[j];
      auto check = [&](double value, double told) {
        row[j] = value;
        CHECK(told == doctest::Approx(setting.log(row)).epsilon(1e-6));
        row[j] = own;
      };
      for (std::size_t i = 0; i < numbers[j].size(); ++i) check(numbers[j][i], changes.with_number(j, i));
      for (std::size_t k = 0; k < domain.features[j].atom.size(); ++k) check(domain.features[j].atom[k], changes.with_atom(j, k));
    }
  }
}

}  // namespace likely::search::test
