#include "pricing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "../tolerances.hpp"
#include "duals.hpp"
#include "part_pricing.hpp"
#include "part_programme.hpp"
#include "price_lines.hpp"

namespace likely::search {

namespace {

using tolerance::bound_rounding;

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
  Pricing(const Problem& problem, const Demand& demand, const Evaluation& evaluation, Node& node, UnitPrices* units)
      : problem_(problem), demand_(demand), evaluation_(evaluation), node_(node), units_(units) {
    const std::size_t parts = demand.likelihood.parts();
    if (demand.seeks_prices) demand.likelihood.fill_hulls(node.box, demand.priced.hulls);
    for (std::size_t p = 0; p < parts; ++p)
      pricings_.emplace_back(problem, demand.likelihood, evaluation, node, demand.seeks_prices ? &demand.priced.hulls : nullptr,
                             p, demand.priced.parts[p], units == nullptr ? nullptr : &units->alike());
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
    search(cutoff, first);
    if (units_ != nullptr && units_->joint() && node_.bound < cutoff) bound_with_units(cutoff);
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
  // Prices of goals, rules and what follows from units alike, in a few rounds at costs that come nearer to what is proved.
  void search(double cutoff, bool first) {
    const double weight = demand_.weight;
    // At the bound itself no row may be left, and prices have no end: so they are sought a little above it; where little is left,
    // at the cut-off, where it is seen whether the node is pruned, and which values go.
    const bool near = cutoff - node_.bound < tolerance::kNearCutoff * (1 + std::abs(cutoff));
    double cost = weight > 0 ? 0 : near ? cutoff : 0.5 * (node_.bound + std::min(cutoff, most_raised(node_.bound)));
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

  // The same with prices of units, and then once more, with the inequalities that follow from them; if that is of use. If not, it
  // pauses for a few nodes on the way down, with the prices that there are.
  void bound_with_units(double cutoff) {
    if (node_.unit_wait > 0) {
      --node_.unit_wait;
      return;
    }
    const double weight = demand_.weight, before = node_.bound, left = std::min(cutoff, most_raised(before)) - before,
                 cost = weight > 0 ? 0 : before + tolerance::kUnitPriceShare * left;
    if (weight > 0 && left > tolerance::kMostNatsLeft * weight) return;  // features are cut much faster
    enough_ = tolerance::kUnitPriceGap * left;
    bool any = false;
    for (std::size_t p = 0; p < lines_.size(); ++p) any |= counts(p, cost) && lower_with_units(p, cost);
    enough_ = 0;
    if (!any) return;
    units_->set_slack(weight > 0 ? tolerance::kUnitPriceShare * left / weight : log_sum(lines_, cost) - demand_.threshold);
    raise();
    if (node_.bound < cutoff) search(cutoff, false);
    const bool useful = node_.bound - before >= tolerance::kLittleOfUnits * left;
    node_.unit_pause = useful ? 0 : static_cast<std::uint8_t>(std::min(2 * node_.unit_pause + 1, tolerance::kLongestUnitPause));
    node_.unit_wait = node_.unit_pause;
  }

  // Where no answer is known, how far a bound is looked for.
  static double most_raised(double bound) { return bound + 2 * (1 + std::abs(bound)); }

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
    if (units_ != nullptr)
      if (const Relaxation* own = units_->inherit(p)) pricings_[p].set_units(*own);
    demand_.priced.pointed[p].clear();
    demand_.priced.gaps[p].clear();
    lines_[p] = pricings_[p].line(pricings_[p].variables(prices), &values_[p]);
  }

  // Whether a part can be a share of what is asked for that matters.
  bool counts(std::size_t p, double cost) const {
    if (demand_.weight > 0) return lines_[p].at(cost) > -kInf;
    const double least = demand_.likelihood.has_blocks() ? tolerance::kLeastPartShare : tolerance::kLeastLeafPartShare;
    return lines_[p].at(cost) >= demand_.threshold + std::log(least);
  }

  void lower(std::size_t p, double cost, bool first) {
    if (!counts(p, cost)) return;
    const double weight = demand_.weight;
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
    std::vector<double> point;
    if (!pricings_[p].fill_terms(cost, terms_) || !solve_programme(p, point, at)) return false;
    set_prices(p, at, std::move(point));
    point_to(p, at, [&](std::size_t j, double v, double* out) { pricings_[p].gains(j, v, out); });
    return true;
  }

  // The same with prices of units.
  bool lower_with_units(std::size_t p, double cost) {
    PartPricing& pricing = pricings_[p];
    std::vector<double> point, at = units_->begin(p, pricing, demand_.prices[p]);
    if (!units_->fill_terms(pricing, cost, terms_) || !solve_programme(p, point, at)) return false;
    pricing.set_units(units_->follow(p, pricing, at));
    const Prices found = pricing.prices_of_units(at);
    set_prices(p, pricing.variables(found), std::move(point));
    units_->find_candidates(p, pricing, at, terms_, programme_);
    return true;
  }

  bool solve_programme(std::size_t p, std::vector<double>& point, std::vector<double>& at) {
    point = demand_.prices[p].points;
    point.resize(terms_.coordinates);
    pricings_[p].prepare(terms_, at);
    const double enough = std::clamp(enough_ * at[0], tolerance::kLeastProgrammeGap, tolerance::kMostProgrammeGap);
    programme_.lower(terms_, demand_.weight > 0 ? 1 : 0, point, at, enough_ > 0 ? enough : tolerance::kProgrammeGap);
    return all_finite(point) && pricings_[p].moderate(terms_, at);
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
  template <class Gains>
  void point_to(std::size_t p, const std::vector<double>& prices, const Gains& gains_at) {
    std::vector<double>&row = demand_.priced.pointed[p], &gaps = demand_.priced.gaps[p], gains;
    row = evaluation_.cheapest;
    gaps.assign(row.size(), 0.0);
    for (std::size_t t = 0; t < terms_.terms.size(); ++t) {
      const PartTerms::Term& term = terms_.terms[t];
      const std::size_t j = term.feature;
      if (j >= row.size()) continue;  // of a unit
      double z = 0;
      row[j] = programme_.best_value(terms_, term);
      if (node_.box.atom_count(problem_.domain.features[j]) > 0) continue;
      row[j] = programme_.mean_value(t);
      const double at = term.coordinate >= 0 ? demand_.likelihood.value_at(p, j, z = programme_.mean_z(term)) : row[j];
      const double height = demand_.likelihood.height_at(p, j, at, z);
      gains.resize(term.gains);
      gains_at(j, at, gains.data());
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
  UnitPrices* units_;
  double enough_ = 0;  // of a bound, in costs, that prices of units may leave
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
                      UnitPrices* units, bool& changed) {
  demand.priced.make_room(demand.likelihood);
  demand.priced.likelihood = &demand.likelihood;
  demand.priced.sought = demand.seeks_prices;
  Pricing pricing(problem, demand, evaluation, node, units);
  pricing.bound(cutoff);
  if (node.bound >= cutoff) return;
  pricing.share();
  if (units != nullptr) units->keep(node, demand.priced.shares);
  if (cutoff < kInf) changed |= pricing.filter(cutoff);
}

}  // namespace likely::search
