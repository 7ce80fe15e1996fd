#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "build.hpp"
#include "search/queue.hpp"
#include "search/search.hpp"
#include "search/workers.hpp"

namespace likely::search::test {

namespace {

Node node_with(double bound) {
  Node made;
  made.bound = bound;
  return made;
}

// A goal that few rows reach, of a score over a domain that is moved in with it.
struct Asked {
  Asked(unsigned seed, const std::function<std::unique_ptr<Score>(const Domain&, Rng&)>& score, bool wide) {
    Rng rng(seed);
    problem.domain = wide ? domain_of({reals(-3, 3, 0.5, 0.7, 1.3), reals(-2, 2, 0, 1, 0.4), categories({0, 0.5, 1.5}, 0),
                                       reals(-1, 2, 0), reals(-1, 1, 0)})
                          : small_domain(rng);
    problem.score = score(problem.domain, rng);
    double best = -kInf;
    for (const std::vector<double>& row : rows_of(problem.domain, whole(problem.domain))) {
      std::vector<double> outputs;
      problem.score->outputs(row.data(), outputs);
      best = std::max(best, outputs[0]);
    }
    problem.alternatives.push_back({{{{1.0}, best - 1e-3}}, std::nullopt});
    problem.nodes_before_rounds = 0;
    problem.nodes_before_trees = 3;
    problem.nodes_before_ranges = seed % 2;
  }

  Result solved(std::size_t threads, std::uint64_t open_nodes = 1000) const {
    Limits limits;
    limits.nodes = 400;
    limits.threads = threads;
    limits.open_nodes = open_nodes;
    return Search(problem, limits, [](const Progress&) { return true; }).run({});
  }

  Problem problem;
};

void check_same(const Result& one, const Result& other) {
  CHECK(one.status == other.status);
  CHECK(one.upper == other.upper);
  CHECK(one.lower == other.lower);
  CHECK(one.statistics.nodes == other.statistics.nodes);
  CHECK(one.statistics.tested == other.statistics.tested);
  CHECK(one.statistics.filtered == other.statistics.filtered);
  REQUIRE(one.solutions.size() == other.solutions.size());
  for (std::size_t i = 0; i < one.solutions.size(); ++i) CHECK(one.solutions[i].row == other.solutions[i].row);
}

}  // namespace

TEST_CASE("a queue without room plunges, and its bound counts what is put aside") {
  NodeQueue queue(2);
  queue.push(node_with(1.0), false);
  queue.push(node_with(2.0), false);
  queue.push(node_with(5.0), false);
  queue.push(node_with(0.5), true);
  CHECK(queue.lower() == 0.5);
  CHECK(queue.pop().bound == 0.5);
  CHECK(queue.pop().bound == 5.0);
  CHECK(queue.lower() == 1.0);
  CHECK(queue.pop().bound == 1.0);
  queue.push(node_with(3.0), false);  // there is room again
  CHECK(queue.pop().bound == 2.0);
  CHECK(queue.pop().bound == 3.0);
  CHECK(queue.empty());
  CHECK(queue.most_open() == 4);
  NodeQueue small(100, 3 * bytes_of(Node{}));
  for (int i = 0; i < 4; ++i) small.push(node_with(i), false);
  CHECK(small.pop().bound == 3.0);
  CHECK(small.pop().bound == 0.0);
}

TEST_CASE("workers do every piece once, and rest before they return") {
  for (const std::size_t threads : {1, 2, 4}) {
    Workers workers(threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<int> done(20, 0);
      const std::size_t begun =
          workers.run(done.size(), [&](std::size_t i, std::size_t) { ++done[i]; }, [](std::size_t) { return true; });
      CHECK(begun == done.size());
      CHECK(done == std::vector<int>(20, 1));
    }
  }
}

TEST_CASE("workers begin nothing more once they are told to stop") {
  for (const std::size_t threads : {1, 3}) {
    Workers workers(threads);
    std::vector<int> done(1000, 0);
    const std::size_t begun = workers.run(
        done.size(),
        [&](std::size_t i, std::size_t) {
          ++done[i];
          std::this_thread::yield();
        },
        [](std::size_t so_far) { return so_far < 5; });
    CHECK(begun >= 5);
    for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == (i < begun ? 1 : 0));
  }
}

TEST_CASE("what a piece or the caller throws is thrown by the caller's thread, and workers go on") {
  for (const std::size_t threads : {1, 3}) {
    Workers workers(threads);
    const auto go_on = [](std::size_t) { return true; };
    const Workers::Task fail = [](std::size_t i, std::size_t) {
      if (i == 7) throw std::runtime_error("piece");
    };
    CHECK_THROWS_WITH(workers.run(100, fail, go_on), "piece");
    const auto refuse = [](std::size_t so_far) -> bool {
      if (so_far >= 3) throw std::runtime_error("caller");
      return true;
    };
    CHECK_THROWS_WITH(workers.run(100, [](std::size_t, std::size_t) {}, refuse), "caller");
    std::atomic<int> count = 0;
    CHECK(workers.run(10, [&](std::size_t, std::size_t) { ++count; }, go_on) == 10);
    CHECK(count == 10);
  }
}

TEST_CASE("a search is the same on any number of threads") {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Asked asked[] = {
        Asked(
            seed, [](const Domain& domain, Rng& rng) { return some_network(domain, rng, {6, 5}); }, true),
        Asked(
            seed, [](const Domain& domain, Rng& rng) { return some_forest(domain, rng, 12); }, true),
        Asked(
            seed, [](const Domain& domain, Rng& rng) { return some_network(domain, rng, {5}); }, false),
    };
    for (const Asked& each : asked) {
      const Result alone = each.solved(1);
      for (const std::size_t threads : {2, 4}) check_same(alone, each.solved(threads));
      const Result plunging = each.solved(3, 2);
      check_same(plunging, each.solved(1, 2));
      if (alone.status == Status::kOptimal && plunging.status == Status::kOptimal)
        CHECK(plunging.upper == doctest::Approx(alone.upper));
    }
  }
}

}  // namespace likely::search::test
