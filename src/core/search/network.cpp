#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../clones.hpp"
#include "../tolerances.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

LIKELY_CLONES void add_multiple(double* sum, const double* value, double by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += by * value[i];
}

}  // namespace

struct Network::Workspace final : ScoreWorkspace {
  std::vector<std::vector<double>> low, high;  // what every hidden layer's units can be before their ReLU, layer by layer
  std::vector<std::vector<double>> size;       // and the sizes of the terms that it is the sum of, at most
  std::vector<double> width;                   // [feature][unit]: by how much a feature can move a unit of the first
  std::vector<std::vector<double>> gap;        // relaxation gap: by how much each unit may make a bound too high
  std::vector<std::size_t> unstable;           // units of a layer that may be on either side of 0
  std::vector<double> functions, constants;    // linear functions of the first layer, [unit][function]
  std::vector<double> maximum, most, slope, at_anchor;  // per function
  std::vector<double> least_of, most_of, exact;         // per unit of the first layer, of one feature
  std::vector<double> coefficient;                      // of a bound, carried backwards
};

Network::Network(const Domain& domain, FirstLayer first, FirstLayer sizes, Inputs inputs, std::size_t terms,
                 std::vector<double> bias, std::vector<Layer> later)
    : domain_(domain),
      units_(bias.size()),
      first_(std::move(first)),
      sizes_(std::move(sizes)),
      inputs_(std::move(inputs)),
      roundoff_(tolerance::kRoundoff * static_cast<double>(terms)),
      bias_(std::move(bias)),
      later_(std::move(later)) {
  for (std::size_t j = 0, i = 0; j <= domain.features.size(); ++j) {
    while (i < inputs_.inputs.size() && inputs_.inputs[i].feature < j) ++i;
    first_input_.push_back(i);
  }
  std::vector<double> size;
  first_layer_sizes(whole(domain), size);
  to_rounding(std::move(size), greatest_rounding_);
}

std::unique_ptr<ScoreWorkspace> Network::workspace(const Goal& /*goal*/) const {
  auto made = std::make_unique<Workspace>();
  made->low.resize(later_.size());
  made->high.resize(later_.size());
  made->size.resize(later_.size() + 1);
  made->gap.resize(later_.size());
  return made;
}

double Network::bias_part(const std::vector<double>& coefficient) const {
  double total = 0;
  for (std::size_t h = 0; h < units_; ++h) total += coefficient[h] * bias_[h];
  return total;
}

void Network::relax(const Box& box, const Goal& goal, ScoreWorkspace& workspace, Relaxation& out) const {
  out.slope.resize(domain_.features.size());
  out.at_anchor.resize(domain_.features.size());
  out.greatest.resize(domain_.features.size());
  out.attribution.resize(domain_.features.size());
  out.atom.resize(domain_.atoms);
  auto& work = static_cast<Workspace&>(workspace);
  first_layer_sizes(box, work.size[0]);
  if (later_.empty()) {
    out.constant = bias_part(goal.coefficient);
    bound_by_feature(box, goal.coefficient, out);
    out.rounding = tolerance::kRoundingsOfBound * goal.rounding(work.size[0], roundoff_);
    return;
  }
  first_layer_bounds(box, work);
  for (std::size_t at = 1; at < later_.size(); ++at) hidden_layer_bounds(box, at, work);
  const Layer& last = later_.back();
  std::vector<double>& coefficient = work.coefficient;
  coefficient.assign(last.inputs, 0.0);
  out.constant = 0;
  for (std::size_t o = 0; o < last.outputs; ++o) {
    out.constant += goal.coefficient[o] * last.bias[o];
    for (std::size_t i = 0; i < last.inputs; ++i) coefficient[i] += goal.coefficient[o] * last.weight[o * last.inputs + i];
  }
  out.constant += backward_bounds(coefficient, later_.size() - 1, work, &work.gap);
  out.constant += bias_part(coefficient);
  bound_by_feature(box, coefficient, out);
  next_layer_sizes(later_.size(), work.size[later_.size() - 1], work.size[later_.size()]);
  out.rounding = tolerance::kRoundingsOfBound * goal.rounding(work.size.back(), roundoff_);
  attribute_slack(work, out.attribution);
}

// What one number of a feature adds to the units, or the sizes of that.
void Network::add_number(std::size_t j, double x, double* units, bool sizes) const {
  for (std::size_t i = first_input_[j]; i < first_input_[j + 1]; ++i) {
    const double input = inputs_.inputs[i].at(x);
    const double* weight = inputs_.weights.data() + i * units_;
    if (sizes)
      for (std::size_t h = 0; h < units_; ++h) units[h] += std::abs(weight[h] * input);
    else
      for (std::size_t h = 0; h < units_; ++h) units[h] += weight[h] * input;
  }
}

// -- rounding -----------------------------------------------------------------------------------------------------------

// The sizes of the terms of every unit of the first layer, the greatest over a box.
void Network::first_layer_sizes(const Box& box, std::vector<double>& size) const {
  size.resize(units_);
  for (std::size_t h = 0; h < units_; ++h) size[h] = std::abs(bias_[h]);
  std::vector<double> most;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const Range& range = box.range[j];
    most.assign(units_, 0.0);
    if (!range.empty() && range.low == range.high) {
      add_number(j, range.low, most.data(), true);
    } else if (!range.empty()) {
      const double *slope = sizes_.slopes.data() + j * units_, *at_anchor = sizes_.at_anchors.data() + j * units_;
      const double offset = std::max(std::abs(range.low - f.anchor), std::abs(range.high - f.anchor));
      for (std::size_t h = 0; h < units_; ++h) most[h] = slope[h] * offset + at_anchor[h];
    }
    box.each_atom(f, [&](std::size_t k) {
      const double* unit = sizes_.atoms.data() + (f.first_atom + k) * units_;
      for (std::size_t h = 0; h < units_; ++h) most[h] = std::max(most[h], unit[h]);
    });
    for (std::size_t h = 0; h < units_; ++h) size[h] += most[h];
  }
}

// The same of layer `at`, from the sizes of the layer before.
void Network::next_layer_sizes(std::size_t at, const std::vector<double>& before, std::vector<double>& size) const {
  const Layer& layer = later_[at - 1];
  size.resize(layer.outputs);
  for (std::size_t o = 0; o < layer.outputs; ++o) {
    const double* row = layer.weight.data() + o * layer.inputs;
    size[o] = std::abs(layer.bias[o]);
    for (std::size_t i = 0; i < layer.inputs; ++i) size[o] += std::abs(row[i]) * before[i];
  }
}

// What rounding may do to the outputs, from the sizes of the first layer.
void Network::to_rounding(std::vector<double> size, std::vector<double>& out) const {
  for (std::size_t at = 1; at <= later_.size(); ++at) {
    next_layer_sizes(at, size, out);
    size.swap(out);
  }
  out = std::move(size);
  for (double& off : out) off *= roundoff_;
}

void Network::rounding(const double* row, std::vector<double>& out) const {
  Box box = whole(domain_);
  for (std::size_t j = 0; j < domain_.features.size(); ++j) box.fix(domain_, j, row[j]);
  std::vector<double> size;
  first_layer_sizes(box, size);
  to_rounding(std::move(size), out);
}

// What a unit can be, computed with other rounding.
void Network::widen(std::size_t at, Workspace& work) const {
  for (std::size_t h = 0; h < work.size[at].size(); ++h) {
    work.low[at][h] -= roundoff_ * work.size[at][h];
    work.high[at][h] += roundoff_ * work.size[at][h];
  }
}

// -- bounds of units ----------------------------------------------------------------------------------------------------

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

// Interval arithmetic through one layer; notes the units whose side of 0 it does not tell.
void Network::interval_bounds(std::size_t at, Workspace& work) const {
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
  for (std::size_t o = 0; o < layer.outputs; ++o)
    if (low[o] < 0 && high[o] > 0) work.unstable.push_back(o);
}

// What the units of hidden layer `at` can be, given the layers before: by intervals, and where a unit is unstable by these,
// by a linear function above it and one below.
void Network::hidden_layer_bounds(const Box& box, std::size_t at, Workspace& work) const {
  interval_bounds(at, work);
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
  maximise(box, count, work);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t o = work.unstable[i / 2];
    const double bound = work.constants[i] + work.maximum[i] + roundoff_ * work.size[at][o];
    if (i % 2 == 0)
      work.high[at][o] = std::min(work.high[at][o], bound);
    else
      work.low[at][o] = std::max(work.low[at][o], -bound);
  }
}

// An upper bound of coefficient . relu(z_layer) as coefficients of the first layer's z plus the returned constant. An
// unstable ReLU lies below its chord, and above 0 and z: the coefficient's sign says which of them is needed. `gap` gets
// by how much that may be off, per layer and unit.
double Network::backward_bounds(std::vector<double>& coefficient, std::size_t layer, const Workspace& work,
                                std::vector<std::vector<double>>* gap) const {
  double constant = 0;
  for (std::size_t at = layer;; --at) {
    const std::vector<double>&low = work.low[at], &high = work.high[at];
    if (gap != nullptr) (*gap)[at].assign(coefficient.size(), 0.0);
    for (std::size_t h = 0; h < coefficient.size(); ++h) {
      double& c = coefficient[h];
      if (gap != nullptr && low[h] < 0 && high[h] > 0)
        (*gap)[at][h] = c > 0 ? -c * low[h] * high[h] / (high[h] - low[h]) : -c * std::min(high[h], -low[h]);
      if (high[h] <= 0) {
        c = 0;
      } else if (low[h] < 0) {
        if (c > 0) {
          const double slope = high[h] / (high[h] - low[h]);
          constant -= c * slope * low[h];
          c *= slope;
        } else if (high[h] < -low[h]) {
          c = 0;
        }
      }
    }
    if (at == 0) return constant;
    const Layer& before = later_[at - 1];
    std::vector<double> carried(before.inputs, 0.0);
    for (std::size_t o = 0; o < before.outputs; ++o) {
      if (coefficient[o] == 0) continue;
      constant += coefficient[o] * before.bias[o];
      const double* row = before.weight.data() + o * before.inputs;
      for (std::size_t i = 0; i < before.inputs; ++i) carried[i] += coefficient[o] * row[i];
    }
    coefficient = std::move(carried);
  }
}

// The greatest c . z over the box for several functions at once, z the first layer without its bias: work.functions is
// [unit][function].
void Network::maximise(const Box& box, std::size_t count, Workspace& work) const {
  work.maximum.assign(count, 0.0);
  work.most.resize(count);
  work.slope.resize(count);
  work.at_anchor.resize(count);
  auto apply = [&](const double* values, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t h = 0; h < units_; ++h)
      if (values[h] != 0) add_multiple(out.data(), work.functions.data() + h * count, values[h], count);
  };
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    std::fill(work.most.begin(), work.most.end(), -kInf);
    box.each_atom(f, [&](std::size_t k) {
      apply(first_.atoms.data() + (f.first_atom + k) * units_, work.slope);
      for (std::size_t i = 0; i < count; ++i) work.most[i] = std::max(work.most[i], work.slope[i]);
    });
    if (const Range& range = box.range[j]; !range.empty() && range.low == range.high) {
      work.exact.assign(units_, 0.0);
      add_number(j, range.low, work.exact.data());
      apply(work.exact.data(), work.slope);
      for (std::size_t i = 0; i < count; ++i) work.most[i] = std::max(work.most[i], work.slope[i]);
    } else if (!range.empty()) {
      apply(first_.slopes.data() + j * units_, work.slope);
      apply(first_.at_anchors.data() + j * units_, work.at_anchor);
      const double from = range.low - f.anchor, to = range.high - f.anchor;
      for (std::size_t i = 0; i < count; ++i) {
        const double end = std::max(work.slope[i] * from, work.slope[i] * to) + work.at_anchor[i];
        work.most[i] = std::max(work.most[i], end);
      }
    }
    for (std::size_t i = 0; i < count; ++i) work.maximum[i] += work.most[i];
  }
}

// A linear function of the first layer's units as a sum over features: the relaxation, with its greatest value.
void Network::bound_by_feature(const Box& box, const std::vector<double>& coefficient, Relaxation& out) const {
  auto dot = [&](const double* values) {
    double total = 0;
    for (std::size_t h = 0; h < units_; ++h) total += coefficient[h] * values[h];
    return total;
  };
  out.upper = out.constant;
  std::vector<double> exact;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    double greatest = -kInf;
    box.each_atom(f, [&](std::size_t k) {
      const double value = dot(first_.atoms.data() + (f.first_atom + k) * units_);
      out.atom[f.first_atom + k] = value;
      greatest = std::max(greatest, value);
    });
    if (const Range& range = box.range[j]; !range.empty() && range.low == range.high) {
      exact.assign(units_, 0.0);
      add_number(j, range.low, exact.data());
      out.slope[j] = 0;
      out.at_anchor[j] = dot(exact.data());
      greatest = std::max(greatest, out.at_anchor[j]);
    } else if (!range.empty()) {
      out.slope[j] = dot(first_.slopes.data() + j * units_);
      out.at_anchor[j] = dot(first_.at_anchors.data() + j * units_);
      greatest = std::max(greatest, std::max(out.at_number(f, j, range.low), out.at_number(f, j, range.high)));
    }
    out.greatest[j] = greatest;
    out.upper += greatest;
  }
}

// A unit passes its relaxation gap on to those before it, and in the end to the features, as far as they make it vary.
void Network::attribute_slack(Workspace& work, std::vector<double>& attribution) const {
  std::vector<double> part;
  for (std::size_t at = later_.size() - 1; at > 0; --at) {
    const Layer& layer = later_[at - 1];
    for (std::size_t o = 0; o < layer.outputs; ++o) {
      if (work.gap[at][o] == 0) continue;
      part.resize(layer.inputs);
      double total = 0;
      for (std::size_t i = 0; i < layer.inputs; ++i) {
        const double width = std::max(0.0, work.high[at - 1][i]) - std::max(0.0, work.low[at - 1][i]);
        part[i] = std::abs(layer.weight[o * layer.inputs + i]) * width;
        total += part[i];
      }
      for (std::size_t i = 0; i < layer.inputs && total > 0; ++i) work.gap[at - 1][i] += work.gap[at][o] * part[i] / total;
    }
  }
  for (std::size_t h = 0; h < units_; ++h)
    if (const double width = work.high[0][h] - work.low[0][h]; width > 0) work.gap[0][h] /= width;
  for (std::size_t j = 0; j < attribution.size(); ++j) {
    attribution[j] = 0;
    for (std::size_t h = 0; h < units_; ++h) attribution[j] += work.gap[0][h] * work.width[j * units_ + h];
  }
}

void Network::outputs(const double* row, std::vector<double>& scores) const {
  scores = bias_;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const std::int32_t k = f.atom.empty() ? -1 : f.atom_of(row[j]);
    if (k < 0) {
      add_number(j, row[j], scores.data());
      continue;
    }
    const double* atom = first_.atoms.data() + (f.first_atom + static_cast<std::size_t>(k)) * units_;
    for (std::size_t h = 0; h < units_; ++h) scores[h] += atom[h];
  }
  for (const Layer& layer : later_) {
    for (double& v : scores) v = std::max(0.0, v);
    std::vector<double> next = layer.bias;
    for (std::size_t o = 0; o < layer.outputs; ++o)
      for (std::size_t i = 0; i < layer.inputs; ++i) next[o] += layer.weight[o * layer.inputs + i] * scores[i];
    scores = std::move(next);
  }
}

}  // namespace likely::search
