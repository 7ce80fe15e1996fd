#include "tree_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

std::size_t place(std::int32_t at) { return static_cast<std::size_t>(at); }

}  // namespace

// Rows that a decomposition leaves out are less likely to the component than a small share of the threshold: as many such
// shares as there are components are taken off it.
TreeLikelihood::TreeLikelihood(const Problem& problem, const std::vector<double>& lower, double cutoff, Workspace& workspace,
                               Node& node)
    : problem_(problem),
      likelihood_(*problem.likelihood),
      lower_(lower),
      cutoff_(cutoff),
      threshold_(problem.likelihood_threshold +
                 std::log1p(-static_cast<double>(likelihood_.components()) * std::exp(-tolerance::kLeftOutBelow))),
      work_(*workspace.trees),
      duals_(workspace.trees->duals[node.alternative]),
      node_(node),
      prices_(node.tree_prices ? std::make_shared<TreeNodePrices>(*node.tree_prices) : std::make_shared<TreeNodePrices>()),
      parts_(likelihood_.components()) {}

double TreeLikelihood::crossing(const Part& part, double cost_price) const {
  return (threshold_ - std::max(part.upper, part.floor)) / cost_price;
}

void TreeLikelihood::bound() {
  const bool first = prices_->parts.empty();
  prices_->parts.resize(parts_.size());
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), 0);
  for (const std::size_t p : order) {
    if (first) guess_cost_price(p);
    parts_[p].upper = prices_->parts[p].upper;
    parts_[p].floor = -kInf;
  }
  std::sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) {
    return above(parts_[p], prices_->parts[p].cost) < above(parts_[q], prices_->parts[q].cost);
  });
  for (const std::size_t p : order)
    if (above(parts_[p], prices_->parts[p].cost) > std::log(tolerance::kLeastPartShare)) lower_line(p, first);
  std::vector<Line> lines;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    lines.push_back({std::max(parts_[p].upper, parts_[p].floor), prices_->parts[p].cost});
  const double reached = least_cost(lines, threshold_, node_.bound);
  node_.bound = std::max(node_.bound, reached == kInf ? kInf : reached - tolerance::bound_rounding(reached));
  node_.tree_prices = prices_;
}

// The best of a few powers of a price, as if there were no goals; and with it, the shares of the cost alone.
void TreeLikelihood::guess_cost_price(std::size_t p) {
  TreePartPrices& own = prices_->parts[p];
  auto value = [&](double price) {
    likelihood_.component_terms(node_.box, node_.alternative, p, price, own.points, work_.terms);
    return std::max(work_.terms.log_upper, work_.terms.floor);
  };
  own.cost = 1;
  own.upper = value(own.cost);
  for (const double growth : {tolerance::kPriceGrowth, 1 / tolerance::kPriceGrowth}) {
    for (int trial = 0; trial < tolerance::kPriceTrials; ++trial) {
      const double price = own.cost * growth, here = value(price);
      if (!(here + price * cutoff_ < own.upper + own.cost * cutoff_)) break;
      own.cost = price;
      own.upper = here;
    }
  }
  own.trees = prices_->cost;
  for (float& share : own.trees.shares) share *= static_cast<float>(own.cost);
  for (double& goal : own.trees.goals) goal *= own.cost;
}

// The line of a component at some prices, with better shares; false if it is as low as it need be.
bool TreeLikelihood::evaluate(std::size_t p, const TreePartPrices& at, int sweeps, Part& out) {
  likelihood_.component_terms(node_.box, node_.alternative, p, at.cost, at.points, work_.terms);
  out = {work_.terms.log_upper, work_.terms.floor, {}, {}};
  const double slack = above(out, at.cost);
  if (out.upper == -kInf || slack < std::log(tolerance::kLeastPartShare)) return false;
  const double budget = slack + tolerance::kLeftOutBelow;
  double bound = kInf;
  if (duals_.enter(node_.box, budget, lower_, at.trees.goals.empty() ? nullptr : &at.trees, &work_.terms.costs)) {
    duals_.ascend(slack, sweeps);
    bound = duals_.bound(budget);
  }
  // What was left out is likely by the share of the threshold that was taken off it.
  if (bound == kInf) {
    out.upper = -kInf;
    return false;
  }
  out.upper -= bound;
  duals_.reduce_costs();
  return true;
}

void TreeLikelihood::note_values(Part& out) const {
  const Domain& domain = problem_.domain;
  out.cell.assign(domain.cells, 0.0);
  out.atom.assign(domain.atoms, 0.0);
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    for (std::int32_t c = node_.box.range[j].first; c <= node_.box.range[j].last; ++c)
      out.cell[f.first_cell + place(c)] = duals_.above_bound(j, duals_.cell_reduced(f.first_cell + place(c)));
    node_.box.each_atom(
        f, [&](std::size_t k) { out.atom[f.first_atom + k] = duals_.above_bound(j, duals_.atom_reduced(f.first_atom + k)); });
  }
}

// Better prices and points as long as the shares stay as they are, in the same proportions: to a component, these are one more
// linear demand, that the trees take at least what they are owed. False if none were found.
bool TreeLikelihood::step(std::size_t p, double target, bool first, TreePartPrices& at) {
  const Domain& domain = problem_.domain;
  const double limit = std::max(above(parts_[p], prices_->parts[p].cost), 0.0) + tolerance::kLeftOutBelow;
  std::vector<double> of_cell, of_atom;
  std::size_t feature = domain.features.size();
  const auto gains = [&](std::size_t j, bool atom, std::size_t k, double v, double* out) {
    const Feature& f = domain.features[j];
    if (j != feature) duals_.taken(j, of_cell, of_atom);
    feature = j;
    const double taken = (atom ? of_atom : of_cell)[k];
    const double reduced = atom ? duals_.atom_reduced(f.first_atom + k) : duals_.cell_reduced(f.first_cell + k);
    if (taken == kInf || !(reduced < limit)) return false;
    out[0] = -(atom ? f.atom_cost[k] : f.segments[place(f.segment[k])].cost(v));
    out[1] = taken;
    return true;
  };
  if (!likelihood_.fill_cells(node_.box, p, gains, 2, terms_)) return false;
  terms_.per_price = {target, -duals_.owed()};
  std::vector<double> prices{at.cost, 1.0};
  at.points.resize(terms_.coordinates);
  smoothed_.lower(terms_, 0, first ? tolerance::kFirstTemperature : tolerance::kWarmTemperature, at.points, prices);
  const auto finite = [](double one) { return std::isfinite(one); };
  const bool usable = std::all_of(at.points.begin(), at.points.end(), finite) && prices[0] > 0 && finite(prices[1]);
  // With a higher price, likelihood would hardly count: the decomposition of the cost alone says as much.
  if (!usable || prices[0] * (cutoff_ - node_.bound) > tolerance::kMostNatsOfCost) return false;
  at.cost = prices[0];
  for (float& share : at.trees.shares) share *= static_cast<float>(prices[1]);
  for (double& goal : at.trees.goals) goal *= prices[1];
  return true;
}

void TreeLikelihood::lower_line(std::size_t p, bool first) {
  TreePartPrices at = prices_->parts[p];
  double best = -kInf;
  const int rounds = first ? tolerance::kFirstLikelyRounds : tolerance::kLikelyRounds;
  const int sweeps = first ? tolerance::kFirstLikelySweeps : tolerance::kLikelySweeps;
  // At the bound itself no row may be left, and prices have no end: so they are sought a little above it.
  double target = 0.5 * (node_.bound + std::min(cutoff_, node_.bound + 2 * (1 + std::abs(node_.bound))));
  for (int round = 0; round < rounds; ++round) {
    Part now;
    const bool open = evaluate(p, at, sweeps, now);
    const double crossed = open ? crossing(now, at.cost) : kInf, before = best;
    if (open) at.trees = duals_.prices();
    if (crossed > best) {
      best = crossed;
      if (open) note_values(now);
      parts_[p] = std::move(now);
      prices_->parts[p] = at;
      prices_->parts[p].upper = std::max(parts_[p].upper, parts_[p].floor);
    }
    if (best >= cutoff_ || (round > 1 && best - before < tolerance::kLittleOfGap * (cutoff_ - best))) break;
    if (round > 0) target = best > node_.bound ? best : 0.5 * (node_.bound + target);
    if (round + 1 < rounds && !step(p, target, first && round == 0, at)) break;
  }
}

double TreeLikelihood::above() const {
  std::vector<Line> lines;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    lines.push_back({std::max(parts_[p].upper, parts_[p].floor), prices_->parts[p].cost});
  return log_sum(lines, cutoff_) - threshold_;
}

bool TreeLikelihood::filter() {
  const Domain& domain = problem_.domain;
  auto possible = [&](bool is_atom, std::size_t at) {
    double sum = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      const double fall = part.cell.empty() ? 0 : (is_atom ? part.atom : part.cell)[at];
      sum += std::exp(std::max(part.upper - fall, part.floor) + prices_->parts[p].cost * cutoff_ - threshold_);
    }
    return sum >= 1;
  };
  bool changed = false;
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    node_.box.each_atom(f, [&](std::size_t k) {
      if (possible(true, f.first_atom + k)) return;
      node_.box.drop_atom(f, k);
      changed = true;
    });
    std::int32_t first = node_.box.range[j].first, last = node_.box.range[j].last;
    while (first <= last && !possible(false, f.first_cell + place(first))) ++first;
    while (first <= last && !possible(false, f.first_cell + place(last))) --last;
    changed |= node_.box.keep_cells(domain, j, first, last);
  }
  return changed;
}

}  // namespace likely::search
