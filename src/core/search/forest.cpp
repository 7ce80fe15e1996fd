#include "forest.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>

#include "../tolerances.hpp"

namespace likely::search {

// Per feature: the cells and atoms that the tests so far leave, and whether there was a test at all.
struct Forest::Path {
  struct Part {
    std::int32_t first, last;
    std::vector<std::uint64_t> atoms;
    bool tested = false;

    bool empty() const {
      return first > last && std::all_of(atoms.begin(), atoms.end(), [](std::uint64_t w) { return w == 0; });
    }
  };
  std::vector<Part> parts;
};

Forest::Forest(const Domain& domain, std::vector<TreeNode> nodes, const std::vector<std::int32_t>& roots,
               const std::vector<std::int32_t>& output_of, std::vector<double> values, std::vector<double> base, double divisor)
    : domain_(domain), nodes_(std::move(nodes)), values_(std::move(values)), base_(std::move(base)), divisor_(divisor) {
  const Box all = whole(domain);
  for (std::size_t t = 0; t < roots.size(); ++t) {
    Path path;
    for (std::size_t j = 0; j < domain.features.size(); ++j) {
      const Feature& f = domain.features[j];
      const auto start = all.atoms.begin() + static_cast<std::ptrdiff_t>(f.first_word);
      path.parts.push_back({all.range[j].first, all.range[j].last, {start, start + static_cast<std::ptrdiff_t>(f.words())}});
    }
    const auto first = static_cast<std::uint32_t>(leaves_.size());
    const std::int32_t top = grow(roots[t], path);
    trees_.push_back({first, static_cast<std::uint32_t>(leaves_.size()), output_of[t], roots[t], top});
  }
}

std::int32_t Forest::add_leaf(std::size_t value, const Path& path) {
  const auto first = static_cast<std::uint32_t>(conditions_.size());
  for (std::size_t j = 0; j < path.parts.size(); ++j) {
    const Path::Part& part = path.parts[j];
    if (!part.tested) continue;
    conditions_.push_back({static_cast<std::int32_t>(j), part.first, part.last, words_.size()});
    words_.insert(words_.end(), part.atoms.begin(), part.atoms.end());
  }
  leaves_.push_back({first, static_cast<std::uint32_t>(conditions_.size()), value});
  return ~static_cast<std::int32_t>(leaves_.size() - 1);
}

// The tests from a node on, of those that still tell something on this path.
std::int32_t Forest::grow(std::int32_t at, Path& path) {
  const TreeNode& node = nodes_[static_cast<std::size_t>(at)];
  if (node.feature < 0) return add_leaf(static_cast<std::size_t>(node.inside), path);
  const auto j = static_cast<std::size_t>(node.feature);
  const Feature& f = domain_.features[j];
  Path::Part& part = path.parts[j];
  const Path::Part before = part;
  // Cells within the test: those that begin in it (none straddles its ends).
  const auto from = static_cast<std::int32_t>(std::lower_bound(f.low.begin(), f.low.end(), node.low) - f.low.begin());
  const auto to = static_cast<std::int32_t>(std::upper_bound(f.low.begin(), f.low.end(), node.high) - f.low.begin()) - 1;
  std::vector<std::uint64_t> inside(before.atoms.size(), 0);
  for (std::size_t k = 0; k < f.atom.size(); ++k)
    if (node.low <= f.atom[k] && f.atom[k] <= node.high) inside[k / 64] |= std::uint64_t{1} << (k % 64);
  auto follow = [&](std::int32_t next, std::int32_t first, std::int32_t last, bool within) {
    part.tested = true;
    part.first = std::max(before.first, first);
    part.last = std::min(before.last, last);
    for (std::size_t w = 0; w < inside.size(); ++w) part.atoms[w] = before.atoms[w] & (within ? inside[w] : ~inside[w]);
    const std::optional<std::int32_t> successor = part.empty() ? std::nullopt : std::optional(grow(next, path));
    part = before;
    return successor;
  };
  auto follow_outside = [&] {
    if (from <= to && from <= before.first) return follow(node.outside, to + 1, before.last, false);
    if (from <= to && to >= before.last) return follow(node.outside, before.first, from - 1, false);
    return follow(node.outside, before.first, before.last, false);  // of two sides, their hull
  };
  const auto within = follow(node.inside, from, to, true), beyond = follow_outside();
  if (!within || !beyond) return within ? *within : *beyond;
  tests_.push_back({node.feature, from, to, *within, *beyond, words_.size()});
  words_.insert(words_.end(), inside.begin(), inside.end());
  return static_cast<std::int32_t>(tests_.size() - 1);
}

double Forest::value(std::int32_t output, std::size_t at, const Goal& goal) const {
  if (output >= 0) return goal.coefficient[static_cast<std::size_t>(output)] * values_[at] / divisor_;
  double total = 0;
  for (std::size_t o = 0; o < goal.coefficient.size(); ++o) total += goal.coefficient[o] * values_[at + o];
  return total / divisor_;
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

struct Forest::Workspace final : ScoreWorkspace {
  std::vector<double> gain;                 // what each leaf scores towards the goal,
  std::vector<std::uint32_t> ranked, rank;  // the leaves of each tree from the best to the worst, and each leaf's place there
  std::vector<std::int32_t> waiting;        // tests and leaves
  std::vector<std::uint64_t> reached;       // a tree's leaves by rank
  std::vector<Uncovered> uncovered;         // by feature; the first `uncovered_count` are in use
  std::size_t uncovered_count = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> runs;
};

std::unique_ptr<ScoreWorkspace> Forest::workspace(const Goal& goal) const {
  auto made = std::make_unique<Workspace>();
  std::vector<double>& gain = made->gain;
  gain.resize(leaves_.size());
  made->rank.resize(leaves_.size());
  made->ranked.resize(leaves_.size());
  std::iota(made->ranked.begin(), made->ranked.end(), 0);
  for (const Tree& tree : trees_) {
    for (std::uint32_t l = tree.first; l < tree.last; ++l) gain[l] = value(tree.output, leaves_[l].value, goal);
    std::sort(made->ranked.begin() + tree.first, made->ranked.begin() + tree.last,
              [&](std::uint32_t a, std::uint32_t b) { return gain[a] != gain[b] ? gain[a] > gain[b] : a < b; });
    for (std::uint32_t r = tree.first; r < tree.last; ++r) made->rank[made->ranked[r]] = r - tree.first;
  }
  made->uncovered.resize(domain_.features.size());
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
  while (!work.waiting.empty()) {
    const std::int32_t at = work.waiting.back();
    work.waiting.pop_back();
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

void Forest::relax(const Box& box, const Goal& goal, ScoreWorkspace& workspace, Relaxation& out) const {
  auto& work = static_cast<Workspace&>(workspace);
  out.additive = false;
  // cell[c] first collects, as differences between neighbours, how much worse than its best leaf every tree is there.
  out.cell.assign(domain_.cells, 0.0);
  out.atom.assign(domain_.atoms, 0.0);
  out.upper = 0;
  out.rounding = tolerance::kSumRounding;
  for (std::size_t o = 0; o < base_.size(); ++o) out.upper += goal.coefficient[o] * base_[o] / divisor_;
  for (const Tree& tree : trees_) {
    const double most = best_leaves(box, tree, work, out);
    out.upper += most;
    out.rounding += tolerance::kSumRounding * std::abs(most);
  }
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

// Outputs are added up tree by tree and divided at the end, as the form does it.
void Forest::outputs(const double* row, std::vector<double>& scores) const {
  scores = base_;
  for (const Tree& tree : trees_) {
    std::int32_t at = tree.root;
    while (nodes_[static_cast<std::size_t>(at)].feature >= 0) {
      const TreeNode& node = nodes_[static_cast<std::size_t>(at)];
      const double x = row[node.feature];
      at = node.low <= x && x <= node.high ? node.inside : node.outside;
    }
    const double* leaf = values_.data() + nodes_[static_cast<std::size_t>(at)].inside;
    if (tree.output >= 0)
      scores[static_cast<std::size_t>(tree.output)] += *leaf;
    else
      for (std::size_t o = 0; o < scores.size(); ++o) scores[o] += leaf[o];
  }
  for (double& score : scores) score /= divisor_;
}

}  // namespace likely::search
