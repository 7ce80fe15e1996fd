#include "seeking.hpp"

#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "heuristics.hpp"

namespace likely::search {

namespace {

// What a row lacks, every part in units of its own: weights tell how much a part counts.
class Lack {
 public:
  Lack(const Problem& problem, std::uint32_t alternative, Workspace& workspace)
      : problem_(problem), alternative_(alternative), workspace_(workspace) {}

  // All parts count as much as this row lacks of them; those that it has, as much as it has to spare.
  void weigh_by(const std::vector<double>& row) {
    weights_.clear();
    for (const double part : parts(row)) weights_.push_back(1 / std::max(std::abs(part), tolerance::kLeastLack));
  }

  // What is missing counts for more.
  void press(const std::vector<double>& row) {
    const std::vector<double> found = parts(row);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] < 0) weights_[i] *= tolerance::kLackGrowth;
  }

  double of(const std::vector<double>& row) {
    const std::vector<double> found = parts(row);
    double sum = 0;
    for (std::size_t i = 0; i < found.size(); ++i) sum += weights_[i] * std::max(0.0, -found[i]);
    return sum;
  }

 private:
  // Below 0: missing. The last part are the rules.
  std::vector<double> parts(const std::vector<double>& row) {
    std::vector<double> found = surpluses(problem_, row, alternative_, workspace_);
    for (double& part : found) part = std::max(part, -tolerance::kMostLack);
    found.push_back(problem_.rules.hold(row.data()) ? 1 : -1);
    return found;
  }

  const Problem& problem_;
  std::uint32_t alternative_;
  Workspace& workspace_;
  std::vector<double> weights_;
};

// So many of some values, evenly.
std::vector<double> thinned(std::vector<double> values, std::size_t most) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= most) return values;
  std::vector<double> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(values[i * (values.size() - 1) / (most - 1)]);
  return some;
}

// The values of a feature that are worth a look: those of known rows, and of cells.
std::vector<double> values_of(const Feature& f, const std::vector<std::vector<double>>& rows, std::size_t j) {
  std::vector<double> values = thinned(f.atom, tolerance::kSoughtValues), numbers;
  if (!std::isnan(f.factual) && f.cell_of(f.factual) >= 0) values.push_back(f.factual);
  for (const std::vector<double>& row : rows)
    if (f.cell_of(row[j]) >= 0) numbers.push_back(row[j]);
  const std::size_t step = std::max<std::size_t>(1, f.low.size() / tolerance::kSoughtValues);
  for (std::size_t c = 0; c < f.low.size(); c += step) numbers.push_back(f.nearest_end(c));
  for (const double number : thinned(numbers, tolerance::kSoughtValues)) values.push_back(number);
  return values;
}

// One value at a time, until the row lacks nothing.
class Climb {
 public:
  Climb(const Problem& problem, std::uint32_t alternative, const std::vector<std::vector<double>>& values, SolutionPool& pool,
        Workspace& workspace, const std::function<bool()>& more)
      : problem_(problem),
        alternative_(alternative),
        values_(values),
        pool_(pool),
        workspace_(workspace),
        more_(more),
        lack_(problem, alternative, workspace) {}

  bool reaches_answer(std::vector<double> row) {
    lack_.weigh_by(row);
    rests_until_.assign(row.size(), 0);
    double missing = lack_.of(row);
    for (std::size_t step = 1, most = tolerance::kSeekingSteps * row.size(); missing > 0; ++step) {
      if (step > most || !more_()) return false;
      const double before = missing;
      if (!change_one(row, missing, step)) return false;
      if (missing < before) continue;
      lack_.press(row);
      missing = lack_.of(row);
    }
    if (!test_row(problem_, row, alternative_, pool_, workspace_)) return false;
    remove_changes(problem_, row, alternative_, pool_, workspace_);
    pull_back(problem_, pool_.best_of(alternative_)->row, alternative_, pool_, workspace_);
    return true;
  }

 private:
  // Of the features that do not rest, the change after which least is missing, be it more than before; the feature then rests.
  bool change_one(std::vector<double>& row, double& missing, std::size_t step) {
    std::size_t feature = row.size();
    double chosen = 0, least = kInf;
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (rests_until_[j] > step) continue;
      const double before = row[j];
      for (const double value : values_[j]) {
        if (value == before) continue;
        row[j] = value;
        const double left = lack_.of(row);
        if (left < least) least = left, feature = j, chosen = value;
      }
      row[j] = before;
    }
    if (feature == row.size()) return false;
    row[feature] = chosen;
    rests_until_[feature] = step + 1 + std::min(tolerance::kSeekingRest, row.size() / 3);
    missing = least;
    return true;
  }

  const Problem& problem_;
  std::uint32_t alternative_;
  const std::vector<std::vector<double>>& values_;
  SolutionPool& pool_;
  Workspace& workspace_;
  const std::function<bool()>& more_;
  Lack lack_;
  std::vector<std::size_t> rests_until_;  // per feature: the step
};

}  // namespace

void seek_answer(const Problem& problem, std::uint32_t alternative, const std::vector<std::vector<double>>& rows,
                 std::size_t first, std::size_t most, SolutionPool& pool, Workspace& workspace,
                 const std::function<bool()>& more) {
  const std::vector<Feature>& features = problem.domain.features;
  std::vector<double> cheapest;
  cheapest_row(problem.domain, whole(problem.domain), cheapest);
  Lack lack(problem, alternative, workspace);
  lack.weigh_by(cheapest);
  std::vector<std::pair<double, std::vector<double>>> starts{{lack.of(cheapest), cheapest}};
  for (std::vector<double> row : rows) {
    if (row.size() != cheapest.size()) continue;
    for (std::size_t j = 0; j < row.size(); ++j)
      if (!features[j].has(row[j])) row[j] = cheapest[j];
    starts.emplace_back(lack.of(row), std::move(row));
  }
  std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<double>> values;
  for (std::size_t j = 0; j < features.size(); ++j) values.push_back(values_of(features[j], rows, j));
  Climb climb(problem, alternative, values, pool, workspace, more);
  for (std::size_t i = first; i < std::min(first + most, starts.size()); ++i)
    if (!more() || climb.reaches_answer(starts[i].second)) return;
}

}  // namespace likely::search
