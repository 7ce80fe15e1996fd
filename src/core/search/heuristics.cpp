#include "heuristics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "propagation.hpp"
#include "relinking.hpp"

namespace likely::search {

void known_rows(const Problem& problem, const std::vector<std::vector<double>>& rows, std::uint32_t alternative,
                SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more) {
  const std::vector<Feature>& features = problem.domain.features;
  for (const std::vector<double>& row : rows) {
    if (!more()) return;
    bool inside = row.size() == features.size();
    for (std::size_t j = 0; inside && j < row.size(); ++j) inside = features[j].has(row[j]);
    if (inside && test_row(problem, row, alternative, pool, workspace))
      remove_changes(problem, row, alternative, pool, workspace);
  }
}

std::vector<std::vector<double>> cheapest_first(const Domain& domain, const std::vector<std::vector<double>>& rows,
                                                std::size_t most) {
  std::vector<std::pair<double, std::size_t>> costs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bool inside = rows[i].size() == domain.features.size();
    for (std::size_t j = 0; inside && j < rows[i].size(); ++j) inside = domain.features[j].has(rows[i][j]);
    if (inside) costs.emplace_back(domain.cost(rows[i].data()), i);
  }
  const std::size_t count = std::min(most, costs.size());
  std::partial_sort(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(count), costs.end());
  std::vector<std::vector<double>> cheapest;
  for (std::size_t i = 0; i < count; ++i) cheapest.push_back(rows[costs[i].second]);
  return cheapest;
}

void single_change_scan(const Problem& problem, SolutionPool& pool, Workspace& workspace, const std::function<bool()>& more) {
  std::vector<double> row;
  cheapest_row(problem.domain, whole(problem.domain), row);
  for (std::uint32_t a = 0; a < problem.alternatives.size(); ++a) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (!more()) return;
      const Feature& f = problem.domain.features[j];
      const double before = row[j];
      for (const double value : f.atom) {
        row[j] = value;
        test_row(problem, row, a, pool, workspace);
      }
      const std::size_t step = std::max<std::size_t>(1, f.low.size() / tolerance::kScannedCells);
      for (std::size_t c = 0; c < f.low.size(); c += step) {
        row[j] = f.nearest_end(c);
        test_row(problem, row, a, pool, workspace);
      }
      row[j] = before;
    }
  }
}

std::vector<std::size_t> by_cost(const std::vector<Feature>& features, const std::vector<double>& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return features[a].cost(row[a]) > features[b].cost(row[b]); });
  return order;
}

void remove_changes(const Problem& problem, std::vector<double> row, std::uint32_t alternative, SolutionPool& pool,
                    Workspace& workspace) {
  const std::vector<Feature>& features = problem.domain.features;
  for (const std::size_t j : by_cost(features, row)) {
    const Feature& f = features[j];
    const double before = row[j];
    if (std::isnan(f.factual) || before == f.factual || !f.has(f.factual)) continue;
    row[j] = f.factual;
    const double best = pool.best();
    test_row(problem, row, alternative, pool, workspace);
    if (!(pool.best() < best)) row[j] = before;
  }
}

double nearest_answer(const Feature& f, double enough, double missed, const std::function<bool(double)>& is_one) {
  for (int i = 0; i < tolerance::kPullBackSteps; ++i) {
    const double middle = 0.5 * enough + 0.5 * missed;
    const double tried = enough > missed ? f.up_to_grid(middle) : f.down_to_grid(middle);
    if (tried == enough) break;
    (f.cell_of(tried) >= 0 && is_one(tried) ? enough : missed) = tried;
  }
  return enough;
}

void pull_back(const Problem& problem, std::vector<double> row, std::uint32_t alternative, SolutionPool& pool,
               Workspace& workspace) {
  const std::vector<Feature>& features = problem.domain.features;
  for (const std::size_t j : by_cost(features, row)) {
    const Feature& f = features[j];
    const double from = row[j];
    if (std::isnan(f.factual) || from == f.factual || f.atom_of(from) >= 0 || f.cell_of(f.factual) < 0) continue;
    const auto is_one = [&](double value) {
      row[j] = value;
      return test_row(problem, row, alternative, pool, workspace);
    };
    row[j] = is_one(f.factual) ? f.factual : nearest_answer(f, from, f.factual, is_one);
  }
}

void try_node(const Problem& problem, const Node& node, const Evaluation& evaluation, SolutionPool& pool, Workspace& workspace) {
  if (test_row(problem, evaluation.cheapest, node.alternative, pool, workspace)) return;
  if (!node.prices.empty()) try_priced_rows(problem, node, evaluation.priced, pool, workspace);
  if (!node.coherence_prices.empty()) try_priced_rows(problem, node, evaluation.coherence_priced, pool, workspace);
  const std::vector<Goal>& goals = problem.goals(node.alternative);
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = evaluation.relaxations[g];
    if (!relaxation.additive) continue;
    const double lower = goals[g].lower + relaxation.rounding;  // for sure
    greedy_repair(problem, node, relaxation, lower, pool, workspace);
    const Dual& dual = evaluation.duals[g];
    if (dual.multipliers.rule > 0) two_variable_moves(problem, node, relaxation, lower, dual, pool, workspace);
  }
}

namespace {

struct Move {
  std::size_t feature;
  double value, gain, cost;
};

// Moves one number only as far as needed, and a step further each time it was not far enough; true if that gave an answer.
bool move_as_needed(const Problem& problem, const Node& node, const Move& move, double missing, std::vector<double>& row,
                    SolutionPool& pool, Workspace& workspace) {
  const Feature& f = problem.domain.features[move.feature];
  const double from = row[move.feature];
  for (double share = missing / move.gain; share < 1;
       share = std::min(1.0, tolerance::kRepairGrowth * share + tolerance::kRepairStep)) {
    const double v = from + share * (move.value - from);
    row[move.feature] = move.value > from ? std::min(move.value, f.up_to_grid(v)) : std::max(move.value, f.down_to_grid(v));
    if (f.cell_of(row[move.feature]) >= 0 && test_row(problem, row, node.alternative, pool, workspace)) return true;
  }
  return false;
}

// Tests the row with two numbers moved so that slope @ moves = missing and coefficients @ moves = spare; false if that is no
// answer only because something else is missed, or a little more is needed.
bool move_two(const Problem& problem, const Node& node, std::vector<double> row, std::pair<std::size_t, std::size_t> two,
              const std::vector<double>& slope, const std::vector<double>& coefficients, double missing, double spare,
              SolutionPool& pool, Workspace& workspace) {
  const auto [j, k] = two;
  const double det = slope[j] * coefficients[k] - slope[k] * coefficients[j];
  if (det == 0) return true;
  for (const std::size_t moved : {j, k}) {  // what the numbers themselves may be off
    const Range& range = node.box.range[moved];
    const double off = 2 * tolerance::kRoundoff * std::max(std::abs(range.low), std::abs(range.high));
    missing += off * std::abs(slope[moved]);
    spare -= off * std::abs(coefficients[moved]);
  }
  row[j] += (missing * coefficients[k] - slope[k] * spare) / det;
  row[k] += (slope[j] * spare - missing * coefficients[j]) / det;
  for (const std::size_t moved : {j, k}) {
    const Range& range = node.box.range[moved];
    if (!(range.low <= row[moved] && row[moved] <= range.high) || problem.domain.features[moved].cell_of(row[moved]) < 0)
      return true;
  }
  return test_row(problem, row, node.alternative, pool, workspace);
}

}  // namespace

void greedy_repair(const Problem& problem, const Node& node, const Relaxation& relaxation, double lower, SolutionPool& pool,
                   Workspace& workspace) {
  const Domain& domain = problem.domain;
  std::vector<Move> moves;
  std::vector<double> row(domain.features.size());
  double missing = lower - relaxation.constant;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Choice cheapest = least_reduced_cost(domain, node.box, j, &relaxation, 0);
    const Choice best = least_reduced_cost(domain, node.box, j, &relaxation, tolerance::kGainOnly);
    row[j] = cheapest.value;
    missing -= cheapest.gain;
    if (best.gain > cheapest.gain) moves.push_back({j, best.value, best.gain - cheapest.gain, best.cost - cheapest.cost});
  }
  if (missing <= 0 && test_row(problem, row, node.alternative, pool, workspace))
    return;  // of equally cheap values, those that gain most
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.cost * b.gain < b.cost * a.gain; });
  int beyond = 0;
  for (const Move& move : moves) {
    const Feature& f = domain.features[move.feature];
    const bool numbers = f.atom_of(row[move.feature]) < 0 && f.atom_of(move.value) < 0;
    if (numbers && missing > 0 && missing < move.gain && move_as_needed(problem, node, move, missing, row, pool, workspace))
      return;
    row[move.feature] = move.value;
    missing -= move.gain;
    if (missing <= 0 && (test_row(problem, row, node.alternative, pool, workspace) || ++beyond > tolerance::kMovesBeyond)) return;
  }
}

void two_variable_moves(const Problem& problem, const Node& node, const Relaxation& relaxation, double lower, const Dual& dual,
                        SolutionPool& pool, Workspace& workspace) {
  const Domain& domain = problem.domain;
  const Multipliers& multipliers = dual.multipliers;
  const LinearRule& rule = problem.rules.linear[multipliers.rule_index];
  std::vector<double> row(domain.features.size());
  std::vector<std::size_t> reals;
  double missing = lower - relaxation.constant, spare = rule.rest, size = std::abs(lower) + std::abs(rule.rest);
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Choice choice =
        least_reduced_cost(domain, node.box, j, &relaxation, multipliers.goal, multipliers.rule_slope(problem.rules, j));
    const Feature& f = domain.features[j];
    row[j] = choice.value;
    missing -= choice.gain;
    const double term = rule.dense[j] != 0 ? rule.dense[j] * (choice.value - f.anchor) : 0;
    spare -= term;
    size += std::abs(choice.gain) + std::abs(term);
    if (f.grid == 0 && f.atom_of(choice.value) < 0 && !node.box.single(domain, j)) reals.push_back(j);
  }
  for (std::size_t a = 0; a < reals.size(); ++a)
    for (std::size_t b = a + 1; b < reals.size(); ++b)
      for (const double more : tolerance::kOverfulfilment)
        if (move_two(problem, node, row, {reals[a], reals[b]}, relaxation.slope, rule.dense, missing + more * size,
                     spare - more * size, pool, workspace))
          break;
}

void end_points(const Problem& problem, const Node& node, const Evaluation& evaluation, SolutionPool& pool,
                Workspace& workspace) {
  constexpr std::size_t kMost = tolerance::kEndPointReals;
  std::vector<std::size_t> wide;
  for (std::size_t j = 0; j < problem.domain.features.size(); ++j)
    if (!node.box.single(problem.domain, j)) wide.push_back(j);
  std::vector<double> row = evaluation.cheapest;
  for (std::size_t ends = 0; ends < std::size_t{1} << std::min(wide.size(), kMost); ++ends) {
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const Range& range = node.box.range[wide[i]];
      row[wide[i]] = (ends >> std::min(i, kMost - 1) & 1) != 0 ? range.high : range.low;
    }
    test_row(problem, row, node.alternative, pool, workspace);
  }
}

namespace {

// The row that lies this share of the way from one row to another: numbers in between, of atoms the nearer one.
std::vector<double> between(const Domain& domain, const std::vector<double>& from, const std::vector<double>& to, double share) {
  std::vector<double> row(from);
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (from[j] == to[j]) continue;
    const Feature& f = domain.features[j];
    const bool numbers = f.atom_of(from[j]) < 0 && f.atom_of(to[j]) < 0;
    row[j] = share >= 1 ? to[j] : numbers ? f.nearest(from[j] + share * (to[j] - from[j])) : share > 0.5 ? to[j] : from[j];
  }
  return row;
}

}  // namespace

void walk_towards(const Problem& problem, const std::vector<double>& row, const std::vector<double>& answer,
                  std::uint32_t alternative, SolutionPool& pool, Workspace& workspace) {
  double missing = 0, enough = 1;
  for (int step = 0; step < tolerance::kWalkSteps; ++step) {
    const double middle = step == 0 ? 0 : 0.5 * (missing + enough);
    const bool is_one = is_answer(problem, between(problem.domain, row, answer, middle), alternative, workspace);
    if (is_one && middle == 0) enough = 0;
    if (enough == 0) break;
    (is_one ? enough : missing) = middle;
  }
  const std::vector<double> reached = between(problem.domain, row, answer, enough);
  if (test_row(problem, reached, alternative, pool, workspace)) pull_back(problem, reached, alternative, pool, workspace);
}

std::vector<double> on_grid(const Domain& domain, std::vector<double> row) {
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = domain.features[j];
    if (f.atom_of(row[j]) < 0 && !f.low.empty()) row[j] = f.nearest(row[j]);
  }
  return row;
}

void try_priced_rows(const Problem& problem, const Node& node, const PricedParts& priced, SolutionPool& pool,
                     Workspace& workspace) {
  if (pool.best_of(node.alternative) == nullptr) return;
  const std::vector<double> towards[] = {pool.best_of(node.alternative)->row, pool.likeliest_of(node.alternative)->row};
  for (std::size_t p = 0; p < priced.shares.size(); ++p) {
    if (priced.shares[p] < tolerance::kTriedPartShare || priced.pointed[p].empty()) continue;
    const std::vector<double> row = on_grid(problem.domain, priced.pointed[p]);
    if (problem.likelihood_weight == 0 && problem.domain.cost(row.data()) >= pool.cutoff()) continue;
    for (const std::vector<double>& answer : towards) walk_towards(problem, row, answer, node.alternative, pool, workspace);
  }
}

namespace {

// Keeps the numbers of features in blocks that lie on so many parts of their warps on either side of a row.
void keep_neighbours(const Problem& problem, const std::vector<double>& row, std::size_t parts, Box& box) {
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = problem.domain.features[j];
    if (!problem.likelihood->in_blocks(j) || f.atom_of(row[j]) >= 0 || box.range[j].empty()) continue;
    const auto [low, high] = problem.likelihood->neighbours(j, row[j], parts);
    box.keep_numbers(problem.domain, j, low, high);
  }
}

}  // namespace

void dive(const Problem& problem, Node node, const Evaluation& evaluation, SolutionPool& pool, Workspace& workspace) {
  Evaluation inner(problem, node.alternative);
  const PricedParts* priced = &evaluation.priced;
  for (std::size_t parts = tolerance::kDiveParts;; parts /= 2) {
    const std::size_t largest = priced->largest();
    if (largest == priced->shares.size() || priced->pointed[largest].empty()) return;  // without prices
    keep_neighbours(problem, priced->pointed[largest], parts, node.box);
    if (node.box.any_empty(problem.domain)) return;
    if (propagate(problem, node, pool.cutoff(), inner, workspace) != Outcome::kOpen) return;
    priced = &inner.priced;
    if (parts == 0) break;
  }
  try_priced_rows(problem, node, inner.priced, pool, workspace);
}

void search_nearby(const Problem& problem, std::uint32_t alternative, SolutionPool& pool, Workspace& workspace,
                   const std::function<bool()>& more) {
  Evaluation evaluation(problem, alternative);
  std::vector<Prices> prices;
  std::size_t parts = problem.likelihood->has_blocks() ? tolerance::kNearbyParts : 0;
  for (int round = 0; round < tolerance::kNearbyRounds && more(); ++round) {
    if (pool.best_of(alternative) == nullptr) return;
    const std::vector<double> answer = pool.best_of(alternative)->row;
    const double before = pool.best_of(alternative)->objective;
    auto better = [&] { return pool.best_of(alternative)->objective < before - tolerance::kNearbyGain * std::abs(before); };
    Node node = root_node(problem, alternative);
    node.order = problem.nodes_before_prices;  // where prices pay later, they do here
    node.prices = prices;
    if (workspace.units) node.splits = workspace.units->network.sides(answer.data());
    keep_neighbours(problem, answer, parts, node.box);
    if (propagate(problem, node, pool.cutoff(), evaluation, workspace) == Outcome::kOpen) {
      try_priced_rows(problem, node, evaluation.priced, pool, workspace);
      if (!better()) relink(problem, node, evaluation.priced, pool, workspace);
    }
    prices = node.prices;
    if (better()) continue;
    if (parts == 0) return;
    parts /= 2;
  }
}

}  // namespace likely::search
