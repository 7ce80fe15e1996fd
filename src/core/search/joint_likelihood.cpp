#include <algorithm>
#include <limits>

#include "likelihood.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

std::size_t Likelihood::run_width(const Variable& variable, const Range& range) const {
  const std::size_t from = variable.cell_row[static_cast<std::size_t>(range.first)],
                    to = variable.cell_row[static_cast<std::size_t>(range.last)];
  std::size_t width = 1;
  while (to / width - from / width + 1 > tolerance::kJointRuns) width *= 2;
  return width;
}

Range Likelihood::run(const Box& box, std::size_t j, std::size_t r) const {
  const Range& range = box.range[j];
  if (range.empty()) return range;
  const Variable& variable = variables_[j];
  const std::size_t width = run_width(variable, range);
  const std::size_t begin = (variable.cell_row[static_cast<std::size_t>(range.first)] / width + r) * width;
  const std::int32_t first = std::max(range.first, variable.first_cell(begin));
  const std::int32_t last = std::min(range.last, variable.first_cell(begin + width) - 1);
  if (first > last) return {1, 0, 0, 0};
  const Feature& f = domain_.features[j];
  return {first, last, std::max(range.low, f.low[static_cast<std::size_t>(first)]),
          std::min(range.high, f.high[static_cast<std::size_t>(last)])};
}

// The logarithms of leaves over a run of cells: of the node of the tree that holds it.
const double* Likelihood::run_logs(const Variable& variable, const Range& run, std::size_t width) const {
  return variable.tree->log_node((variable.tree->size + variable.cell_row[static_cast<std::size_t>(run.first)]) / width);
}

Likelihood::Joint Likelihood::joint() const {
  Joint made;
  made.atom.resize(domain_.atoms);
  made.run.resize(domain_.features.size() * tolerance::kJointRuns);
  made.leaf.assign(circuit_.nodes(), 0.0);
  made.excess.resize(circuit_.nodes());
  made.down.resize(circuit_.nodes());
  return made;
}

double Likelihood::excess(const Box& box, const Sweep& sweep, double weight, Joint& joint) const {
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    const std::size_t count = variable.leaves.size();
    const Feature& f = domain_.features[j];
    for (std::size_t l = 0; l < count; ++l) joint.leaf[variable.leaves[l]] = -kInf;
    auto take = [&](const double* logs, double value) {
      for (std::size_t l = 0; l < count; ++l) {
        double& best = joint.leaf[variable.leaves[l]];
        best = std::max(best, weight * logs[l] + value);
      }
    };
    box.each_atom(f, [&](std::size_t k) { take(variable.log_atom(k), joint.atom[f.first_atom + k]); });
    if (!box.range[j].empty()) {
      const std::size_t width = run_width(variable, box.range[j]);
      for (std::size_t r = 0; r < tolerance::kJointRuns; ++r) {
        const Range part = run(box, j, r);
        if (part.empty()) continue;
        take(run_logs(variable, part, width), joint.run[j * tolerance::kJointRuns + r]);
      }
    }
    for (std::size_t l = 0; l < count; ++l) joint.leaf[variable.leaves[l]] -= weight * sweep.log_leaf[variable.leaves[l]];
  }
  for (std::size_t i = 0; i < circuit_.nodes(); ++i) {
    const NodeKind kind = circuit_.kind(i);
    double excess = kind == NodeKind::kLeaf ? joint.leaf[i] : kind == NodeKind::kSum ? -kInf : 0;
    for (std::int32_t child : circuit_.children(i))
      excess = kind == NodeKind::kSum ? std::max(excess, joint.excess[child]) : excess + joint.excess[child];
    joint.excess[i] = excess;
  }
  return joint.excess.back();
}

void Likelihood::descend(Joint& joint) const {
  std::fill(joint.down.begin(), joint.down.end(), -kInf);
  joint.down.back() = 0;
  for (std::size_t i = circuit_.nodes(); i-- > 0;) {
    if (circuit_.kind(i) == NodeKind::kLeaf || joint.down[i] == -kInf) continue;
    for (std::int32_t child : circuit_.children(i)) {
      const double others = circuit_.kind(i) == NodeKind::kSum ? 0 : joint.excess[i] - joint.excess[child];
      joint.down[child] = std::max(joint.down[child], joint.down[i] + others);
    }
  }
}

// The excess with one value fixed, without its reward: of the leaf that gives most.
double Likelihood::best_excess(const Variable& variable, const Sweep& sweep, const Joint& joint, double weight,
                               const double* logs) const {
  double best = -kInf;
  for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
    const std::int32_t leaf = variable.leaves[l];
    best = std::max(best, joint.down[leaf] + weight * (logs[l] - sweep.log_leaf[leaf]));
  }
  return best;
}

double Likelihood::excess_atom(const Sweep& sweep, const Joint& joint, double weight, std::size_t j, std::size_t atom) const {
  const Variable& variable = variables_[j];
  return best_excess(variable, sweep, joint, weight, variable.log_atom(atom)) + joint.atom[domain_.features[j].first_atom + atom];
}

double Likelihood::excess_run(const Box& box, const Sweep& sweep, const Joint& joint, double weight, std::size_t j,
                              std::size_t r) const {
  const Variable& variable = variables_[j];
  const double* logs = run_logs(variable, run(box, j, r), run_width(variable, box.range[j]));
  return best_excess(variable, sweep, joint, weight, logs) + joint.run[j * tolerance::kJointRuns + r];
}

}  // namespace likely::search
