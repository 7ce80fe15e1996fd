#include "branching.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

// Per feature: its share in what the cheapest row misses, and how far its score varies.
struct Ranking {
  std::vector<double> share, spread;

  void add_share(std::size_t j, double loss, double room) { share[j] += std::min(loss / room, tolerance::kMostShare); }
};

// How far a score's bound falls if feature j has its cheapest value.
double score_loss(const Feature& f, std::size_t j, const Relaxation& relaxation, double cheapest) {
  const std::int32_t k = f.atom_of(cheapest);
  if (relaxation.additive) {
    const double there = k >= 0 ? relaxation.at_atom(f, static_cast<std::size_t>(k)) : relaxation.at_number(f, j, cheapest);
    return relaxation.greatest[j] - there + relaxation.attribution[j];
  }
  return relaxation.upper -
         (k >= 0 ? relaxation.at_atom(f, static_cast<std::size_t>(k)) : relaxation.at_cell(f, f.cell_of(cheapest)));
}

void rank_by_score(const Problem& problem, const Node& node, const Evaluation& evaluation, const RowValues& values,
                   Ranking& ranking) {
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = evaluation.relaxations[g];
    const bool missed = goals[g].score(values.outputs) < goals[g].lower;
    const double room = std::max(relaxation.upper - goals[g].lower, tolerance::kLeastScoreRoom);
    for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
      const double loss = score_loss(problem.domain.features[j], j, relaxation, evaluation.cheapest[j]);
      if (missed) ranking.add_share(j, loss, room);
      ranking.spread[j] += loss;
    }
  }
}

// How far the bound of a likelihood falls if feature j has its cheapest value.
double likelihood_loss(const Feature& f, std::size_t j, const Likelihood& likelihood, const Likelihood::Sweep& sweep,
                       double cheapest) {
  const std::int32_t k = f.atom_of(cheapest);
  return sweep.log_upper - (k >= 0 ? likelihood.log_upper_atom(sweep, j, static_cast<std::size_t>(k))
                                   : likelihood.log_upper_cell(sweep, j, static_cast<std::size_t>(f.cell_of(cheapest))));
}

// Against the threshold, a loss counts as a share of what may be lost; in the objective, of the gap that is to close.
void rank_by_likelihood(const Problem& problem, const Node& node, const Evaluation& evaluation, const RowValues& values,
                        double cutoff, Ranking& ranking) {
  if (!problem.likelihood) return;
  const Likelihood::Sweep& sweep = evaluation.sweep;
  const double weight = problem.likelihood_weight;
  const bool missed = values.log_likelihood < problem.likelihood_threshold;
  if (!(weight > 0 || missed)) return;
  const double room = std::max(sweep.log_upper - problem.likelihood_threshold, tolerance::kLeastLikelihoodRoom);
  const double gap = std::max(std::min(cutoff, tolerance::kNoCutoff) - node.bound, tolerance::kLeastLikelihoodRoom);
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j) {
    const double loss = likelihood_loss(problem.domain.features[j], j, *problem.likelihood, sweep, evaluation.cheapest[j]);
    if (weight > 0) ranking.add_share(j, weight * loss, gap);
    if (missed) ranking.add_share(j, loss, room);
  }
}

void rank_by_coherence(const Problem& problem, const Evaluation& evaluation, const RowValues& values, Ranking& ranking) {
  if (!problem.coherence || values.coherence >= problem.coherence_threshold) return;
  const Likelihood::Sweep& sweep = evaluation.coherence_sweep;
  const double room = std::max(sweep.log_upper - problem.coherence_threshold, tolerance::kLeastLikelihoodRoom);
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j)
    ranking.add_share(j, likelihood_loss(problem.domain.features[j], j, *problem.coherence, sweep, evaluation.cheapest[j]), room);
}

void rank_by_linear_rules(const Problem& problem, const Node& node, const Evaluation& evaluation, Ranking& ranking) {
  for (const LinearRule& rule : problem.rules.linear) {
    if (!rule.applies(problem.domain, node.box)) continue;
    auto offset = [&](std::size_t j, double v) { return v - problem.domain.features[j].anchor; };
    double excess = -rule.rest, most = 0;
    for (const std::size_t j : rule.features) excess += rule.dense[j] * offset(j, evaluation.cheapest[j]);
    if (excess <= 0) continue;
    std::vector<double> loss(problem.domain.features.size(), 0.0);
    for (const std::size_t j : rule.features) {
      const Range& range = node.box.range[j];
      loss[j] = rule.dense[j] * offset(j, evaluation.cheapest[j]) -
                std::min(rule.dense[j] * offset(j, range.low), rule.dense[j] * offset(j, range.high));
      most += loss[j];
    }
    for (const std::size_t j : rule.features) ranking.add_share(j, loss[j], std::max(most - excess, tolerance::kLeastScoreRoom));
  }
}

std::vector<Box> split_atoms(const Domain& domain, const Box& box, std::size_t j, double cheapest) {
  const Feature& f = domain.features[j];
  const std::int32_t k = f.atom_of(cheapest);
  Box one = box, rest = box;
  if (box.range[j].empty() && k >= 0) {
    one.fix(domain, j, f.atom[static_cast<std::size_t>(k)]);
    rest.drop_atom(f, static_cast<std::size_t>(k));
  } else {
    one.drop_numbers(j);
    for (std::size_t w = 0; w < f.words(); ++w) rest.atoms[f.first_word + w] = 0;
  }
  std::vector<Box> parts;
  parts.push_back(std::move(rest));
  parts.push_back(std::move(one));
  return parts;
}

std::vector<Box> split_at_factual(const Domain& domain, const Box& box, std::size_t j) {
  const Range& range = box.range[j];
  const std::int32_t factual = domain.features[j].cell_of(domain.features[j].factual);
  std::vector<Box> parts;
  for (const auto& [first, last] :
       {std::pair{range.first, factual - 1}, std::pair{factual + 1, range.last}, std::pair{factual, factual}}) {
    if (first > last) continue;
    Box part = box;
    part.keep_cells(domain, j, first, last);
    if (!part.range[j].empty()) parts.push_back(std::move(part));
  }
  return parts;
}

// Cuts the numbers of a feature in two, between two neighbours: numbers of the grid, or doubles.
void keep_below_and_above(const Domain& domain, std::size_t j, double at, Box& below, Box& above) {
  const Feature& f = domain.features[j];
  const Range range = below.range[j];
  // At least the last number goes above: of a grid, one that is nearer to it than any other counts as that number.
  const double most = f.grid > 0 ? range.high - 0.5 * f.grid : std::nextafter(range.high, -kInf);
  const double last = std::max(range.low, f.down_to_grid(std::min(at, most)));
  const double next = std::min(range.high, std::max(f.after(last), std::nextafter(last, kInf)));
  below.keep_numbers(domain, j, range.low, last);
  above.keep_numbers(domain, j, next, range.high);
}

std::vector<Box> split_in_the_middle(const Domain& domain, const Box& box, std::size_t j, double cheapest) {
  const Feature& f = domain.features[j];
  const Range& range = box.range[j];
  Box left = box, right = box;
  const double middle = 0.5 * range.low + 0.5 * range.high;
  if (range.first < range.last) {
    auto cut = static_cast<std::int32_t>(std::upper_bound(f.low.begin(), f.low.end(), middle) - f.low.begin()) - 1;
    cut = std::clamp(cut, range.first, range.last - 1);
    left.keep_cells(domain, j, range.first, cut);
    right.keep_cells(domain, j, cut + 1, range.last);
  } else {
    keep_below_and_above(domain, j, middle, left, right);
  }
  const bool cheap_left = cheapest <= middle;
  std::vector<Box> parts;
  for (Box* part : {cheap_left ? &right : &left, cheap_left ? &left : &right})
    if (!part->range[j].empty()) parts.push_back(std::move(*part));
  return parts;
}

// A cut of a feature's numbers that is worth it.
bool cuts(const Problem& problem, const Box& box, std::size_t j, double at) {
  const Range& range = box.range[j];
  return box.atom_count(problem.domain.features[j]) == 0 && !box.narrow(problem.domain, j) && at > range.low && at < range.high;
}

// By how much tangents are above their blocks where their terms are greatest, if that is more than `most`.
void largest_tangent_gap(const Problem& problem, const Box& box, const Likelihood& likelihood, const PricedParts& priced,
                         double& most, std::optional<Cut>& cut) {
  std::vector<double> gaps(problem.domain.features.size(), 0.0);
  std::size_t largest_part = 0;
  for (std::size_t p = 0; p < priced.shares.size(); ++p) {
    likelihood.add_gaps(p, priced.parts[p], priced.shares[p], gaps);
    if (priced.shares[p] > priced.shares[largest_part]) largest_part = p;
  }
  for (std::size_t j = 0; j < gaps.size(); ++j) {
    if (!(gaps[j] > most)) continue;
    const double at = likelihood.between(largest_part, priced.parts[largest_part], j);
    if (!cuts(problem, box, j, at)) continue;
    most = gaps[j];
    cut = {j, at, most};
  }
}

// By how much a feature's term is below its bound at the row that prices point to, alike.
void largest_mixed_gap(const Problem& problem, const Box& box, const PricedParts& priced, double& most, std::optional<Cut>& cut) {
  for (std::size_t p = 0; p < priced.shares.size(); ++p) {
    for (std::size_t j = 0; j < priced.gaps[p].size(); ++j) {
      const double gap = priced.shares[p] * priced.gaps[p][j], at = priced.pointed[p][j];
      if (!(gap > most) || !cuts(problem, box, j, at)) continue;
      most = gap;
      cut = {j, at, most};
    }
  }
}

}  // namespace

std::optional<Cut> largest_gap(const Problem& problem, const Node& node, const Evaluation& evaluation) {
  std::optional<Cut> cut;
  double most = tolerance::kLeastMixedGap;
  auto each_priced = [&](const auto& look_at) {
    if (!node.prices.empty() && evaluation.priced.sought) look_at(*evaluation.priced.likelihood, evaluation.priced);
    if (!node.coherence_prices.empty()) look_at(*problem.coherence, evaluation.coherence_priced);
  };
  each_priced([&](const Likelihood&, const PricedParts& priced) { largest_mixed_gap(problem, node.box, priced, most, cut); });
  if (cut) return cut;
  most = tolerance::kLeastGap;
  each_priced([&](const Likelihood& likelihood, const PricedParts& priced) {
    largest_tangent_gap(problem, node.box, likelihood, priced, most, cut);
  });
  return cut;
}

std::vector<Box> split_at(const Domain& domain, const Box& box, const Cut& cut) {
  Box left = box, right = box;
  keep_below_and_above(domain, cut.feature, cut.at, left, right);
  std::vector<Box> parts;
  for (Box* part : {&left, &right})
    if (!part->range[cut.feature].empty()) parts.push_back(std::move(*part));
  return parts;
}

std::size_t choose_feature(const Problem& problem, const Node& node, const Evaluation& evaluation, const RowValues& values,
                           double cutoff) {
  const std::size_t count = problem.domain.features.size();
  Ranking ranking{std::vector<double>(count, 0.0), std::vector<double>(count, 0.0)};
  rank_by_score(problem, node, evaluation, values, ranking);
  rank_by_likelihood(problem, node, evaluation, values, cutoff, ranking);
  rank_by_coherence(problem, evaluation, values, ranking);
  rank_by_linear_rules(problem, node, evaluation, ranking);
  const bool narrow = node.box.narrow(problem.domain);  // then narrow intervals are split, too
  std::size_t best = count;
  double most = -kInf;
  for (std::size_t j = 0; j < count; ++j) {
    if (node.box.single(problem.domain, j) || (!narrow && node.box.narrow(problem.domain, j))) continue;
    const double rank = ranking.share[j] > tolerance::kLeastShare ? tolerance::kShareRank + ranking.share[j]
                        : ranking.spread[j] > 0 ? tolerance::kSpreadRank + std::min(ranking.spread[j], tolerance::kMostSpread)
                                                : 0.0;
    const double cells = node.box.range[j].empty() ? 0 : node.box.range[j].last - node.box.range[j].first;
    if (rank + tolerance::kPerCell * cells > most) {
      most = rank + tolerance::kPerCell * cells;
      best = j;
    }
  }
  return best;
}

std::vector<Box> split(const Domain& domain, const Box& box, std::size_t j, double cheapest) {
  assert(j < domain.features.size() && !box.single(domain, j));
  const Feature& f = domain.features[j];
  const Range& range = box.range[j];
  if (box.atom_count(f) > 0) return split_atoms(domain, box, j, cheapest);
  const bool has_factual = range.low <= f.factual && f.factual <= range.high && f.cell_of(f.factual) >= 0;
  if (has_factual && range.first < range.last) return split_at_factual(domain, box, j);
  return split_in_the_middle(domain, box, j, cheapest);
}

}  // namespace likely::search
