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

// The components from the one that is farthest above the threshold on: none need be lower where that one comes up to it than
// what hardly counts.
void TreeLikelihood::bound() {
  const bool first = prices_->parts.empty();
  prices_->parts.resize(parts_.size());
  prices_->bytes = 0;
  std::vector<std::size_t> order(parts_.size());
  std::iota(order.begin(), order.end(), 0);
  for (const std::size_t p : order) {
    if (first) begin(p);
    parts_[p].upper = prices_->parts[p]->upper;
    parts_[p].floor = -kInf;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) { return above(p) > above(q); });
  aim_ = cutoff_;
  for (const std::size_t p : order)
    if (!hardly_counts(p)) lower_line(p, first);
  const double reached = least_cost(lines(), threshold_, node_.bound);
  node_.bound = std::max(node_.bound, reached == kInf ? kInf : reached - tolerance::bound_rounding(reached));
  node_.tree_prices = prices_;
  if (node_.bound < cutoff_) look_again();
}

std::vector<Line> TreeLikelihood::lines() const {
  std::vector<Line> out;
  for (std::size_t p = 0; p < parts_.size(); ++p) out.push_back(line(p));
  return out;
}

Line TreeLikelihood::line(std::size_t p) const { return {std::max(parts_[p].upper, parts_[p].floor), prices_->parts[p]->cost}; }

// The duals become those of the component that is farthest above the threshold.
void TreeLikelihood::look_again() {
  std::size_t most = 0;
  for (std::size_t p = 1; p < parts_.size(); ++p)
    if (above(p) > above(most)) most = p;
  TreePartPrices at = *prices_->parts[most];
  if (at.trees.goals.empty()) share_cost(at);
  Part unused;
  decided_ = !evaluate(most, at, 0, unused);
}

// Prices and points as if there were no goals; and with them, the shares of the cost alone.
void TreeLikelihood::begin(std::size_t p) {
  const Domain& domain = problem_.domain;
  TreePartPrices own;
  own.cost = 1;
  const auto gains = [&](std::size_t j, bool atom, std::size_t k, double v, double* out) {
    const Feature& f = domain.features[j];
    out[0] = -(atom ? f.atom_cost[k] : f.segments[place(f.segment[k])].cost(v));
    return true;
  };
  if (likelihood_.fill_cells(node_.box, p, gains, 1, terms_)) {
    std::vector<double> points(terms_.coordinates), prices{own.cost};
    terms_.per_price = {target()};
    programme_.lower(terms_, 0, points, prices);
    if (usable(points, prices)) {
      own.cost = prices[0];
      own.points = std::move(points);
    }
  }
  likelihood_.component_terms(node_.box, node_.alternative, p, own.cost, own.points, work_.terms);
  own.upper = std::max(work_.terms.log_upper, work_.terms.floor);
  keep(p, std::move(own));
}

void TreeLikelihood::keep(std::size_t p, TreePartPrices made) {
  prices_->bytes += sizeof(made) + sizeof(float) * made.trees.shares.size() + sizeof(double) * made.points.size();
  prices_->parts[p] = std::make_shared<const TreePartPrices>(std::move(made));
}

// The decomposition of the cost alone, in nats.
void TreeLikelihood::share_cost(TreePartPrices& at) const {
  at.trees = prices_->cost;
  for (float& share : at.trees.shares) share *= static_cast<float>(at.cost);
  for (double& goal : at.trees.goals) goal *= at.cost;
}

// Whether the prices of goals are small beside those of the cost alone.
bool TreeLikelihood::are_small(const TreePartPrices& at) const {
  for (std::size_t g = 0; g < at.trees.goals.size(); ++g)
    if (at.trees.goals[g] > tolerance::kSmallPrice * at.cost * prices_->cost.goals[g]) return false;
  return true;
}

// With a higher price of cost, likelihood would hardly count: the decomposition of the cost alone says as much.
bool TreeLikelihood::usable(const std::vector<double>& points, const std::vector<double>& prices) const {
  const auto finite = [](double one) { return std::isfinite(one); };
  return std::all_of(points.begin(), points.end(), finite) && std::all_of(prices.begin(), prices.end(), finite) &&
         prices[0] > 0 && prices[0] * (cutoff_ - node_.bound) <= tolerance::kMostNatsOfCost;
}

// At the bound itself no row may be left, and prices have no end: so they are sought a little above it.
double TreeLikelihood::target() const {
  return 0.5 * (node_.bound + std::min(cutoff_, node_.bound + 2 * (1 + std::abs(node_.bound))));
}

// The line of a component at some prices, with better shares; false if it is as low as it need be.
bool TreeLikelihood::evaluate(std::size_t p, const TreePartPrices& at, int sweeps, Part& out) {
  likelihood_.component_terms(node_.box, node_.alternative, p, at.cost, at.points, work_.terms);
  out = {work_.terms.log_upper, work_.terms.floor, {}, {}};
  const double slack = std::max(out.upper, out.floor) + at.cost * cutoff_ - threshold_;
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
  useful_ = useful_ || bound > tolerance::kLittleOfSlack * slack;
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
bool TreeLikelihood::step(std::size_t p, double target, TreePartPrices& at) {
  const Domain& domain = problem_.domain;
  const double limit = std::max(above(p), 0.0) + tolerance::kLeftOutBelow;
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
  programme_.lower(terms_, 0, at.points, prices);
  if (!usable(at.points, prices)) return false;
  at.cost = prices[0];
  // Shares that were made for other prices are worth little, but a price of 0 would stay there: sweeps make better ones.
  const double scale = std::max(prices[1], tolerance::kLeastOfShares);
  if (scale < 1 && are_small(at)) return true;
  for (float& share : at.trees.shares) share *= static_cast<float>(scale);
  for (double& goal : at.trees.goals) goal *= scale;
  return true;
}

void TreeLikelihood::lower_line(std::size_t p, bool first) {
  TreePartPrices at = *prices_->parts[p], kept;
  if (at.trees.goals.empty()) share_cost(at);
  double best = -kInf, target = this->target();
  const bool blocks = likelihood_.has_blocks();
  const int rounds = !first ? tolerance::kLikelyRounds : blocks ? tolerance::kFirstLikelyRounds : tolerance::kFirstMixtureRounds;
  const int sweeps = !first ? tolerance::kLikelySweeps : blocks ? tolerance::kFirstLikelySweeps : tolerance::kFirstMixtureSweeps;
  for (int round = 0; round < rounds; ++round) {
    Part now;
    const bool open = evaluate(p, at, sweeps, now);
    const double crossed = open ? (threshold_ - std::max(now.upper, now.floor)) / at.cost : kInf, before = best;
    if (open) at.trees = duals_.prices();
    if (crossed > best) {
      best = crossed;
      if (open) note_values(now);
      parts_[p] = std::move(now);
      kept = at;
      kept.upper = std::max(parts_[p].upper, parts_[p].floor);
    }
    const bool enough = best >= cutoff_ || kept.upper + kept.cost * aim_ < threshold_ + std::log(tolerance::kLeastPartShare);
    if (enough || (round > 1 && best - before < tolerance::kLittleOfGap * (cutoff_ - best))) break;
    if (round > 0) target = best > node_.bound ? best : 0.5 * (node_.bound + target);
    if (round + 1 < rounds && !step(p, target, at)) break;
  }
  keep(p, std::move(kept));
  aim_ = std::min(aim_, std::max(best, node_.bound));
}

bool TreeLikelihood::hardly_counts(std::size_t p) const {
  return line(p).at(aim_) < threshold_ + std::log(tolerance::kLeastPartShare);
}

double TreeLikelihood::above() const { return log_sum(lines(), cutoff_) - threshold_; }

bool TreeLikelihood::filter() {
  const Domain& domain = problem_.domain;
  auto possible = [&](bool is_atom, std::size_t at) {
    double sum = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      const double fall = part.cell.empty() ? 0 : (is_atom ? part.atom : part.cell)[at];
      sum += std::exp(std::max(part.upper - fall, part.floor) + prices_->parts[p]->cost * cutoff_ - threshold_);
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
