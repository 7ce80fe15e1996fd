#include "node.hpp"

namespace likely::search {

Evaluation::Evaluation(const Problem& problem, std::uint32_t alternative)
    : relaxations(problem.goals(alternative).size()), duals(problem.goals(alternative).size()) {
  if (problem.likelihood) sweep = problem.likelihood->sweep();
}

Workspace::Workspace(const Problem& problem) {
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    evaluations.emplace_back(problem, a);
    scores.emplace_back();
    for (const Goal& goal : problem.goals(a)) scores.back().push_back(problem.score->workspace(goal));
  }
  if (problem.likelihood && problem.likelihood_weight > 0) joint = problem.likelihood->joint();
}

}  // namespace likely::search
