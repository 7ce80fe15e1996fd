#include "likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kTooSmall = 1e-280;  // below this a bound is computed again with logarithms
// Bounds are sums and products of a few thousand rounded terms: relaxed by this much, they hold.
constexpr double kSlack = 1e-9;

double log_of(double x) { return x > 0 ? std::log(x) : -kInf; }

}  // namespace

Likelihood::Likelihood(const Circuit& circuit, const Domain& domain, std::vector<double> targets, bool approximate, bool weighed)
    : circuit_(circuit), domain_(domain), targets_(std::move(targets)), approximate_(approximate), weighed_(weighed) {
  for (std::size_t j = 0; j < domain.features.size(); ++j)
    variables_.push_back(variable(circuit.variable(j), domain.features[j]));
}

Likelihood::Variable Likelihood::variable(const likely::Variable& own, const Feature& f) const {
  Variable made;
  made.leaves = own.leaves;
  made.peaked = own.peaked;
  made.scale = own.largest > 0 ? own.largest : 1;
  const std::size_t count = own.leaves.size();
  while (made.size < f.low.size()) made.size *= 2;
  // One table of densities, and, if likelihood has a weight, the same of their logarithms.
  auto fill = [&](const std::vector<double>& table, bool logs, std::vector<double>& atoms, std::vector<double>& ranges) {
    auto copy = [&](double low, double high, double* out) {
      std::copy_n(table.data() + own.cell(low) * count, count, out);
      for (std::size_t l = 0; l < own.peaked.size(); ++l) {
        const double peaked = own.peaked[l].largest(low, high) / made.scale;
        out[l] = logs ? log_of(std::exp(out[l]) + peaked) : out[l] + peaked;
      }
    };
    atoms.resize(f.atom.size() * count);
    ranges.assign(2 * made.size * count, logs ? -kInf : 0.0);
    for (std::size_t k = 0; k < f.atom.size(); ++k) copy(f.atom[k], f.atom[k], atoms.data() + k * count);
    for (std::size_t c = 0; c < f.low.size(); ++c) copy(f.low[c], f.high[c], ranges.data() + (made.size + c) * count);
    for (std::size_t n = made.size - 1; n >= 1; --n) {
      const double *left = ranges.data() + 2 * n * count, *right = left + count;
      double* out = ranges.data() + n * count;
      for (std::size_t l = 0; l < count; ++l) out[l] = std::max(left[l], right[l]);
    }
  };
  fill(own.by_cell, false, made.atoms, made.ranges);
  if (weighed_) fill(own.log_by_cell, true, made.log_atoms, made.log_ranges);
  made.log_scale = log_of(made.scale);
  return made;
}

Likelihood::Sweep Likelihood::sweep() const {
  Sweep made;
  made.leaf.assign(circuit_.nodes(), 1.0);
  made.log_leaf.assign(circuit_.nodes(), 0.0);
  made.value.resize(circuit_.nodes());
  made.derivative.resize(circuit_.nodes());
  std::size_t most = 1;
  for (const Variable& own : variables_) most = std::max(most, own.leaves.size());
  made.row.resize(most);
  made.whole.resize(circuit_.variables());
  return made;
}

void Likelihood::turn_to(std::size_t alternative, Sweep& sweep) const {
  const std::size_t place = domain_.features.size();
  if (circuit_.variables() == place) return;
  const double target = targets_[alternative];
  const likely::Variable& own = circuit_.variable(place);
  sweep.whole[place] = target;
  if (std::isnan(target)) return;  // any class: its leaves stay at 1
  const std::size_t count = own.leaves.size(), cell = own.cell(target);
  for (std::size_t l = 0; l < count; ++l) {
    sweep.leaf[own.leaves[l]] = own.by_cell[cell * count + l];
    if (!own.peaked.empty()) sweep.leaf[own.leaves[l]] += own.peaked[l].density(target) / own.largest;
  }
  sweep.target_log_scale = log_of(own.largest);
}

void Likelihood::greatest(const Variable& own, const Box& box, std::size_t j, const Feature& f, double* out) const {
  const std::size_t count = own.leaves.size();
  std::fill_n(out, count, 0.0);
  auto take = [&](const double* values) {
    for (std::size_t l = 0; l < count; ++l) out[l] = std::max(out[l], values[l]);
  };
  box.each_atom(f, [&](std::size_t k) { take(own.atoms.data() + k * count); });
  const Range& range = box.range[j];
  if (range.empty()) return;
  if (range.first == range.last && !own.peaked.empty()) {
    // Within one cell a parametric density still varies: take it where the numbers still allowed are.
    const double* cell = own.cell(static_cast<std::size_t>(range.first));
    const likely::Variable& raw = circuit_.variable(j);
    const std::size_t place = raw.cell(range.low), known = raw.breaks.size() + 1;
    for (std::size_t l = 0; l < count; ++l) {
      const double exact = raw.steps[l * known + place] + own.peaked[l].largest(range.low, range.high);
      out[l] = std::max(out[l], std::min(cell[l], std::max(circuit_.floor(), exact) / own.scale));
    }
    return;
  }
  std::size_t low = own.size + static_cast<std::size_t>(range.first), high = own.size + static_cast<std::size_t>(range.last) + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low & 1) take(own.ranges.data() + low++ * count);
    if (high & 1) take(own.ranges.data() + --high * count);
  }
}

void Likelihood::bound(const Box& box, Sweep& sweep) const {
  sweep.log_scale = sweep.target_log_scale;
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& own = variables_[j];
    greatest(own, box, j, domain_.features[j], sweep.row.data());
    for (std::size_t l = 0; l < own.leaves.size(); ++l) {
      sweep.leaf[own.leaves[l]] = sweep.row[l];
      if (weighed_) sweep.log_leaf[own.leaves[l]] = log_of(sweep.row[l]);
    }
    sweep.log_scale += own.log_scale;
  }
  for (std::size_t i = 0; i < circuit_.nodes(); ++i) {
    const auto children = circuit_.children(i);
    double found = 1;
    if (circuit_.kind(i) == 2) {
      found = sweep.leaf[i];
    } else if (circuit_.kind(i) == 1) {
      for (std::int32_t child : children) found *= sweep.value[child];
    } else {
      const auto weights = circuit_.weights(i);
      found = 0;
      for (std::size_t e = 0; e < children.size(); ++e) {
        const double term = weights[e] * sweep.value[children[e]];
        found = approximate_ ? std::max(found, term) : found + term;
      }
    }
    sweep.value[i] = found;
  }
  const double root = sweep.value.back();
  if (root > kTooSmall) {
    sweep.log_upper = std::log(root) + sweep.log_scale + kSlack;
    return;
  }
  std::vector<double> logs(sweep.leaf.size());
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = log_of(sweep.leaf[i]);
  circuit_.sweep(logs.data(), approximate_ ? Algebra::kUnder : Algebra::kSum, logs.data());
  sweep.log_upper = logs.back() + sweep.log_scale + kSlack;
}

void Likelihood::differentiate(Sweep& sweep) const {
  std::fill(sweep.derivative.begin(), sweep.derivative.end(), 0.0);
  sweep.derivative.back() = 1;
  for (std::size_t i = circuit_.nodes(); i-- > 0;) {
    const double own = sweep.derivative[i];
    if (own == 0 || circuit_.kind(i) == 2) continue;
    const auto children = circuit_.children(i);
    const auto weights = circuit_.weights(i);
    for (std::size_t e = 0; e < children.size(); ++e) {
      double part = own * weights[e];
      if (circuit_.kind(i) == 1) {
        part = own;
        if (sweep.value[children[e]] > kTooSmall) {
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

double Likelihood::combined(const Variable& own, const Sweep& sweep, const double* values) const {
  double total = 0;
  for (std::size_t l = 0; l < own.leaves.size(); ++l) {
    const double term = sweep.derivative[own.leaves[l]] * values[l];
    total = approximate_ ? std::max(total, term) : total + term;
  }
  return total;
}

double Likelihood::log_upper_atom(const Sweep& sweep, std::size_t j, std::size_t atom) const {
  const Variable& own = variables_[j];
  return log_of(combined(own, sweep, own.atoms.data() + atom * own.leaves.size())) + sweep.log_scale + kSlack;
}

double Likelihood::log_upper_cell(const Sweep& sweep, std::size_t j, std::size_t cell) const {
  const Variable& own = variables_[j];
  return log_of(combined(own, sweep, own.cell(cell))) + sweep.log_scale + kSlack;
}

// The first (or last) cell in first..last whose bound is at least `least` (scaled, no logarithm); beyond the end if none
// is. Whole branches of the tree are passed over by their bound.
std::int32_t Likelihood::first_likely(const Variable& own, const Sweep& sweep, std::int32_t first, std::int32_t last,
                                      double least, bool from_left) const {
  const std::size_t count = own.leaves.size();
  std::vector<std::size_t> waiting{1};
  std::size_t level = own.size;  // cells below the root
  std::vector<std::size_t> width{level};
  while (!waiting.empty()) {
    const std::size_t node = waiting.back(), cells = width.back();
    waiting.pop_back();
    width.pop_back();
    // the cells below a node: its number without the leading bit, times their count
    const std::size_t begin = (node - std::bit_floor(node)) * cells, end = begin + cells;
    if (static_cast<std::int64_t>(end) <= first || static_cast<std::int64_t>(begin) > last) continue;
    if (combined(own, sweep, own.ranges.data() + node * count) < least) continue;
    if (cells == 1) return static_cast<std::int32_t>(begin);
    const std::size_t near = from_left ? 2 * node : 2 * node + 1;
    waiting.push_back(near ^ 1);
    waiting.push_back(near);
    width.push_back(cells / 2);
    width.push_back(cells / 2);
  }
  return from_left ? last + 1 : first - 1;
}

bool Likelihood::filter(Box& box, const Sweep& sweep, double least) const {
  if (!(sweep.value.back() > kTooSmall)) return false;
  const double scaled = std::exp(least - sweep.log_scale - kSlack);
  bool changed = false;
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& own = variables_[j];
    const Feature& f = domain_.features[j];
    box.each_atom(f, [&](std::size_t k) {
      if (combined(own, sweep, own.atoms.data() + k * own.leaves.size()) < scaled) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    const Range& range = box.range[j];
    if (range.empty()) continue;
    const std::int32_t first = first_likely(own, sweep, range.first, range.last, scaled, true);
    if (first > range.last) {
      box.drop_numbers(j);
      changed = true;
    } else {
      changed |= box.keep_cells(domain_, j, first, first_likely(own, sweep, first, range.last, scaled, false));
    }
  }
  return changed;
}

std::size_t Likelihood::block_width(const Range& range) const {
  std::size_t width = 1;
  while (static_cast<std::size_t>(range.last) / width - static_cast<std::size_t>(range.first) / width + 1 > kBlocks) width *= 2;
  return width;
}

Range Likelihood::block(const Box& box, std::size_t j, std::size_t b) const {
  const Range& range = box.range[j];
  if (range.empty()) return range;
  const std::size_t width = block_width(range), begin = (static_cast<std::size_t>(range.first) / width + b) * width;
  const auto first = std::max(range.first, static_cast<std::int32_t>(begin));
  const auto last = std::min(range.last, static_cast<std::int32_t>(begin + width) - 1);
  const Feature& f = domain_.features[j];
  if (first > last) return {1, 0, 0, 0};
  return {first, last, std::max(range.low, f.low[static_cast<std::size_t>(first)]), std::min(range.high, f.high[static_cast<std::size_t>(last)])};
}

// The logarithms of leaves over a block: of the node of the tree that holds it.
const double* Likelihood::block_logs(const Variable& own, const Range& block, std::size_t width) const {
  return own.log_ranges.data() + (own.size + static_cast<std::size_t>(block.first)) / width * own.leaves.size();
}

Likelihood::Worth Likelihood::worth() const {
  Worth made;
  made.atom.resize(domain_.atoms);
  made.block.resize(domain_.features.size() * kBlocks);
  made.leaf.assign(circuit_.nodes(), 0.0);
  made.excess.resize(circuit_.nodes());
  made.down.resize(circuit_.nodes());
  return made;
}

double Likelihood::excess(const Box& box, const Sweep& sweep, double weight, Worth& worth) const {
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& own = variables_[j];
    const std::size_t count = own.leaves.size();
    const Feature& f = domain_.features[j];
    for (std::size_t l = 0; l < count; ++l) worth.leaf[own.leaves[l]] = -kInf;
    auto take = [&](const double* logs, double value) {
      for (std::size_t l = 0; l < count; ++l) {
        double& best = worth.leaf[own.leaves[l]];
        best = std::max(best, weight * logs[l] + value);
      }
    };
    box.each_atom(f, [&](std::size_t k) { take(own.log_atoms.data() + k * count, worth.atom[f.first_atom + k]); });
    if (!box.range[j].empty()) {
      const std::size_t width = block_width(box.range[j]);
      for (std::size_t b = 0; b < kBlocks; ++b) {
        const Range part = block(box, j, b);
        if (part.empty()) break;
        take(block_logs(own, part, width), worth.block[j * kBlocks + b]);
      }
    }
    for (std::size_t l = 0; l < count; ++l) worth.leaf[own.leaves[l]] -= weight * sweep.log_leaf[own.leaves[l]];
  }
  for (std::size_t i = 0; i < circuit_.nodes(); ++i) {
    double found = circuit_.kind(i) == 0 ? -kInf : 0;
    if (circuit_.kind(i) == 2) found = worth.leaf[i];
    for (std::int32_t child : circuit_.children(i))
      found = circuit_.kind(i) == 0 ? std::max(found, worth.excess[child]) : found + worth.excess[child];
    worth.excess[i] = found;
  }
  return worth.excess.back();
}

void Likelihood::descend(Worth& worth) const {
  std::fill(worth.down.begin(), worth.down.end(), -kInf);
  worth.down.back() = 0;
  for (std::size_t i = circuit_.nodes(); i-- > 0;) {
    if (circuit_.kind(i) == 2 || worth.down[i] == -kInf) continue;
    for (std::int32_t child : circuit_.children(i)) {
      const double others = circuit_.kind(i) == 0 ? 0 : worth.excess[i] - worth.excess[child];
      worth.down[child] = std::max(worth.down[child], worth.down[i] + others);
    }
  }
}

double Likelihood::excess_atom(const Sweep& sweep, const Worth& worth, double weight, std::size_t j, std::size_t atom) const {
  const Variable& own = variables_[j];
  double best = -kInf;
  for (std::size_t l = 0; l < own.leaves.size(); ++l) {
    const std::int32_t leaf = own.leaves[l];
    best = std::max(best, worth.down[leaf] + weight * (own.log_atoms[atom * own.leaves.size() + l] - sweep.log_leaf[leaf]));
  }
  return best + worth.atom[domain_.features[j].first_atom + atom];
}

double Likelihood::excess_block(const Box& box, const Sweep& sweep, const Worth& worth, double weight, std::size_t j, std::size_t b) const {
  const Variable& own = variables_[j];
  const double* logs = block_logs(own, block(box, j, b), block_width(box.range[j]));
  double best = -kInf;
  for (std::size_t l = 0; l < own.leaves.size(); ++l) {
    const std::int32_t leaf = own.leaves[l];
    best = std::max(best, worth.down[leaf] + weight * (logs[l] - sweep.log_leaf[leaf]));
  }
  return best + worth.block[j * kBlocks + b];
}

double Likelihood::exact(const double* row, Sweep& sweep) const {
  std::copy_n(row, domain_.features.size(), sweep.whole.begin());
  return circuit_.evaluate_row(sweep.whole.data(), approximate_ ? Algebra::kUnder : Algebra::kSum, sweep.nodes);
}

}  // namespace likely::search
