#include "follow.hpp"

#include <algorithm>
#include <stdexcept>

#include "../tolerances.hpp"
#include "network.hpp"

namespace likely::search {

const char* name_of(Step step) {
  switch (step) {
    case Step::kRules: return "rules";
    case Step::kScore: return "score";
    case Step::kLikelihood: return "likelihood";
    case Step::kCoherence: return "coherence";
    case Step::kCostBound: return "cost bound";
    case Step::kReducedCostFixing: return "reduced-cost fixing";
    case Step::kJointBound: return "joint bound";
    case Step::kJointCoherence: return "joint coherence";
    case Step::kUnits: return "units";
    case Step::kTrees: return "trees";
    case Step::kExactTest: return "exact test";
    case Step::kPool: return "pool";
    case Step::kBranching: return "branching";
    case Step::kPruning: return "pruning";
  }
  return "";
}

Follower::Follower(const Problem& problem, std::vector<double> row, Workspace& workspace)
    : domain_(problem.domain), row_(std::move(row)) {
  if (row_.size() != domain_.features.size() || !whole(domain_).contains(domain_, row_.data()))
    throw std::invalid_argument("a row that is followed must be one of the domain");
  if (const Network* network = problem.score->hidden_units(); network != nullptr) sides_ = network->sides(row_.data());
  bool is_answer = false;
  RowValues values;
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    evaluate_row(problem, row_, a, workspace, values);
    const double cost = domain_.cost(row_.data()), weight = problem.likelihood_weight;
    const double objective = weight > 0 ? cost - weight * values.log_likelihood : cost;
    const bool met = problem.alternatives[a].met(values.outputs) && !(values.log_likelihood < problem.likelihood_threshold) &&
                     !(values.coherence < problem.coherence_threshold);
    if (a > 0 && (is_answer ? !met || objective >= objective_ : !met)) continue;
    is_answer = met;
    alternative_ = a;
    objective_ = objective;
  }
}

void Follower::watch(const Node& node, const SolutionPool& pool) {
  if (row_.empty()) return;
  cutoff_ = pool.cutoff();
  watching_ = !loss_ && node.alternative == alternative_ && objective_ < cutoff_ - tolerance::bound_rounding(objective_) &&
              node.box.contains(domain_, row_.data()) && has_sides(node.splits) && !pool.covers(pool.key(row_), objective_);
}

bool Follower::has_sides(const std::vector<UnitSplit>& splits) const {
  return std::all_of(splits.begin(), splits.end(), [&](const UnitSplit& split) {
    return std::any_of(sides_.begin(), sides_.end(), [&](const UnitSplit& side) {
      return side.layer == split.layer && side.unit == split.unit && side.on == split.on;
    });
  });
}

void Follower::after(Step step, const Node& node, bool left) {
  if (recorder_ != nullptr && step != Step::kPruning && step != Step::kExactTest && step != Step::kPool)
    recorder_->after(step, node, left);
  if (!watching_) return;
  const bool below_bound = objective_ < node.bound - tolerance::bound_rounding(objective_);
  if (!left || below_bound || !node.box.contains(domain_, row_.data())) lose(step);
}

void Follower::after_branching(const std::vector<Box>& parts) {
  if (!watching_) return;
  if (std::none_of(parts.begin(), parts.end(), [&](const Box& part) { return part.contains(domain_, row_.data()); }))
    lose(Step::kBranching);
}

void Follower::lose(Step step) {
  loss_ = Loss{step, nodes_, objective_, cutoff_};
  watching_ = false;
}

}  // namespace likely::search
