#include "tree_moves.hpp"

#include <algorithm>
#include <bit>

#include "../tolerances.hpp"
#include "problem.hpp"

namespace likely::search {

namespace {

std::size_t place(std::int32_t at) { return static_cast<std::size_t>(at); }

}  // namespace

TreeMoves::TreeMoves(const Forest& forest, const std::vector<Goal>& goals)
    : forest_(forest),
      domain_(forest.domain()),
      goals_(goals),
      missing_(goals.size()),
      cell_gain_(goals.size()),
      atom_gain_(goals.size()) {
  for (const Forest::Tree& tree : forest.all_trees())
    for (std::uint32_t l = tree.first; l < tree.last; ++l)
      for (const Goal& goal : goals) gains_.leaf.push_back(forest.gain(tree, forest.all_leaves()[l], goal));
  for (const Goal& goal : goals) gains_.base.push_back(forest.base_gain(goal));
  find_numbers(nullptr);
}

TreeMoves::TreeMoves(const Score& score, const std::vector<Goal>& goals)
    : forest_(*score.trees()),
      domain_(forest_.domain()),
      guesses_(&score),
      goals_(goals),
      missing_(goals.size()),
      cell_gain_(goals.size()),
      atom_gain_(goals.size()) {
  find_numbers(nullptr);
}

TreeMoves::TreeMoves(const Forest& forest, const std::vector<Goal>& goals, const Likelihood& likelihood, std::size_t alternative,
                     double threshold)
    : TreeMoves(forest, goals) {
  find_likely(likelihood, alternative, threshold);
}

TreeMoves::TreeMoves(const Score& score, const std::vector<Goal>& goals, const Likelihood& likelihood, std::size_t alternative,
                     double threshold)
    : TreeMoves(score, goals) {
  find_likely(likelihood, alternative, threshold);
}

void TreeMoves::find_likely(const Likelihood& likelihood, std::size_t alternative, double threshold) {
  find_numbers(&likelihood);
  std::vector<std::vector<double>> values(numbers_.size());
  for (std::size_t j = 0; j < numbers_.size(); ++j)
    for (const Number& number : numbers_[j]) values[j].push_back(number.value);
  changes_.emplace(likelihood, alternative, threshold, values);
  threshold_ = threshold;
  measure_nats();
}

void TreeMoves::find_numbers(const Likelihood* likelihood) {
  numbers_.assign(domain_.features.size(), {});
  for (std::size_t j = 0; j < numbers_.size(); ++j) {
    const Feature& f = domain_.features[j];
    for (std::size_t c = 0; c < f.low.size(); ++c) {
      const Segment& segment = f.segments[place(f.segment[c])];
      const double at_low = segment.cost(f.low[c]), at_high = segment.cost(f.high[c]);
      const double cheapest = at_low <= at_high ? f.low[c] : f.high[c];
      numbers_[j].push_back({cheapest, std::min(at_low, at_high), c});
      if (likelihood == nullptr) continue;
      for (const double v : likelihood->numbers_between(j, f.low[c], f.high[c]))
        if (v != cheapest) numbers_[j].push_back({v, segment.cost(v), c});
    }
  }
}

// All that the cheapest row misses of the goals counts as much as what it misses of the likelihood.
void TreeMoves::measure_nats() {
  std::vector<double> row;
  for (const Feature& f : domain_.features) {
    double least = kInf;
    row.push_back(0);
    auto take = [&](double value, double cost) {
      if (cost < least) row.back() = value;
      least = std::min(least, cost);
    };
    for (const Number& number : numbers_[row.size() - 1]) take(number.value, number.cost);
    for (std::size_t k = 0; k < f.atom.size(); ++k) take(f.atom[k], f.atom_cost[k]);
  }
  nat_ = 0;
  evaluate(row);
  const double nats = threshold_ - changes_->evaluate(row);
  nat_ = misses_ > 0 && nats < kInf ? misses_ / std::max(nats, 1.0) : 1;
}

double TreeMoves::missed_nats(double log_likelihood) const {
  return log_likelihood >= threshold_ ? 0 : nat_ * (threshold_ - log_likelihood);
}

// -- gains --------------------------------------------------------------------------------------------------------------

bool TreeMoves::meets(const Forest::Condition& asked) const {
  const std::size_t j = place(asked.feature);
  if (atom_[j] < 0) return asked.first <= cell_[j] && cell_[j] <= asked.last;
  const std::size_t k = place(atom_[j]);
  return (forest_.words()[asked.word + k / 64] >> (k % 64) & 1) != 0;
}

// All values that a condition asks for gain so much; of cells, as differences between neighbours.
void TreeMoves::add_gain(const Forest::Condition& asked, std::size_t g, double gain) {
  const Feature& f = domain_.features[place(asked.feature)];
  if (asked.first <= asked.last) {
    cell_gain_[g][f.first_cell + place(asked.first)] += gain;
    if (place(asked.last) + 1 < f.low.size()) cell_gain_[g][f.first_cell + place(asked.last) + 1] -= gain;
  }
  for (std::size_t w = 0; w < f.words(); ++w)
    for (std::uint64_t some = forest_.words()[asked.word + w]; some != 0; some &= some - 1)
      atom_gain_[g][f.first_atom + 64 * w + static_cast<std::size_t>(std::countr_zero(some))] += gain;
}

// A leaf that only one feature keeps the row from is reached by all values that it asks for.
void TreeMoves::add_gains(const Forest::Tree& tree) {
  near_.clear();
  std::uint32_t reached = tree.first;
  for (std::uint32_t l = tree.first; l < tree.last; ++l) {
    const Forest::Leaf& leaf = forest_.all_leaves()[l];
    std::uint32_t missed = 0, which = 0;
    for (std::uint32_t c = leaf.first; c < leaf.last && missed < 2; ++c) {
      if (meets(forest_.conditions()[c])) continue;
      ++missed;
      which = c;
    }
    if (missed == 0) reached = l;
    if (missed == 1) near_.emplace_back(l, which);
  }
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    const double here = gains_.leaf[reached * goals_.size() + g];
    missing_[g] -= here;
    for (const auto& [l, c] : near_) add_gain(forest_.conditions()[c], g, gains_.leaf[l * goals_.size() + g] - here);
  }
}

void TreeMoves::evaluate(const std::vector<double>& row) {
  --evaluations_;
  cell_.resize(row.size());
  atom_.resize(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) {
    atom_[j] = domain_.features[j].atom_of(row[j]);
    cell_[j] = atom_[j] >= 0 ? -1 : domain_.features[j].cell_of(row[j]);
  }
  if (guesses_ != nullptr) guesses_->guess_by_trees(row.data(), goals_, gains_);
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    missing_[g] = goals_[g].lower - gains_.base[g];
    cell_gain_[g].assign(domain_.cells, 0.0);
    atom_gain_[g].assign(domain_.atoms, 0.0);
  }
  for (const Forest::Tree& tree : forest_.all_trees()) add_gains(tree);
  cost_ = domain_.cost(row.data());
  misses_ = 0;
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    misses_ += std::max(0.0, missing_[g]);
    for (const Feature& f : domain_.features)
      for (std::size_t c = 1; c < f.low.size(); ++c) cell_gain_[g][f.first_cell + c] += cell_gain_[g][f.first_cell + c - 1];
  }
  if (changes_) misses_ += missed_nats(changes_->evaluate(row));
}

// -- moves --------------------------------------------------------------------------------------------------------------

// Calls work(feature, value, what it costs more, what the row misses then) for every other value of every feature.
template <class Work>
void TreeMoves::each_move(const std::vector<double>& row, const Work& work) const {
  auto missed = [&](const std::vector<std::vector<double>>& gains, std::size_t at) {
    double total = 0;
    for (std::size_t g = 0; g < goals_.size(); ++g) total += std::max(0.0, missing_[g] - gains[g][at]);
    return total;
  };
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = domain_.features[j];
    const double before = f.cost(row[j]);
    for (std::size_t i = 0; i < numbers_[j].size(); ++i) {
      const Number& number = numbers_[j][i];
      if (changes_ ? number.value == row[j] : static_cast<std::int32_t>(number.cell) == cell_[j]) continue;
      const double nats = changes_ ? missed_nats(changes_->with_number(j, i)) : 0;
      work(j, number.value, number.cost - before, missed(cell_gain_, f.first_cell + number.cell) + nats);
    }
    for (std::size_t k = 0, at = f.first_atom; k < f.atom.size(); ++k, ++at) {
      if (static_cast<std::int32_t>(k) == atom_[j]) continue;
      const double nats = changes_ ? missed_nats(changes_->with_atom(j, k)) : 0;
      work(j, f.atom[k], f.atom_cost[k] - before, missed(atom_gain_, at) + nats);
    }
  }
}

// Changes until nothing is missed, but not of the feature that is to be kept.
bool TreeMoves::close_gap(std::vector<double>& row, double most, std::size_t kept, const More& more) {
  while (evaluations_ > 0 && more()) {
    evaluate(row);
    if (misses_ == 0) return cost_ < most;
    Move best{0, 0, 0};
    each_move(row, [&](std::size_t j, double value, double cost, double missed) {
      if (j == kept || !(missed < misses_) || cost_ + cost >= most) return;
      const double rank = cost > 0 ? (misses_ - missed) / cost : kInf;
      if (rank > best.rank) best = {j, value, rank};
    });
    if (best.rank == 0) return false;
    row[best.feature] = best.value;
  }
  return false;
}

void TreeMoves::save(std::vector<double>& row, const More& more) {
  std::vector<double> before = row;
  while (evaluations_ > 0 && more()) {
    evaluate(row);
    if (misses_ > 0 && row != before) {  // a guess was wrong
      row = before;
      return;
    }
    before = row;
    Move best{0, 0, 0};
    each_move(row, [&](std::size_t j, double value, double cost, double missed) {
      if (missed == 0 && -cost > best.rank) best = {j, value, -cost};
    });
    if (best.rank == 0) return;
    row[best.feature] = best.value;
  }
}

bool TreeMoves::repair(std::vector<double>& row, double most, const More& more) {
  evaluations_ = tolerance::kRepairEvaluations;
  if (!close_gap(row, most, row.size(), more)) return false;
  save(row, more);
  return true;
}

void TreeMoves::improve(std::vector<double>& row, const More& more) {
  evaluations_ = tolerance::kMoveEvaluations;
  save(row, more);
  for (bool better = true; better && evaluations_ > 0 && more();) {
    better = false;
    const double most = domain_.cost(row.data());
    for (std::size_t j = 0; j < row.size() && !better; ++j) {
      const Feature& f = domain_.features[j];
      if (row[j] == f.factual || !f.has(f.factual)) continue;
      std::vector<double> other = row;
      other[j] = f.factual;
      better = close_gap(other, most, j, more);
      if (!better) continue;
      save(other, more);
      row = std::move(other);
    }
  }
}

}  // namespace likely::search
