#include "incumbents.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "../tolerances.hpp"

namespace likely::search {

// Two values are the same to a list of answers if these are: atoms and the numbers of a grid by themselves, reals by cell.
std::uint64_t SolutionPool::place(const Feature& f, double v) {
  if (const std::int32_t k = f.atom_of(v); k >= 0) return static_cast<std::uint64_t>(k);
  if (f.grid > 0) return ~std::bit_cast<std::uint64_t>(v);
  return f.atom.size() + static_cast<std::uint64_t>(f.cell_of(v));
}

SolutionPool::Key SolutionPool::key(const std::vector<double>& row) const {
  Key made;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = domain_->features[j];
    made.push_back(limits_.other_features ? static_cast<std::uint64_t>(row[j] != f.factual) : place(f, row[j]));
  }
  return made;
}

std::optional<SolutionPool::Key> SolutionPool::common_key(const Box& box) const {
  Key made;
  for (std::size_t j = 0; j < domain_->features.size(); ++j) {
    const Feature& f = domain_->features[j];
    const Range& range = box.range[j];
    if (!limits_.other_features) {
      if (f.grid > 0 ? !box.single(*domain_, j) : !box.single_cell(*domain_, j)) return std::nullopt;
      double value = range.low;
      if (range.empty()) box.each_atom(f, [&](std::size_t k) { value = f.atom[k]; });
      made.push_back(place(f, value));
      continue;
    }
    const std::int32_t atom = f.atom_of(f.factual), cell = atom >= 0 ? -1 : f.cell_of(f.factual);
    const bool has_factual = atom >= 0
                                 ? box.has_atom(f, static_cast<std::size_t>(atom))
                                 : cell >= range.first && cell <= range.last && range.low <= f.factual && f.factual <= range.high;
    if (has_factual && !box.single(*domain_, j)) return std::nullopt;
    made.push_back(static_cast<std::uint64_t>(!has_factual));
  }
  return made;
}

bool SolutionPool::covers(const Key& key, double bound) const {
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key && solutions_[i].objective <= bound + std::max(limits_.absolute_gap, tolerance::kSameObjective))
      return true;
  return false;
}

void SolutionPool::add(Solution solution) {
  assert(solution.objective < kInf);
  ++added_;
  for (std::vector<Solution>* each : {&best_of_, &likeliest_of_})
    each->resize(std::max<std::size_t>(each->size(), solution.alternative + 1));
  Solution &best = best_of_[solution.alternative], &likeliest = likeliest_of_[solution.alternative];
  if (best.row.empty() || solution.objective < best.objective) best = solution;
  if (likeliest.row.empty() || solution.log_likelihood > likeliest.log_likelihood) likeliest = solution;
  Key made = key(solution.row);
  for (std::size_t i = 0; i < solutions_.size(); ++i) {
    if (keys_[i] != made) continue;
    if (solutions_[i].objective <= solution.objective) return;
    solutions_.erase(solutions_.begin() + static_cast<std::ptrdiff_t>(i));
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  std::size_t rank = 0;
  while (rank < solutions_.size() && solutions_[rank].objective <= solution.objective) ++rank;
  if (rank >= limits_.solutions) return;
  solutions_.insert(solutions_.begin() + static_cast<std::ptrdiff_t>(rank), std::move(solution));
  keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(rank), std::move(made));
  if (solutions_.size() > limits_.solutions) {
    solutions_.pop_back();
    keys_.pop_back();
  }
}

void SolutionPool::begin_as(const SolutionPool& other) {
  *this = other;
  added_ = 0;
}

void SolutionPool::add_found(const SolutionPool& copy) {
  leave_undecided(copy.undecided_);
  if (copy.added_ == 0) return;
  for (const std::vector<Solution>* each : {&copy.solutions_, &copy.best_of_, &copy.likeliest_of_})
    for (const Solution& solution : *each)
      if (!solution.row.empty()) add(solution);
}

double SolutionPool::most_allowed() const {
  if (solutions_.empty() || limits_.pool_gap == kInf) return kInf;
  return best() + limits_.pool_gap * std::abs(best()) + tolerance::bound_rounding(best());
}

double SolutionPool::cutoff() const {
  if (!full()) return most_allowed();
  const double worst = solutions_.back().objective;
  return std::min(most_allowed(), worst - std::max(limits_.absolute_gap, limits_.relative_gap * std::abs(worst)));
}

double SolutionPool::admitted_below() const {
  return full() ? std::min(most_allowed(), solutions_.back().objective) : most_allowed();
}

std::vector<Solution> SolutionPool::take() {
  while (!solutions_.empty() && solutions_.back().objective > most_allowed()) {
    solutions_.pop_back();
    keys_.pop_back();
  }
  return solutions_;
}

void evaluate_row(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, Workspace& workspace,
                  RowValues& out) {
  problem.score->outputs(row.data(), out.outputs);
  out.log_likelihood = problem.likelihood ? problem.likelihood->exact(row.data(), alternative, workspace.row_buffers) : 0;
  out.coherence = problem.coherence ? problem.coherence->exact(row.data(), alternative, workspace.row_buffers) : 0;
}

std::vector<double> surpluses(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative,
                              Workspace& workspace) {
  RowValues& values = workspace.row_values;
  evaluate_row(problem, row, alternative, workspace, values);
  std::vector<double> left;
  for (const Goal& goal : problem.goals(alternative)) left.push_back(goal.score(values.outputs) - goal.lower);
  if (problem.likelihood) left.push_back(values.log_likelihood - problem.likelihood_threshold);
  if (problem.coherence) left.push_back(values.coherence - problem.coherence_threshold);
  return left;
}

namespace {

// The rounding of a row is looked at only if that of all rows would make a difference.
Verdict judge_score(const Problem& problem, const std::vector<double>& row, const Alternative& asked, RowValues& values) {
  problem.score->outputs(row.data(), values.outputs);
  if (asked.met(values.outputs)) return Verdict::kMet;
  if (asked.judge(values.outputs, problem.score->greatest_rounding()) == Verdict::kMissed) return Verdict::kMissed;
  problem.score->rounding(row.data(), values.rounding);
  return asked.judge(values.outputs, values.rounding);
}

bool fits_together(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, Workspace& workspace) {
  return !problem.coherence ||
         problem.coherence->exact(row.data(), alternative, workspace.row_buffers) >= problem.coherence_threshold;
}

}  // namespace

bool is_answer(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, Workspace& workspace) {
  ++workspace.statistics.tested;
  if (!problem.rules.hold(row.data())) return false;
  if (judge_score(problem, row, problem.alternatives[alternative], workspace.row_values) != Verdict::kMet) return false;
  if (problem.likelihood &&
      !(problem.likelihood->exact(row.data(), alternative, workspace.row_buffers) >= problem.likelihood_threshold))
    return false;
  return fits_together(problem, row, alternative, workspace);
}

bool test_row(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, SolutionPool& pool,
              Workspace& workspace) {
  ++workspace.statistics.tested;
  const double cost = problem.domain.cost(row.data()), weight = problem.likelihood_weight;
  if (weight == 0 && cost >= pool.admitted_below()) return false;
  if (!problem.rules.hold(row.data())) return false;
  const Verdict verdict = judge_score(problem, row, problem.alternatives[alternative], workspace.row_values);
  if (verdict == Verdict::kMissed) return false;
  double log_likelihood = 0;
  if (problem.likelihood) {
    log_likelihood = problem.likelihood->exact(row.data(), alternative, workspace.row_buffers);
    if (log_likelihood < problem.likelihood_threshold) return false;
  }
  if (!fits_together(problem, row, alternative, workspace)) return false;
  const double objective = weight > 0 ? cost - weight * log_likelihood : cost;
  if (!(objective < kInf)) return false;  // impossible, where likelihood counts
  if (verdict == Verdict::kUndecided) {
    pool.leave_undecided(objective);
    return false;
  }
  pool.add({row, objective, cost, log_likelihood, alternative});
  return true;
}

}  // namespace likely::search
