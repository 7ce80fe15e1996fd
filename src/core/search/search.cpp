#include "search.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kMostRounds = 6;       // of narrowing a box, before it is split
constexpr double kSlack = 1e-9;      // bounds of scores and costs are relaxed by this much, relative to their size
constexpr double kNarrow = 1e-10;    // an interval of reals narrower than this, relative to its numbers, is one number
constexpr std::size_t kMostEnds = 6;  // reals of which every choice of ends is tried
constexpr double kBetweenPolls = 0.03;
constexpr double kFirstPrice = 0.01;  // of a linear rule, as a share of the bound
constexpr int kMostPrices = 24;       // that are tried
constexpr int kMostCuts = 50;         // of the prices between two
constexpr double kGolden = 0.3819660112501051;
constexpr double kSpare[] = {1e-15, 1e-12, 1e-9};  // by how much a row that meets two inequalities overfulfils them

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double slack_of(double value) { return kSlack * (1 + std::abs(value)); }

bool any_empty(const Domain& domain, const Box& box) {
  for (std::size_t j = 0; j < domain.features.size(); ++j)
    if (box.empty(domain, j)) return true;
  return false;
}

std::size_t values_of(const Domain& domain, const Box& box) {
  std::size_t found = 0;
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Range& range = box.range[j];
    found += box.atom_count(domain.features[j]) + (range.empty() ? 0 : static_cast<std::size_t>(range.last - range.first + 1));
  }
  return found;
}

bool narrow_range(const Range& range) {
  return range.high - range.low <= kNarrow * std::max({1.0, std::abs(range.low), std::abs(range.high)});
}

}  // namespace

Search::Search(const Problem& problem, const Limits& limits, Poll poll)
    : problem_(problem), domain_(problem.domain), limits_(limits), poll_(std::move(poll)), likelihood_(problem.likelihood.get()),
      least_dropped_(kInf) {
  for (const Alternative& alternative : problem.alternatives) {
    relaxations_.emplace_back();
    for (const Goal& goal : alternative.goals) relaxations_.back().push_back(problem.score->relaxation(goal));
    duals_.resize(std::max(duals_.size(), alternative.goals.size()));
  }
  for (const LinearRow& rule : problem.rules.linear) {
    tilts_.emplace_back(domain_.features.size(), 0.0);
    for (std::size_t i = 0; i < rule.features.size(); ++i) tilts_.back()[rule.features[i]] += rule.coefficients[i];
  }
  if (likelihood_) sweep_ = likelihood_->sweep();
  if (likelihood_ && problem.alpha > 0) worth_ = likelihood_->worth();
}

double Search::seconds() const { return now() - started_; }

Moment Search::moment() const {
  const double found = result_.solutions.size() < limits_.solutions ? kInf : result_.solutions.back().objective;
  const double lowest = open_.empty() ? kInf : open_.top().bound;
  // Values are dropped if they cannot be better than the cutoff: nothing more is known of rows between it and the incumbent.
  return {seconds(), result_.boxes, found, std::min({lowest, least_dropped_, found, cutoff()})};
}

Result Search::run(const std::vector<std::vector<double>>& starts) {
  started_ = now();
  start(starts);
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    Open root{whole(domain_), -kInf, a, order_++};
    if (narrow(root)) {
      try_candidates(root);
      open_.push(std::move(root));
    }
  }
  double polled = now();
  bool stopped = false;
  while (!open_.empty() && !stopped) {
    if (open_.top().bound >= cutoff()) {
      least_dropped_ = std::min(least_dropped_, open_.top().bound);
      open_.pop();
      continue;
    }
    Open next = std::move(const_cast<Open&>(open_.top()));
    open_.pop();
    ++result_.boxes;
    if (narrow(next)) {
      try_candidates(next);
      const bool one = closed(next.box), done = one || covered(next.box, next.bound);
      if (one) try_ends(next);
      if (!done && next.bound < cutoff())
        branch(std::move(next));
      else if (!done)
        least_dropped_ = std::min(least_dropped_, next.bound);
    }
    if (now() - polled > kBetweenPolls) {
      polled = now();
      result_.trace.push_back(moment());
      stopped = !poll_(result_.trace.back());
    }
    stopped = stopped || result_.boxes >= limits_.boxes || seconds() > limits_.seconds;
  }
  while (!result_.solutions.empty() && result_.solutions.back().objective > allowed()) result_.solutions.pop_back();
  const Moment last = moment();
  result_.trace.push_back(last);
  result_.found = result_.solutions.empty() ? kInf : result_.solutions.back().objective;
  result_.proven = open_.empty() && result_.solutions.size() < limits_.solutions ? allowed() : last.proven;
  result_.seconds = last.seconds;
  result_.status = open_.empty() ? (result_.solutions.empty() ? Status::kInfeasible : Status::kOptimal)
                                 : (result_.solutions.empty() ? Status::kUnknown : Status::kFeasible);
  return result_;
}

std::pair<bool, double> Search::narrow_box(Box& box, std::uint32_t alternative, double incumbent) {
  if (incumbent < kInf) keep({{}, incumbent, incumbent, 0, alternative});
  Open open{box, -kInf, alternative, 0};
  const bool possible = narrow(open);
  box = open.box;
  return {possible, open.bound};
}

// -- narrowing a box --------------------------------------------------------------------------------------------------

void Search::turn_to(std::uint32_t alternative) {
  if (likelihood_) likelihood_->turn_to(alternative, *sweep_);
}

bool Search::narrow(Open& open) {
  const std::size_t before = values_of(domain_, open.box);
  const bool possible = narrow_in_rounds(open);
  result_.filtered += before - (possible ? values_of(domain_, open.box) : 0);
  return possible;
}

bool Search::narrow_in_rounds(Open& open) {
  turn_to(open.alternative);
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    if (!problem_.rules.propagate(domain_, open.box)) return false;
    const std::vector<Goal>& goals = problem_.alternatives[open.alternative].goals;
    for (std::size_t g = 0; g < goals.size(); ++g)
      if (!narrow_score(open, g, changed)) return false;
    if (likelihood_ && !narrow_likelihood(open, changed)) return false;
    if (!narrow_cost(open, changed)) return false;
  }
  return true;
}

bool Search::narrow_score(Open& open, std::size_t g, bool& changed) {
  const double from = now();
  const Goal& goal = problem_.alternatives[open.alternative].goals[g];
  Relaxation& relaxation = relaxations_[open.alternative][g];
  problem_.score->relax(open.box, goal, relaxation);
  result_.seconds_score += now() - from;
  const double least = goal.least - relaxation.rounding;
  if (relaxation.upper < least) return false;
  drop_low_scores(open.box, relaxation, least, changed);
  return !any_empty(domain_, open.box);
}

void Search::drop_low_scores(Box& box, const Relaxation& relaxation, double least, bool& changed) const {
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    // What the feature must reach if all others are at their best.
    const double needed = relaxation.additive ? least - (relaxation.upper - relaxation.most[j]) : least;
    box.each_atom(f, [&](std::size_t k) {
      if (relaxation.atom[f.first_atom + k] < needed) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    const Range range = box.range[j];
    if (range.empty()) continue;
    if (!relaxation.additive) {
      std::int32_t first = range.first, last = range.last;
      while (first <= last && relaxation.cell[f.first_cell + static_cast<std::size_t>(first)] < needed) ++first;
      while (first <= last && relaxation.cell[f.first_cell + static_cast<std::size_t>(last)] < needed) --last;
      if (first > last) box.drop_numbers(j);
      changed |= first > last || box.keep_cells(domain_, j, first, last);
      continue;
    }
    const double at_low = relaxation.number(j, range.low), at_high = relaxation.number(j, range.high);
    if (std::max(at_low, at_high) < needed) {
      box.drop_numbers(j);
      changed = true;
    } else if (std::min(at_low, at_high) < needed) {
      const double share = (needed - at_low) / (at_high - at_low), edge = range.low + share * (range.high - range.low);
      const double wider = kSlack * std::max(std::abs(range.low), std::abs(range.high));
      const bool moved = at_low < at_high ? box.keep_numbers(domain_, j, edge - wider, range.high)
                                          : box.keep_numbers(domain_, j, range.low, edge + wider);
      // A sliver less is no reason for another round.
      const Range& left = box.range[j];
      changed |= moved && (left.empty() || left.high - left.low < 0.9 * (range.high - range.low));
    }
  }
}

bool Search::narrow_likelihood(Open& open, bool& changed) {
  const double from = now();
  const Likelihood& likelihood = *likelihood_;
  likelihood.bound(open.box, *sweep_);
  bool possible = sweep_->log_upper >= problem_.delta;
  if (possible) {
    likelihood.differentiate(*sweep_);
    if (problem_.delta > -kInf && likelihood.filter(open.box, *sweep_, problem_.delta)) {
      changed = true;
      possible = !any_empty(domain_, open.box);
    }
  }
  result_.seconds_likelihood += now() - from;
  return possible;
}

bool Search::narrow_cost(Open& open, bool& changed) {
  const std::vector<Goal>& goals = problem_.alternatives[open.alternative].goals;
  const double likely_part = problem_.alpha > 0 ? -problem_.alpha * sweep_->log_upper : 0;
  const double cheapest = cheapest_cost(open.box, cheapest_);
  open.bound = std::max(open.bound, cheapest + likely_part - slack_of(cheapest));
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = relaxations_[open.alternative][g];
    const double least = goals[g].least - relaxation.rounding;
    duals_[g] = priced(open.box, relaxation, least, relaxation.additive ? lagrangian(open.box, relaxation, least) : Dual{cheapest, 0});
    open.bound = std::max(open.bound, duals_[g].bound + likely_part - slack_of(duals_[g].bound));
    if (duals_[g].price > 0 && duals_[g].bound - slack_of(duals_[g].bound) > dearest_cost(open.box)) return false;  // no row is so dear
  }
  if (open.bound >= cutoff()) {
    least_dropped_ = std::min(least_dropped_, open.bound);
    return false;
  }
  if (cutoff() < kInf)
    for (std::size_t g = 0; g < goals.size(); ++g) drop_dear(open, g, changed);
  if (any_empty(domain_, open.box)) return false;
  if (worth_)
    for (std::size_t g = 0; g < goals.size(); ++g)
      if (!narrow_jointly(open, g, changed)) return false;
  return true;
}

// Cost, score and likelihood in one bound: each component of the circuit has values of its own that it finds likely, and
// they are not the cheap ones.
bool Search::narrow_jointly(Open& open, std::size_t g, bool& changed) {
  const Goal& goal = problem_.alternatives[open.alternative].goals[g];
  const Relaxation& relaxation = relaxations_[open.alternative][g];
  const double multiplier = relaxation.additive ? duals_[g].multiplier : 0, alpha = problem_.alpha;
  const double least = goal.least - relaxation.rounding;
  Box& box = open.box;
  const double fixed = (relaxation.additive ? multiplier * (least - relaxation.constant) : 0) - alpha * sweep_->log_upper -
                       (duals_[g].price > 0 ? duals_[g].price * problem_.rules.linear[duals_[g].rule].eased(box) : 0);
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    box.each_atom(f, [&](std::size_t k) {
      const double gain = multiplier > 0 ? multiplier * relaxation.atom[f.first_atom + k] : 0;
      worth_->atom[f.first_atom + k] = gain - f.atom_cost[k];
    });
    for (std::size_t b = 0; b < Likelihood::kBlocks; ++b) {
      const Range part = likelihood_->block(box, j, b);
      if (part.empty()) continue;
      double best = -kInf;
      for (auto s = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(part.first)]);
           s <= static_cast<std::size_t>(f.segment[static_cast<std::size_t>(part.last)]); ++s) {
        const Segment& own = f.segments[s];
        for (const double v : {std::max(own.low, part.low), std::min(own.high, part.high)})
          best = std::max(best, (multiplier > 0 ? multiplier * relaxation.number(j, v) : 0) - tilt(duals_[g], j) * v - own.cost(v));
      }
      worth_->block[j * Likelihood::kBlocks + b] = best;
    }
  }
  const double bound = fixed - likelihood_->excess(box, *sweep_, alpha, *worth_);
  open.bound = std::max(open.bound, bound - slack_of(bound));
  if (open.bound >= cutoff()) {
    least_dropped_ = std::min(least_dropped_, open.bound);
    return false;
  }
  const double limit = cutoff() + slack_of(bound);
  if (limit == kInf) return true;
  likelihood_->descend(*worth_);
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    box.each_atom(f, [&](std::size_t k) {
      if (fixed - likelihood_->excess_atom(*sweep_, *worth_, alpha, j, k) > limit) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    if (box.range[j].empty()) continue;
    std::int32_t first = box.range[j].last + 1, last = -1;
    for (std::size_t b = 0; b < Likelihood::kBlocks; ++b) {
      const Range part = likelihood_->block(box, j, b);
      if (part.empty()) continue;
      if (fixed - likelihood_->excess_block(box, *sweep_, *worth_, alpha, j, b) > limit) continue;
      first = std::min(first, part.first);
      last = std::max(last, part.last);
    }
    if (first > last) {
      box.drop_numbers(j);
      changed = true;
    } else {
      changed |= box.keep_cells(domain_, j, first, last);
    }
  }
  return !any_empty(domain_, box);
}

// The value of feature j with the least cost - multiplier * gain + tilt * number; of equals, the one that gains most.
Search::Choice Search::best_choice(const Box& box, std::size_t j, const Relaxation* relaxation, double multiplier, double tilt) const {
  const Feature& f = domain_.features[j];
  Choice best{0, 0, 0, kInf};
  auto consider = [&](double value, double cost, double gain, double slope) {
    const double reduced = cost - multiplier * gain + slope * value;
    if (reduced < best.reduced || (reduced == best.reduced && gain > best.gain)) best = {value, cost, gain, reduced};
  };
  box.each_atom(f, [&](std::size_t k) {
    consider(f.atom[k], f.atom_cost[k], relaxation == nullptr ? 0 : relaxation->atom[f.first_atom + k], 0);
  });
  const Range& range = box.range[j];
  if (range.empty()) return best;
  const auto first = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(range.first)]);
  const auto last = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(range.last)]);
  for (std::size_t s = first; s <= last; ++s) {
    const Segment& own = f.segments[s];
    const double low = std::max(own.low, range.low), high = std::min(own.high, range.high);
    if (low > high) continue;
    consider(low, own.cost(low), relaxation == nullptr ? 0 : relaxation->number(j, low), tilt);
    if (high > low) consider(high, own.cost(high), relaxation == nullptr ? 0 : relaxation->number(j, high), tilt);
  }
  return best;
}

double Search::dearest_cost(const Box& box) const {
  double total = 0;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    double most = 0;
    box.each_atom(f, [&](std::size_t k) { most = std::max(most, f.atom_cost[k]); });
    for (const Segment& own : f.segments)
      if (!box.range[j].empty()) most = std::max({most, own.cost_low, own.cost_high});
    total += most;
  }
  return total + slack_of(total);
}

double Search::cheapest_cost(const Box& box, std::vector<double>& row) const {
  row.resize(domain_.features.size());
  double total = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Choice choice = best_choice(box, j, nullptr, 0);
    row[j] = choice.value;
    total += choice.cost;
  }
  return total;
}

// max over m >= 0 of sum_j min_v [cost_j(v) - m a_j(v)] + m (least - constant): concave and piecewise linear in m. Each
// evaluation is a line that lies above it; two lines on either side of the top meet above it; go there next. With a price p
// of a linear rule, sum_j c_j v_j <= upper, p (c_j v - upper / n) is added to each of the n features' costs.
Search::Dual Search::lagrangian(const Box& box, const Relaxation& relaxation, double least, double price, std::size_t rule) const {
  const double offset = price > 0 ? price * problem_.rules.linear[rule].eased(box) : 0;
  auto evaluate = [&](double multiplier) {
    double bound = multiplier * (least - relaxation.constant) - offset, gain = relaxation.constant;
    for (std::size_t j = 0; j < domain_.features.size(); ++j) {
      const Choice choice = best_choice(box, j, &relaxation, multiplier, price > 0 ? price * tilts_[rule][j] : 0);
      bound += choice.reduced;
      gain += choice.gain;
    }
    return std::pair{bound, least - gain};  // value and slope
  };
  auto [left_bound, left_slope] = evaluate(0);
  Dual best{left_bound, 0, price, rule};
  if (left_slope <= 0) return best;
  double left = 0, right = 1e-3, right_bound = 0, right_slope = 1;
  for (int i = 0; i < 40 && right_slope > 0; ++i) {
    right *= 4;
    std::tie(right_bound, right_slope) = evaluate(right);
    if (right_bound > best.bound) best = {right_bound, right, price, rule};
    if (right_slope > 0) {
      left = right;
      left_bound = right_bound;
      left_slope = right_slope;
    }
  }
  for (int i = 0; i < 25 && right_slope <= 0; ++i) {
    const double meet = (right_bound - left_bound + left_slope * left - right_slope * right) / (left_slope - right_slope);
    if (!(meet > left && meet < right)) break;
    const auto [bound, slope] = evaluate(meet);
    if (bound > best.bound) best = {bound, meet, price, rule};
    if (bound >= left_bound + left_slope * (meet - left) - slack_of(bound)) break;
    if (slope > 0) {
      left = meet;
      left_bound = bound;
      left_slope = slope;
    } else {
      right = meet;
      right_bound = bound;
      right_slope = slope;
    }
  }
  return best;
}

// By how much the rows at which a dual has its bound exceed its linear rule.
double Search::excess(const Box& box, const Relaxation& relaxation, const Dual& dual) const {
  const Relaxation* gains = relaxation.additive ? &relaxation : nullptr;
  double total = -problem_.rules.linear[dual.rule].eased(box);
  for (std::size_t j = 0; j < domain_.features.size(); ++j)
    if (tilts_[dual.rule][j] != 0) total += tilts_[dual.rule][j] * best_choice(box, j, gains, dual.multiplier, tilt(dual, j)).value;
  return total;
}

// The bound with a price of the one linear rule that makes it best; every price gives a bound. The best bound of a price is
// concave in it: go up until it falls, then cut what lies between by the golden section.
Search::Dual Search::priced(const Box& box, const Relaxation& relaxation, double least, const Dual& unpriced) const {
  Dual best = unpriced;
  for (std::size_t r = 0; r < problem_.rules.linear.size(); ++r) {
    if (!problem_.rules.linear[r].applies(domain_, box)) continue;
    const double over = excess(box, relaxation, {unpriced.bound, unpriced.multiplier, 0, r});
    if (!(over > 0)) continue;
    auto at = [&](double price) {
      if (relaxation.additive) return lagrangian(box, relaxation, least, price, r);
      Dual found{-price * problem_.rules.linear[r].eased(box), 0, price, r};
      for (std::size_t j = 0; j < domain_.features.size(); ++j) found.bound += best_choice(box, j, nullptr, 0, tilt(found, j)).reduced;
      return found;
    };
    double low = 0, middle = 0, high = kFirstPrice * (1 + std::abs(unpriced.bound)) / over, reached = unpriced.bound;
    for (int i = 0; i < kMostPrices; ++i) {
      const Dual found = at(high);
      if (found.bound > best.bound) best = found;
      if (found.bound <= reached) break;
      reached = found.bound;
      low = middle;
      middle = high;
      high *= 4;
    }
    for (int i = 0; i < kMostCuts && middle > 0 && high - low > kSlack * high; ++i) {
      const bool right = high - middle > middle - low;
      const Dual found = at(right ? middle + kGolden * (high - middle) : middle - kGolden * (middle - low));
      if (found.bound > best.bound) best = found;
      if (found.bound > reached) {
        (right ? low : high) = middle;
        middle = found.price;
        reached = found.bound;
      } else {
        (right ? high : low) = found.price;
      }
    }
  }
  return best;
}

// Removes values with which no row of the box can be better than what is known.
void Search::drop_dear(Open& open, std::size_t g, bool& changed) const {
  Box& box = open.box;
  const Dual& dual = duals_[g];
  const Relaxation& relaxation = relaxations_[open.alternative][g];
  const Relaxation* gains = relaxation.additive ? &relaxation : nullptr;
  const double alpha = problem_.alpha, limit = cutoff() + slack_of(dual.bound);
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const double others = dual.bound - best_choice(box, j, gains, dual.multiplier, tilt(dual, j)).reduced;
    box.each_atom(f, [&](std::size_t k) {
      double bound = others + f.atom_cost[k] - (gains == nullptr ? 0 : dual.multiplier * relaxation.atom[f.first_atom + k]);
      if (alpha > 0) bound -= alpha * likelihood_->log_upper_atom(*sweep_, j, k);
      if (bound > limit) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    const Range range = box.range[j];
    if (range.empty()) continue;
    const double fixed = others - (alpha > 0 ? alpha * sweep_->log_upper : 0);
    auto reduced = [&](const Segment& own, double v) {
      return fixed + own.cost(v) - (gains == nullptr ? 0 : dual.multiplier * relaxation.number(j, v)) + tilt(dual, j) * v;
    };
    // From either end, up to where the bound of a value comes down to the limit.
    double low = kInf, high = -kInf;
    const auto first = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(range.first)]);
    const auto last = static_cast<std::size_t>(f.segment[static_cast<std::size_t>(range.last)]);
    for (std::size_t s = first; s <= last; ++s) {
      const Segment& own = f.segments[s];
      const double a = std::max(own.low, range.low), b = std::min(own.high, range.high);
      if (a > b) continue;
      const double at_a = reduced(own, a), at_b = reduced(own, b);
      if (std::min(at_a, at_b) > limit) continue;
      low = std::min(low, at_a <= limit ? a : a + (at_a - limit) / (at_a - at_b) * (b - a));
      high = std::max(high, at_b <= limit ? b : b - (at_b - limit) / (at_b - at_a) * (b - a));
    }
    const double wider = kSlack * std::max({1.0, std::abs(range.low), std::abs(range.high)});
    if (low > high) {
      box.drop_numbers(j);
      changed = true;
    } else if (box.keep_numbers(domain_, j, low - wider, high + wider)) {
      const Range& left = box.range[j];
      changed |= left.empty() || left.high - left.low < 0.9 * (range.high - range.low);
    }
  }
}

// -- rows that may be answers -----------------------------------------------------------------------------------------

bool Search::test(const std::vector<double>& row, std::uint32_t alternative) {
  ++result_.tested;
  turn_to(alternative);
  const double cost = domain_.cost(row.data());
  if (problem_.alpha == 0 && cost >= cutoff()) return false;
  if (!problem_.rules.hold(row.data())) return false;
  problem_.score->outputs(row.data(), outputs_);
  if (!problem_.alternatives[alternative].met(outputs_)) return false;
  double likelihood = 0;
  if (likelihood_) {
    likelihood = likelihood_->exact(row.data(), *sweep_);
    if (likelihood < problem_.delta) return false;
  }
  const double objective = problem_.alpha > 0 ? cost - problem_.alpha * likelihood : cost;
  if (!(objective < kInf)) return false;  // impossible, where likelihood counts
  keep({row, objective, cost, likelihood, alternative});
  return true;
}

// Two values are the same to a list of answers if these are: atoms and the numbers of a grid by themselves, reals by cell.
std::uint64_t Search::place(const Feature& f, double v) {
  if (const std::int32_t k = f.atom_of(v); k >= 0) return static_cast<std::uint64_t>(k);
  if (f.grid > 0) return ~std::bit_cast<std::uint64_t>(v);
  return f.atom.size() + static_cast<std::uint64_t>(f.cell_of(v));
}

// What tells a row from others in a list of answers; or only which features are changed.
std::vector<std::uint64_t> Search::key(const std::vector<double>& row) const {
  std::vector<std::uint64_t> found;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = domain_.features[j];
    found.push_back(limits_.other_features ? row[j] != f.factual : place(f, row[j]));
  }
  return found;
}

void Search::keep(Solution solution) {
  auto own = key(solution.row);
  auto& known = result_.solutions;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (keys_[i] != own) continue;
    if (known[i].objective <= solution.objective) return;
    known.erase(known.begin() + static_cast<std::ptrdiff_t>(i));
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  std::size_t place = 0;
  while (place < known.size() && known[place].objective <= solution.objective) ++place;
  if (place >= limits_.solutions) return;
  known.insert(known.begin() + static_cast<std::ptrdiff_t>(place), std::move(solution));
  keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(place), std::move(own));
  if (known.size() > limits_.solutions) {
    known.pop_back();
    keys_.pop_back();
  }
}

// The greatest objective that an answer may have, given the best one known.
double Search::allowed() const {
  if (result_.solutions.empty() || limits_.within == kInf) return kInf;
  const double best = result_.solutions.front().objective;
  return best + limits_.within * std::abs(best) + slack_of(best);
}

double Search::cutoff() const {
  if (result_.solutions.size() < limits_.solutions) return allowed();
  const double worst = result_.solutions.back().objective;
  return std::min(allowed(), worst - std::max(limits_.absolute_gap, limits_.relative_gap * std::abs(worst)));
}

void Search::try_candidates(const Open& open) {
  cheapest_cost(open.box, cheapest_);
  if (test(cheapest_, open.alternative)) return;
  const std::vector<Goal>& goals = problem_.alternatives[open.alternative].goals;
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = relaxations_[open.alternative][g];
    if (!relaxation.additive) continue;
    push_over(open, relaxation, goals[g].least);
    if (duals_[g].price > 0) meet_both(open, relaxation, goals[g].least, duals_[g]);
  }
}

// A linear programme of two rows has an optimum with two numbers that are at no end: from the row of the dual, every two
// reals moved so that the goal is just reached and the rule just kept.
void Search::meet_both(const Open& open, const Relaxation& relaxation, double least, const Dual& dual) {
  const std::vector<double>& tilts = tilts_[dual.rule];
  const double upper = problem_.rules.linear[dual.rule].upper;
  std::vector<double> row(domain_.features.size());
  std::vector<std::size_t> reals;
  double missing = least - relaxation.constant, spare = upper, size = std::abs(least) + std::abs(upper);
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Choice choice = best_choice(open.box, j, &relaxation, dual.multiplier, tilt(dual, j));
    row[j] = choice.value;
    missing -= choice.gain;
    if (tilts[j] != 0) spare -= tilts[j] * choice.value;
    size += std::abs(choice.gain) + (tilts[j] != 0 ? std::abs(tilts[j] * choice.value) : 0);
    const Feature& f = domain_.features[j];
    if (f.grid == 0 && f.atom_of(choice.value) < 0 && !open.box.single(domain_, j)) reals.push_back(j);
  }
  for (std::size_t a = 0; a < reals.size(); ++a)
    for (std::size_t b = a + 1; b < reals.size(); ++b)
      for (const double more : kSpare)
        if (move_two(open, row, {reals[a], reals[b]}, relaxation.slope, tilts, missing + more * size, spare - more * size)) break;
}

// Tests the row with two numbers moved so that slope @ moves = missing and tilts @ moves = spare.
bool Search::move_two(const Open& open, std::vector<double> row, std::pair<std::size_t, std::size_t> two,
                      const std::vector<double>& slope, const std::vector<double>& tilts, double missing, double spare) {
  const auto [j, k] = two;
  const double det = slope[j] * tilts[k] - slope[k] * tilts[j];
  if (det == 0) return true;
  row[j] += (missing * tilts[k] - slope[k] * spare) / det;
  row[k] += (slope[j] * spare - missing * tilts[j]) / det;
  for (const std::size_t own : {j, k}) {
    const Range& range = open.box.range[own];
    if (!(range.low <= row[own] && row[own] <= range.high) || domain_.features[own].cell_of(row[own]) < 0) return true;
  }
  return test(row, open.alternative);
}

// Of a box that is not split further though it has intervals of reals, all as good as points: their ends too.
void Search::try_ends(const Open& open) {
  std::vector<std::size_t> wide;
  for (std::size_t j = 0; j < domain_.features.size(); ++j)
    if (!open.box.single(domain_, j)) wide.push_back(j);
  std::vector<double> row = cheapest_;
  for (std::size_t ends = 0; ends < std::size_t{1} << std::min(wide.size(), kMostEnds); ++ends) {
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const Range& range = open.box.range[wide[i]];
      row[wide[i]] = ends >> std::min(i, kMostEnds - 1) & 1 ? range.high : range.low;
    }
    test(row, open.alternative);
  }
}

// From the cheapest row of the box, the changes that gain most per cost, until the relaxation is content; and then some,
// since the score itself is less. Each row on the way is tested.
void Search::push_over(const Open& open, const Relaxation& relaxation, double least) {
  struct Move {
    std::size_t feature;
    double value, gain, cost;
  };
  std::vector<Move> moves;
  std::vector<double> row = cheapest_;
  double missing = least - relaxation.constant;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Choice now = best_choice(open.box, j, &relaxation, 0), best = best_choice(open.box, j, &relaxation, 1e12);
    row[j] = now.value;
    missing -= now.gain;
    if (best.gain > now.gain) moves.push_back({j, best.value, best.gain - now.gain, best.cost - now.cost});
  }
  if (missing <= 0 && test(row, open.alternative)) return;  // of equally cheap values, those that gain most
  std::sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.cost * b.gain < b.cost * a.gain; });
  int beyond = 0;
  for (const Move& move : moves) {
    const Feature& f = domain_.features[move.feature];
    const double from = row[move.feature];
    const bool numbers = f.atom_of(from) < 0 && f.atom_of(move.value) < 0;
    if (numbers && missing > 0 && missing < move.gain) {
      // Only as far as needed, and a step further each time it was not far enough.
      for (double share = missing / move.gain; share < 1; share = std::min(1.0, 1.2 * share + 1e-9)) {
        double v = from + share * (move.value - from);
        v = move.value > from ? std::min(move.value, f.up_to_grid(v)) : std::max(move.value, f.down_to_grid(v));
        row[move.feature] = v;
        if (f.cell_of(v) >= 0 && test(row, open.alternative)) return;
      }
    }
    row[move.feature] = move.value;
    missing -= move.gain;
    if (missing <= 0) {
      if (test(row, open.alternative) || ++beyond > 4) return;
    }
  }
}

// Takes changes back, the dearest first, as long as the row remains an answer.
void Search::improve(std::vector<double> row, std::uint32_t alternative) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return domain_.features[a].cost(row[a]) > domain_.features[b].cost(row[b]);
  });
  for (const std::size_t j : order) {
    const Feature& f = domain_.features[j];
    const double before = row[j];
    if (std::isnan(f.factual) || before == f.factual || (f.atom_of(f.factual) < 0 && f.cell_of(f.factual) < 0)) continue;
    row[j] = f.factual;
    const std::size_t known = result_.solutions.size();
    const double best = known ? result_.solutions.front().objective : kInf;
    test(row, alternative);
    const bool better = !result_.solutions.empty() && result_.solutions.front().objective < best;
    if (!better) row[j] = before;
  }
}

void Search::start(const std::vector<std::vector<double>>& starts) {
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    for (const std::vector<double>& row : starts) {
      bool inside = row.size() == domain_.features.size();
      for (std::size_t j = 0; inside && j < row.size(); ++j)
        inside = domain_.features[j].atom_of(row[j]) >= 0 || domain_.features[j].cell_of(row[j]) >= 0;
      if (inside && test(row, a)) improve(row, a);
    }
  }
  single_changes();
}

// Every change of one feature, cheap ones first, for each feature until one is an answer.
void Search::single_changes() {
  std::vector<double> row;
  const Box all = whole(domain_);
  cheapest_cost(all, row);
  for (std::uint32_t a = 0; a < problem_.alternatives.size(); ++a) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      const Feature& f = domain_.features[j];
      const double before = row[j];
      for (const double value : f.atom) {
        row[j] = value;
        test(row, a);
      }
      const std::size_t step = std::max<std::size_t>(1, f.low.size() / 64);
      for (std::size_t c = 0; c < f.low.size(); c += step) {
        row[j] = f.low[c] > f.factual ? f.low[c] : f.high[c];
        test(row, a);
      }
      row[j] = before;
    }
  }
}

// -- splitting a box --------------------------------------------------------------------------------------------------

bool Search::closed(const Box& box) const {
  for (std::size_t j = 0; j < domain_.features.size(); ++j)
    if (!box.single(domain_, j) && !(box.single_cell(domain_, j) && narrow_range(box.range[j]))) return false;
  return true;
}

// Whether all rows of a box are one answer to a list (or change the same features), and one is known that is no dearer.
bool Search::covered(const Box& box, double bound) const {
  std::vector<std::uint64_t> own;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const Range& range = box.range[j];
    if (!limits_.other_features) {
      if (f.grid > 0 ? !box.single(domain_, j) : !box.single_cell(domain_, j)) return false;
      double value = range.low;
      if (range.empty()) box.each_atom(f, [&](std::size_t k) { value = f.atom[k]; });
      own.push_back(place(f, value));
      continue;
    }
    const std::int32_t atom = f.atom_of(f.factual), cell = atom >= 0 ? -1 : f.cell_of(f.factual);
    const bool has = atom >= 0 ? box.has_atom(f, static_cast<std::size_t>(atom))
                               : cell >= range.first && cell <= range.last && range.low <= f.factual && f.factual <= range.high;
    if (has && !box.single(domain_, j)) return false;
    own.push_back(!has);
  }
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == own && result_.solutions[i].objective <= bound + std::max(limits_.absolute_gap, kSlack)) return true;
  return false;
}

std::size_t Search::choose_feature(const Open& open) const {
  const std::vector<Goal>& goals = problem_.alternatives[open.alternative].goals;
  const std::size_t count = domain_.features.size();
  std::vector<double> share(count, 0.0), spread(count, 0.0);
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Relaxation& relaxation = relaxations_[open.alternative][g];
    const bool missed = goals[g].score(outputs_) < goals[g].least;
    const double room = std::max(relaxation.upper - goals[g].least, 1e-12);
    for (std::size_t j = 0; j < count; ++j) {
      const Feature& f = domain_.features[j];
      const std::int32_t k = f.atom_of(cheapest_[j]);
      double loss;
      if (relaxation.additive) {
        const double own = k >= 0 ? relaxation.atom[f.first_atom + static_cast<std::size_t>(k)] : relaxation.number(j, cheapest_[j]);
        loss = relaxation.most[j] - own + relaxation.blame[j];
      } else {
        const std::size_t place = k >= 0 ? 0 : static_cast<std::size_t>(f.cell_of(cheapest_[j]));
        loss = relaxation.upper - (k >= 0 ? relaxation.atom[f.first_atom + static_cast<std::size_t>(k)] : relaxation.cell[f.first_cell + place]);
      }
      if (missed) share[j] += std::min(loss / room, 2.0);
      spread[j] += loss;
    }
  }
  if (likelihood_) {
    // Against the threshold, a loss counts as a share of what may be lost; in the objective, of the gap that is to close.
    const bool missed = cheapest_log_likelihood_ < problem_.delta;
    const double room = std::max(sweep_->log_upper - problem_.delta, 1e-9);
    const double gap = std::max(std::min(cutoff(), 1e300) - open.bound, 1e-9);
    if (problem_.alpha > 0 || missed) {
      for (std::size_t j = 0; j < count; ++j) {
        const Feature& f = domain_.features[j];
        const std::int32_t k = f.atom_of(cheapest_[j]);
        const double own = k >= 0 ? likelihood_->log_upper_atom(*sweep_, j, static_cast<std::size_t>(k))
                                  : likelihood_->log_upper_cell(*sweep_, j, static_cast<std::size_t>(f.cell_of(cheapest_[j])));
        const double loss = sweep_->log_upper - own;
        if (problem_.alpha > 0) share[j] += std::min(problem_.alpha * loss / gap, 2.0);
        if (missed) share[j] += std::min(loss / room, 2.0);
      }
    }
  }
  for (std::size_t r = 0; r < tilts_.size(); ++r) {
    const LinearRow& rule = problem_.rules.linear[r];
    if (!rule.applies(domain_, open.box)) continue;
    double over = -rule.upper, most = 0;
    for (const std::size_t j : rule.features) over += tilts_[r][j] * cheapest_[j];
    if (over <= 0) continue;
    std::vector<double> loss(count, 0.0);
    for (const std::size_t j : rule.features) {
      const Range& range = open.box.range[j];
      loss[j] = tilts_[r][j] * cheapest_[j] - std::min(tilts_[r][j] * range.low, tilts_[r][j] * range.high);
      most += loss[j];
    }
    for (const std::size_t j : rule.features) share[j] += std::min(loss[j] / std::max(most - over, 1e-12), 2.0);
  }
  std::size_t best = count;
  double most = -kInf;
  for (std::size_t j = 0; j < count; ++j) {
    if (open.box.single(domain_, j) || (open.box.single_cell(domain_, j) && narrow_range(open.box.range[j]))) continue;
    const double own = share[j] > 1e-9 ? 1e6 + share[j] : spread[j] > 0 ? 1e3 + std::min(spread[j], 1e3) : 0.0;
    const double size = open.box.range[j].empty() ? 0 : open.box.range[j].last - open.box.range[j].first;
    if (own + 1e-6 * size > most) {
      most = own + 1e-6 * size;
      best = j;
    }
  }
  return best;
}

void Search::branch(Open&& open) {
  cheapest_cost(open.box, cheapest_);
  problem_.score->outputs(cheapest_.data(), outputs_);
  cheapest_log_likelihood_ = likelihood_ ? likelihood_->exact(cheapest_.data(), *sweep_) : 0;
  split(open, choose_feature(open));
}

void Search::add(Box box, const Open& parent) {
  open_.push({std::move(box), parent.bound, parent.alternative, order_++});
}

void Search::split(const Open& open, std::size_t j) {
  const Feature& f = domain_.features[j];
  const Range& range = open.box.range[j];
  const std::size_t atoms = open.box.atom_count(f);
  if (atoms > 0) {
    // The cheapest atom, or all atoms against the numbers.
    const std::int32_t k = f.atom_of(cheapest_[j]);
    Box one = open.box, rest = open.box;
    if (range.empty() && k >= 0) {
      one.fix(domain_, j, f.atom[static_cast<std::size_t>(k)]);
      rest.drop_atom(f, static_cast<std::size_t>(k));
    } else {
      one.drop_numbers(j);
      for (std::size_t w = 0; w < f.words(); ++w) rest.atoms[f.first_word + w] = 0;
    }
    add(std::move(rest), open);
    add(std::move(one), open);
    return;
  }
  if (range.low <= f.factual && f.factual <= range.high && f.cell_of(f.factual) >= 0 && range.first < range.last) {
    const std::int32_t own = f.cell_of(f.factual);
    for (const auto& [first, last] : {std::pair{range.first, own - 1}, std::pair{own + 1, range.last}, std::pair{own, own}}) {
      if (first > last) continue;
      Box part = open.box;
      part.keep_cells(domain_, j, first, last);
      if (!part.range[j].empty()) add(std::move(part), open);
    }
    return;
  }
  Box left = open.box, right = open.box;
  const double middle = 0.5 * range.low + 0.5 * range.high;
  if (range.first < range.last) {
    std::int32_t cut = static_cast<std::int32_t>(std::upper_bound(f.low.begin(), f.low.end(), middle) - f.low.begin()) - 1;
    cut = std::clamp(cut, range.first, range.last - 1);
    left.keep_cells(domain_, j, range.first, cut);
    right.keep_cells(domain_, j, cut + 1, range.last);
  } else {
    // Between two neighbouring numbers: half a step from either, or at one and the next double.
    const double cut = f.grid > 0 ? std::min(f.down_to_grid(middle), range.high - f.grid) + f.grid / 2
                                  : std::min(middle, std::nextafter(range.high, -kInf));
    left.keep_numbers(domain_, j, range.low, cut);
    right.keep_numbers(domain_, j, f.grid > 0 ? cut : std::nextafter(cut, kInf), range.high);
  }
  const bool cheap_left = cheapest_[j] <= middle;
  for (Box* part : {cheap_left ? &right : &left, cheap_left ? &left : &right})
    if (!part->range[j].empty()) add(std::move(*part), open);
}

}  // namespace likely::search
