// What the decomposition says of single values: their reduced costs, which of them go, and where it is least decided.
#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "problem.hpp"
#include "tree_duals.hpp"

namespace likely::search {

namespace {

std::size_t place(std::int32_t at) { return static_cast<std::size_t>(at); }

}  // namespace

void TreeDuals::reduce_costs() {
  cell_reduced_.resize(domain_.cells);
  atom_reduced_.resize(domain_.atoms);
  least_above_.resize(domain_.features.size());
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    gather(j);
    double least = kInf;
    for (std::int32_t c = box_->range[j].first; c <= box_->range[j].last; ++c) least = std::min(least, of_cell_[place(c)]);
    box_->each_atom(f, [&](std::size_t k) { least = std::min(least, of_atom_[k]); });
    if (least == kInf) least = 0;  // no value is left: all are infinite
    least_above_[j] = least - left_[j];
    for (const Use& use : uses_) least_above_[j] -= best_[links_.links[use.link].tree];
    for (std::int32_t c = box_->range[j].first; c <= box_->range[j].last; ++c)
      cell_reduced_[f.first_cell + place(c)] = of_cell_[place(c)] - least;
    box_->each_atom(f, [&](std::size_t k) { atom_reduced_[f.first_atom + k] = of_atom_[k] - least; });
  }
}

double TreeDuals::above_bound(std::size_t j, double reduced) const {
  return least_above_[j] + reduced - 2 * rounding_ - tolerance::bound_rounding(bound_);
}

bool TreeDuals::filter(double cutoff) {
  bool changed = false;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    auto beyond = [&](double reduced) { return bound_ + above_bound(j, reduced) > cutoff; };
    box_->each_atom(f, [&](std::size_t k) {
      if (!beyond(atom_reduced_[f.first_atom + k])) return;
      box_->drop_atom(f, k);
      changed = true;
    });
    std::int32_t first = box_->range[j].first, last = box_->range[j].last;
    while (first <= last && beyond(cell_reduced_[f.first_cell + place(first)])) ++first;
    while (first <= last && beyond(cell_reduced_[f.first_cell + place(last)])) --last;
    changed |= box_->keep_cells(domain_, j, first, last);
  }
  return changed;
}

void TreeDuals::cheapest_row(std::vector<double>& row) const {
  row.resize(domain_.features.size());
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = domain_.features[j];
    const Range& range = box_->range[j];
    double least = kInf;
    bool any = false;
    for (std::int32_t c = range.first; c <= range.last; ++c) {
      if (any && !(cell_reduced_[f.first_cell + place(c)] < least)) continue;
      any = true;
      least = cell_reduced_[f.first_cell + place(c)];
      const Segment& segment = f.segments[place(f.segment[place(c)])];
      const double low = std::max(f.low[place(c)], range.low), high = std::min(f.high[place(c)], range.high);
      row[j] = segment.cost(low) <= segment.cost(high) ? low : high;
    }
    box_->each_atom(f, [&](std::size_t k) {
      if (any && !(atom_reduced_[f.first_atom + k] < least)) return;
      any = true;
      least = atom_reduced_[f.first_atom + k];
      row[j] = f.atom[k];
    });
  }
}

// The weight of a value falls with its reduced cost, beside the gap. A cut ranks by how much weight is on both sides, and how
// far apart their costs are.
TreeDuals::Cut TreeDuals::best_cut_of(std::size_t j, double gap) const {
  const Feature& f = domain_.features[j];
  const Range& range = box_->range[j];
  const double unit = tolerance::kLikelyOfGap * gap;
  double weight = 0, cost = 0;
  std::vector<std::pair<double, double>> cells, atoms;  // weights, and costs times weights
  auto add = [&](std::vector<std::pair<double, double>>& to, double reduced, double of) {
    to.emplace_back(std::exp(-reduced / unit), std::exp(-reduced / unit) * of);
    weight += to.back().first;
    cost += to.back().second;
  };
  for (std::int32_t c = range.first; c <= range.last; ++c)
    add(cells, cell_reduced_[f.first_cell + place(c)], cell_cost_[f.first_cell + place(c)]);
  box_->each_atom(f, [&](std::size_t k) { add(atoms, atom_reduced_[f.first_atom + k], atom_cost_[f.first_atom + k]); });
  Cut best{j, -1, -1, 0};
  auto consider = [&](std::int32_t cell, std::int32_t atom, double part, double part_cost) {
    if (!(part > 0 && weight - part > 0)) return;
    const double apart = std::abs(part_cost / part - (cost - part_cost) / (weight - part)) + tolerance::kApartOfGap * gap;
    const double rank = part * (weight - part) / (weight * weight) * apart * apart;
    if (rank > best.rank) best = {j, cell, atom, rank};
  };
  std::size_t i = 0;
  box_->each_atom(f, [&](std::size_t k) {
    consider(-1, static_cast<std::int32_t>(k), atoms[i].first, atoms[i].second);
    ++i;
  });
  if (!atoms.empty()) return best;
  double part = 0, part_cost = 0;
  for (std::int32_t c = range.first; c < range.last; ++c) {
    part += cells[place(c - range.first)].first;
    part_cost += cells[place(c - range.first)].second;
    consider(c, -1, part, part_cost);
  }
  return best;
}

TreeDuals::Cut TreeDuals::best_cut(double gap) const {
  Cut best{0, -1, -1, 0};
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    if (box_->single_cell(domain_, j)) continue;
    if (const Cut cut = best_cut_of(j, gap); cut.rank > best.rank) best = cut;
  }
  return best;
}

}  // namespace likely::search
