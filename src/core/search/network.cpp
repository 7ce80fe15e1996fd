#include <algorithm>
#include <cmath>
#include <limits>

#include "../clones.hpp"
#include "score.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

LIKELY_CLONES void add_multiple(double* sum, const double* value, double by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += by * value[i];
}

}  // namespace

Network::Network(const Domain& domain, std::vector<double> atoms, std::vector<double> slopes, std::vector<double> intercepts,
                 std::vector<double> bias, std::vector<Layer> later)
    : domain_(domain), units_(bias.size()), atoms_(std::move(atoms)), slopes_(std::move(slopes)),
      intercepts_(std::move(intercepts)), bias_(std::move(bias)), later_(std::move(later)) {}

Relaxation Network::relaxation(const Goal&) const {
  Relaxation made;
  const std::size_t features = domain_.features.size();
  made.slope.resize(features);
  made.intercept.resize(features);
  made.most.resize(features);
  made.blame.resize(features);
  made.atom.resize(domain_.atoms);
  return made;
}

struct Network::Work {
  std::vector<std::vector<double>> low, high;  // what every hidden layer's units can be before their ReLU, layer by layer
  std::vector<double> width;                   // [feature][unit]: by how much a feature can move a unit of the first
  std::vector<std::vector<double>> loose;      // by how much each unit may make a bound too high
  std::vector<std::size_t> unsure;             // units of a layer that may be on either side of 0
  std::vector<double> functions, constants;    // linear functions of the first layer, [unit][function]
  std::vector<double> greatest, most, slope, intercept;  // per function
};

void Network::first_bounds(const Box& box, Work& work) const {
  std::vector<double>&low = work.low[0], &high = work.high[0];
  low = bias_;
  high = bias_;
  work.width.resize(domain_.features.size() * units_);
  std::vector<double> least(units_), most(units_);
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    std::fill(least.begin(), least.end(), kInf);
    std::fill(most.begin(), most.end(), -kInf);
    box.each_atom(f, [&](std::size_t k) {
      const double* own = atoms_.data() + (f.first_atom + k) * units_;
      for (std::size_t h = 0; h < units_; ++h) {
        least[h] = std::min(least[h], own[h]);
        most[h] = std::max(most[h], own[h]);
      }
    });
    if (const Range& range = box.range[j]; !range.empty()) {
      const double *slope = slopes_.data() + j * units_, *intercept = intercepts_.data() + j * units_;
      for (std::size_t h = 0; h < units_; ++h) {
        const double a = slope[h] * range.low + intercept[h], b = slope[h] * range.high + intercept[h];
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
}

// An upper bound of coefficient . relu(z_layer) as coefficients of the first layer's z plus the returned constant. An
// unstable ReLU lies below its chord, and above 0 and z: the coefficient's sign says which of them is needed. `loose` gets
// by how much that may be off, per layer and unit.
double Network::pull_back(std::vector<double>& coefficient, std::size_t layer, const Work& work,
                          std::vector<std::vector<double>>* loose) const {
  double constant = 0;
  for (std::size_t at = layer;; --at) {
    const std::vector<double>&low = work.low[at], &high = work.high[at];
    if (loose != nullptr) (*loose)[at].assign(coefficient.size(), 0.0);
    for (std::size_t h = 0; h < coefficient.size(); ++h) {
      double& c = coefficient[h];
      if (loose != nullptr && low[h] < 0 && high[h] > 0)
        (*loose)[at][h] = c > 0 ? -c * low[h] * high[h] / (high[h] - low[h]) : -c * std::min(high[h], -low[h]);
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
    const Layer& own = later_[at - 1];
    std::vector<double> before(own.inputs, 0.0);
    for (std::size_t o = 0; o < own.outputs; ++o) {
      if (coefficient[o] == 0) continue;
      constant += coefficient[o] * own.bias[o];
      const double* row = own.weight.data() + o * own.inputs;
      for (std::size_t i = 0; i < own.inputs; ++i) before[i] += coefficient[o] * row[i];
    }
    coefficient = std::move(before);
  }
}

// The greatest c . z over the box for several functions at once, z the first layer without its bias: work.functions is
// [unit][function].
void Network::greatest(const Box& box, std::size_t count, Work& work) const {
  work.greatest.assign(count, 0.0);
  work.most.resize(count);
  work.slope.resize(count);
  work.intercept.resize(count);
  auto apply = [&](const double* values, std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t h = 0; h < units_; ++h)
      if (values[h] != 0) add_multiple(out.data(), work.functions.data() + h * count, values[h], count);
  };
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    std::fill(work.most.begin(), work.most.end(), -kInf);
    box.each_atom(f, [&](std::size_t k) {
      apply(atoms_.data() + (f.first_atom + k) * units_, work.slope);
      for (std::size_t i = 0; i < count; ++i) work.most[i] = std::max(work.most[i], work.slope[i]);
    });
    if (const Range& range = box.range[j]; !range.empty()) {
      apply(slopes_.data() + j * units_, work.slope);
      apply(intercepts_.data() + j * units_, work.intercept);
      for (std::size_t i = 0; i < count; ++i) {
        const double own = std::max(work.slope[i] * range.low, work.slope[i] * range.high) + work.intercept[i];
        work.most[i] = std::max(work.most[i], own);
      }
    }
    for (std::size_t i = 0; i < count; ++i) work.greatest[i] += work.most[i];
  }
}

// What the units of hidden layer `at` can be, given the layers before: by intervals, and where these do not tell on which
// side of 0 a unit is, by a linear function above it and one below.
void Network::layer_bounds(const Box& box, std::size_t at, Work& work) const {
  const Layer& own = later_[at - 1];
  std::vector<double>&low = work.low[at], &high = work.high[at];
  low = own.bias;
  high = own.bias;
  work.unsure.clear();
  for (std::size_t o = 0; o < own.outputs; ++o) {
    for (std::size_t i = 0; i < own.inputs; ++i) {
      const double w = own.weight[o * own.inputs + i];
      const double least = std::max(0.0, work.low[at - 1][i]), most = std::max(0.0, work.high[at - 1][i]);
      low[o] += w * (w > 0 ? least : most);
      high[o] += w * (w > 0 ? most : least);
    }
    if (low[o] < 0 && high[o] > 0) work.unsure.push_back(o);
  }
  const std::size_t count = 2 * work.unsure.size();
  work.functions.assign(units_ * count, 0.0);
  work.constants.resize(count);
  std::vector<double> coefficient;
  for (std::size_t i = 0; i < count; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    const double* row = own.weight.data() + work.unsure[i / 2] * own.inputs;
    coefficient.assign(row, row + own.inputs);
    for (double& c : coefficient) c *= sign;
    work.constants[i] = pull_back(coefficient, at - 1, work) + sign * own.bias[work.unsure[i / 2]];
    for (std::size_t h = 0; h < units_; ++h) {
      work.constants[i] += coefficient[h] * bias_[h];
      work.functions[h * count + i] = coefficient[h];
    }
  }
  greatest(box, count, work);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t o = work.unsure[i / 2];
    const double bound = work.constants[i] + work.greatest[i];
    if (i % 2 == 0)
      high[o] = std::min(high[o], bound);
    else
      low[o] = std::max(low[o], -bound);
  }
}

void Network::spread(const Box& box, const std::vector<double>& coefficient, Relaxation& out) const {
  auto dot = [&](const double* values) {
    double total = 0;
    for (std::size_t h = 0; h < units_; ++h) total += coefficient[h] * values[h];
    return total;
  };
  out.upper = out.constant;
  out.rounding = kRounding * (1 + std::abs(out.constant));
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    double most = -kInf;
    box.each_atom(f, [&](std::size_t k) {
      const double own = dot(atoms_.data() + (f.first_atom + k) * units_);
      out.atom[f.first_atom + k] = own;
      most = std::max(most, own);
    });
    if (const Range& range = box.range[j]; !range.empty()) {
      out.slope[j] = dot(slopes_.data() + j * units_);
      out.intercept[j] = dot(intercepts_.data() + j * units_);
      most = std::max(most, std::max(out.number(j, range.low), out.number(j, range.high)));
    }
    out.most[j] = most;
    out.upper += most;
    out.rounding += kRounding * std::abs(most);
  }
}

void Network::relax(const Box& box, const Goal& goal, Relaxation& out) const {
  auto constant_of = [&](const std::vector<double>& coefficient) {
    double total = 0;
    for (std::size_t h = 0; h < units_; ++h) total += coefficient[h] * bias_[h];
    return total;
  };
  if (later_.empty()) {
    out.constant = constant_of(goal.coefficient);
    spread(box, goal.coefficient, out);
    return;
  }
  Work work;
  work.low.resize(later_.size());
  work.high.resize(later_.size());
  work.loose.resize(later_.size());
  first_bounds(box, work);
  for (std::size_t at = 1; at < later_.size(); ++at) layer_bounds(box, at, work);
  const Layer& last = later_.back();
  std::vector<double> coefficient(last.inputs, 0.0);
  out.constant = 0;
  for (std::size_t o = 0; o < last.outputs; ++o) {
    out.constant += goal.coefficient[o] * last.bias[o];
    for (std::size_t i = 0; i < last.inputs; ++i) coefficient[i] += goal.coefficient[o] * last.weight[o * last.inputs + i];
  }
  out.constant += pull_back(coefficient, later_.size() - 1, work, &work.loose);
  out.constant += constant_of(coefficient);
  spread(box, coefficient, out);
  for (std::size_t h = 0; h < units_; ++h)
    out.rounding += kRounding * std::abs(coefficient[h]) * std::max(std::abs(work.low[0][h]), std::abs(work.high[0][h]));
  find_blame(work, out.blame);
}

// A unit passes the blame on to those before it, and in the end to the features, as far as they make it vary.
void Network::find_blame(Work& work, std::vector<double>& blame) const {
  std::vector<double> part;
  for (std::size_t at = later_.size() - 1; at > 0; --at) {
    const Layer& own = later_[at - 1];
    for (std::size_t o = 0; o < own.outputs; ++o) {
      if (work.loose[at][o] == 0) continue;
      part.resize(own.inputs);
      double total = 0;
      for (std::size_t i = 0; i < own.inputs; ++i) {
        const double width = std::max(0.0, work.high[at - 1][i]) - std::max(0.0, work.low[at - 1][i]);
        part[i] = std::abs(own.weight[o * own.inputs + i]) * width;
        total += part[i];
      }
      for (std::size_t i = 0; i < own.inputs && total > 0; ++i) work.loose[at - 1][i] += work.loose[at][o] * part[i] / total;
    }
  }
  for (std::size_t h = 0; h < units_; ++h)
    if (const double width = work.high[0][h] - work.low[0][h]; width > 0) work.loose[0][h] /= width;
  for (std::size_t j = 0; j < blame.size(); ++j) {
    blame[j] = 0;
    for (std::size_t h = 0; h < units_; ++h) blame[j] += work.loose[0][h] * work.width[j * units_ + h];
  }
}

void Network::outputs(const double* row, std::vector<double>& value) const {
  value = bias_;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    const std::int32_t k = f.atom.empty() ? -1 : f.atom_of(row[j]);
    const double *slope = slopes_.data() + j * units_, *intercept = intercepts_.data() + j * units_;
    for (std::size_t h = 0; h < units_; ++h)
      value[h] += k >= 0 ? atoms_[(f.first_atom + static_cast<std::size_t>(k)) * units_ + h] : slope[h] * row[j] + intercept[h];
  }
  for (const Layer& own : later_) {
    for (double& v : value) v = std::max(0.0, v);
    std::vector<double> next = own.bias;
    for (std::size_t o = 0; o < own.outputs; ++o)
      for (std::size_t i = 0; i < own.inputs; ++i) next[o] += own.weight[o * own.inputs + i] * value[i];
    value = std::move(next);
  }
}

}  // namespace likely::search
