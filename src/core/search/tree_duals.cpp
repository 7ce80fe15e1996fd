#include "tree_duals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "../tolerances.hpp"
#include "problem.hpp"

namespace likely::search {

namespace {

std::size_t place(std::int32_t at) { return static_cast<std::size_t>(at); }

// Of what a range has of a cell.
double least_cost(const Feature& f, const Range& range, std::int32_t c) {
  const Segment& segment = f.segments[place(f.segment[place(c)])];
  return std::min(segment.cost(std::max(f.low[place(c)], range.low)), segment.cost(std::min(f.high[place(c)], range.high)));
}

}  // namespace

TreeDuals::TreeDuals(const TreeLinks& links, const std::vector<Goal>& goals)
    : links_(links), forest_(links.forest), domain_(links.forest.domain()), goal_count_(goals.size()) {
  for (const Goal& goal : goals) base_.push_back(forest_.base_gain(goal));
  for (const Forest::Tree& tree : forest_.all_trees())
    for (std::uint32_t l = tree.first; l < tree.last; ++l)
      for (const Goal& goal : goals) gain_.push_back(forest_.gain(tree, forest_.all_leaves()[l], goal));
}

TreeDuals::TreeDuals(const TreeLinks& links, std::size_t goals)
    : links_(links), forest_(links.forest), domain_(links.forest.domain()), goal_count_(goals) {}

void TreeDuals::set_gains(TreeGains gains) {
  gain_ = std::move(gains.leaf);
  base_ = std::move(gains.base);
}

// -- a box --------------------------------------------------------------------------------------------------------------

bool TreeDuals::enter(Box& box, double budget, const std::vector<double>& lower, const TreePrices* from,
                      const ValueCosts* costs) {
  box_ = &box;
  measure_costs(costs);
  double cheapest = 0;
  for (const double cost : cheapest_) cheapest += cost;
  const double spare = budget < kInf ? budget - cheapest + tolerance::bound_rounding(budget) : kInf;
  if (!find_leaves(spare)) return false;
  find_parts();
  missing_.resize(goal_count_);
  for (std::size_t g = 0; g < goal_count_; ++g) missing_[g] = lower[g] - base_[g];
  if (from == nullptr) {
    shares_.assign(links_.values, 0.0);
    guess_prices(spare);
  } else {
    shares_.assign(from->shares.begin(), from->shares.end());
    prices_ = from->goals;
  }
  step_.assign(goal_count_, from == nullptr ? tolerance::kFirstPriceStep : tolerance::kPriceStep);
  close_trees();
  refresh();
  return true;
}

void TreeDuals::measure_costs(const ValueCosts* costs) {
  for (std::vector<double>* costs : {&cell_cost_, &below_, &above_}) costs->resize(domain_.cells);
  atom_cost_.resize(domain_.atoms);
  cheapest_.assign(domain_.features.size(), kInf);
  cheapest_cell_.assign(domain_.features.size(), -1);
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const Range& range = box_->range[j];
    for (std::int32_t c = range.first; c <= range.last; ++c) {
      const double cost = costs != nullptr ? costs->cell[f.first_cell + place(c)] : least_cost(f, range, c);
      if (cost < cheapest_[j]) cheapest_cell_[j] = c;
      cheapest_[j] = std::min(cheapest_[j], cost);
      cell_cost_[f.first_cell + place(c)] = cost;
      below_[f.first_cell + place(c)] = cheapest_[j];
    }
    double least = kInf;
    for (std::int32_t c = range.last; c >= range.first; --c)
      above_[f.first_cell + place(c)] = least = std::min(least, cell_cost_[f.first_cell + place(c)]);
    box_->each_atom(f, [&](std::size_t k) {
      const double cost = costs != nullptr ? costs->atom[f.first_atom + k] : f.atom_cost[k];
      atom_cost_[f.first_atom + k] = cost;
      cheapest_[j] = std::min(cheapest_[j], cost);
    });
  }
}

// By how much a row that reaches a leaf costs more than the cheapest row, at least; infinite if none of the box does.
double TreeDuals::excess(const Forest::Leaf& leaf) const {
  double total = 0;
  for (std::uint32_t c = leaf.first; c < leaf.last; ++c) {
    const Forest::Condition& asked = forest_.conditions()[c];
    const std::size_t j = place(asked.feature);
    const Feature& f = domain_.features[j];
    const std::int32_t first = std::max(asked.first, box_->range[j].first), last = std::min(asked.last, box_->range[j].last);
    double least = kInf;
    if (first <= last) {
      const std::int32_t cheapest = cheapest_cell_[j];
      least = last < cheapest    ? below_[f.first_cell + place(last)]
              : first > cheapest ? above_[f.first_cell + place(first)]
                                 : cell_cost_[f.first_cell + place(cheapest)];
    }
    for (std::size_t w = 0; w < f.words(); ++w)
      for (std::uint64_t some = box_->atoms[f.first_word + w] & forest_.words()[asked.word + w]; some != 0; some &= some - 1)
        least = std::min(least, atom_cost_[f.first_atom + 64 * w + static_cast<std::size_t>(std::countr_zero(some))]);
    total += least - cheapest_[j];
  }
  return total;
}

bool TreeDuals::find_leaves(double spare) {
  leaves_.clear();
  first_leaf_.clear();
  for (const Forest::Tree& tree : forest_.all_trees()) {
    first_leaf_.push_back(static_cast<std::uint32_t>(leaves_.size()));
    for (std::uint32_t l = tree.first; l < tree.last; ++l)
      if (const double more = excess(forest_.all_leaves()[l]); more < kInf && more <= spare) leaves_.push_back(l);
    if (leaves_.size() == first_leaf_.back()) return false;
  }
  first_leaf_.push_back(static_cast<std::uint32_t>(leaves_.size()));
  return true;
}

void TreeDuals::find_parts() {
  parts_.resize(links_.links.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Range& range = box_->range[links_.links[i].feature];
    const auto begin = links_.starts.begin() + links_.links[i].first_start, end = begin + links_.links[i].parts;
    auto part = [&](std::int32_t cell) { return static_cast<std::int32_t>(std::upper_bound(begin, end, cell) - begin) - 1; };
    parts_[i] = range.empty() ? std::pair{0, -1} : std::pair{part(range.first), part(range.last)};
  }
}

// A tree of which one leaf is left tells nothing apart.
void TreeDuals::close_trees() {
  open_.resize(first_leaf_.size() - 1);
  for (std::size_t t = 0; t < open_.size(); ++t) {
    open_[t] = first_leaf_[t + 1] - first_leaf_[t] > 1;
    if (open_[t]) continue;
    for (std::size_t i = links_.first_link[t]; i < links_.first_link[t + 1]; ++i) {
      const Link& link = links_.links[i];
      const auto from = shares_.begin() + link.first_value;
      std::fill(from, from + static_cast<std::ptrdiff_t>(link.parts + domain_.features[link.feature].atom.size()), 0.0);
    }
  }
}

// As if half of what may be spent, or of what the farthest leaf costs, were enough for a goal that the cheapest row misses.
void TreeDuals::guess_prices(double spare) {
  prices_ = missing_;
  double farthest = 0;
  for (std::size_t t = 0; t + 1 < first_leaf_.size(); ++t) {
    std::pair<double, std::uint32_t> nearest{kInf, 0};
    for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) {
      const double more = excess(forest_.all_leaves()[leaves_[a]]);
      nearest = std::min(nearest, {more, leaves_[a]});
      farthest = std::max(farthest, more);
    }
    for (std::size_t g = 0; g < goal_count_; ++g) prices_[g] -= gain_[nearest.second * goal_count_ + g];
  }
  double most = 0;
  for (double& price : prices_) {
    price = price > 0 ? tolerance::kGuessedShare * std::min(spare, farthest) / price : 0;
    most = std::max(most, price);
  }
  for (double& price : prices_) price = std::max(price, tolerance::kLeastGuess * most);
}

// -- reduced costs of leaves --------------------------------------------------------------------------------------------

template <class Work>
void TreeDuals::each_value(std::size_t i, const Span& span, const Work& work) const {
  const Link& link = links_.links[i];
  const Feature& f = domain_.features[link.feature];
  for (std::int32_t p = std::max(span.first, parts_[i].first), last = std::min(span.last, parts_[i].second); p <= last; ++p)
    work(place(p));
  for (std::size_t w = 0; w < f.words(); ++w) {
    std::uint64_t some = box_->atoms[f.first_word + w];
    if (span.condition >= 0) some &= forest_.words()[forest_.conditions()[place(span.condition)].word + w];
    for (; some != 0; some &= some - 1) work(link.parts + 64 * w + static_cast<std::size_t>(std::countr_zero(some)));
  }
}

// Calls work(part, first cell, the one after the last) for what the box has of every part.
template <class Work>
void TreeDuals::each_part(std::size_t i, const Work& work) const {
  const Range& range = box_->range[links_.links[i].feature];
  const std::int32_t* start = links_.starts.data() + links_.links[i].first_start;
  for (std::int32_t p = parts_[i].first; p <= parts_[i].second; ++p)
    work(place(p), place(std::max(start[p], range.first)), place(std::min(start[p + 1], range.last + 1)));
}

double TreeDuals::least_share(std::size_t i, const Span& span) const {
  const double* share = shares_.data() + links_.links[i].first_value;
  double least = kInf;
  each_value(i, span, [&](std::size_t v) { least = share[v] < least ? share[v] : least; });
  return least;
}

double TreeDuals::price_of(std::uint32_t leaf) const {
  double total = 0;
  for (std::size_t g = 0; g < goal_count_; ++g) total += prices_[g] * gain_[leaf * goal_count_ + g];
  return total;
}

void TreeDuals::refresh() {
  reduced_.resize(leaves_.size());
  first_low_.resize(leaves_.size());
  lows_.clear();
  best_.assign(first_leaf_.size() - 1, kInf);
  for (std::size_t t = 0; t < best_.size(); ++t) {
    for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) {
      reduced_[a] = -price_of(leaves_[a]);
      first_low_[a] = lows_.size();
      const Span* span = links_.spans.data() + links_.first_span[leaves_[a]];
      for (std::size_t i = links_.first_link[t]; i < links_.first_link[t + 1]; ++i) {
        lows_.push_back(least_share(i, *span++));
        reduced_[a] += lows_.back();
      }
      best_[t] = std::min(best_[t], reduced_[a]);
    }
  }
}

// -- sums over the values of a feature ----------------------------------------------------------------------------------

// Of cells as differences between neighbours, until the sum is finished. An infinite term excludes the value.
void TreeDuals::begin_sum(std::size_t j) {
  const Feature& f = domain_.features[j];
  of_cell_.assign(f.low.size() + 1, 0.0);
  excluded_.assign(f.low.size() + 1, 0);
  const auto first = atom_cost_.begin() + static_cast<std::ptrdiff_t>(f.first_atom);
  of_atom_.assign(first, first + static_cast<std::ptrdiff_t>(f.atom.size()));
}

void TreeDuals::add_to_cells(std::size_t from, std::size_t to, double value) {
  if (std::abs(value) == kInf) {
    ++excluded_[from];
    --excluded_[to];
  } else {
    of_cell_[from] += value;
    of_cell_[to] -= value;
  }
}

void TreeDuals::finish_sum(std::size_t j) {
  double sum = 0;
  int excluded = 0;
  for (std::int32_t c = box_->range[j].first; c <= box_->range[j].last; ++c) {
    sum += of_cell_[place(c)];
    excluded += excluded_[place(c)];
    of_cell_[place(c)] = excluded > 0 ? kInf : cell_cost_[domain_.features[j].first_cell + place(c)] + sum;
  }
}

// -- the bound ----------------------------------------------------------------------------------------------------------

// The least of what the trees leave of a feature's costs; `size` grows by that of its terms.
double TreeDuals::least_left(std::size_t j, double& size) {
  const Feature& f = domain_.features[j];
  begin_sum(j);
  for (const std::uint32_t i : links_.of[j]) {
    const Link& link = links_.links[i];
    const double* share = shares_.data() + link.first_value;
    double most = 0;
    auto measure = [&](double term) {
      if (term < kInf) most = std::max(most, std::abs(term));
    };
    each_part(i, [&](std::size_t p, std::size_t from, std::size_t to) {
      add_to_cells(from, to, -share[p]);
      measure(share[p]);
    });
    box_->each_atom(f, [&](std::size_t k) {
      of_atom_[k] = share[link.parts + k] < kInf ? of_atom_[k] - share[link.parts + k] : kInf;
      measure(share[link.parts + k]);
    });
    size += 2 * most;
  }
  finish_sum(j);
  double least = kInf;
  for (std::int32_t c = box_->range[j].first; c <= box_->range[j].last; ++c) least = std::min(least, of_cell_[place(c)]);
  box_->each_atom(f, [&](std::size_t k) { least = std::min(least, of_atom_[k]); });
  if (least < kInf) size += std::abs(least);
  return least;
}

void TreeDuals::taken(std::size_t j, std::vector<double>& of_cell, std::vector<double>& of_atom) {
  double size = 0;
  least_left(j, size);
  const Feature& f = domain_.features[j];
  of_cell.assign(f.low.size(), kInf);
  of_atom.assign(f.atom.size(), kInf);
  auto difference = [](double cost, double left) { return left < kInf && cost < kInf ? cost - left : kInf; };
  for (std::int32_t c = box_->range[j].first; c <= box_->range[j].last; ++c)
    of_cell[place(c)] = difference(cell_cost_[f.first_cell + place(c)], of_cell_[place(c)]);
  box_->each_atom(f, [&](std::size_t k) { of_atom[k] = difference(atom_cost_[f.first_atom + k], of_atom_[k]); });
}

double TreeDuals::owed() const {
  double total = 0;
  for (std::size_t g = 0; g < goal_count_; ++g) total += prices_[g] * missing_[g];
  for (const double best : best_) total += best;
  return total;
}

// Of the terms of the reduced cost of any of its leaves.
double TreeDuals::size_of_tree(std::size_t t) const {
  double most = 0;
  for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) {
    double sum = 0;
    for (std::size_t g = 0; g < goal_count_; ++g) sum += std::abs(prices_[g] * gain_[leaves_[a] * goal_count_ + g]);
    for (std::size_t k = 0; k < links_.first_link[t + 1] - links_.first_link[t]; ++k)
      if (const double low = lows_[first_low_[a] + k]; low < kInf) sum += std::abs(low);
    most = std::max(most, sum);
  }
  return most;
}

double TreeDuals::bound(double cutoff) {
  refresh();
  double total = 0, size = 0;
  for (std::size_t g = 0; g < goal_count_; ++g) {
    total += prices_[g] * missing_[g];
    size += std::abs(prices_[g] * missing_[g]);
  }
  std::size_t most_terms = 0;
  for (std::size_t t = 0; t < best_.size(); ++t) {
    if (best_[t] == kInf) return kInf;
    total += best_[t];
    size += size_of_tree(t);
    most_terms = std::max<std::size_t>(most_terms, links_.first_link[t + 1] - links_.first_link[t]);
  }
  left_.resize(domain_.features.size());
  for (std::size_t j = 0; j < left_.size(); ++j) {
    left_[j] = least_left(j, size);
    if (left_[j] == kInf) return kInf;
    total += left_[j];
    most_terms = std::max(most_terms, links_.additions[j]);
  }
  const std::size_t additions = most_terms + left_.size() + best_.size() + 2 * goal_count_;
  rounding_ = tolerance::kRoundingsOfBound * tolerance::kRoundoff * static_cast<double>(additions) * size;
  bound_ = total - rounding_;
  drop_leaves(cutoff);
  return bound_ - tolerance::bound_rounding(bound_);
}

void TreeDuals::drop_leaves(double cutoff) {
  const double limit = cutoff + 2 * rounding_ + tolerance::bound_rounding(bound_) - bound_;
  std::uint32_t kept = 0;
  for (std::size_t t = 0; t < best_.size(); ++t) {
    const std::uint32_t first = first_leaf_[t];
    first_leaf_[t] = kept;
    for (std::uint32_t a = first; a < first_leaf_[t + 1]; ++a) {
      if (reduced_[a] - best_[t] > limit) continue;
      leaves_[kept] = leaves_[a];
      reduced_[kept] = reduced_[a];
      first_low_[kept] = first_low_[a];
      ++kept;
    }
  }
  first_leaf_.back() = kept;
  leaves_.resize(kept);
  reduced_.resize(kept);
  first_low_.resize(kept);
}

// -- ascent -------------------------------------------------------------------------------------------------------------

// Per value of a link: the least reduced cost of the leaves that it reaches, without the shares of its feature.
void TreeDuals::find_without(std::uint32_t i, double* without) const {
  const Link& link = links_.links[i];
  const std::size_t t = link.tree, k = i - links_.first_link[t];
  double free = kInf;  // of the leaves that ask for nothing
  for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) {
    const Span& span = links_.spans[links_.first_span[leaves_[a]] + k];
    const double low = lows_[first_low_[a] + k];
    if (low == kInf) continue;
    const double rest = reduced_[a] - low;
    if (span.condition < 0)
      free = std::min(free, rest);
    else
      each_value(i, span, [&](std::size_t v) { without[v] = rest < without[v] ? rest : without[v]; });
  }
  const std::size_t values = link.parts + domain_.features[link.feature].atom.size();
  for (std::size_t v = 0; v < values; ++v) without[v] = std::min(without[v], free);
}

// All that costs and trees say of the values of a feature.
void TreeDuals::gather(std::size_t j) {
  const Feature& f = domain_.features[j];
  begin_sum(j);
  uses_.clear();
  without_.clear();
  for (const std::uint32_t i : links_.of[j]) {
    const Link& link = links_.links[i];
    if (!open_[link.tree]) continue;
    uses_.push_back({i, without_.size()});
    without_.resize(without_.size() + link.parts + f.atom.size(), kInf);
    double* without = without_.data() + uses_.back().without;
    find_without(i, without);
    each_part(i, [&](std::size_t p, std::size_t from, std::size_t to) { add_to_cells(from, to, without[p]); });
    box_->each_atom(f, [&](std::size_t k) { of_atom_[k] += without[link.parts + k]; });
  }
  finish_sum(j);
}

// Every tree gets the same part of what was gathered.
void TreeDuals::distribute(std::size_t j) {
  const double part = 1.0 / static_cast<double>(uses_.size());
  for (const Use& use : uses_) {
    const Link& link = links_.links[use.link];
    const double* without = without_.data() + use.without;
    double* share = shares_.data() + link.first_value;
    double free = kInf;
    auto give = [&](std::size_t v, double gathered) {
      share[v] = gathered < kInf ? part * gathered - without[v] : kInf;
      free = std::min(free, share[v]);
    };
    each_part(use.link, [&](std::size_t p, std::size_t from, std::size_t to) {
      double least = kInf;
      for (std::size_t c = from; c < to; ++c) least = of_cell_[c] < least ? of_cell_[c] : least;
      give(p, least);
    });
    box_->each_atom(domain_.features[j], [&](std::size_t k) { give(link.parts + k, of_atom_[k]); });
    const std::size_t t = link.tree, k = use.link - links_.first_link[t];
    for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) {
      const Span& span = links_.spans[links_.first_span[leaves_[a]] + k];
      double& low = lows_[first_low_[a] + k];
      if (low == kInf) continue;
      const double now = span.condition < 0 ? free : least_share(use.link, span);
      reduced_[a] += now - low;
      low = now;
    }
  }
}

// Every feature once; returns about what the bound is then. Nothing is left of the costs of a feature that was distributed.
double TreeDuals::sweep(bool backwards) {
  double total = 0;
  const std::size_t count = domain_.features.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = backwards ? count - 1 - i : i;
    const bool decided = box_->single_cell(domain_, j);
    if (!decided) gather(j);
    if (decided || uses_.empty())
      total += cheapest_[j];
    else
      distribute(j);
  }
  for (std::size_t g = 0; g < goal_count_; ++g) total += prices_[g] * missing_[g];
  for (std::size_t t = 0; t < best_.size(); ++t) {
    best_[t] = kInf;
    for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) best_[t] = std::min(best_[t], reduced_[a]);
    total += best_[t];
  }
  return total;
}

// Of the bound in each price. Where a tree has several leaves of nearly the least reduced cost, it is at all of them: their
// weights fall with their reduced costs.
std::vector<double> TreeDuals::slopes() const {
  double spread = 0;
  for (std::size_t t = 0; t < best_.size(); ++t) {
    double most = best_[t];
    for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a)
      if (reduced_[a] < kInf) most = std::max(most, reduced_[a]);
    spread += most - best_[t];
  }
  const double unit = std::max(tolerance::kNearlyLeast * spread / static_cast<double>(best_.size()), tolerance::kLeastGain);
  std::vector<double> slope = missing_, gain(goal_count_);
  for (std::size_t t = 0; t < best_.size(); ++t) {
    double sum = 0;
    std::fill(gain.begin(), gain.end(), 0.0);
    for (std::uint32_t a = first_leaf_[t]; a < first_leaf_[t + 1]; ++a) {
      if (!(reduced_[a] - best_[t] < tolerance::kFarFromLeast * unit)) continue;
      const double weight = std::exp((best_[t] - reduced_[a]) / unit);
      sum += weight;
      for (std::size_t g = 0; g < goal_count_; ++g) gain[g] += weight * gain_[leaves_[a] * goal_count_ + g];
    }
    for (std::size_t g = 0; g < goal_count_; ++g) slope[g] -= gain[g] / sum;
  }
  return slope;
}

// Steps grow until the slope changes its sign (Riedmiller and Braun 1993, "RPROP").
void TreeDuals::step_prices() {
  const std::vector<double> slope = slopes();
  for (std::size_t g = 0; g < goal_count_; ++g) {
    step_[g] *= step_[g] * slope[g] >= 0 ? tolerance::kStepGrowth : -tolerance::kStepFall;
    const double before = prices_[g];
    prices_[g] *= std::exp(step_[g]);
    for (std::size_t a = 0; a < leaves_.size(); ++a) reduced_[a] -= (prices_[g] - before) * gain_[leaves_[a] * goal_count_ + g];
  }
}

void TreeDuals::ascend(double enough, int sweeps) {
  double best = -kInf;
  std::vector<double> best_shares = shares_, best_prices = prices_;
  int idle = 0;
  for (int s = 0; s < sweeps && idle < tolerance::kIdleSweeps; ++s) {
    const double now = sweep(s % 2 == 1);
    if (now == kInf) return;  // some tree has no leaf left
    idle = now - best > tolerance::kLittleOfGap * (enough - best) ? 0 : idle + 1;
    if (now > best) {
      best = now;
      best_shares = shares_;
      best_prices = prices_;
    }
    if (best >= enough) break;
    step_prices();
  }
  shares_ = std::move(best_shares);
  prices_ = std::move(best_prices);
}

}  // namespace likely::search
