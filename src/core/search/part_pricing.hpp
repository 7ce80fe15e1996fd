// One part of a circuit over one box: its line (`price_lines.hpp`) as a function of prices.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../tolerances.hpp"
#include "node.hpp"
#include "price_lines.hpp"
#include "problem.hpp"
#include "triangles.hpp"

namespace likely::search {

// The cost of a number, also of one between those that the feature has.
inline double cost_of(const Feature& f, double v) {
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

  // One more inequality that follows from units, of this part alone; another one takes its place.
  void set_units(const Relaxation& of_units) {
    if (!own_) {
      goals_.push_back(relaxations_.size());
      relaxations_.push_back(&of_units);
    }
    own_ = true;
    relaxations_.back() = &of_units;
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
    const Likelihood::Gains each{
        [](std::size_t j, std::ptrdiff_t coordinate, PartTerms& to) { to.begin(j, coordinate); },
        [this](std::size_t j, double v, double* out) { gains(j, v, out); },
    };
    if (!likelihood_.fill_terms(node_.box, *hulls_, part_, each, count(), terms)) return false;
    terms.per_price.assign(1, cost);
    for (std::size_t i = 0; i < goals_.size(); ++i) terms.per_price.push_back(relaxations_[goals_[i]]->constant - lower(i));
    for (const std::size_t r : rules_) terms.per_price.push_back(problem_.rules.linear[r].relaxed_rest(node_.box));
    return true;
  }

  // The same with a price for every row of the programme of units, in place of goals: of cost, rules and rows. A value's gains
  // are its cost and where it lies, what numbers have alike, and each atom. ReLUs are terms of their own, in the end.
  bool fill_terms_of_units(double cost, const UnitRows& rows, PartTerms& terms) const {
    const Likelihood::Gains each{
        [&](std::size_t j, std::ptrdiff_t coordinate, PartTerms& to) {
          fill_worth_of_units(j, rows, to.begin(j, coordinate, gains_of_units(j)));
        },
        [&](std::size_t j, double v, double* out) { gains_of_units(j, v, rows, out); },
    };
    const std::size_t count = rows.rows.size(), first = first_row();
    if (!likelihood_.fill_terms(node_.box, *hulls_, part_, each, first + count, terms)) return false;
    for (const UnitRows::Relu& relu : rows.relus) {
      double* worth = terms.begin(problem_.domain.features.size(), -1, 1);
      std::fill_n(worth, first, 0.0);
      std::copy_n(relu.adds.begin(), count, worth + first);
      *terms.add(0, 0, 0) = 0;
      *terms.add(0, 0, relu.high) = 1;
    }
    terms.per_price.assign(1, cost);
    for (const std::size_t r : rules_) terms.per_price.push_back(problem_.rules.linear[r].relaxed_rest(node_.box));
    terms.per_price.insert(terms.per_price.end(), rows.constant.begin(), rows.constant.end());
    return true;
  }
  void gains_of_units(std::size_t j, double v, const UnitRows& rows, double* out) const {
    const Feature& f = problem_.domain.features[j];
    const std::int32_t k = f.atom_of(v);
    std::fill_n(out, gains_of_units(j), 0.0);
    if (k >= 0) {
      out[3 + k] = 1;
      return;
    }
    out[0] = -cost_of(f, v);
    out[1] = v - rows.from[j];
    out[2] = 1;
  }
  std::size_t first_row() const { return 1 + rules_.size(); }
  // Prices of the rules, and 1 for the inequality that follows from the prices of rows.
  Prices prices_of_units(const std::vector<double>& at) const {
    Prices made{at[0], std::vector<double>(relaxations_.size(), 0.0), std::vector<double>(problem_.rules.linear.size(), 0.0), {}};
    made.goals.back() = 1;
    for (std::size_t i = 0; i < rules_.size(); ++i) made.rules[rules_[i]] = at[1 + i];
    return made;
  }
  // Prices to begin with, of the same: of cost and rules; those of rows are left.
  std::vector<double> variables_of_units(const Prices& prices, std::size_t rows) const {
    std::vector<double> at{prices.cost};
    for (const std::size_t r : rules_) at.push_back(prices.rules[r]);
    at.resize(first_row() + rows);
    return at;
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
  std::size_t gains_of_units(std::size_t j) const { return 3 + problem_.domain.features[j].atom.size(); }
  void fill_worth_of_units(std::size_t j, const UnitRows& rows, double* worth) const {
    const Feature& f = problem_.domain.features[j];
    const std::size_t count = rows.rows.size(), all = first_row() + count;
    std::fill_n(worth, gains_of_units(j) * all, 0.0);
    auto fill = [&](double* row, double cost, double of_rules, const double* of_rows) {
      row[0] = cost;
      for (std::size_t i = 0; i < rules_.size(); ++i) row[1 + i] = -problem_.rules.linear[rules_[i]].dense[j] * of_rules;
      std::copy_n(of_rows, count, row + first_row());
    };
    worth[0] = 1;
    fill(worth + all, 0, 1, rows.slope.data() + j * count);
    fill(worth + 2 * all, 0, rows.from[j] - f.anchor, rows.start.data() + j * count);
    node_.box.each_atom(f, [&](std::size_t k) {
      fill(worth + (3 + k) * all, -f.atom_cost[k], f.atom[k] - f.anchor, rows.atoms.data() + (f.first_atom + k) * count);
    });
  }

  double lower(std::size_t i) const {
    const std::vector<Goal>& goals = problem_.goals(node_.alternative);
    return (goals_[i] < goals.size() ? goals[goals_[i]].lower : 0) - relaxations_[goals_[i]]->rounding;
  }

  // By how much the values of features differ in what has a price, at most.
  static double spread_of(const PartTerms& terms, std::size_t a) {
    double least = kInf, most = -kInf;
    for (const PartTerms::Term& term : terms.terms) {
      for (std::size_t k = term.first; k < term.last; ++k) {
        const double gain = terms.gain_of(term, k, a);
        least = std::min(least, gain);
        most = std::max(most, gain);
      }
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
  bool own_ = false;  // whether the last of them is of this part alone
};

}  // namespace likely::search
