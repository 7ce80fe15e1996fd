// What the hidden units of a network can be in a region: by intervals, and where these do not tell the side of 0, by linear
// functions over the box and the budget. None of it depends on a goal.
#include <algorithm>
#include <limits>

#include "../clones.hpp"
#include "../tolerances.hpp"
#include "network_workspace.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

LIKELY_CLONES void add_multiple(double* sum, const double* value, double by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += by * value[i];
}

}  // namespace

bool Network::enter(const Region& region, ScoreWorkspace& workspace) const {
  auto& work = static_cast<Workspace&>(workspace);
  first_layer_sizes(region.box, work.size[0]);
  if (later_.empty()) return true;
  work.vertices.find(domain_, region);
  first_layer_bounds(region.box, work);
  take_known(region, 0, work);
  if (work.vertices.binding) first_layer_within_budget(region.box, work);
  if (!decide_units(region, 0, work)) return false;
  for (std::size_t at = 1; at < later_.size(); ++at) {
    hidden_layer_bounds(region, at, work);
    if (!decide_units(region, at, work)) return false;
  }
  next_layer_sizes(later_.size(), work.size[later_.size() - 1], work.size[later_.size()]);
  return true;
}

// What was known of a layer before.
void Network::take_known(const Region& region, std::size_t at, Workspace& work) {
  if (region.known == nullptr) return;
  for (std::size_t h = 0; h < work.low[at].size(); ++h) {
    work.low[at][h] = std::max(work.low[at][h], region.known->low[at][h]);
    work.high[at][h] = std::min(work.high[at][h], region.known->high[at][h]);
  }
}

UnitRanges Network::ranges(const ScoreWorkspace& workspace) const {
  const auto& work = static_cast<const Workspace&>(workspace);
  return {work.low, work.high};
}

// Units of a layer that were decided are on the side that they were decided for; false if one cannot be, or cannot be what is
// known of it.
bool Network::decide_units(const Region& region, std::size_t at, Workspace& work) const {
  for (std::size_t h = 0; h < work.low[at].size(); ++h)
    if (work.low[at][h] > work.high[at][h]) return false;
  for (const UnitSplit& split : region.splits) {
    if (split.layer != at) continue;
    double &low = work.low[at][split.unit], &high = work.high[at][split.unit];
    if (split.on ? high < 0 : low > 0) return false;
    if (split.on)
      low = std::max(low, 0.0);
    else
      high = std::min(high, 0.0);
  }
  return true;
}

void Network::first_layer_bounds(const Box& box, Workspace& work) const {
  std::vector<double>&low = work.low[0], &high = work.high[0];
  low = bias_;
  high = bias_;
  work.width.resize(domain_.features.size() * units_);
  std::vector<double>&least = work.least_of, &most = work.most_of;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    least.assign(units_, kInf);
    most.assign(units_, -kInf);
    box.each_atom(f, [&](std::size_t k) {
      const double* unit = first_.atoms.data() + (f.first_atom + k) * units_;
      for (std::size_t h = 0; h < units_; ++h) {
        least[h] = std::min(least[h], unit[h]);
        most[h] = std::max(most[h], unit[h]);
      }
    });
    if (const Range& range = box.range[j]; !range.empty() && range.low == range.high) {
      work.exact.assign(units_, 0.0);
      add_number(j, range.low, work.exact.data());
      for (std::size_t h = 0; h < units_; ++h) {
        least[h] = std::min(least[h], work.exact[h]);
        most[h] = std::max(most[h], work.exact[h]);
      }
    } else if (!range.empty()) {
      const double *slope = first_.slopes.data() + j * units_, *at_anchor = first_.at_anchors.data() + j * units_;
      const double from = range.low - f.anchor, to = range.high - f.anchor;
      for (std::size_t h = 0; h < units_; ++h) {
        const double a = slope[h] * from + at_anchor[h], b = slope[h] * to + at_anchor[h];
        least[h] = std::min(least[h], std::min(a, b));
        most[h] = std::max(most[h], std::max(a, b));
      }
    }
    for (std::size_t h = 0; h < units_; ++h) {
      low[h] += least[h];
      high[h] += most[h];
      work.width[j * units_ + h] = most[h] - least[h];
    }
  }
  widen(0, work);
}

// The first layer's unstable units again, over box and budget: functions are +- one unit each.
void Network::first_layer_within_budget(const Box& box, Workspace& work) const {
  std::vector<double>&low = work.low[0], &high = work.high[0];
  work.unstable.clear();
  for (std::size_t h = 0; h < units_; ++h)
    if (low[h] < 0 && high[h] > 0) work.unstable.push_back(h);
  const std::size_t count = 2 * work.unstable.size();
  work.functions.assign(units_ * count, 0.0);
  work.constants.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    work.functions[work.unstable[i / 2] * count + i] = sign;
    work.constants[i] = sign * bias_[work.unstable[i / 2]];
  }
  maximise(box, count, work);
  take_maxima(0, work);
}

// Interval arithmetic through one layer; notes the units whose side of 0 it does not tell.
void Network::interval_bounds(const Region& region, std::size_t at, Workspace& work) const {
  const Layer& layer = later_[at - 1];
  std::vector<double>&low = work.low[at], &high = work.high[at];
  low = layer.bias;
  high = layer.bias;
  work.unstable.clear();
  for (std::size_t o = 0; o < layer.outputs; ++o) {
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      const double w = layer.weight[o * layer.inputs + i];
      const double least = std::max(0.0, work.low[at - 1][i]), most = std::max(0.0, work.high[at - 1][i]);
      low[o] += w * (w > 0 ? least : most);
      high[o] += w * (w > 0 ? most : least);
    }
  }
  next_layer_sizes(at, work.size[at - 1], work.size[at]);
  widen(at, work);
  take_known(region, at, work);
  for (std::size_t o = 0; o < layer.outputs; ++o)
    if (low[o] < 0 && high[o] > 0) work.unstable.push_back(o);
}

// What the units of hidden layer `at` can be, given the layers before: by intervals, and where a unit is unstable by these,
// by a linear function above it and one below.
void Network::hidden_layer_bounds(const Region& region, std::size_t at, Workspace& work) const {
  interval_bounds(region, at, work);
  const Layer& layer = later_[at - 1];
  const std::size_t count = 2 * work.unstable.size();
  work.functions.assign(units_ * count, 0.0);
  work.constants.resize(count);
  std::vector<double>& coefficient = work.coefficient;
  for (std::size_t i = 0; i < count; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    const double* row = layer.weight.data() + work.unstable[i / 2] * layer.inputs;
    coefficient.assign(row, row + layer.inputs);
    for (double& c : coefficient) c *= sign;
    work.constants[i] = backward_bounds(coefficient, at - 1, work) + sign * layer.bias[work.unstable[i / 2]];
    for (std::size_t h = 0; h < units_; ++h) {
      work.constants[i] += coefficient[h] * bias_[h];
      work.functions[h * count + i] = coefficient[h];
    }
  }
  maximise(region.box, count, work);
  take_maxima(at, work);
}

// Bounds of unstable units from the greatest of functions above and below them.
void Network::take_maxima(std::size_t at, Workspace& work) const {
  for (std::size_t i = 0; i < 2 * work.unstable.size(); ++i) {
    const std::size_t o = work.unstable[i / 2];
    const double bound = work.constants[i] + work.maximum[i] + roundoff_ * work.size[at][o];
    if (i % 2 == 0)
      work.high[at][o] = std::min(work.high[at][o], bound);
    else
      work.low[at][o] = std::max(work.low[at][o], -bound);
  }
}

// The greatest c . z over box and budget for several functions at once, z the first layer without its bias: work.functions is
// [unit][function].
void Network::maximise(const Box& box, std::size_t count, Workspace& work) const {
  const std::size_t vertices = work.vertices.binding ? work.vertices.list.size() : 0;
  work.maximum.assign(count, 0.0);
  work.at_vertex.resize(count * vertices);
  for (std::vector<double>* each : {&work.most, &work.slope, &work.at_anchor}) each->resize(count);
  auto apply = [&](const double* values, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t h = 0; h < units_; ++h)
      if (values[h] != 0) add_multiple(out.data(), work.functions.data() + h * count, values[h], count);
  };
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    std::size_t vertex = vertices > 0 ? work.vertices.first[j] : 0;
    auto consider = [&](auto&& value_of) {
      for (std::size_t i = 0; i < count; ++i) {
        const double value = value_of(i);
        work.most[i] = std::max(work.most[i], value);
        if (vertices > 0) work.at_vertex[i * vertices + vertex] = value;
      }
      ++vertex;
    };
    std::fill(work.most.begin(), work.most.end(), -kInf);
    box.each_atom(f, [&](std::size_t k) {
      apply(first_.atoms.data() + (f.first_atom + k) * units_, work.slope);
      consider([&](std::size_t i) { return work.slope[i]; });
    });
    if (const Range& range = box.range[j]; !range.empty() && range.low == range.high) {
      work.exact.assign(units_, 0.0);
      add_number(j, range.low, work.exact.data());
      apply(work.exact.data(), work.slope);
      consider([&](std::size_t i) { return work.slope[i]; });
    } else if (!range.empty()) {
      apply(first_.slopes.data() + j * units_, work.slope);
      apply(first_.at_anchors.data() + j * units_, work.at_anchor);
      auto at = [&](double v) {
        const double offset = v - f.anchor;
        consider([&](std::size_t i) { return work.slope[i] * offset + work.at_anchor[i]; });
      };
      if (vertices == 0) {
        at(range.low);
        at(range.high);
      }
      while (vertices > 0 && vertex < work.vertices.first[j + 1]) at(work.vertices.list[vertex].number);
    }
    for (std::size_t i = 0; i < count; ++i) work.maximum[i] += work.most[i];
  }
  for (std::size_t i = 0; i < count && vertices > 0; ++i)
    work.maximum[i] = std::min(work.maximum[i], work.knapsack.greatest(work.vertices, work.at_vertex.data() + i * vertices));
}

}  // namespace likely::search
