// Small domains, classifiers and circuits, and all their rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "circuit.hpp"
#include "search/forest.hpp"
#include "search/network.hpp"
#include "search/problem.hpp"

namespace likely::search::test {

using Rng = std::mt19937;
using Rows = std::vector<std::vector<double>>;

inline double uniform(Rng& rng, double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng); }
inline int below(Rng& rng, int count) { return std::uniform_int_distribution<int>(0, count - 1)(rng); }

// Whole numbers low..high, a cell each; a step down costs `down`, one up `up`.
inline Feature whole_numbers(int low, int high, int factual, double down = 1, double up = 1) {
  Feature made;
  made.grid = 1;
  made.factual = factual;
  made.anchor = factual;
  made.segments = {{double(low), double(factual), down * (factual - low), 0},
                   {double(factual), double(high), 0, up * (high - factual)}};
  for (int v = low; v <= high; ++v) {
    made.low.push_back(v);
    made.high.push_back(v);
    made.segment.push_back(v <= factual ? 0 : 1);
  }
  return made;
}

// All reals from low to high, in two cells that meet at the factual.
inline Feature reals(double low, double high, double factual, double down = 1, double up = 1) {
  Feature made;
  made.factual = factual;
  made.anchor = factual;
  made.segments = {{low, factual, down * (factual - low), 0}, {factual, high, 0, up * (high - factual)}};
  made.low = {low, factual};
  made.high = {std::nextafter(factual, -kInf), high};
  made.segment = {0, 1};
  return made;
}

inline Feature categories(std::vector<double> costs, int factual) {
  Feature made;
  made.factual = factual;
  for (std::size_t k = 0; k < costs.size(); ++k) made.atom.push_back(static_cast<double>(k));
  made.atom_cost = std::move(costs);
  return made;
}

inline Domain domain_of(std::vector<Feature> features) {
  Domain made;
  made.features = std::move(features);
  made.finish();
  return made;
}

// n in 0..5, c of three categories, m in 0..4.
inline Domain small_domain(Rng& rng) {
  return domain_of({whole_numbers(0, 5, below(rng, 6), uniform(rng, 0.1, 2), uniform(rng, 0.1, 2)),
                    categories({0, uniform(rng, 0.1, 2), uniform(rng, 0.1, 2)}, 0),
                    whole_numbers(0, 4, below(rng, 5), uniform(rng, 0.1, 2), uniform(rng, 0.1, 2))});
}

inline std::vector<double> values_of(const Feature& f, const Box& box, std::size_t j) {
  std::vector<double> values;
  box.each_atom(f, [&](std::size_t k) { values.push_back(f.atom[k]); });
  const Range& range = box.range[j];
  if (range.empty()) return values;
  if (f.grid == 0)
    for (int i = 0; i <= 4; ++i) values.push_back(range.low + (range.high - range.low) * i / 4);
  for (double v = range.low; f.grid > 0 && v <= range.high; v += f.grid) values.push_back(v);
  return values;
}

// All rows of a box; of reals, five numbers each.
inline Rows rows_of(const Domain& domain, const Box& box) {
  Rows rows{{}};
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    Rows longer;
    for (const std::vector<double>& row : rows) {
      for (const double v : values_of(domain.features[j], box, j)) {
        longer.push_back(row);
        longer.back().push_back(v);
      }
    }
    rows = std::move(longer);
  }
  return rows;
}

// A box of some values of every feature.
inline Box some_box(const Domain& domain, Rng& rng) {
  Box box = whole(domain);
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& f = domain.features[j];
    for (std::size_t k = 0; k < f.atom.size(); ++k)
      if (box.atom_count(f) > 1 && below(rng, 3) == 0) box.drop_atom(f, k);
    if (f.low.empty()) continue;
    int first = below(rng, static_cast<int>(f.low.size())), last = below(rng, static_cast<int>(f.low.size()));
    if (first > last) std::swap(first, last);
    box.keep_cells(domain, j, first, last);
  }
  return box;
}

// A network with random weights; `hidden` are the widths of its hidden layers.
inline std::unique_ptr<Network> some_network(const Domain& domain, Rng& rng, const std::vector<std::size_t>& hidden) {
  auto numbers = [&](std::size_t count) {
    std::vector<double> made(count);
    for (double& x : made) x = uniform(rng, -1, 1);
    return made;
  };
  const std::size_t units = hidden.empty() ? 1 : hidden[0], features = domain.features.size();
  std::vector<Network::Layer> later;
  for (std::size_t l = 0; l < hidden.size(); ++l) {
    const std::size_t outputs = l + 1 < hidden.size() ? hidden[l + 1] : 1;
    later.push_back({hidden[l], outputs, numbers(hidden[l] * outputs), numbers(outputs)});
  }
  const Network::FirstLayer first{numbers(domain.atoms * units), numbers(features * units), numbers(features * units)};
  Network::FirstLayer sizes = first;
  for (std::vector<double>* part : {&sizes.atoms, &sizes.slopes, &sizes.at_anchors})
    for (double& x : *part) x = std::abs(x);
  Network::Inputs inputs;  // one per feature and unit
  for (std::size_t j = 0; j < features; ++j) {
    for (std::size_t h = 0; h < units; ++h) {
      const std::size_t at = j * units + h;
      inputs.inputs.push_back({j, first.slopes[at], domain.features[j].anchor, first.at_anchors[at]});
      for (std::size_t other = 0; other < units; ++other) inputs.weights.push_back(other == h ? 1.0 : 0.0);
    }
  }
  return std::make_unique<Network>(domain, first, sizes, inputs, 64, numbers(units), later);
}

// The relaxation of the first goal over a region.
inline Relaxation relaxed(const Score& score, const std::vector<Goal>& goals, const Region& region) {
  Relaxation made;
  const auto workspace = score.workspace(goals);
  if (score.enter(region, *workspace)) score.relax(region, goals, 0, *workspace, made);
  return made;
}

inline Relaxation relaxed(const Score& score, const std::vector<Goal>& goals, const Box& box) {
  return relaxed(score, goals, Region{box});
}

inline double score_of(const Score& score, const Goal& goal, const std::vector<double>& row) {
  std::vector<double> outputs;
  score.outputs(row.data(), outputs);
  return goal.score(outputs);
}

// The relaxation at a row: as a sum over features, or the least of the bounds of its values.
inline double bound_at(const Domain& domain, const Relaxation& relaxation, const std::vector<double>& row) {
  double sum = relaxation.constant, least = relaxation.upper;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Feature& f = domain.features[j];
    const std::int32_t k = f.atom_of(row[j]);
    if (!relaxation.additive)
      least =
          std::min(least, k >= 0 ? relaxation.at_atom(f, static_cast<std::size_t>(k)) : relaxation.at_cell(f, f.cell_of(row[j])));
    else
      sum += k >= 0 ? relaxation.at_atom(f, static_cast<std::size_t>(k)) : relaxation.at_number(f, j, row[j]);
  }
  return relaxation.additive ? sum : least;
}

// Trees of a few random tests each.
inline std::unique_ptr<Forest> some_forest(const Domain& domain, Rng& rng, int trees) {
  std::vector<TreeNode> nodes;
  std::vector<std::int32_t> roots;
  std::vector<double> values;
  const std::function<std::int32_t(int)> grow = [&](int depth) -> std::int32_t {
    if (depth == 0) {
      nodes.push_back({0, 0, -1, static_cast<std::int32_t>(values.size()), 0, 0});
      values.push_back(uniform(rng, -1, 1));
      return static_cast<std::int32_t>(nodes.size() - 1);
    }
    const std::int32_t inside = grow(depth - 1), outside = grow(depth - 1);
    const int j = below(rng, static_cast<int>(domain.features.size()));
    nodes.push_back({-kInf, static_cast<double>(below(rng, 4)), j, inside, outside, 0});
    return static_cast<std::int32_t>(nodes.size() - 1);
  };
  for (int t = 0; t < trees; ++t) roots.push_back(grow(3));
  return std::make_unique<Forest>(domain, nodes, roots, std::vector<std::int32_t>(roots.size(), 0), values,
                                  std::vector<double>{0.1}, 1.0);
}

// A mixture of components that are independent in the features of `small_domain`.
inline std::unique_ptr<Circuit> some_circuit(const Domain& domain, Rng& rng, std::size_t components) {
  const std::size_t features = domain.features.size(), leaves = components * features;
  std::vector<std::int32_t> kind(leaves, 2), child;
  std::vector<std::int64_t> start(leaves + 1, 0);
  std::vector<double> weight;
  for (std::size_t c = 0; c < components; ++c) {
    kind.push_back(1);
    for (std::size_t j = 0; j < features; ++j) child.push_back(static_cast<std::int32_t>(c * features + j));
    start.push_back(static_cast<std::int64_t>(child.size()));
  }
  weight.assign(child.size(), 1.0);
  kind.push_back(0);
  for (std::size_t c = 0; c < components; ++c) {
    child.push_back(static_cast<std::int32_t>(leaves + c));
    weight.push_back(1.0 / static_cast<double>(components));
  }
  start.push_back(static_cast<std::int64_t>(child.size()));
  auto made = std::make_unique<Circuit>(kind, start, child, weight, 1e-9);
  for (std::size_t j = 0; j < features; ++j) {
    const std::size_t cells = std::max(domain.features[j].atom.size(), domain.features[j].low.size());
    std::vector<double> breaks, steps;
    for (std::size_t c = 1; c < cells; ++c) breaks.push_back(static_cast<double>(c));
    std::vector<std::int32_t> places;
    for (std::size_t c = 0; c < components; ++c) {
      places.push_back(static_cast<std::int32_t>(c * features + j));
      for (std::size_t v = 0; v < cells; ++v) steps.push_back(std::exp(uniform(rng, -4, 0)));
    }
    made->add_variable(breaks, places, steps, std::vector<Peaked>(components, Peaked{Family::kNone, 0, 0, 0}));
  }
  return made;
}

}  // namespace likely::search::test
