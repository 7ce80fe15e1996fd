// Branch and bound over boxes: the cheapest rows that reach a goal, are likely enough and keep the rules - with a proof.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "domain.hpp"
#include "likelihood.hpp"
#include "rules.hpp"
#include "score.hpp"

namespace likely::search {

// Minimise cost(x) - alpha log p(x) over rows x of the domain that keep the rules, with log p(x) >= delta, and all goals
// of at least one alternative.
struct Problem {
  Domain domain;
  std::unique_ptr<Score> score;
  std::vector<Alternative> alternatives;
  std::unique_ptr<Likelihood> likelihood;  // none: every row is likely enough
  double delta;                            // -inf: no threshold
  double alpha = 0;
  Rules rules;
};

struct Limits {
  double seconds;
  std::uint64_t boxes;
  double absolute_gap, relative_gap;
  std::size_t solutions;           // how many of the cheapest that differ
  bool other_features;             // each with another set of changed features
  double within;                   // and none dearer than the best by more than this share of it
};

struct Solution {
  std::vector<double> row;
  double objective, cost, log_likelihood;
  std::uint32_t alternative;
};

enum class Status { kOptimal, kFeasible, kInfeasible, kUnknown };

struct Moment {  // of the trace
  double seconds;
  std::uint64_t boxes;
  double found, proven;
};

struct Result {
  Status status = Status::kUnknown;
  std::vector<Solution> solutions;  // the best first
  double found, proven;             // the last wanted solution's objective, and what no other can be below
  std::uint64_t boxes = 0, tested = 0;
  std::uint64_t filtered = 0;  // atoms and cells that narrowing took away
  double seconds = 0, seconds_score = 0, seconds_likelihood = 0;
  std::vector<Moment> trace;
};

// Called now and then; false ends the search.
using Poll = std::function<bool(const Moment&)>;

class Search {
 public:
  Search(const Problem& problem, const Limits& limits, Poll poll);
  Result run(const std::vector<std::vector<double>>& starts);

  // Narrows a box as the search would if a row of this objective were known: whether a better row may be left, and a
  // bound of the objectives of all that are.
  std::pair<bool, double> narrow_box(Box& box, std::uint32_t alternative, double incumbent);

 private:
  struct Open {
    Box box;
    double bound;
    std::uint32_t alternative;
    std::uint64_t order;
  };
  struct Later {
    bool operator()(const Open& a, const Open& b) const { return a.bound != b.bound ? a.bound > b.bound : a.order < b.order; }
  };
  // One value of a feature, with what it costs and adds to a relaxation.
  struct Choice {
    double value, cost, gain, reduced;
  };
  // Prices at which rows of a box are bounded: of what a goal lacks, and of what a linear rule exceeds.
  struct Dual {
    double bound, multiplier;
    double price = 0;
    std::size_t rule = 0;
  };

  void turn_to(std::uint32_t alternative);
  bool narrow(Open& open);
  bool narrow_in_rounds(Open& open);
  bool narrow_score(Open& open, std::size_t goal, bool& changed);
  bool narrow_likelihood(Open& open, bool& changed);
  bool narrow_cost(Open& open, bool& changed);
  void drop_low_scores(Box& box, const Relaxation& relaxation, double least, bool& changed) const;
  void drop_dear(Open& open, std::size_t goal, bool& changed) const;
  bool narrow_jointly(Open& open, std::size_t goal, bool& changed);

  Choice best_choice(const Box& box, std::size_t j, const Relaxation* relaxation, double multiplier, double tilt = 0) const;
  Dual lagrangian(const Box& box, const Relaxation& relaxation, double least, double price = 0, std::size_t rule = 0) const;
  Dual priced(const Box& box, const Relaxation& relaxation, double least, const Dual& unpriced) const;
  double excess(const Box& box, const Relaxation& relaxation, const Dual& dual) const;
  double tilt(const Dual& dual, std::size_t j) const { return dual.price > 0 ? dual.price * tilts_[dual.rule][j] : 0; }
  double cheapest_cost(const Box& box, std::vector<double>& row) const;
  double dearest_cost(const Box& box) const;  // or more

  void try_candidates(const Open& open);
  void try_ends(const Open& open);
  void push_over(const Open& open, const Relaxation& relaxation, double least);
  void meet_both(const Open& open, const Relaxation& relaxation, double least, const Dual& dual);
  bool move_two(const Open& open, std::vector<double> row, std::pair<std::size_t, std::size_t> two, const std::vector<double>& slope,
                const std::vector<double>& tilts, double missing, double spare);
  bool test(const std::vector<double>& row, std::uint32_t alternative);
  void improve(std::vector<double> row, std::uint32_t alternative);
  void start(const std::vector<std::vector<double>>& starts);
  void single_changes();

  void branch(Open&& open);
  std::size_t choose_feature(const Open& open) const;
  void split(const Open& open, std::size_t j);
  void add(Box box, const Open& parent);
  bool closed(const Box& box) const;

  double allowed() const;
  double cutoff() const;
  void keep(Solution solution);
  bool covered(const Box& box, double bound) const;
  static std::uint64_t place(const Feature& f, double v);
  std::vector<std::uint64_t> key(const std::vector<double>& row) const;
  Moment moment() const;
  double seconds() const;

  const Problem& problem_;
  const Domain& domain_;
  Limits limits_;
  Poll poll_;
  const Likelihood* likelihood_;  // may be none
  std::priority_queue<Open, std::vector<Open>, Later> open_;
  std::vector<std::vector<Relaxation>> relaxations_;  // per alternative and goal
  std::vector<Dual> duals_;
  std::vector<std::vector<double>> tilts_;  // per linear rule, the coefficient of every feature
  std::optional<Likelihood::Sweep> sweep_;
  std::optional<Likelihood::Worth> worth_;
  std::vector<double> cheapest_;  // the cheapest row of the box at hand
  std::vector<double> outputs_;   // the classifier's, of the row at hand
  double cheapest_log_likelihood_ = 0;
  Result result_;
  std::vector<std::vector<std::uint64_t>> keys_;
  double least_dropped_;
  std::uint64_t order_ = 0;
  double started_ = 0;
};

}  // namespace likely::search
