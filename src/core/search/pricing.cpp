#include "pricing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "part_programme.hpp"
#include "price_lines.hpp"

namespace likely::search {

namespace {

using tolerance::bound_rounding;

// The cost of a number, also of one between those that the feature has.
double cost_of(const Feature& f, double v) {
  if (f.atom_of(v) >= 0 || f.cell_of(v) >= 0) return f.cost(v);
  std::size_t s = 0;
  while (s + 1 < f.segments.size() && f.segments[s].high < v) ++s;
  return f.segments[s].cost(std::clamp(v, f.segments[s].low, f.segments[s].high));
}

// One part of the circuit, over one box: its line as a function of prices.
class PartPricing {
 public:
  PartPricing(const Problem& problem, const Likelihood& likelihood, const Evaluation& evaluation, const Node& node,
              const Likelihood::Hulls* hulls, std::size_t part, Likelihood::Priced& priced, const Relaxation* of_units)
      : problem_(problem),
        likelihood_(likelihood),
        evaluation_(evaluation),
        node_(node),
        hulls_(hulls),
        part_(part),
        priced_(priced) {
    for (std::size_t g = 0; g < evaluation.relaxations.size(); ++g) {
      relaxations_.push_back(&evaluation.relaxations[g]);
      if (evaluation.relaxations[g].additive) goals_.push_back(g);
    }
    if (of_units != nullptr) {
      goals_.push_back(relaxations_.size());
      relaxations_.push_back(of_units);
    }
    for (std::size_t r = 0; r < problem.rules.linear.size(); ++r)
      if (problem.rules.linear[r].applies(problem.domain, node.box)) rules_.push_back(r);
  }

  std::size_t count() const { return 1 + goals_.size() + rules_.size(); }

  std::vector<double> variables(const Prices& prices) const {
    std::vector<double> at{prices.cost};
    for (const std::size_t g : goals_) at.push_back(g < prices.goals.size() ? prices.goals[g] : 0);
    for (const std::size_t r : rules_) at.push_back(prices.rules[r]);
    return at;
  }
  Prices prices(const std::vector<double>& at) const {
    Prices made{at[0], std::vector<double>(relaxations_.size(), 0.0), std::vector<double>(problem_.rules.linear.size(), 0.0), {}};
    for (std::size_t i = 0; i < goals_.size(); ++i) made.goals[goals_[i]] = at[1 + i];
    for (std::size_t i = 0; i < rules_.size(); ++i) made.rules[rules_[i]] = at[1 + goals_.size() + i];
    return made;
  }

  Line line(const std::vector<double>& at, double* log_value = nullptr) const {
    fill_rewards(at);
    double height = likelihood_.price(node_.box, hulls_, node_.alternative, part_, priced_), size = 0;
    if (log_value != nullptr) *log_value = height;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const double term = at[1 + i] * (lower(i) - relaxations_[goals_[i]]->constant);
      height -= term;
      size += std::abs(term);
    }
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const double term = at[1 + goals_.size() + i] * problem_.rules.linear[rules_[i]].relaxed_rest(node_.box);
      height += term;
      size += std::abs(term);
    }
    return {height + tolerance::kRoundoff * static_cast<double>(count() + 8) * size, at[0]};
  }

  // What a value of feature j has of everything that has a price.
  void gains(std::size_t j, double v, double* out) const {
    const Feature& f = problem_.domain.features[j];
    const std::int32_t k = f.atom_of(v);
    *out++ = -(k >= 0 ? f.atom_cost[static_cast<std::size_t>(k)] : cost_of(f, v));
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const Relaxation& relaxation = *relaxations_[goals_[i]];
      *out++ = k >= 0 ? relaxation.at_atom(f, static_cast<std::size_t>(k)) : relaxation.at_number(f, j, v);
    }
    for (const std::size_t r : rules_)
      *out++ = problem_.rules.linear[r].dense[j] != 0 ? -problem_.rules.linear[r].dense[j] * (v - f.anchor) : 0;
  }
  // The terms of the part, and what the line's value at a cost has per unit of each price.
  bool fill_terms(double cost, PartTerms& terms) const {
    const auto each = [&](std::size_t j, double v, double* out) { gains(j, v, out); };
    if (!likelihood_.fill_terms(node_.box, *hulls_, part_, each, count(), terms)) return false;
    terms.per_price.assign(1, cost);
    for (std::size_t i = 0; i < goals_.size(); ++i) terms.per_price.push_back(relaxations_[goals_[i]]->constant - lower(i));
    for (const std::size_t r : rules_) terms.per_price.push_back(problem_.rules.linear[r].relaxed_rest(node_.box));
    return true;
  }
  // Prices to begin with, as a barrier wants them: positive, and in proportion to what they are of. That may be another
  // inequality of units than the parent's, which perhaps said nothing and had a price without end.
  void prepare(const PartTerms& terms, std::vector<double>& at) const {
    for (std::size_t a = 0; a < at.size(); ++a) {
      const double spread = spread_of(terms, a);
      at[a] = spread > 0 ? std::clamp(at[a], tolerance::kFirstWorth / spread, tolerance::kMostWorth / spread)
                         : tolerance::kFirstWorth;
    }
  }
  // Whether prices are such that differences of what they are worth can be told from rounding. Where blocks have no density at
  // all, prices have no end.
  bool moderate(const PartTerms& terms, const std::vector<double>& at) const {
    for (std::size_t a = 0; a < at.size(); ++a)
      if (!(at[a] * std::max(spread_of(terms, a), std::abs(terms.per_price[a])) < tolerance::kMostPricedWorth)) return false;
    return true;
  }

  // The values that gave the line, of several for a feature the one with the largest part in it; after `gradient`.
  void row(std::vector<double>& out) const {
    out = evaluation_.cheapest;
    std::vector<double> shares(out.size(), 0.0);
    likelihood_.each_choice(part_, priced_, [&](std::size_t j, double v, double share) {
      if (share <= shares[j]) return;
      shares[j] = share;
      out[j] = v;
    });
  }

  // The derivative of the line's value at a cost by the prices; after `line` with the same prices.
  std::vector<double> gradient(double cost) const {
    likelihood_.descend(part_, priced_);
    std::vector<double> out{cost};
    for (std::size_t i = 0; i < goals_.size(); ++i) out.push_back(relaxations_[goals_[i]]->constant - lower(i));
    for (const std::size_t r : rules_) out.push_back(problem_.rules.linear[r].relaxed_rest(node_.box));
    likelihood_.each_choice(part_, priced_, [&](std::size_t j, double v, double share) {
      const Feature& f = problem_.domain.features[j];
      const std::int32_t k = f.atom_of(v);
      out[0] -= share * cost_of(f, v);
      for (std::size_t i = 0; i < goals_.size(); ++i) {
        const Relaxation& relaxation = *relaxations_[goals_[i]];
        out[1 + i] += share * (k >= 0 ? relaxation.at_atom(f, static_cast<std::size_t>(k)) : relaxation.at_number(f, j, v));
      }
      for (std::size_t i = 0; i < rules_.size(); ++i)
        out[1 + goals_.size() + i] -= share * problem_.rules.linear[rules_[i]].dense[j] * (v - f.anchor);
    });
    return out;
  }

 private:
  double lower(std::size_t i) const {
    const std::vector<Goal>& goals = problem_.goals(node_.alternative);
    return (goals_[i] < goals.size() ? goals[goals_[i]].lower : 0) - relaxations_[goals_[i]]->rounding;
  }

  // By how much the values of features differ in what has a price, at most.
  static double spread_of(const PartTerms& terms, std::size_t a) {
    double least = kInf, most = -kInf;
    for (std::size_t k = 0; k < terms.height.size(); ++k) {
      least = std::min(least, terms.gain[k * terms.prices + a]);
      most = std::max(most, terms.gain[k * terms.prices + a]);
    }
    return most - least;
  }

  void fill_rewards(const std::vector<double>& at) const {
    Rewards& rewards = priced_.rewards;
    rewards.cost = at[0];
    for (std::size_t j = 0; j < problem_.domain.features.size(); ++j) {
      const Feature& f = problem_.domain.features[j];
      double slope = 0, at_anchor = 0;
      for (std::size_t i = 0; i < goals_.size(); ++i) {
        slope += at[1 + i] * relaxations_[goals_[i]]->slope[j];
        at_anchor += at[1 + i] * relaxations_[goals_[i]]->at_anchor[j];
      }
      for (std::size_t i = 0; i < rules_.size(); ++i)
        slope -= at[1 + goals_.size() + i] * problem_.rules.linear[rules_[i]].dense[j];
      rewards.slope[j] = slope;
      rewards.at_anchor[j] = at_anchor;
      node_.box.each_atom(f, [&](std::size_t k) {
        double reward = -at[0] * f.atom_cost[k];
        for (std::size_t i = 0; i < goals_.size(); ++i) reward += at[1 + i] * relaxations_[goals_[i]]->at_atom(f, k);
        rewards.atom[f.first_atom + k] = reward;
      });
    }
  }

  const Problem& problem_;
  const Likelihood& likelihood_;
  const Evaluation& evaluation_;
  const Node& node_;
  const Likelihood::Hulls* hulls_;
  std::size_t part_;
  Likelihood::Priced& priced_;
  std::vector<const Relaxation*> relaxations_;  // of goals, and what follows from the prices of units
  std::vector<std::size_t> goals_, rules_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Lowers a convex function of prices that are not negative: a quasi-Newton method (BFGS; Nocedal and Wright 2006, chapter 6),
// projected onto the prices that are allowed. `fixed` prices stay as they are.
class PriceSearch {
 public:
  PriceSearch(const PartPricing& pricing, double cost, std::size_t fixed) : pricing_(pricing), cost_(cost), fixed_(fixed) {}

  // From prices at which the line was not evaluated yet; the line of the best prices, which are left in `at`.
  Line lower(std::vector<double>& at, int evaluations) {
    Line best = pricing_.line(at, &log_value_);
    if (best.height == -kInf || evaluations == 1) return best;  // at -inf no row of the box is possible to this part
    std::vector<double> gradient = pricing_.gradient(cost_);
    reset(at, gradient);
    for (int used = 1; used < evaluations;) {
      const std::vector<double> direction = descent(at, gradient);
      const double slope = dot(direction, gradient);
      if (!(slope < -tolerance::kPriceGain)) break;
      double share = 1, gained = 0, value = 0;
      std::vector<double> next(at.size());
      bool moved = false;
      for (; used < evaluations && !moved; ++used) {
        for (std::size_t i = 0; i < at.size(); ++i) next[i] = std::max(0.0, at[i] + share * direction[i]);
        const Line line = pricing_.line(next, &value);
        gained = best.at(cost_) - line.at(cost_);
        moved = gained > -1e-4 * share * slope;
        if (!moved) {
          const double curvature = (-gained - share * slope) / (share * share);
          share = curvature > 0 ? std::clamp(-slope / (2 * curvature), 0.05 * share, 0.5 * share) : 0.25 * share;
          continue;
        }
        best = line;
      }
      if (!moved) {
        pricing_.line(at);
        pricing_.gradient(cost_);
        break;
      }
      log_value_ = value;
      const std::vector<double> after = pricing_.gradient(cost_);
      update(at, next, gradient, after);
      at = next;
      gradient = after;
      if (gained < tolerance::kPriceGain) break;
    }
    return best;
  }
  double log_value() const { return log_value_; }  // log V at the best prices

 private:
  // A first step of one nat at most, and of a third of a price.
  void reset(const std::vector<double>& at, const std::vector<double>& gradient) {
    const std::size_t size = at.size();
    inverse_.assign(size * size, 0.0);
    for (std::size_t i = fixed_; i < size; ++i) {
      const double slope = std::abs(gradient[i]);
      if (slope == 0) continue;
      const double nat = 1 / (slope * slope);
      inverse_[i * size + i] = at[i] > 0 ? std::min(nat, at[i] / (3 * slope)) : nat;
    }
  }

  std::vector<double> descent(const std::vector<double>& at, const std::vector<double>& gradient) const {
    const std::size_t size = at.size();
    std::vector<double> out(size, 0.0);
    auto held = [&](std::size_t i) { return i < fixed_ || (at[i] == 0 && gradient[i] >= 0); };
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < size && !held(i); ++k)
        if (!held(k)) out[i] -= inverse_[i * size + k] * gradient[k];
    for (std::size_t i = 0; i < size; ++i) out[i] = std::max(out[i], -at[i]);
    return out;
  }

  void update(const std::vector<double>& from, const std::vector<double>& to, const std::vector<double>& before,
              const std::vector<double>& after) {
    const std::size_t size = from.size();
    std::vector<double> step(size), change(size), product(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      step[i] = to[i] - from[i];
      change[i] = after[i] - before[i];
    }
    const double curvature = dot(step, change);
    if (!(curvature > 1e-12)) return;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < size; ++k) product[i] += inverse_[i * size + k] * change[k];
    const double scale = (1 + dot(change, product) / curvature) / curvature;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < size; ++k)
        inverse_[i * size + k] += scale * step[i] * step[k] - (step[i] * product[k] + product[i] * step[k]) / curvature;
  }

  const PartPricing& pricing_;
  double cost_;
  std::size_t fixed_;
  double log_value_ = 0;
  std::vector<double> inverse_;  // of the second derivatives, as far as they are known
};

// First prices: what goals and rules cost without likelihood, times the best of a few powers of a price of cost.
std::vector<double> first_prices(const Problem& problem, const PartPricing& pricing, const Evaluation& evaluation, double cost,
                                 double cost_price) {
  Prices unit{1, {}, std::vector<double>(problem.rules.linear.size(), 0.0), {}};
  for (const Dual& dual : evaluation.duals) {
    unit.goals.push_back(dual.multipliers.goal);
    if (dual.multipliers.rule > 0) unit.rules[dual.multipliers.rule_index] = dual.multipliers.rule;
  }
  const std::vector<double> direction = pricing.variables(unit);
  auto times = [&](double price) {
    std::vector<double> at(direction);
    for (double& one : at) one *= price;
    return at;
  };
  if (cost_price > 0) return times(cost_price);
  double best = 1, height = pricing.line(times(1)).at(cost);
  for (const double growth : {tolerance::kPriceGrowth, 1 / tolerance::kPriceGrowth}) {
    for (int trial = 0; trial < tolerance::kPriceTrials; ++trial) {
      const double here = pricing.line(times(best * growth)).at(cost);
      if (here >= height) break;
      height = here;
      best *= growth;
    }
  }
  return times(best);
}

// All parts of the circuit over one box.
class Pricing {
 public:
  Pricing(const Problem& problem, const Demand& demand, const Evaluation& evaluation, Node& node, const Relaxation* units)
      : problem_(problem), demand_(demand), evaluation_(evaluation), node_(node) {
    const std::size_t parts = demand.likelihood.parts();
    if (demand.seeks_prices) demand.likelihood.fill_hulls(node.box, demand.priced.hulls);
    for (std::size_t p = 0; p < parts; ++p)
      pricings_.emplace_back(problem, demand.likelihood, evaluation, node, demand.seeks_prices ? &demand.priced.hulls : nullptr,
                             p, demand.priced.parts[p], units);
    lines_.assign(parts, {kInf, 0});
    values_.assign(parts, 0.0);
  }

  // Raises the node's bound as far as prices can, or up to the cut-off.
  void bound(double cutoff) {
    const double weight = demand_.weight;
    const bool first = demand_.prices.empty();
    demand_.prices.resize(lines_.size());
    demand_.priced.best.clear();
    if (!first && demand_.seeks_prices) {
      for (std::size_t p = 0; p < lines_.size(); ++p) inherit(p);
      raise();
      if (node_.bound >= cutoff) return;
    }
    // At the bound itself no row may be left, and prices have no end: so they are sought a little above it; where little is left,
    // at the cut-off, where it is seen whether the node is pruned, and which values go.
    const bool near = cutoff - node_.bound < tolerance::kNearCutoff * (1 + std::abs(cutoff));
    double cost = weight > 0 ? 0
                  : near     ? cutoff
                             : 0.5 * (node_.bound + std::min(cutoff, node_.bound + 2 * (1 + std::abs(node_.bound))));
    for (int round = 0, most = near ? 1 : tolerance::kPriceRounds; round < most; ++round) {
      const double before = node_.bound;
      for (std::size_t p = 0; p < lines_.size(); ++p) lower(p, cost, first && round == 0);
      const double reached = raise();
      const double left = std::min(cutoff, tolerance::kNoCutoff) - node_.bound;
      if (left <= 0 || weight > 0) break;
      // Where the cost is higher, lines go up less steeply, and come to the threshold later if they begin on the floor.
      if (cutoff < kInf && rests_on_floor(cost)) {
        cost = round < tolerance::kFloorRounds / 2 ? 0.5 * (cost + cutoff) : cost + 0.5 * (cutoff - node_.bound);
        most = near ? 1 : tolerance::kFloorRounds;
        continue;
      }
      if (round > 0 && node_.bound - before < tolerance::kPriceProgress * left) break;
      cost = reached > before ? reached : 0.5 * (node_.bound + cost);
    }
  }

  // Removes values with which no row is below the cut-off.
  bool filter(double cutoff) const {
    const double weight = demand_.weight, most = cutoff + bound_rounding(cutoff);
    std::vector<double> offsets;
    for (std::size_t p = 0; p < lines_.size(); ++p)
      offsets.push_back((weight > 0 ? lines_[p].height : lines_[p].at(most)) - values_[p]);
    const double least = weight > 0 ? -most / weight : demand_.threshold;
    for (std::size_t p = 0; p < lines_.size(); ++p) demand_.likelihood.descend(p, demand_.priced.parts[p]);
    bool changed = false;
    for (std::size_t j = 0; j < problem_.domain.features.size(); ++j) changed |= filter_feature(j, offsets, least);
    return changed;
  }

  void share() const {
    const double at = demand_.weight > 0 ? 0 : node_.bound, total = log_sum(lines_, at);
    for (std::size_t p = 0; p < lines_.size(); ++p) demand_.priced.shares[p] = std::exp(lines_[p].at(at) - total);
  }

 private:
  // Whether a part counts at a cost only because its blocks have a least density, of which prices know nothing.
  bool rests_on_floor(double cost) const {
    for (std::size_t p = 0; p < lines_.size(); ++p)
      if (lines_[p].at(cost) > demand_.threshold && demand_.likelihood.rests_on_floor(p, demand_.priced.parts[p])) return true;
    return false;
  }

  // The node's bound to what the lines together say; that itself.
  double raise() {
    const double weight = demand_.weight;
    const double reached = weight > 0 ? -weight * log_sum(lines_, 0) : least_cost(lines_, demand_.threshold, node_.bound);
    const double before = node_.bound;
    node_.bound = std::max(node_.bound, reached == kInf ? kInf : reached - bound_rounding(reached));
    if (demand_.priced.keeps_best && node_.bound > before) keep_best();
    return reached;
  }

  void keep_best() {
    demand_.priced.best = demand_.prices;
    for (std::size_t p = 0; p < lines_.size(); ++p)
      demand_.priced.best[p].points = demand_.likelihood.points(p, demand_.priced.parts[p]);
  }

  // The line of the prices and points that there are: the parent's. Most parts never matter, and many nodes need no better ones.
  void inherit(std::size_t p) {
    const Prices& prices = demand_.prices[p];
    demand_.likelihood.set_points(p, prices.points, demand_.priced.parts[p]);
    demand_.priced.pointed[p].clear();
    demand_.priced.gaps[p].clear();
    lines_[p] = pricings_[p].line(pricings_[p].variables(prices), &values_[p]);
  }

  void lower(std::size_t p, double cost, bool first) {
    const double weight = demand_.weight;
    const double asked = weight > 0 ? -kInf : demand_.threshold;
    const double least = demand_.likelihood.has_blocks() ? tolerance::kLeastPartShare : tolerance::kLeastLeafPartShare;
    if (lines_[p].at(cost) < asked + std::log(least)) return;
    const PartPricing& pricing = pricings_[p];
    const bool search_for_prices = demand_.seeks_prices;
    if (first) demand_.likelihood.set_points(p, {}, demand_.priced.parts[p]);
    demand_.priced.gaps[p].clear();
    std::vector<double> at = first || !search_for_prices
                                 ? first_prices(problem_, pricing, evaluation_, cost, weight > 0 ? 1 / weight : 0)
                                 : pricing.variables(demand_.prices[p]);
    const std::vector<double> begun = at;
    if (search_for_prices && lower_product(p, cost, at)) return;
    at = begun;
    PriceSearch search(pricing, cost, weight > 0 ? 1 : 0);
    const int steps = !search_for_prices ? 1 : first ? tolerance::kFirstPriceSteps : tolerance::kPriceSteps;
    lines_[p] = search.lower(at, steps);
    values_[p] = search.log_value();
    demand_.prices[p] = pricing.prices(at);
    if (search_for_prices) pricing.row(demand_.priced.pointed[p]);
  }

  // Prices and the points of tangents, if the part is a product; and the row that they point to.
  bool lower_product(std::size_t p, double cost, std::vector<double>& at) {
    if (!pricings_[p].fill_terms(cost, terms_)) return false;
    std::vector<double> point = demand_.prices[p].points;
    point.resize(terms_.coordinates);
    pricings_[p].prepare(terms_, at);
    programme_.lower(terms_, demand_.weight > 0 ? 1 : 0, point, at);
    if (!all_finite(point) || !pricings_[p].moderate(terms_, at)) return false;
    set_prices(p, at, std::move(point));
    point_to(p, at);
    return true;
  }

  static bool all_finite(const std::vector<double>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double one) { return std::isfinite(one); });
  }

  void set_prices(std::size_t p, const std::vector<double>& at, std::vector<double> point) {
    demand_.likelihood.set_points(p, point, demand_.priced.parts[p]);
    lines_[p] = pricings_[p].line(at, &values_[p]);
    demand_.prices[p] = pricings_[p].prices(at);
    demand_.prices[p].points = std::move(point);
  }

  // The row of the terms' means, or where a feature has atoms, of its best candidates; and by how much each term is less at its
  // mean than where it is greatest.
  void point_to(std::size_t p, const std::vector<double>& prices) {
    std::vector<double>&row = demand_.priced.pointed[p], &gaps = demand_.priced.gaps[p], gains(terms_.prices);
    row = evaluation_.cheapest;
    gaps.assign(row.size(), 0.0);
    for (std::size_t t = 0; t < terms_.terms.size(); ++t) {
      const PartTerms::Term& term = terms_.terms[t];
      const std::size_t j = term.feature;
      double z = 0;
      row[j] = programme_.best_value(terms_, term);
      if (node_.box.atom_count(problem_.domain.features[j]) > 0) continue;
      row[j] = programme_.mean_value(t);
      const double at = term.coordinate >= 0 ? demand_.likelihood.value_at(p, j, z = programme_.mean_z(term)) : row[j];
      const double height = demand_.likelihood.height_at(p, j, at, z);
      pricings_[p].gains(j, at, gains.data());
      gaps[j] = programme_.mean_height(t) - programme_.height_of(terms_, term, height, z, gains.data(), prices);
    }
  }

  bool filter_feature(std::size_t j, const std::vector<double>& offsets, double least) const {
    const Likelihood& likelihood = demand_.likelihood;
    const std::vector<Likelihood::Priced>& priced = demand_.priced.parts;
    Box& box = node_.box;
    const Feature& f = problem_.domain.features[j];
    auto total = [&](const auto& log_upper) {  // a part that is small whatever the value counts as it is
      double sum = 0;
      for (std::size_t p = 0; p < offsets.size(); ++p) {
        if (values_[p] == -kInf) continue;
        const double whole = offsets[p] + values_[p] - least;
        sum += std::exp(whole < tolerance::kSmallPart ? whole : offsets[p] + log_upper(p) - least);
      }
      return sum;
    };
    bool changed = false;
    box.each_atom(f, [&](std::size_t k) {
      if (total([&](std::size_t p) { return likelihood.log_upper_atom(p, priced[p], j, k); }) >= 1) return;
      box.drop_atom(f, k);
      changed = true;
    });
    const Range range = box.range[j];
    if (range.empty()) return changed;
    auto possible = [&](const Range& cells) {
      return total([&](std::size_t p) { return likelihood.log_upper_numbers(p, priced[p], box, j, cells); }) >= 1;
    };
    Range first{1, 0, 0, 0}, last{1, 0, 0, 0};
    for (std::size_t r = 0; r < tolerance::kPricedRuns; ++r) {
      const Range cells = likelihood.run(box, j, r);
      if (cells.empty() || !possible(cells)) continue;
      if (first.empty()) first = cells;
      last = cells;
    }
    if (first.empty()) {
      box.drop_numbers(j);
      return true;
    }
    const bool in_blocks = likelihood.in_blocks(j);
    const double low = in_blocks ? edge(first, true, possible) : range.low,
                 high = in_blocks ? edge(last, false, possible) : range.high;
    changed |= box.keep_cells(problem_.domain, j, first.first, last.last);
    if (!in_blocks || !(low <= high) || !box.keep_numbers(problem_.domain, j, low, high)) return changed;
    const Range& left = box.range[j];
    return changed || left.empty() || left.high - left.low < tolerance::kSameWidth * (range.high - range.low);
  }

  // From an end of a run, up to where nothing is possible. Mostly all is: that is seen at once.
  template <class Possible>
  static double edge(const Range& cells, bool from_low, const Possible& possible) {
    const double end = from_low ? cells.low : cells.high;
    double outside = end, inside = from_low ? cells.high : cells.low;
    auto possible_up_to = [&](double to) {
      Range part = cells;
      (from_low ? part.high : part.low) = to;
      return possible(part);
    };
    if (possible_up_to(end + tolerance::kFirstEdge * (inside - end))) return end;
    for (int step = 0; step < tolerance::kEdgeSteps; ++step) {
      const double middle = outside + (inside - outside) / 2;
      (possible_up_to(middle) ? inside : outside) = middle;
    }
    return outside;
  }

  const Problem& problem_;
  const Demand& demand_;
  const Evaluation& evaluation_;
  Node& node_;
  std::vector<PartPricing> pricings_;
  std::vector<Line> lines_;
  std::vector<double> values_;  // log V of each part, at its prices
  PartTerms terms_;
  PartProgramme programme_;
};

}  // namespace

bool prices_pay_later(const Problem& problem) {
  auto pay = [](const Likelihood* likelihood, double threshold) {
    return likelihood != nullptr && threshold > -kInf && !likelihood->has_blocks() && likelihood->has_product_parts();
  };
  if (problem.score->trees() != nullptr || !has_many_numbers(problem.domain)) return false;
  if (problem.likelihood_weight > 0) return problem.components != nullptr;
  return pay(problem.likelihood.get(), problem.likelihood_threshold) || pay(problem.coherence.get(), problem.coherence_threshold);
}

void price_likelihood(const Problem& problem, const Demand& demand, double cutoff, const Evaluation& evaluation, Node& node,
                      const Relaxation* units, bool& changed) {
  demand.priced.make_room(demand.likelihood);
  demand.priced.likelihood = &demand.likelihood;
  demand.priced.sought = demand.seeks_prices;
  Pricing pricing(problem, demand, evaluation, node, units);
  pricing.bound(cutoff);
  if (node.bound >= cutoff) return;
  pricing.share();
  if (cutoff < kInf) changed |= pricing.filter(cutoff);
}

}  // namespace likely::search
