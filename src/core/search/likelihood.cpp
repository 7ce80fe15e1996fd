#include "likelihood.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

using tolerance::kLogLikelihoodRounding;
using tolerance::kSmallestBoundLikelihood;

}  // namespace

Likelihood::Likelihood(const Circuit& circuit, const Domain& domain, const std::vector<double>& targets,
                       std::vector<double> given, bool approximate, Measure measure, bool by_components)
    : circuit_(circuit), domain_(domain), targets_(targets), given_(std::move(given)), approximate_(approximate) {
  assert(targets_.size() == given_.size());
  if (measure == Measure::kCoherence) {
    marginals_ = std::make_unique<Marginals>(circuit, domain);
    no_rewards_ = priced().rewards;
  }
  make_blocks();
  for (std::size_t j = 0; j < domain.features.size(); ++j) variables_.push_back(make_variable(j, domain.features[j]));
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    for (std::size_t i = 0; i < blocks_[b].count(); ++i) block_scale_[b] += variables_[blocks_[b].feature(i)].log_scale;
  for (const double target : targets) target_leaves_.push_back(target_leaves(target));
  make_parts(by_components);
  make_components();
}

// The target's leaves at a class; at 1 for any class, and none if the circuit has no target.
std::vector<double> Likelihood::target_leaves(double target) const {
  const std::size_t place = domain_.features.size();
  if (circuit_.variables() == place) return {};
  const likely::Variable& variable = circuit_.variable(place);
  std::vector<double> leaves(variable.leaves.size(), 1.0);
  if (std::isnan(target)) return leaves;
  for (std::size_t l = 0; l < leaves.size(); ++l)
    leaves[l] = leaf_density(place, l, target, target, marginals_ ? marginals_->log(place, target) : 0);
  return leaves;
}

// The greatest density of a leaf on an interval within a cell, over a marginal that is not below this one.
double Likelihood::leaf_density(std::size_t j, std::size_t l, double low, double high, double log_marginal) const {
  const likely::Variable& raw = circuit_.variable(j);
  const double peaked = raw.peaked.empty() ? 0 : raw.peaked[l].largest(low, high);
  const double density = std::max(circuit_.floor(), raw.steps[l * (raw.breaks.size() + 1) + raw.cell(low)] + peaked);
  if (!marginals_) return density;
  const bool possible = marginals_->log_share(raw.leaves[l]) > -kInf && std::isfinite(log_marginal);
  return possible ? std::exp(log_of(density) - log_marginal) : 0;
}

std::int32_t Likelihood::Variable::first_cell(std::size_t r) const {
  return static_cast<std::int32_t>(std::lower_bound(cell_row.begin(), cell_row.end(), r) - cell_row.begin());
}

Likelihood::Variable Likelihood::make_variable(std::size_t j, const Feature& f) const {
  const likely::Variable& raw = circuit_.variable(j);
  Variable made;
  made.leaves = raw.leaves;
  made.peaked = !raw.peaked.empty();
  if (!made.peaked && places_[j].empty() && !marginals_) {
    made.tree = &circuit_.tree(j);
    for (const double v : f.atom) made.atom_row.push_back(raw.cell(v));
    for (const double v : f.low) made.cell_row.push_back(raw.cell(v));
  } else {
    // Rows: the cells, then the atoms. On a cell a parametric leaf has its greatest value there.
    const std::size_t count = raw.leaves.size();
    const bool varies = marginals_ && !places_[j].empty();
    std::vector<double> rows;
    auto add = [&](double low, double high, double log_marginal) {
      for (std::size_t l = 0; l < count; ++l) rows.push_back(leaf_density(j, l, low, high, log_marginal));
    };
    for (std::size_t c = 0; c < f.low.size(); ++c) {
      made.cell_row.push_back(c);
      if (varies) made.cell_least.push_back(marginals_->least(j, f.low[c], f.high[c]));
      add(f.low[c], f.high[c], varies ? made.cell_least[c] : marginals_ ? marginals_->log(j, f.low[c]) : 0);
    }
    for (std::size_t k = 0; k < f.atom.size(); ++k) {
      made.atom_row.push_back(f.low.size() + k);
      add(f.atom[k], f.atom[k], marginals_ ? marginals_->log(j, f.atom[k]) : 0);
    }
    double largest = rows.empty() ? 0 : *std::max_element(rows.begin(), rows.end());
    if (!places_[j].empty()) largest = std::max(largest, std::exp(feature_scale_[j]));
    made.made_here = std::make_unique<RangeTree>(std::move(rows), count, largest);
    made.tree = made.made_here.get();
  }
  made.log_scale = log_of(made.tree->largest);
  return made;
}

bool Likelihood::constant_on_cells() const {
  return blocks_.empty() &&
         std::none_of(variables_.begin(), variables_.end(), [](const Variable& variable) { return variable.peaked; });
}

Likelihood::Sweep Likelihood::sweep() const {
  Sweep made;
  made.leaf.assign(circuit_.nodes(), 1.0);
  made.value.resize(circuit_.nodes());
  made.derivative.resize(circuit_.nodes());
  std::size_t most = 1;
  for (const Variable& variable : variables_) most = std::max(most, variable.leaves.size());
  made.scratch.resize(most);
  for (const BlockBound& block : blocks_) made.tangents.push_back(block.tangent());
  made.least.assign(variables_.size(), 0.0);
  return made;
}

// The greatest value of every leaf of feature j over the box.
void Likelihood::greatest(std::size_t j, const Box& box, double* out) const {
  const Variable& variable = variables_[j];
  const std::size_t count = variable.leaves.size();
  std::fill_n(out, count, 0.0);
  auto take = [&](const double* values) {
    for (std::size_t l = 0; l < count; ++l) out[l] = std::max(out[l], values[l]);
  };
  box.each_atom(domain_.features[j], [&](std::size_t k) { take(variable.atom(k)); });
  const Range& range = box.range[j];
  if (range.empty()) return;
  if (range.first == range.last && variable.peaked) {
    // Within one cell a parametric density still varies: take it where the numbers still allowed are.
    const double* cell = variable.cell(static_cast<std::size_t>(range.first));
    const likely::Variable& raw = circuit_.variable(j);
    const std::size_t place = raw.cell(range.low), known = raw.breaks.size() + 1;
    for (std::size_t l = 0; l < count; ++l) {
      const double exact = raw.steps[l * known + place] + raw.peaked[l].largest(range.low, range.high);
      out[l] = std::max(out[l], std::min(cell[l], std::max(circuit_.floor(), exact) / variable.tree->largest));
    }
    return;
  }
  if (const double shift = leaf_shift(j, range); shift < 0) {
    const double *cell = variable.cell(static_cast<std::size_t>(range.first)), scale = std::exp(shift);
    for (std::size_t l = 0; l < count; ++l) out[l] = std::max(out[l], cell[l] * scale);
    return;
  }
  std::size_t low = variable.tree->size + variable.cell_row[static_cast<std::size_t>(range.first)];
  std::size_t high = variable.tree->size + variable.cell_row[static_cast<std::size_t>(range.last)] + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low & 1) take(variable.tree->node(low++));
    if (high & 1) take(variable.tree->node(--high));
  }
}

void Likelihood::bound(const Box& box, std::size_t alternative, Sweep& sweep) const {
  assert(alternative < given_.size());
  sweep.log_scale = -given_[alternative];
  const std::vector<double>& target = target_leaves_[alternative];
  for (std::size_t l = 0; l < target.size(); ++l) sweep.leaf[circuit_.variable(variables_.size()).leaves[l]] = target[l];
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    greatest(j, box, sweep.scratch.data());
    for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
      sweep.leaf[variable.leaves[l]] = sweep.scratch[l];
    }
    sweep.log_scale += variable.log_scale;
  }
  if (marginals_) sweep.log_scale += reward_rounding(box, no_rewards_);
  bound_blocks(box, sweep);
  sweep_up(sweep);
  const double root = sweep.value.back();
  if (sweep.in_doubles && root > kSmallestBoundLikelihood) {
    sweep.log_upper = std::log(root) + sweep.log_scale + kLogLikelihoodRounding;
    return;
  }
  std::vector<double> logs(sweep.leaf.size());
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = log_of(sweep.leaf[i]);
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    logs[circuit_.block_node(b)] = log_block(sweep, b, sweep.tangents[b].log_upper);
  circuit_.sweep(logs.data(), approximate_ ? Algebra::kUnder : Algebra::kSum, logs.data());
  sweep.log_upper = logs.back() + sweep.log_scale + kLogLikelihoodRounding;
}

void Likelihood::sweep_up(Sweep& sweep) const {
  for (std::size_t i = 0; i < circuit_.nodes(); ++i) {
    const auto children = circuit_.children(i);
    double value = 1;
    if (children.empty()) {
      value = sweep.leaf[i];
    } else if (circuit_.kind(i) == NodeKind::kProduct) {
      for (std::int32_t child : children) value *= sweep.value[child];
    } else {
      const auto weights = circuit_.weights(i);
      value = 0;
      for (std::size_t e = 0; e < children.size(); ++e) {
        const double term = weights[e] * sweep.value[children[e]];
        value = approximate_ ? std::max(value, term) : value + term;
      }
    }
    sweep.value[i] = value;
  }
}

void Likelihood::differentiate(Sweep& sweep) const {
  std::fill(sweep.derivative.begin(), sweep.derivative.end(), 0.0);
  sweep.derivative.back() = 1;
  for (std::size_t i = circuit_.nodes(); i-- > 0;) {
    const double derivative = sweep.derivative[i];
    if (derivative == 0 || circuit_.children(i).empty()) continue;
    const auto children = circuit_.children(i);
    const auto weights = circuit_.weights(i);
    for (std::size_t e = 0; e < children.size(); ++e) {
      double part = derivative * weights[e];
      if (circuit_.kind(i) == NodeKind::kProduct) {
        part = derivative;
        if (sweep.value[children[e]] > kSmallestBoundLikelihood) {
          part *= sweep.value[i] / sweep.value[children[e]];
        } else {
          for (std::size_t o = 0; o < children.size(); ++o) part *= o == e ? 1 : sweep.value[children[o]];
        }
      }
      double& sum = sweep.derivative[children[e]];
      sum = approximate_ ? std::max(sum, part) : sum + part;
    }
  }
}

double Likelihood::combined(const Variable& variable, const Sweep& sweep, const double* values) const {
  double total = 0;
  for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
    const double term = sweep.derivative[variable.leaves[l]] * values[l];
    total = approximate_ ? std::max(total, term) : total + term;
  }
  return total;
}

double Likelihood::log_upper_atom(const Sweep& sweep, std::size_t j, std::size_t atom) const {
  if (!sweep.in_doubles) return sweep.log_upper;
  const Variable& variable = variables_[j];
  const double upper =
      together(combined(variable, sweep, variable.atom(atom)), block_floors(sweep, j, domain_.features[j].atom[atom]));
  return std::log(std::max(upper, kSmallestBoundLikelihood)) + sweep.log_scale + kLogLikelihoodRounding;
}

double Likelihood::log_upper_cell(const Sweep& sweep, std::size_t j, std::size_t cell) const {
  if (!sweep.in_doubles) return sweep.log_upper;
  const Variable& variable = variables_[j];
  const Feature& f = domain_.features[j];
  const double upper = together(combined(variable, sweep, variable.cell(cell)), block_part(sweep, j, f.low[cell], f.high[cell]));
  return std::log(std::max(upper, kSmallestBoundLikelihood)) + sweep.log_scale + kLogLikelihoodRounding;
}

// The first (or last) cell in first..last whose bound is at least `lower` (scaled, no logarithm); beyond the end if none
// is. Whole branches of the tree are passed over by their bound.
std::int32_t Likelihood::outermost_likely(const Variable& variable, const Sweep& sweep, std::int32_t first, std::int32_t last,
                                          double lower, bool from_left) const {
  const std::size_t from = variable.cell_row[static_cast<std::size_t>(first)],
                    to = variable.cell_row[static_cast<std::size_t>(last)];
  std::vector<std::pair<std::size_t, std::size_t>> waiting{{1, variable.tree->size}};  // nodes, and how many rows each has
  while (!waiting.empty()) {
    const auto [node, rows] = waiting.back();
    waiting.pop_back();
    const std::size_t begin = (node - std::bit_floor(node)) * rows;  // its number without the leading bit, times its rows
    if (begin + rows <= from || begin > to) continue;
    if (combined(variable, sweep, variable.tree->node(node)) < lower) continue;
    if (rows == 1)
      return from_left ? std::max(first, variable.first_cell(begin)) : std::min(last, variable.first_cell(begin + 1) - 1);
    const std::size_t near = from_left ? 2 * node : 2 * node + 1;
    waiting.emplace_back(near ^ 1, rows / 2);
    waiting.emplace_back(near, rows / 2);
  }
  return from_left ? last + 1 : first - 1;
}

bool Likelihood::filter(Box& box, const Sweep& sweep, double lower) const {
  assert(blocks_.empty());
  if (!(sweep.value.back() > kSmallestBoundLikelihood)) return false;
  const double scaled = std::exp(lower - sweep.log_scale - kLogLikelihoodRounding);
  if (!(scaled > kSmallestBoundLikelihood)) return false;  // what is so small may be small for want of digits only
  bool changed = false;
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    const Feature& f = domain_.features[j];
    box.each_atom(f, [&](std::size_t k) {
      if (combined(variable, sweep, variable.atom(k)) < scaled) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    const Range& range = box.range[j];
    if (range.empty()) continue;
    const std::int32_t first = outermost_likely(variable, sweep, range.first, range.last, scaled, true);
    if (first > range.last) {
      box.drop_numbers(j);
      changed = true;
    } else {
      changed |= box.keep_cells(domain_, j, first, outermost_likely(variable, sweep, first, range.last, scaled, false));
    }
  }
  return changed;
}

double Likelihood::exact(const double* row, std::size_t alternative, RowBuffers& buffers) const {
  buffers.row.resize(circuit_.variables());
  std::copy_n(row, domain_.features.size(), buffers.row.begin());
  if (buffers.row.size() > domain_.features.size()) buffers.row.back() = targets_[alternative];
  const Algebra algebra = approximate_ ? Algebra::kUnder : Algebra::kSum;
  double log = circuit_.evaluate_row(buffers.row.data(), algebra, buffers.nodes) - given_[alternative];
  if (marginals_ && log > -kInf)
    for (std::size_t j = 0; j < buffers.row.size(); ++j) log -= marginals_->log(j, buffers.row[j]);
  return log;
}

}  // namespace likely::search
