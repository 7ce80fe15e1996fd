#include "exchange.hpp"

#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "heuristics.hpp"

namespace likely::search {

namespace {

class Exchange {
 public:
  Exchange(const Problem& problem, std::uint32_t alternative, std::vector<double> row, SolutionPool& pool, Workspace& workspace,
           const std::function<bool()>& more)
      : problem_(problem), alternative_(alternative), pool_(pool), workspace_(workspace), more_(more), row_(std::move(row)) {}

  // Whether an exchange with every feature in turn, the costliest first, made the answer cheaper.
  bool pass() {
    bool better = false;
    for (const std::size_t i : by_cost(features(), row_)) better |= takes_back(i);
    return better && more_();
  }

 private:
  // A number that goes as far as it can for a part of what was saved, and what that does to everything that must be reached.
  struct Step {
    std::size_t feature;
    double value;
    std::vector<double> effect;
  };

  const std::vector<Feature>& features() const { return problem_.domain.features; }

  bool moves(std::size_t j) const { return features()[j].cell_of(row_[j]) >= 0 && !std::isnan(features()[j].factual); }

  bool is_an_answer() { return is_answer(problem_, row_, alternative_, workspace_); }

  // Takes a change back, all of it or less and less.
  bool takes_back(std::size_t i) {
    const Feature& f = features()[i];
    const double from = row_[i], least = tolerance::kLeastExchange * problem_.domain.cost(row_.data());
    if (from == f.factual || !moves(i)) return false;
    for (double share = 1; more_(); share *= tolerance::kExchangeShare) {
      const double back = f.nearest(from + share * (f.factual - from));
      const double saved = f.cost(from) - f.cost(back);
      if (back == from || !(saved > least)) return false;
      row_[i] = back;
      if (is_an_answer() || one_makes_up_for(i, saved) || two_make_up_for(i, saved)) {
        test_row(problem_, row_, alternative_, pool_, workspace_);
        return true;
      }
      row_[i] = from;
    }
    return false;
  }

  // Calls work(j) for every number but one with it as far as it can go, either way, for less than so much.
  template <class Work>
  void each_step(std::size_t taken, double saved, const Work& work) {
    for (std::size_t j = 0; j < row_.size(); ++j) {
      if (j == taken || !moves(j)) continue;
      const double before = row_[j];
      for (const double direction : {-1.0, 1.0}) {
        row_[j] = affordable(features()[j], before, direction, saved);
        if (row_[j] != before) work(j, before);
      }
      row_[j] = before;
    }
  }

  // Of the numbers that can make up for what was taken back, at less than it saved, moves the one that costs least.
  bool one_makes_up_for(std::size_t taken, double saved) {
    std::size_t feature = taken;
    double value = 0, least = saved;
    each_step(taken, saved, [&](std::size_t j, double before) {
      if (!is_an_answer()) return;
      pull(j, before);
      const double added = features()[j].cost(row_[j]) - features()[j].cost(before);
      if (added < least) feature = j, value = row_[j], least = added;
    });
    if (feature == taken) return false;
    row_[feature] = value;
    return true;
  }

  // Two numbers, each for half of what was saved: the pairs that reach most if their effects add up.
  bool two_make_up_for(std::size_t taken, double saved) {
    const std::vector<double> reached = surplus();
    std::vector<Step> steps;
    each_step(taken, 0.5 * saved, [&](std::size_t j, double) {
      Step step{j, row_[j], surplus()};
      for (std::size_t g = 0; g < reached.size(); ++g) step.effect[g] -= reached[g];
      steps.push_back(std::move(step));
    });
    for (const auto& [first, second] : promising(steps, reached)) {
      const double before[] = {row_[first->feature], row_[second->feature]};
      row_[first->feature] = first->value;
      row_[second->feature] = second->value;
      if (is_an_answer()) {
        pull(first->feature, before[0]);
        pull(second->feature, before[1]);
        return true;
      }
      row_[first->feature] = before[0];
      row_[second->feature] = before[1];
    }
    return false;
  }

  using Pair = std::pair<const Step*, const Step*>;

  static std::vector<Pair> promising(const std::vector<Step>& steps, const std::vector<double>& reached) {
    std::vector<std::pair<double, Pair>> pairs;
    for (std::size_t a = 0; a < steps.size(); ++a)
      for (std::size_t b = a + 1; b < steps.size(); ++b) {
        if (steps[a].feature == steps[b].feature) continue;
        double least = kInf;
        for (std::size_t g = 0; g < reached.size(); ++g)
          least = std::min(least, reached[g] + steps[a].effect[g] + steps[b].effect[g]);
        if (least >= 0) pairs.push_back({least, {&steps[a], &steps[b]}});
      }
    const std::size_t count = std::min(pairs.size(), tolerance::kExchangePairs);
    std::partial_sort(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(count), pairs.end(),
                      [](const auto& x, const auto& y) { return x.first > y.first; });
    std::vector<Pair> best;
    for (std::size_t i = 0; i < count; ++i) best.push_back(pairs[i].second);
    return best;
  }

  std::vector<double> surplus() { return surpluses(problem_, row_, alternative_, workspace_); }

  // How far a number can go for less than so much; the number itself if there is none.
  static double affordable(const Feature& f, double from, double direction, double saved) {
    const double end = direction > 0 ? f.high.back() : f.low.front();
    const double outwards = from == f.factual ? end : from < f.factual ? f.low.front() : f.high.back();
    const double per_unit = std::abs((f.cost(outwards) - f.cost(f.factual)) / (outwards - f.factual));
    if (!(per_unit > 0) || !std::isfinite(per_unit)) return from;
    double distance = std::min(saved / per_unit, std::abs(end - from));
    for (int i = 0; i < tolerance::kExchangeHalvings; ++i, distance /= 2) {
      const double to = direction > 0 ? f.down_to_grid(from + distance) : f.up_to_grid(from - distance);
      if (f.cell_of(to) >= 0 && f.cost(to) - f.cost(from) < saved) return to;
    }
    return from;
  }

  // As near to where it came from as the row remains an answer, if it cost something to go.
  void pull(std::size_t j, double missed) {
    const Feature& f = features()[j];
    if (!(f.cost(row_[j]) > f.cost(missed))) return;
    row_[j] = nearest_answer(f, row_[j], missed, [&](double value) {
      row_[j] = value;
      return is_an_answer();
    });
  }

  const Problem& problem_;
  std::uint32_t alternative_;
  SolutionPool& pool_;
  Workspace& workspace_;
  const std::function<bool()>& more_;
  std::vector<double> row_;
};

}  // namespace

void exchange(const Problem& problem, std::uint32_t alternative, std::vector<double> answer, SolutionPool& pool,
              Workspace& workspace, const std::function<bool()>& more) {
  Exchange exchange(problem, alternative, std::move(answer), pool, workspace, more);
  for (int pass = 0; pass < tolerance::kExchangePasses && exchange.pass(); ++pass) {
  }
}

}  // namespace likely::search
