// The numbers of a leaf that can be the best, whatever they are rewarded with; see `Likelihood::Hulls`.
#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"
#include "likelihood.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using Corner = Likelihood::Hulls::Corner;

// Adds a corner to the right of those from `begin` on, and removes those that are not above the line past them then.
void add_corner(std::vector<Corner>& hull, std::size_t begin, const Corner& corner) {
  while (hull.size() >= begin + 2) {
    const Corner &last = hull.back(), &before = hull[hull.size() - 2];
    const double rise = last.log_density - before.log_density, rise_past = corner.log_density - before.log_density;
    if (rise * (corner.offset - before.offset) > rise_past * (last.offset - before.offset)) break;
    hull.pop_back();
  }
  hull.push_back(corner);
}

}  // namespace

void Likelihood::fill_hulls(const Box& box, Hulls& hulls) const {
  if (hulls.of_leaf.empty()) {
    hulls.of_leaf.resize(circuit_.nodes());
    hulls.range.assign(variables_.size(), {1, 0, kInf, -kInf});
  }
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Range &is = box.range[j], &was = hulls.range[j];
    const bool same = is.empty() ? was.empty() : is.first == was.first && is.low == was.low && is.high == was.high;
    if (same && is.last == was.last) continue;
    fill_hulls(box, j, hulls);
    hulls.range[j] = is;
  }
}

// Of runs of cells with the greatest density of each, so that none has more than so many.
void Likelihood::fill_hulls(const Box& box, std::size_t j, Hulls& hulls) const {
  const Variable& variable = variables_[j];
  const Feature& f = domain_.features[j];
  for (const std::int32_t leaf : variable.leaves) hulls.of_leaf[leaf].clear();
  if (box.range[j].empty()) return;
  const std::size_t width = run_width(variable, box.range[j], tolerance::kHullRuns);
  hulls.begin.assign(variable.leaves.size(), 0);
  std::int32_t segment = -1;
  for (std::size_t r = 0; r < tolerance::kHullRuns; ++r) {
    const Range cells = run(box, j, r, width);
    if (cells.empty()) continue;
    const double* logs = variable.tree->log_node(run_node(variable, cells, width));
    const double shift = leaf_shift(j, cells);
    each_segment(f, cells, [&](const Segment& part, double low, double high) {
      const auto place = static_cast<std::int32_t>(&part - f.segments.data());
      for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
        std::vector<Corner>& hull = hulls.of_leaf[variable.leaves[l]];
        if (place != segment) hulls.begin[l] = hull.size();
        if (logs[l] == -kInf) continue;
        add_corner(hull, hulls.begin[l], {low, low - f.anchor, logs[l] + shift, part.cost(low)});
        if (high > low) add_corner(hull, hulls.begin[l], {high, high - f.anchor, logs[l] + shift, part.cost(high)});
      }
      segment = place;
    });
  }
}

// Every atom of a leaf, and the corners of its numbers.
bool Likelihood::fill_leaf(const Box& box, const Hulls& hulls, std::size_t j, std::size_t leaf, const Gains& gains,
                           PartTerms& terms) const {
  const Variable& variable = variables_[j];
  const Feature& f = domain_.features[j];
  gains.begin(j, -1, terms);
  auto add = [&](double log_density, double v) {
    if (log_density > -kInf) gains.gains(j, v, terms.add(log_density, 0, v));
  };
  box.each_atom(f, [&](std::size_t k) { add(variable.log_atom(k)[leaf], f.atom[k]); });
  for (const Corner& corner : hulls.of_leaf[variable.leaves[leaf]]) add(corner.log_density, corner.value);
  return terms.terms.back().first < terms.terms.back().last;
}

}  // namespace likely::search
