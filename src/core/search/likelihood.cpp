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

Likelihood::Likelihood(const Circuit& circuit, const Domain& domain, std::vector<double> targets, std::vector<double> given,
                       bool approximate, bool weighed)
    : circuit_(circuit), domain_(domain), targets_(std::move(targets)), given_(std::move(given)), approximate_(approximate),
      weighed_(weighed) {
  for (std::size_t j = 0; j < domain.features.size(); ++j)
    variables_.push_back(variable(j, domain.features[j]));
}

std::int32_t Likelihood::Variable::first_cell(std::size_t r) const {
  return static_cast<std::int32_t>(std::lower_bound(cell_row.begin(), cell_row.end(), r) - cell_row.begin());
}

Likelihood::Variable Likelihood::variable(std::size_t j, const Feature& f) const {
  const likely::Variable& raw = circuit_.variable(j);
  Variable made;
  made.leaves = raw.leaves;
  made.peaked = !raw.peaked.empty();
  if (!made.peaked) {
    made.tree = &circuit_.tree(j);
    for (const double v : f.atom) made.atom_row.push_back(raw.cell(v));
    for (const double v : f.low) made.cell_row.push_back(raw.cell(v));
  } else {
    // Rows: the cells, then the atoms. On a cell a parametric leaf has its greatest value there.
    const std::size_t count = raw.leaves.size(), known = raw.breaks.size() + 1;
    std::vector<double> rows;
    auto add = [&](double low, double high) {
      for (std::size_t l = 0; l < count; ++l)
        rows.push_back(std::max(circuit_.floor(), raw.steps[l * known + raw.cell(low)] + raw.peaked[l].largest(low, high)));
    };
    for (std::size_t c = 0; c < f.low.size(); ++c) {
      made.cell_row.push_back(c);
      add(f.low[c], f.high[c]);
    }
    for (std::size_t k = 0; k < f.atom.size(); ++k) {
      made.atom_row.push_back(f.low.size() + k);
      add(f.atom[k], f.atom[k]);
    }
    const double largest = rows.empty() ? 1 : *std::max_element(rows.begin(), rows.end());
    made.own = std::make_unique<RangeTree>(std::move(rows), count, largest);
    made.tree = made.own.get();
  }
  made.log_scale = log_of(made.tree->largest);
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
  sweep.given = given_[alternative];
  if (circuit_.variables() == place) return;
  const double target = targets_[alternative];
  const likely::Variable& own = circuit_.variable(place);
  sweep.whole[place] = target;
  if (std::isnan(target)) return;  // any class: its leaves stay at 1
  const std::size_t known = own.breaks.size() + 1, cell = own.cell(target);
  for (std::size_t l = 0; l < own.leaves.size(); ++l) {
    const double peaked = own.peaked.empty() ? 0 : own.peaked[l].density(target);
    sweep.leaf[own.leaves[l]] = std::max(circuit_.floor(), own.steps[l * known + cell] + peaked);
  }
}

void Likelihood::greatest(const Variable& own, const Box& box, std::size_t j, const Feature& f, double* out) const {
  const std::size_t count = own.leaves.size();
  std::fill_n(out, count, 0.0);
  auto take = [&](const double* values) {
    for (std::size_t l = 0; l < count; ++l) out[l] = std::max(out[l], values[l]);
  };
  box.each_atom(f, [&](std::size_t k) { take(own.atom(k)); });
  const Range& range = box.range[j];
  if (range.empty()) return;
  if (range.first == range.last && own.peaked) {
    // Within one cell a parametric density still varies: take it where the numbers still allowed are.
    const double* cell = own.cell(static_cast<std::size_t>(range.first));
    const likely::Variable& raw = circuit_.variable(j);
    const std::size_t place = raw.cell(range.low), known = raw.breaks.size() + 1;
    for (std::size_t l = 0; l < count; ++l) {
      const double exact = raw.steps[l * known + place] + raw.peaked[l].largest(range.low, range.high);
      out[l] = std::max(out[l], std::min(cell[l], std::max(circuit_.floor(), exact) / own.tree->largest));
    }
    return;
  }
  std::size_t low = own.tree->size + own.cell_row[static_cast<std::size_t>(range.first)];
  std::size_t high = own.tree->size + own.cell_row[static_cast<std::size_t>(range.last)] + 1;
  for (; low < high; low /= 2, high /= 2) {
    if (low & 1) take(own.tree->node(low++));
    if (high & 1) take(own.tree->node(--high));
  }
}

void Likelihood::bound(const Box& box, Sweep& sweep) const {
  sweep.log_scale = -sweep.given;
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
  return std::log(std::max(combined(own, sweep, own.atom(atom)), kTooSmall)) + sweep.log_scale + kSlack;
}

double Likelihood::log_upper_cell(const Sweep& sweep, std::size_t j, std::size_t cell) const {
  const Variable& own = variables_[j];
  return std::log(std::max(combined(own, sweep, own.cell(cell)), kTooSmall)) + sweep.log_scale + kSlack;
}

// The first (or last) cell in first..last whose bound is at least `least` (scaled, no logarithm); beyond the end if none
// is. Whole branches of the tree are passed over by their bound.
std::int32_t Likelihood::outermost_likely(const Variable& own, const Sweep& sweep, std::int32_t first, std::int32_t last,
                                          double least, bool from_left) const {
  const std::size_t from = own.cell_row[static_cast<std::size_t>(first)], to = own.cell_row[static_cast<std::size_t>(last)];
  std::vector<std::pair<std::size_t, std::size_t>> waiting{{1, own.tree->size}};  // nodes, and how many rows each has
  while (!waiting.empty()) {
    const auto [node, rows] = waiting.back();
    waiting.pop_back();
    const std::size_t begin = (node - std::bit_floor(node)) * rows;  // its number without the leading bit, times its rows
    if (begin + rows <= from || begin > to) continue;
    if (combined(own, sweep, own.tree->node(node)) < least) continue;
    if (rows == 1) return from_left ? std::max(first, own.first_cell(begin)) : std::min(last, own.first_cell(begin + 1) - 1);
    const std::size_t near = from_left ? 2 * node : 2 * node + 1;
    waiting.emplace_back(near ^ 1, rows / 2);
    waiting.emplace_back(near, rows / 2);
  }
  return from_left ? last + 1 : first - 1;
}

bool Likelihood::filter(Box& box, const Sweep& sweep, double least) const {
  if (!(sweep.value.back() > kTooSmall)) return false;
  const double scaled = std::exp(least - sweep.log_scale - kSlack);
  if (!(scaled > kTooSmall)) return false;  // what is so small may be small for want of digits only
  bool changed = false;
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& own = variables_[j];
    const Feature& f = domain_.features[j];
    box.each_atom(f, [&](std::size_t k) {
      if (combined(own, sweep, own.atom(k)) < scaled) {
        box.drop_atom(f, k);
        changed = true;
      }
    });
    const Range& range = box.range[j];
    if (range.empty()) continue;
    const std::int32_t first = outermost_likely(own, sweep, range.first, range.last, scaled, true);
    if (first > range.last) {
      box.drop_numbers(j);
      changed = true;
    } else {
      changed |= box.keep_cells(domain_, j, first, outermost_likely(own, sweep, first, range.last, scaled, false));
    }
  }
  return changed;
}

std::size_t Likelihood::block_width(const Variable& own, const Range& range) const {
  const std::size_t from = own.cell_row[static_cast<std::size_t>(range.first)], to = own.cell_row[static_cast<std::size_t>(range.last)];
  std::size_t width = 1;
  while (to / width - from / width + 1 > kBlocks) width *= 2;
  return width;
}

Range Likelihood::block(const Box& box, std::size_t j, std::size_t b) const {
  const Range& range = box.range[j];
  if (range.empty()) return range;
  const Variable& own = variables_[j];
  const std::size_t width = block_width(own, range);
  const std::size_t begin = (own.cell_row[static_cast<std::size_t>(range.first)] / width + b) * width;
  const std::int32_t first = std::max(range.first, own.first_cell(begin));
  const std::int32_t last = std::min(range.last, own.first_cell(begin + width) - 1);
  if (first > last) return {1, 0, 0, 0};
  const Feature& f = domain_.features[j];
  return {first, last, std::max(range.low, f.low[static_cast<std::size_t>(first)]), std::min(range.high, f.high[static_cast<std::size_t>(last)])};
}

// The logarithms of leaves over a block: of the node of the tree that holds it.
const double* Likelihood::block_logs(const Variable& own, const Range& block, std::size_t width) const {
  return own.tree->log_node((own.tree->size + own.cell_row[static_cast<std::size_t>(block.first)]) / width);
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
    box.each_atom(f, [&](std::size_t k) { take(own.log_atom(k), worth.atom[f.first_atom + k]); });
    if (!box.range[j].empty()) {
      const std::size_t width = block_width(own, box.range[j]);
      for (std::size_t b = 0; b < kBlocks; ++b) {
        const Range part = block(box, j, b);
        if (part.empty()) continue;
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
  const double* logs = own.log_atom(atom);
  double best = -kInf;
  for (std::size_t l = 0; l < own.leaves.size(); ++l) {
    const std::int32_t leaf = own.leaves[l];
    best = std::max(best, worth.down[leaf] + weight * (logs[l] - sweep.log_leaf[leaf]));
  }
  return best + worth.atom[domain_.features[j].first_atom + atom];
}

double Likelihood::excess_block(const Box& box, const Sweep& sweep, const Worth& worth, double weight, std::size_t j, std::size_t b) const {
  const Variable& own = variables_[j];
  const double* logs = block_logs(own, block(box, j, b), block_width(own, box.range[j]));
  double best = -kInf;
  for (std::size_t l = 0; l < own.leaves.size(); ++l) {
    const std::int32_t leaf = own.leaves[l];
    best = std::max(best, worth.down[leaf] + weight * (logs[l] - sweep.log_leaf[leaf]));
  }
  return best + worth.block[j * kBlocks + b];
}

double Likelihood::exact(const double* row, Sweep& sweep) const {
  std::copy_n(row, domain_.features.size(), sweep.whole.begin());
  return circuit_.evaluate_row(sweep.whole.data(), approximate_ ? Algebra::kUnder : Algebra::kSum, sweep.nodes) - sweep.given;
}

}  // namespace likely::search
