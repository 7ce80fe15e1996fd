#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "score.hpp"

namespace likely::search {

// Per feature: the cells and atoms that the tests so far leave, and whether there was a test at all.
struct Forest::Path {
  struct Part {
    std::int32_t first, last;
    std::vector<std::uint64_t> atoms;
    bool tested = false;

    bool empty() const { return first > last && std::all_of(atoms.begin(), atoms.end(), [](std::uint64_t w) { return w == 0; }); }
  };
  std::vector<Part> parts;
};

Forest::Forest(const Domain& domain, std::vector<Node> nodes, const std::vector<std::int32_t>& roots,
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
  const Node& node = nodes_[static_cast<std::size_t>(at)];
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
    const std::optional<std::int32_t> found = part.empty() ? std::nullopt : std::optional(grow(next, path));
    part = before;
    return found;
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

Relaxation Forest::relaxation(const Goal& goal) const {
  Relaxation made;
  made.additive = false;
  made.atom.resize(domain_.atoms);
  made.cell.resize(domain_.cells);
  made.gain.resize(leaves_.size());
  made.rank.resize(leaves_.size());
  made.ranked.resize(leaves_.size());
  std::iota(made.ranked.begin(), made.ranked.end(), 0);
  for (const Tree& tree : trees_) {
    for (std::uint32_t l = tree.first; l < tree.last; ++l) made.gain[l] = value(tree.output, leaves_[l].value, goal);
    std::sort(made.ranked.begin() + tree.first, made.ranked.begin() + tree.last,
              [&](std::uint32_t a, std::uint32_t b) { return made.gain[a] != made.gain[b] ? made.gain[a] > made.gain[b] : a < b; });
    for (std::uint32_t r = tree.first; r < tree.last; ++r) made.rank[made.ranked[r]] = r - tree.first;
  }
  return made;
}

// -- bounds over a box ------------------------------------------------------------------------------------------------

// Values of one feature that the leaves looked at so far do not reach: runs of cells, and atoms.
struct Forest::Left {
  std::int32_t feature = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> cells;
  std::vector<std::uint64_t> atoms;

  bool empty() const { return cells.empty() && std::all_of(atoms.begin(), atoms.end(), [](std::uint64_t w) { return w == 0; }); }
};

struct Forest::Work {
  std::vector<std::int32_t> waiting;    // tests and leaves
  std::vector<std::uint64_t> reached;   // a tree's leaves by rank
  std::vector<Left> left;               // by feature; the first `lefts` are in use
  std::size_t lefts = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> runs;
};

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
    const Condition& own = conditions_[c];
    if (!meets(box, own.feature, own.first, own.last, own.word)) return false;
  }
  return true;
}

void Forest::find_reached(const Box& box, const Tree& tree, const Relaxation& ranks, Work& work) const {
  work.reached.assign((tree.last - tree.first + 63) / 64, 0);
  work.waiting.assign(1, tree.top);
  while (!work.waiting.empty()) {
    const std::int32_t at = work.waiting.back();
    work.waiting.pop_back();
    if (at < 0) {
      const auto l = static_cast<std::size_t>(~at);
      if (reaches(box, leaves_[l])) work.reached[ranks.rank[l] / 64] |= std::uint64_t{1} << (ranks.rank[l] % 64);
      continue;
    }
    const Test& test = tests_[static_cast<std::size_t>(at)];
    if (meets(box, test.feature, test.first, test.last, test.word)) work.waiting.push_back(test.inside);
    if (leaves(box, test)) work.waiting.push_back(test.outside);
  }
}

// What the best leaf leaves to others: only of features that it asks about.
void Forest::look_beyond(const Box& box, const Leaf& best, Work& work) const {
  work.lefts = 0;
  for (std::uint32_t c = best.first; c < best.last; ++c) {
    const Condition& own = conditions_[c];
    const Feature& f = domain_.features[static_cast<std::size_t>(own.feature)];
    const Range& range = box.range[static_cast<std::size_t>(own.feature)];
    Left& left = work.left[work.lefts];
    left.feature = own.feature;
    left.cells.clear();
    if (!range.empty() && own.first > own.last) {
      left.cells.emplace_back(range.first, range.last);
    } else if (!range.empty()) {
      if (range.first < own.first) left.cells.emplace_back(range.first, std::min(range.last, own.first - 1));
      if (range.last > own.last) left.cells.emplace_back(std::max(range.first, own.last + 1), range.last);
    }
    left.atoms.resize(f.words());
    for (std::size_t w = 0; w < f.words(); ++w) left.atoms[w] = box.atoms[f.first_word + w] & ~words_[own.word + w];
    if (!left.empty()) ++work.lefts;
  }
}

// Of all that is left, what this leaf reaches is so much worse than the best.
void Forest::take(const Leaf& leaf, double worse, Work& work, Relaxation& out) const {
  std::uint32_t c = leaf.first;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < work.lefts; ++i) {
    Left& left = work.left[i];
    const Feature& f = domain_.features[static_cast<std::size_t>(left.feature)];
    while (c < leaf.last && conditions_[c].feature < left.feature) ++c;
    const Condition* own = c < leaf.last && conditions_[c].feature == left.feature ? &conditions_[c] : nullptr;
    work.runs.clear();
    for (const auto& [first, last] : left.cells) {
      const std::int32_t from = own ? std::max(first, own->first) : first, to = own ? std::min(last, own->last) : last;
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
    left.cells.swap(work.runs);
    for (std::size_t w = 0; w < left.atoms.size(); ++w) {
      std::uint64_t taken = own ? left.atoms[w] & words_[own->word + w] : left.atoms[w];
      left.atoms[w] &= ~taken;
      for (; taken != 0; taken &= taken - 1) out.atom[f.first_atom + 64 * w + static_cast<std::size_t>(std::countr_zero(taken))] += worse;
    }
    if (left.empty()) continue;
    if (kept != i) std::swap(work.left[kept], left);
    ++kept;
  }
  work.lefts = kept;
}

void Forest::relax(const Box& box, const Goal& goal, Relaxation& out) const {
  Work work;
  work.left.resize(domain_.features.size());
  // cell[c] first collects, as differences between neighbours, how much worse than its best leaf every tree is there.
  std::fill(out.cell.begin(), out.cell.end(), 0.0);
  std::fill(out.atom.begin(), out.atom.end(), 0.0);
  out.upper = 0;
  out.rounding = kRounding;
  for (std::size_t o = 0; o < base_.size(); ++o) out.upper += goal.coefficient[o] * base_[o] / divisor_;
  for (const Tree& tree : trees_) {
    find_reached(box, tree, out, work);
    const Leaf* best = nullptr;
    double most = 0;
    for (std::size_t w = 0; w < work.reached.size(); ++w) {
      for (std::uint64_t some = work.reached[w]; some != 0 && (best == nullptr || work.lefts > 0); some &= some - 1) {
        const std::uint32_t l = out.ranked[tree.first + 64 * w + static_cast<std::size_t>(std::countr_zero(some))];
        if (best != nullptr) {
          take(leaves_[l], out.gain[l] - most, work, out);
          continue;
        }
        best = &leaves_[l];
        most = out.gain[l];
        look_beyond(box, *best, work);
      }
    }
    out.upper += most;
    out.rounding += kRounding * std::abs(most);
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
      const Node& node = nodes_[static_cast<std::size_t>(at)];
      const double x = row[node.feature];
      at = node.low <= x && x <= node.high ? node.inside : node.outside;
    }
    const double* found = values_.data() + nodes_[static_cast<std::size_t>(at)].inside;
    if (tree.output >= 0)
      scores[static_cast<std::size_t>(tree.output)] += *found;
    else
      for (std::size_t o = 0; o < scores.size(); ++o) scores[o] += found[o];
  }
  for (double& own : scores) own /= divisor_;
}

}  // namespace likely::search
