#include "node.hpp"

#include <algorithm>

#include "../tolerances.hpp"

namespace likely::search {

Evaluation::Evaluation(const Problem& problem, std::uint32_t alternative)
    : relaxations(problem.goals(alternative).size()), duals(problem.goals(alternative).size()) {
  if (problem.likelihood) sweep = problem.likelihood->sweep();
  if (problem.coherence) coherence_sweep = problem.coherence->sweep();
}

void PricedParts::make_room(const Likelihood& likelihood) {
  if (parts.size() == likelihood.parts()) return;
  parts.assign(likelihood.parts(), likelihood.priced());
  shares.assign(likelihood.parts(), 0.0);
  pointed.resize(likelihood.parts());
  gaps.resize(likelihood.parts());
}

void Statistics::add(const Statistics& other) {
  nodes += other.nodes;
  tested += other.tested;
  filtered += other.filtered;
  most_open = std::max(most_open, other.most_open);
  seconds_score += other.seconds_score;
  seconds_likelihood += other.seconds_likelihood;
}

bool has_many_numbers(const Domain& domain) {
  const auto wide = std::count_if(domain.features.begin(), domain.features.end(), [](const Feature& f) {
    return !f.low.empty() && (f.grid == 0 || f.span() > tolerance::kWideSteps * f.grid);
  });
  const auto most = std::min<std::ptrdiff_t>(tolerance::kManyWideFeatures, std::ssize(domain.features) / 2 + 1);
  return wide >= std::max<std::ptrdiff_t>(tolerance::kLeastWideFeatures, most);
}

std::size_t bytes_of(const Node& node) {
  auto bytes = [](const auto&... vectors) { return (... + (vectors.capacity() * sizeof(vectors[0]))); };
  std::size_t sum = sizeof(Node) + bytes(node.box.range, node.box.atoms, node.multipliers, node.prices, node.splits,
                                         node.coherence_prices, node.basis.columns, node.basis.rows);
  for (const std::vector<Prices>* all : {&node.prices, &node.coherence_prices})
    for (const Prices& prices : *all) sum += bytes(prices.goals, prices.rules, prices.points);
  if (node.ranges)
    for (const auto* ends : {&node.ranges->low, &node.ranges->high})
      for (const std::vector<double>& layer : *ends) sum += bytes(layer);
  if (node.unit_prices)
    for (const UnitMultipliers& part : *node.unit_prices) {
      sum += sizeof(part) + bytes(part.goals);
      for (const auto* each : {&part.units, &part.chords})
        for (const std::vector<double>& layer : *each) sum += bytes(layer);
    }
  if (!node.tree_prices) return sum;
  const TreeNodePrices& trees = *node.tree_prices;
  return sum + sizeof(TreeNodePrices) + bytes(trees.cost.shares, trees.cost.goals, trees.parts) + trees.bytes;
}

TreeWork::TreeWork(const Problem& problem) : links(*problem.score->trees()) {
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    const bool likely = problem.likelihood && problem.likelihood_threshold > -kInf;
    if (problem.score->trees_bound()) {
      duals.emplace_back(links, problem.goals(a).size());
      if (likely)
        moves.emplace_back(*problem.score, problem.goals(a), *problem.likelihood, a, problem.likelihood_threshold);
      else
        moves.emplace_back(*problem.score, problem.goals(a));
      continue;
    }
    duals.emplace_back(links, problem.goals(a));
    if (likely)
      moves.emplace_back(links.forest, problem.goals(a), *problem.likelihood, a, problem.likelihood_threshold);
    else
      moves.emplace_back(links.forest, problem.goals(a));
  }
}

Workspace::Workspace(const Problem& problem) {
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    evaluations.emplace_back(problem, a);
    scores.push_back(problem.score->workspace(problem.goals(a)));
  }
  if (const Network* network = problem.score->hidden_units(); network != nullptr && has_many_numbers(problem.domain))
    units = std::make_unique<UnitWork>(*network);
}

}  // namespace likely::search
