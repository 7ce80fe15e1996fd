#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../tolerances.hpp"
#include "network_workspace.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

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

std::unique_ptr<ScoreWorkspace> Network::workspace(const std::vector<Goal>& /*goals*/) const {
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

void Network::relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
                    Relaxation& out) const {
  const Box& box = region.box;
  const Goal& goal = goals[g];
  auto& work = static_cast<Workspace&>(workspace);
  if (later_.empty()) {
    out.constant = bias_part(goal.coefficient);
    bound_by_feature(box, goal.coefficient, out);
    out.rounding = tolerance::kRoundingsOfBound * goal.rounding(work.size[0], roundoff_);
    return;
  }
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

// A linear function of the first layer's units as a sum over features: the relaxation, with its greatest value.
void Network::bound_by_feature(const Box& box, const std::vector<double>& coefficient, Relaxation& out) const {
  auto dot = [&](const double* values) {
    double total = 0;
    for (std::size_t h = 0; h < units_; ++h) total += coefficient[h] * values[h];
    return total;
  };
  for (std::vector<double>* each : {&out.slope, &out.at_anchor, &out.greatest, &out.attribution})
    each->resize(domain_.features.size());
  out.atom.resize(domain_.atoms);
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

// The units of the first layer of a row.
std::vector<double> Network::first_layer(const double* row) const {
  std::vector<double> z = bias_;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const std::int32_t k = f.atom.empty() ? -1 : f.atom_of(row[j]);
    if (k < 0) {
      add_number(j, row[j], z.data());
      continue;
    }
    const double* atom = first_.atoms.data() + (f.first_atom + static_cast<std::size_t>(k)) * units_;
    for (std::size_t h = 0; h < units_; ++h) z[h] += atom[h];
  }
  return z;
}

// What layer `at` gives to the one after it.
std::vector<double> Network::next_layer(std::size_t at, std::vector<double> z) const {
  const Layer& layer = later_[at];
  for (double& v : z) v = std::max(0.0, v);
  std::vector<double> next = layer.bias;
  for (std::size_t o = 0; o < layer.outputs; ++o)
    for (std::size_t i = 0; i < layer.inputs; ++i) next[o] += layer.weight[o * layer.inputs + i] * z[i];
  return next;
}

void Network::outputs(const double* row, std::vector<double>& scores) const {
  scores = first_layer(row);
  for (std::size_t at = 0; at < later_.size(); ++at) scores = next_layer(at, std::move(scores));
}

}  // namespace likely::search
