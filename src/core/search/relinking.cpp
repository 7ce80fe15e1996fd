#include "relinking.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "../tolerances.hpp"
#include "heuristics.hpp"
#include "likelihood_changes.hpp"

namespace likely::search {

namespace {

// A row on its way to become an answer.
class Path {
 public:
  Path(const Problem& problem, const Node& node, const Prices& prices, const std::vector<std::vector<double>>& guides,
       SolutionPool& pool, Workspace& workspace)
      : problem_(problem), node_(node), prices_(prices), guides_(guides), pool_(pool), workspace_(workspace) {
    if (!problem.likelihood->has_blocks() || problem.likelihood->components() == 0 || problem.coherence) return;
    fill_numbers();
    changes_.emplace(*problem.likelihood, node.alternative, problem.likelihood_threshold, numbers_);
  }

  // Whether the row became an answer that is better than the cut-off.
  bool repair(std::vector<double>& row) {
    double missing = missing_of(row);
    for (std::size_t step = 0; step < 2 * row.size(); ++step) {
      if (problem_.domain.cost(row.data()) >= pool_.cutoff()) return false;
      if (missing <= 0 && test_row(problem_, row, node_.alternative, pool_, workspace_)) return true;
      const Change change = best_change(row, missing);
      if (!(change.gain > 0)) return false;
      row[change.feature] = change.value;
      missing = changes_ ? missing_of(row) : missing - change.gain;
    }
    return false;
  }

  // Values that cost less, as long as the row remains an answer.
  void improve(std::vector<double>& row) {
    for (int pass = 0; pass < tolerance::kImprovingPasses; ++pass) {
      bool better = false;
      for (std::size_t j = 0; j < row.size(); ++j) better |= improve_feature(row, j);
      if (!better) break;
    }
    pull_back(problem_, row, node_.alternative, pool_, workspace_);
  }

 private:
  struct Change {
    std::size_t feature = 0;
    double value = 0, gain = 0, per_gain = kInf;
  };

  // What a row lacks of goals and of likelihood, in nats.
  double missing_of(const std::vector<double>& row) { return lack(surpluses(problem_, row, node_.alternative, workspace_)); }

  double lack(const std::vector<double>& surplus) const {
    const std::size_t goals = problem_.goals(node_.alternative).size();
    double missing = 0;
    for (std::size_t i = 0; i < surplus.size(); ++i) {
      const double price = i < goals && i < prices_.goals.size() && prices_.goals[i] > 0 ? prices_.goals[i] : 1;
      missing += price * std::max(0.0, -surplus[i]);
    }
    return missing;
  }

  // The same of a row with one value changed, where changes are known.
  double missing_with(const std::vector<double>& row, std::size_t j) {
    if (!changes_) return missing_of(row);
    std::vector<double>& outputs = workspace_.row_values.outputs;
    problem_.score->outputs(row.data(), outputs);
    std::vector<double> surplus;
    for (const Goal& goal : problem_.goals(node_.alternative)) surplus.push_back(goal.score(outputs) - goal.lower);
    surplus.push_back(log_likelihood_with(j, row[j]) - problem_.likelihood_threshold);
    return lack(surplus);
  }

  double log_likelihood_with(std::size_t j, double value) const {
    const std::int32_t k = problem_.domain.features[j].atom_of(value);
    if (k >= 0) return changes_->with_atom(j, static_cast<std::size_t>(k));
    const auto at = std::find(numbers_[j].begin(), numbers_[j].end(), value) - numbers_[j].begin();
    return changes_->with_number(j, static_cast<std::size_t>(at));
  }

  Change best_change(std::vector<double>& row, double missing) {
    Change best;
    const double cost = problem_.domain.cost(row.data());
    if (changes_) changes_->evaluate(row);
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double before = row[j];
      for (const double value : candidates(row, j)) {
        row[j] = value;
        const double gain = missing - missing_with(row, j);
        if (!(gain > 0)) continue;
        const double per_gain = (problem_.domain.cost(row.data()) - cost) / gain;
        if (per_gain < best.per_gain) best = {j, value, gain, per_gain};
      }
      row[j] = before;
    }
    return best;
  }

  bool improve_feature(std::vector<double>& row, std::size_t j) {
    const Feature& f = problem_.domain.features[j];
    const double before = row[j];
    std::vector<double> values = candidates(row, j);
    std::sort(values.begin(), values.end(), [&](double a, double b) { return f.cost(a) < f.cost(b); });
    for (const double value : values) {
      if (!(f.cost(value) < f.cost(before))) break;
      row[j] = value;
      if (is_answer(problem_, row, node_.alternative, workspace_)) {
        test_row(problem_, row, node_.alternative, pool_, workspace_);
        return true;
      }
    }
    row[j] = before;
    return false;
  }

  // Values of a feature that guides and the factual have.
  std::vector<double> known_values(std::size_t j) const {
    const Feature& f = problem_.domain.features[j];
    std::vector<double> values;
    auto add = [&](double value) {
      if (f.has(value) && std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    };
    for (const std::vector<double>& guide : guides_) add(guide[j]);
    if (!std::isnan(f.factual)) add(f.factual);
    return values;
  }

  // The numbers that are looked at where changes are known.
  void fill_numbers() {
    for (std::size_t j = 0; j < problem_.domain.features.size(); ++j) {
      numbers_.push_back(known_values(j));
      std::erase_if(numbers_[j], [&](double value) { return problem_.domain.features[j].atom_of(value) >= 0; });
    }
  }

  // Other values of a feature that are worth a look.
  std::vector<double> candidates(const std::vector<double>& row, std::size_t j) const {
    const Feature& f = problem_.domain.features[j];
    std::vector<double> values = known_values(j);
    std::erase(values, row[j]);
    if (changes_) return values;
    auto add = [&](double value) {
      if (value != row[j] && f.has(value) && std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
    };
    const std::int32_t cell = f.cell_of(row[j]), cells = static_cast<std::int32_t>(f.low.size());
    if (cell < 0 || problem_.likelihood->in_blocks(j)) return values;
    for (std::int32_t step = 1; step <= tolerance::kNeighbouringCells; step *= 2)
      for (const std::int32_t c : {cell - step, cell + step})
        if (c >= 0 && c < cells) add(f.nearest_end(static_cast<std::size_t>(c)));
    return values;
  }

  const Problem& problem_;
  const Node& node_;
  const Prices& prices_;
  const std::vector<std::vector<double>>& guides_;
  SolutionPool& pool_;
  Workspace& workspace_;
  std::vector<std::vector<double>> numbers_;  // per feature
  std::optional<LikelihoodChanges> changes_;  // where a row takes long to look at: many values are looked at together
};

}  // namespace

void relink(const Problem& problem, const Node& node, const PricedParts& priced, SolutionPool& pool, Workspace& workspace) {
  if (pool.best_of(node.alternative) == nullptr) return;
  std::vector<std::vector<double>> guides{pool.best_of(node.alternative)->row, pool.likeliest_of(node.alternative)->row};
  std::vector<std::size_t> parts;
  for (std::size_t p = 0; p < priced.shares.size(); ++p)
    if (priced.shares[p] >= tolerance::kTriedPartShare && !priced.pointed[p].empty()) parts.push_back(p);
  std::sort(parts.begin(), parts.end(), [&](std::size_t a, std::size_t b) { return priced.shares[a] > priced.shares[b]; });
  for (const std::size_t p : parts) guides.push_back(on_grid(problem.domain, priced.pointed[p]));
  const std::size_t most = problem.likelihood->has_blocks() ? 1 : tolerance::kRelinkedParts;
  for (std::size_t i = 0; i < std::min(parts.size(), most); ++i) {
    std::vector<double> row = guides[2 + i];
    Path path(problem, node, node.prices[parts[i]], guides, pool, workspace);
    if (path.repair(row)) path.improve(row);
  }
}

}  // namespace likely::search
