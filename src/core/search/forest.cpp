#include "forest.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>

#include "../tolerances.hpp"

namespace likely::search {

double Forest::value(std::int32_t output, std::size_t at, const Goal& goal) const {
  if (output >= 0) return goal.coefficient[static_cast<std::size_t>(output)] * values_[at] / divisor_;
  double total = 0;
  for (std::size_t o = 0; o < goal.coefficient.size(); ++o) total += goal.coefficient[o] * values_[at + o];
  return total / divisor_;
}

double Forest::base_gain(const Goal& goal) const {
  double total = 0;
  for (std::size_t o = 0; o < base_.size(); ++o) total += goal.coefficient[o] * base_[o] / divisor_;
  return total;
}

// -- bounds over a box ------------------------------------------------------------------------------------------------

// Values of one feature that the leaves looked at so far do not reach: runs of cells, and atoms.
struct Forest::Uncovered {
  std::int32_t feature = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> cells;
  std::vector<std::uint64_t> atoms;

  bool empty() const {
    return cells.empty() && std::all_of(atoms.begin(), atoms.end(), [](std::uint64_t w) { return w == 0; });
  }
};

struct Forest::Workspace {
  std::vector<double> gain;                 // what each leaf scores towards the goal,
  std::vector<std::uint32_t> ranked, rank;  // the leaves of each tree from the best to the worst, and each leaf's place there
  std::vector<std::int32_t> waiting;        // tests and leaves
  std::vector<bool> seen;                   // tests, if several lead to one
  std::vector<double> spread;               // per tree: its best leaf less its worst, or the size of either
  std::vector<std::uint64_t> reached;       // a tree's leaves by rank
  std::vector<Uncovered> uncovered;         // by feature; the first `uncovered_count` are in use
  std::size_t uncovered_count = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> runs;
};

struct Forest::Workspaces final : ScoreWorkspace {
  std::vector<Workspace> goals;
};

std::unique_ptr<ScoreWorkspace> Forest::workspace(const std::vector<Goal>& goals) const {
  auto made = std::make_unique<Workspaces>();
  for (const Goal& goal : goals) made->goals.push_back(workspace_of(goal));
  return made;
}

Forest::Workspace Forest::workspace_of(const Goal& goal) const {
  Workspace made;
  std::vector<double>& gain = made.gain;
  gain.resize(leaves_.size());
  made.rank.resize(leaves_.size());
  made.ranked.resize(leaves_.size());
  std::iota(made.ranked.begin(), made.ranked.end(), 0);
  for (const Tree& tree : trees_) {
    for (std::uint32_t l = tree.first; l < tree.last; ++l) gain[l] = value(tree.output, leaves_[l].value, goal);
    std::sort(made.ranked.begin() + tree.first, made.ranked.begin() + tree.last,
              [&](std::uint32_t a, std::uint32_t b) { return gain[a] != gain[b] ? gain[a] > gain[b] : a < b; });
    for (std::uint32_t r = tree.first; r < tree.last; ++r) made.rank[made.ranked[r]] = r - tree.first;
    const double best = gain[made.ranked[tree.first]], worst = gain[made.ranked[tree.last - 1]];
    made.spread.push_back(std::max({best - worst, std::abs(best), std::abs(worst)}));
  }
  made.uncovered.resize(domain_.features.size());
  return made;
}

bool Forest::meets(const Box& box, std::int32_t feature, std::int32_t first, std::int32_t last, std::size_t word) const {
  const Range& range = box.range[static_cast<std::size_t>(feature)];
  if (std::max(first, range.first) <= std::min(last, range.last)) return true;
  const Feature& f = domain_.features[static_cast<std::size_t>(feature)];
  for (std::size_t w = 0; w < f.words(); ++w)
    if ((words_[word + w] & box.atoms[f.first_word + w]) != 0) return true;
  return false;
}

// Whether some value of the box is outside a test.
bool Forest::leaves(const Box& box, const Test& test) const {
  const Range& range = box.range[static_cast<std::size_t>(test.feature)];
  if (!range.empty() && (test.first > test.last || range.first < test.first || range.last > test.last)) return true;
  const Feature& f = domain_.features[static_cast<std::size_t>(test.feature)];
  for (std::size_t w = 0; w < f.words(); ++w)
    if ((~words_[test.word + w] & box.atoms[f.first_word + w]) != 0) return true;
  return false;
}

// The tests of a path may each leave values, and together none.
bool Forest::reaches(const Box& box, const Leaf& leaf) const {
  for (std::uint32_t c = leaf.first; c < leaf.last; ++c) {
    const Condition& asked = conditions_[c];
    if (!meets(box, asked.feature, asked.first, asked.last, asked.word)) return false;
  }
  return true;
}

void Forest::find_reached(const Box& box, const Tree& tree, Workspace& work) const {
  work.reached.assign((tree.last - tree.first + 63) / 64, 0);
  work.waiting.assign(1, tree.top);
  if (tree.shared) work.seen.assign(tests_.size(), false);
  while (!work.waiting.empty()) {
    const std::int32_t at = work.waiting.back();
    work.waiting.pop_back();
    if (tree.shared && at >= 0) {
      if (work.seen[static_cast<std::size_t>(at)]) continue;
      work.seen[static_cast<std::size_t>(at)] = true;
    }
    if (at < 0) {
      const std::int32_t leaf = ~at;
      const auto l = static_cast<std::size_t>(leaf);
      if (reaches(box, leaves_[l])) work.reached[work.rank[l] / 64] |= std::uint64_t{1} << (work.rank[l] % 64);
      continue;
    }
    const Test& test = tests_[static_cast<std::size_t>(at)];
    if (meets(box, test.feature, test.first, test.last, test.word)) work.waiting.push_back(test.inside);
    if (leaves(box, test)) work.waiting.push_back(test.outside);
  }
}

// What the best leaf leaves to others: only of features that it asks about.
void Forest::start_covering(const Box& box, const Leaf& best, Workspace& work) const {
  work.uncovered_count = 0;
  for (std::uint32_t c = best.first; c < best.last; ++c) {
    const Condition& asked = conditions_[c];
    const Feature& f = domain_.features[static_cast<std::size_t>(asked.feature)];
    const Range& range = box.range[static_cast<std::size_t>(asked.feature)];
    Uncovered& rest = work.uncovered[work.uncovered_count];
    rest.feature = asked.feature;
    rest.cells.clear();
    if (!range.empty() && asked.first > asked.last) {
      rest.cells.emplace_back(range.first, range.last);
    } else if (!range.empty()) {
      if (range.first < asked.first) rest.cells.emplace_back(range.first, std::min(range.last, asked.first - 1));
      if (range.last > asked.last) rest.cells.emplace_back(std::max(range.first, asked.last + 1), range.last);
    }
    rest.atoms.resize(f.words());
    for (std::size_t w = 0; w < f.words(); ++w) rest.atoms[w] = box.atoms[f.first_word + w] & ~words_[asked.word + w];
    if (!rest.empty()) ++work.uncovered_count;
  }
}

// Of all values that no better leaf reaches, those that this leaf reaches are so much worse than the best.
void Forest::cover(const Leaf& leaf, double worse, Workspace& work, Relaxation& out) const {
  std::uint32_t c = leaf.first;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < work.uncovered_count; ++i) {
    Uncovered& rest = work.uncovered[i];
    const Feature& f = domain_.features[static_cast<std::size_t>(rest.feature)];
    while (c < leaf.last && conditions_[c].feature < rest.feature) ++c;
    const Condition* asked = c < leaf.last && conditions_[c].feature == rest.feature ? &conditions_[c] : nullptr;
    work.runs.clear();
    for (const auto& [first, last] : rest.cells) {
      const std::int32_t from = asked ? std::max(first, asked->first) : first, to = asked ? std::min(last, asked->last) : last;
      if (from > to) {
        work.runs.emplace_back(first, last);
        continue;
      }
      double* cell = out.cell.data() + f.first_cell;
      cell[from] += worse;
      if (static_cast<std::size_t>(to) + 1 < f.low.size()) cell[to + 1] -= worse;
      if (first < from) work.runs.emplace_back(first, from - 1);
      if (to < last) work.runs.emplace_back(to + 1, last);
    }
    rest.cells.swap(work.runs);
    for (std::size_t w = 0; w < rest.atoms.size(); ++w) {
      std::uint64_t covered = asked ? rest.atoms[w] & words_[asked->word + w] : rest.atoms[w];
      rest.atoms[w] &= ~covered;
      for (; covered != 0; covered &= covered - 1)
        out.atom[f.first_atom + 64 * w + static_cast<std::size_t>(std::countr_zero(covered))] += worse;
    }
    if (rest.empty()) continue;
    if (kept != i) std::swap(work.uncovered[kept], rest);
    ++kept;
  }
  work.uncovered_count = kept;
}

// The best leaf of a tree that the box reaches; the leaves after it are looked at, from the best down, until every value
// has met one.
double Forest::best_leaves(const Box& box, const Tree& tree, Workspace& work, Relaxation& out) const {
  find_reached(box, tree, work);
  const Leaf* best = nullptr;
  double most = 0;
  for (std::size_t w = 0; w < work.reached.size(); ++w) {
    for (std::uint64_t some = work.reached[w]; some != 0 && (best == nullptr || work.uncovered_count > 0); some &= some - 1) {
      const std::uint32_t l = work.ranked[tree.first + 64 * w + static_cast<std::size_t>(std::countr_zero(some))];
      if (best != nullptr) {
        cover(leaves_[l], work.gain[l] - most, work, out);
        continue;
      }
      best = &leaves_[l];
      most = work.gain[l];
      start_covering(box, *best, work);
    }
  }
  assert(best != nullptr && "some leaf is reached by every box that is not empty");
  return most;
}

void Forest::relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
                   Relaxation& out) const {
  const Box& box = region.box;
  const Goal& goal = goals[g];
  Workspace& work = static_cast<Workspaces&>(workspace).goals[g];
  out.additive = false;
  if (box.single_cells(domain_)) {
    constant_bound(box, goal, out);
    return;
  }
  // cell[c] first collects, as differences between neighbours, how much worse than its best leaf every tree is there.
  out.cell.assign(domain_.cells, 0.0);
  out.atom.assign(domain_.atoms, 0.0);
  out.upper = 0;
  double size = std::abs(goal.lower);  // of the terms of any bound
  for (std::size_t o = 0; o < base_.size(); ++o) {
    out.upper += goal.coefficient[o] * base_[o] / divisor_;
    size += std::abs(goal.coefficient[o] * base_[o] / divisor_);
  }
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    out.upper += best_leaves(box, trees_[t], work, out);
    size += work.spread[t];
  }
  out.rounding = tolerance::kRoundingsOfBound * tolerance::kRoundoff * static_cast<double>(additions_) * size;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    const Feature& f = domain_.features[j];
    double running = out.upper;
    for (std::size_t c = 0; c < f.low.size(); ++c) {
      running += out.cell[f.first_cell + c];
      out.cell[f.first_cell + c] = running;
    }
    for (std::size_t k = 0; k < f.atom.size(); ++k) out.atom[f.first_atom + k] += out.upper;
  }
}

// Where every feature has one atom or one cell left, all rows score the same.
void Forest::constant_bound(const Box& box, const Goal& goal, Relaxation& out) const {
  std::vector<double> row, scores, off;
  for (std::size_t j = 0; j < domain_.features.size(); ++j) {
    row.push_back(box.range[j].low);
    box.each_atom(domain_.features[j], [&](std::size_t k) { row.back() = domain_.features[j].atom[k]; });
  }
  outputs(row.data(), scores);
  rounding(row.data(), off);
  out.upper = goal.score(scores);
  out.rounding = goal.rounding(off);
  out.cell.assign(domain_.cells, out.upper);
  out.atom.assign(domain_.atoms, out.upper);
}

const double* Forest::leaf_values(std::int32_t root, const double* row) const {
  std::int32_t at = root;
  while (nodes_[static_cast<std::size_t>(at)].feature >= 0) {
    const TreeNode& node = nodes_[static_cast<std::size_t>(at)];
    const double x = row[node.feature];
    at = node.low <= x && x <= node.high ? node.inside : node.outside;
  }
  return values_.data() + nodes_[static_cast<std::size_t>(at)].inside;
}

// Outputs are added up tree by tree and divided at the end, as the form does it.
void Forest::outputs(const double* row, std::vector<double>& scores) const {
  scores = base_;
  for (const Tree& tree : trees_) {
    const double* leaf = leaf_values(tree.root, row);
    if (tree.output >= 0)
      scores[static_cast<std::size_t>(tree.output)] += *leaf;
    else
      for (std::size_t o = 0; o < scores.size(); ++o) scores[o] += leaf[o];
  }
  for (double& score : scores) score /= divisor_;
}

void Forest::rounding(const double* row, std::vector<double>& out) const {
  out.resize(base_.size());
  for (std::size_t o = 0; o < out.size(); ++o) out[o] = std::abs(base_[o]);
  for (const Tree& tree : trees_) {
    const double* leaf = leaf_values(tree.root, row);
    if (tree.output >= 0)
      out[static_cast<std::size_t>(tree.output)] += std::abs(*leaf);
    else
      for (std::size_t o = 0; o < out.size(); ++o) out[o] += std::abs(leaf[o]);
  }
  for (double& off : out) off *= tolerance::kRoundoff * static_cast<double>(trees_.size() + 2) / divisor_;
}

}  // namespace likely::search
