// The answers known so far, and what an answer must be better than.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

// The best answers that differ, at most as many as asked for, the best first.
class SolutionPool {
 public:
  // What tells a row from others in the pool: its values (of a real feature: their cells), or only which features it
  // changes.
  using Key = std::vector<std::uint64_t>;

  SolutionPool(const Domain& domain, const Limits& limits) : domain_(&domain), limits_(limits) {}

  void add(Solution solution);
  // Becomes a copy of another pool; and what such a copy was given since, taken over.
  void begin_as(const SolutionPool& other);
  void add_found(const SolutionPool& copy);
  Key key(const std::vector<double>& row) const;
  // The key that all rows of a box have; none if they differ.
  std::optional<Key> common_key(const Box& box) const;
  // Whether an answer with this key is known that is no costlier than a bound.
  bool covers(const Key& key, double bound) const;

  // The greatest objective that an answer may have, given the best one known.
  double most_allowed() const;
  // Only rows below it are of interest.
  double cutoff() const;
  // A row that is an answer is of use if its objective is less: a gain smaller than the gap may still be what ends the search.
  double admitted_below() const;
  // The objective of the last answer asked for; infinite while there are fewer.
  double upper() const { return full() ? solutions_.back().objective : kInf; }
  double best() const { return solutions_.empty() ? kInf : solutions_.front().objective; }
  bool full() const { return solutions_.size() >= limits_.solutions; }
  const std::vector<Solution>& solutions() const { return solutions_; }
  // The best answer of an alternative that was ever added, in the pool or not, and the likeliest one; nothing if there was none.
  const Solution* best_of(std::uint32_t alternative) const { return known(best_of_, alternative); }
  const Solution* likeliest_of(std::uint32_t alternative) const { return known(likeliest_of_, alternative); }
  // A row that may be an answer, though double precision cannot tell: what is claimed must allow for it.
  void leave_undecided(double objective) { undecided_ = std::min(undecided_, objective); }
  double undecided() const { return undecided_; }
  // Drops those that the best answer excludes, and hands over the rest.
  std::vector<Solution> take();

 private:
  static std::uint64_t place(const Feature& f, double v);
  static const Solution* known(const std::vector<Solution>& of, std::uint32_t alternative) {
    return alternative < of.size() && !of[alternative].row.empty() ? &of[alternative] : nullptr;
  }

  const Domain* domain_;
  Limits limits_;
  std::vector<Solution> solutions_;
  std::vector<Key> keys_;
  std::vector<Solution> best_of_, likeliest_of_;  // per alternative; without a row if there is none
  double undecided_ = kInf;
  std::uint64_t added_ = 0;  // how often something was, since it began as a copy
};

// Whether a row is an answer, by evaluation of its rules, of the classifier and of the circuit. If it is, and better than the
// cut-off, it goes into the pool.
bool test_row(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, SolutionPool& pool,
              Workspace& workspace);

// Whether a row is an answer, whatever it costs.
bool is_answer(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, Workspace& workspace);

// The classifier's outputs and the log-likelihood of a row.
void evaluate_row(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative, Workspace& workspace,
                  RowValues& out);
// By how much a row does more than it must: per goal, then in likelihood and coherence, if they have thresholds.
std::vector<double> surpluses(const Problem& problem, const std::vector<double>& row, std::uint32_t alternative,
                              Workspace& workspace);

}  // namespace likely::search
