#include "budget.hpp"

#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"
#include "duals.hpp"

namespace likely::search {

// Appends the vertices of the lower convex hull of (number, cost), from left to right (Andrew's monotone chain).
void Vertices::add_numbers(const Feature& f, const Range& range) {
  ends_.clear();
  each_segment(f, range, [&](const Segment& segment, double low, double high) {
    ends_.push_back({low, -1, segment.cost(low)});
    if (high > low) ends_.push_back({high, -1, segment.cost(high)});
  });
  const std::size_t from = list.size();
  for (const Vertex& next : ends_) {
    while (list.size() >= from + 2) {
      const Vertex &a = list[list.size() - 2], &b = list.back();
      if ((b.cost - a.cost) * (next.number - b.number) < (next.cost - b.cost) * (b.number - a.number)) break;
      list.pop_back();
    }
    if (list.size() == from + 1 && list.back().number == next.number) {
      list.back().cost = std::min(list.back().cost, next.cost);
      continue;
    }
    list.push_back(next);
  }
}

void Vertices::find(const Domain& domain, const Region& region) {
  list.clear();
  first.assign(1, 0);
  double most = 0;
  cheapest = 0;
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    region.box.each_atom(f, [&](std::size_t k) { list.push_back({0, static_cast<std::int32_t>(k), f.atom_cost[k]}); });
    add_numbers(f, region.box.range[j]);
    double least = kInf, greatest = 0;
    for (std::size_t p = first.back(); p < list.size(); ++p) least = std::min(least, list[p].cost);
    for (std::size_t p = first.back(); p < list.size(); ++p) {
      list[p].cost -= least;
      greatest = std::max(greatest, list[p].cost);
    }
    cheapest += least;
    most += greatest;
    first.push_back(list.size());
  }
  spare =
      std::max(0.0, region.budget - cheapest) + tolerance::bound_rounding(region.budget) + tolerance::bound_rounding(cheapest);
  binding = spare < most;
}

// The gain per cost of what just does not fit, if from the cheapest row on every feature goes where it gains most per cost.
double Knapsack::multiplier(const Vertices& vertices, const double* value) {
  items_.clear();
  for (std::size_t j = 0; j + 1 < vertices.first.size(); ++j) {
    double base = -kInf;
    for (std::size_t p = vertices.first[j]; p < vertices.first[j + 1]; ++p)
      if (vertices.list[p].cost <= 0) base = std::max(base, value[p]);
    Item best{0, 0};
    for (std::size_t p = vertices.first[j]; p < vertices.first[j + 1]; ++p) {
      const double cost = vertices.list[p].cost;
      if (cost > 0 && value[p] - base > best.gain_per_cost * cost) best = {(value[p] - base) / cost, cost};
    }
    if (best.cost > 0) items_.push_back(best);
  }
  std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.gain_per_cost > b.gain_per_cost; });
  double rest = vertices.spare;
  for (const Item& item : items_) {
    rest -= item.cost;
    if (rest <= 0) return item.gain_per_cost;
  }
  return 0;
}

// Any multiplier m >= 0 gives a bound: m spare + sum_j max over v of [value_j(v) - m cost_j(v)].
double Knapsack::greatest(const Vertices& vertices, const double* value) {
  const double at = vertices.binding ? multiplier(vertices, value) : 0;
  double total = at * (vertices.binding ? vertices.spare : 0), size = std::abs(total);
  for (std::size_t j = 0; j + 1 < vertices.first.size(); ++j) {
    double most = -kInf, priced = 0;
    for (std::size_t p = vertices.first[j]; p < vertices.first[j + 1]; ++p) {
      const double price = at * vertices.list[p].cost;
      priced = std::max(priced, std::abs(value[p]) + price);
      most = std::max(most, value[p] - price);
    }
    total += most;
    size += priced;
  }
  return total + tolerance::kRoundingsOfBound * tolerance::kRoundoff * static_cast<double>(vertices.first.size() + 8) * size;
}

}  // namespace likely::search
