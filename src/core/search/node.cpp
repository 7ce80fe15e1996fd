#include "node.hpp"

#include <algorithm>

#include "../tolerances.hpp"

namespace likely::search {

Evaluation::Evaluation(const Problem& problem, std::uint32_t alternative)
    : relaxations(problem.goals(alternative).size()), duals(problem.goals(alternative).size()) {
  if (problem.coherence) coherence_sweep = problem.coherence->sweep();
  if (!problem.likelihood) return;
  sweep = problem.likelihood->sweep();
  priced.assign(problem.likelihood->parts(), problem.likelihood->priced());
  shares.assign(problem.likelihood->parts(), 0.0);
  pointed.resize(problem.likelihood->parts());
  gaps.resize(problem.likelihood->parts());
}

namespace {

// Splits of units pay where boxes would have to be cut in many directions.
bool worth_unit_work(const Problem& problem) {
  if (problem.likelihood) return false;
  const auto wide = std::count_if(problem.domain.features.begin(), problem.domain.features.end(), [](const Feature& f) {
    return !f.low.empty() && (f.grid == 0 || f.span() > tolerance::kWideSteps * f.grid);
  });
  return wide >= tolerance::kLeastWideFeatures;
}

}  // namespace

TreeWork::TreeWork(const Problem& problem) : links(*problem.score->trees()) {
  for (const Alternative& alternative : problem.alternatives) {
    duals.emplace_back(links, alternative.goals);
    moves.emplace_back(links.forest, alternative.goals);
  }
}

Workspace::Workspace(const Problem& problem) {
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    evaluations.emplace_back(problem, a);
    scores.push_back(problem.score->workspace(problem.goals(a)));
  }
  if (const Network* network = problem.score->hidden_units(); network != nullptr && worth_unit_work(problem))
    units = std::make_unique<UnitWork>(*network);
}

}  // namespace likely::search
