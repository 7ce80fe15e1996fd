// The queue, the pool of answers, branching, and small searches with a row that is followed.
#include <doctest/doctest.h>

#include <algorithm>

#include "build.hpp"
#include "search/branching.hpp"
#include "search/duals.hpp"
#include "search/incumbents.hpp"
#include "search/propagation.hpp"
#include "search/queue.hpp"
#include "search/search.hpp"

namespace likely::search::test {

namespace {

Node node_of(double bound, std::uint32_t alternative = 0) { return {Box{}, bound, alternative, 0, {}, {}, {}, {}}; }

Solution solution_of(std::vector<double> row, double objective) { return {std::move(row), objective, objective, 0, 0}; }

// A whole problem over the small domain, with a goal that some rows reach.
struct Setting {
  explicit Setting(unsigned seed) : rng(seed) {
    problem.domain = small_domain(rng);
    if (seed % 3 == 0)
      problem.score = some_forest(problem.domain, rng, 4);
    else
      problem.score = some_network(problem.domain, rng, {5});
    rows = rows_of(problem.domain, whole(problem.domain));
    problem.alternatives.push_back({{Goal{{1.0}, quantile([&](const auto& row) { return score(row); }, 0.7)}}, {}});
    problem.rules.at_most.push_back({{changed(0), changed(1), changed(2)}, 2});
    circuit = some_circuit(problem.domain, rng, 3);
    problem.likelihood_weight = seed % 2 == 0 ? 0 : 0.3;
    problem.likelihood =
        std::make_unique<Likelihood>(*circuit, problem.domain, std::vector<double>{std::nan("")}, std::vector<double>{0}, false);
    problem.likelihood_threshold = quantile([&](const auto& row) { return log_likelihood(row); }, 0.3);
    if (seed % 5 == 0) return;
    ratios = some_circuit(problem.domain, rng, 2);
    problem.coherence =
        std::make_unique<Likelihood>(*ratios, problem.domain, std::vector<double>{std::nan("")}, std::vector<double>{0}, false);
    problem.coherence_threshold = quantile([&](const auto& row) { return coherence(row); }, 0.3);
  }

  template <class Value>
  double quantile(const Value& value, double share) const {
    std::vector<double> values;
    for (const std::vector<double>& row : rows) values.push_back(value(row));
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size()))];
  }
  Literal changed(std::size_t j) const {
    const double factual = problem.domain.features[j].factual;
    return {problem.domain, j, {{-100, factual - 1}, {factual + 1, 100}}};
  }
  double score(const std::vector<double>& row) const {
    std::vector<double> outputs;
    problem.score->outputs(row.data(), outputs);
    return outputs[0];
  }
  double log_likelihood(const std::vector<double>& row) const {
    Likelihood::RowBuffers buffers;
    return problem.likelihood->exact(row.data(), 0, buffers);
  }
  double coherence(const std::vector<double>& row) const {
    Likelihood::RowBuffers buffers;
    return problem.coherence ? problem.coherence->exact(row.data(), 0, buffers) : kInf;
  }
  bool answers(const std::vector<double>& row) const {
    return score(row) >= problem.goals(0)[0].lower && problem.rules.hold(row.data()) &&
           log_likelihood(row) >= problem.likelihood_threshold && coherence(row) >= problem.coherence_threshold;
  }
  double objective(const std::vector<double>& row) const {
    return problem.domain.cost(row.data()) - problem.likelihood_weight * log_likelihood(row);
  }
  std::vector<std::vector<double>> answers() const {
    Rows made;
    for (const std::vector<double>& row : rows)
      if (answers(row)) made.push_back(row);
    std::sort(made.begin(), made.end(), [&](const auto& a, const auto& b) { return objective(a) < objective(b); });
    return made;
  }
  Result run(const Limits& limits, const std::vector<double>* followed = nullptr) const {
    Search search(problem, limits, [](const Progress&) { return true; });
    if (followed != nullptr) search.follow(*followed);
    return search.run({});
  }

  Rng rng;
  Problem problem;
  std::unique_ptr<Circuit> circuit, ratios;
  Rows rows;
};

}  // namespace

TEST_CASE("the queue is best first, and of equals the last") {
  NodeQueue queue;
  for (const double bound : {3.0, 1.0, 2.0}) queue.push(node_of(bound), false);
  queue.push(node_of(1.0, 7), false);
  CHECK(queue.lower() == 1);
  CHECK(queue.pop().alternative == 7);
  CHECK(queue.pop().bound == 1);
  CHECK(queue.pop().bound == 2);
  CHECK(queue.pop().bound == 3);
  CHECK(queue.empty());
  CHECK(queue.lower() == kInf);
}

TEST_CASE("narrow nodes wait until there is no other, and count in what is proved") {
  NodeQueue queue;
  queue.push(node_of(1), true);
  queue.push(node_of(2), false);
  CHECK(queue.lower() == 1);
  CHECK(queue.pop().bound == 2);
  CHECK_FALSE(queue.empty());
  CHECK(queue.lower() == 1);
  CHECK(queue.pop().bound == 1);
  CHECK(queue.empty());
}

TEST_CASE("what is proved rests on pruned nodes too") {
  NodeQueue queue;
  queue.push(node_of(5), false);
  queue.prune(4);
  CHECK(queue.lower() == 4);
  queue.prune(6);
  CHECK(queue.lower() == 4);
}

TEST_CASE("the pool keeps the best that differ") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), reals(0, 10, 4)});
  Limits limits;
  limits.solutions = 2;
  SolutionPool pool(domain, limits);
  CHECK(pool.cutoff() == kInf);
  pool.add(solution_of({1, 5.0}, 3));
  CHECK(pool.best() == 3);
  CHECK(pool.cutoff() == kInf);
  pool.add(solution_of({1, 6.0}, 2));  // the same cell: one answer
  CHECK(pool.solutions().size() == 1);
  CHECK(pool.best() == 2);
  pool.add(solution_of({1, 7.0}, 4));
  CHECK(pool.best() == 2);
  pool.add(solution_of({3, 5.0}, 5));
  CHECK(pool.full());
  CHECK(pool.cutoff() == 5);
  CHECK(pool.upper() == 5);
  pool.add(solution_of({4, 5.0}, 1));
  CHECK(pool.solutions().size() == 2);
  CHECK(pool.best() == 1);
  CHECK(pool.cutoff() == 2);
}

TEST_CASE("cut-offs leave room for the gap") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2)});
  Limits limits;
  limits.absolute_gap = 0.1;
  limits.relative_gap = 0.5;
  SolutionPool pool(domain, limits);
  pool.add(solution_of({3}, 4));
  CHECK(pool.cutoff() == 2);
  limits.relative_gap = 0;
  limits.solutions = 9;
  limits.pool_gap = 0.25;
  SolutionPool several(domain, limits);
  several.add(solution_of({3}, 4));
  several.add(solution_of({5}, 6));
  CHECK(several.cutoff() == doctest::Approx(5));
  CHECK(several.take().size() == 1);
}

TEST_CASE("answers that change other features") {
  const Domain domain = domain_of({whole_numbers(0, 5, 2), categories({0, 1, 1}, 0)});
  Limits limits;
  limits.solutions = 3;
  limits.other_features = true;
  SolutionPool pool(domain, limits);
  pool.add(solution_of({3, 0}, 1));
  pool.add(solution_of({4, 0}, 2));
  CHECK(pool.solutions().size() == 1);
  Box box = whole(domain);
  CHECK_FALSE(pool.common_key(box));
  box.keep_numbers(domain, 0, 3, 5);
  CHECK_FALSE(pool.common_key(box));
  box.fix(domain, 1, 0);
  const auto key = pool.common_key(box);
  REQUIRE(key);
  CHECK(pool.covers(*key, 1.5));
  CHECK_FALSE(pool.covers(*key, 0.5));
}

TEST_CASE("the parts of a split are the box") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    const Domain domain = domain_of({whole_numbers(0, 5, 2), reals(0, 10, 4), categories({0, 1, 2}, 0)});
    const Box box = some_box(domain, rng);
    std::vector<double> row;
    cheapest_row(domain, box, row);
    for (std::size_t j = 0; j < 3; ++j) {
      if (box.single(domain, j)) continue;
      const std::vector<Box> parts = split(domain, box, j, row[j]);
      CHECK(parts.size() >= 2);
      for (const std::vector<double>& other : rows_of(domain, box)) {
        const auto holding =
            std::count_if(parts.begin(), parts.end(), [&](const Box& part) { return part.contains(domain, other.data()); });
        CHECK(holding == 1);
      }
    }
  }
}

TEST_CASE("a cut beside a number of the grid leaves two smaller boxes that have every number") {
  Feature hundredths = reals(2.99, 3.39, 3.2);
  hundredths.grid = 0.01;
  hundredths.low = {2.99};
  hundredths.high = {3.39};
  hundredths.segments = {{2.99, 3.39, 0, 1}};
  hundredths.segment = {0};
  const Domain domain = domain_of({hundredths});
  const Box box = whole(domain);
  for (const double number : {2.99, 3.0, 3.1, 3.38, 3.39}) {
    for (const double at :
         {std::nextafter(number, -kInf), number, std::nextafter(number, kInf), number - 1e-12, number + 0.004}) {
      const std::vector<Box> parts = split_at(domain, box, {0, at});
      REQUIRE(parts.size() == 2);
      for (const Box& part : parts) CHECK(part.range[0].high - part.range[0].low < box.range[0].high - box.range[0].low - 0.005);
      for (int step = 299; step <= 339; ++step) {
        const double value = step / 100.0;
        CHECK(parts[0].contains(domain, &value) != parts[1].contains(domain, &value));
      }
    }
  }
}

TEST_CASE("small searches against enumeration, with the optimum followed") {
  int answered = 0;
  for (unsigned seed = 0; seed < 90; ++seed) {
    const Setting setting(seed);
    const Rows answers = setting.answers();
    const Result result = setting.run({}, answers.empty() ? nullptr : &answers.front());
    CHECK_FALSE(result.loss);
    if (answers.empty()) {
      CHECK(result.status == Status::kInfeasible);
      continue;
    }
    ++answered;
    REQUIRE(result.status == Status::kOptimal);
    CHECK(result.upper == doctest::Approx(setting.objective(answers.front())));
    CHECK(result.lower <= result.upper);
  }
  CHECK(answered > 45);
}

TEST_CASE("all answers, each followed") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const Setting setting(seed);
    const Rows answers = setting.answers();
    Limits limits;
    limits.solutions = 1000;
    for (const std::vector<double>& answer : answers) {
      const Result result = setting.run(limits, &answer);
      CHECK_FALSE(result.loss);
      CHECK(result.solutions.size() == answers.size());
      CHECK(result.lower == kInf);
    }
  }
}

TEST_CASE("a row that is no answer is lost in the step that sees it") {
  int by_rules = 0, by_score = 0, by_likelihood = 0, by_coherence = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Setting setting(seed);
    Limits limits;
    limits.solutions = 1000;  // so that no cut-off comes first
    for (const std::vector<double>& row : setting.rows) {
      const bool keeps = setting.problem.rules.hold(row.data()),
                 likely = setting.log_likelihood(row) >= setting.problem.likelihood_threshold,
                 coherent = setting.coherence(row) >= setting.problem.coherence_threshold;
      const bool reached = setting.score(row) >= setting.problem.goals(0)[0].lower;
      if (keeps + likely + coherent + reached != 3) continue;  // one demand is missed
      const Result result = setting.run(limits, &row);
      REQUIRE(result.loss);
      // The goal is in the duals too: a row that misses it may cost less than they say.
      const Step step = result.loss->step;
      const bool by_dual = step == Step::kCostBound || step == Step::kReducedCostFixing || step == Step::kJointBound;
      const Step misses = !likely ? Step::kLikelihood : Step::kCoherence;
      CHECK(((!reached && by_dual) || step == (!keeps ? Step::kRules : !reached ? Step::kScore : misses)));
      ++(!keeps ? by_rules : !reached ? by_score : !likely ? by_likelihood : by_coherence);
    }
  }
  CHECK(by_rules > 0);
  CHECK(by_score > 0);
  CHECK(by_likelihood > 0);
  CHECK(by_coherence > 0);
}

TEST_CASE("a bound that is too high is named") {
  const Setting setting(2);
  const Rows answers = setting.answers();
  REQUIRE_FALSE(answers.empty());
  Workspace workspace(setting.problem);
  SolutionPool pool(setting.problem.domain, {});
  Follower follower(setting.problem, answers.front(), workspace);
  Node node = root_node(setting.problem, 0, setting.objective(answers.front()) + 1);
  follower.watch(node, pool);
  follower.after(Step::kJointBound, node, true);
  REQUIRE(follower.loss());
  CHECK(follower.loss()->step == Step::kJointBound);
  CHECK(std::string(name_of(follower.loss()->step)) == "joint bound");
}

TEST_CASE("a row outside the domain cannot be followed") {
  const Setting setting(0);
  Search search(setting.problem, {}, [](const Progress&) { return true; });
  CHECK_THROWS_AS(search.follow({0.5, 0, 0}), std::invalid_argument);
  CHECK_THROWS_AS(search.follow({0}), std::invalid_argument);
}

TEST_CASE("a node remembers its multipliers, and its children begin with them") {
  const Setting setting(1);
  Workspace workspace(setting.problem);
  Node node = root_node(setting.problem, 0);
  REQUIRE(propagate(setting.problem, node, kInf, workspace.evaluations[0], workspace) == Outcome::kOpen);
  REQUIRE(node.multipliers.size() == 1);
  CHECK(node.multipliers[0].goal == workspace.evaluations[0].duals[0].multipliers.goal);
}

TEST_CASE("limits end a search, and what is proved then holds") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Setting setting(seed);
    const Rows answers = setting.answers();
    Limits limits;
    limits.nodes = 1;
    const Result result = setting.run(limits);
    CHECK(result.statistics.nodes <= 1);
    if (!answers.empty()) CHECK(result.lower <= setting.objective(answers.front()) + 1e-9);
  }
}

}  // namespace likely::search::test
