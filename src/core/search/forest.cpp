#include <algorithm>
#include <limits>

#include "score.hpp"

namespace likely::search {

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();
}

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
    const std::size_t first = leaves_.size();
    grow(roots[t], path);
    trees_.push_back({first, leaves_.size(), output_of[t], roots[t]});
  }
}

void Forest::grow(std::int32_t at, Path& path) {
  const Node& node = nodes_[static_cast<std::size_t>(at)];
  if (node.feature < 0) {
    const std::size_t first = conditions_.size();
    for (std::size_t j = 0; j < path.parts.size(); ++j) {
      const Path::Part& part = path.parts[j];
      if (!part.tested) continue;
      conditions_.push_back({static_cast<std::int32_t>(j), part.first, part.last, words_.size()});
      words_.insert(words_.end(), part.atoms.begin(), part.atoms.end());
    }
    leaves_.push_back({first, conditions_.size(), static_cast<std::size_t>(node.inside)});
    return;
  }
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
    if (!part.empty()) grow(next, path);
    part = before;
  };
  follow(node.inside, from, to, true);
  if (from > to)
    follow(node.outside, before.first, before.last, false);
  else if (from <= before.first)
    follow(node.outside, to + 1, before.last, false);
  else if (to >= before.last)
    follow(node.outside, before.first, from - 1, false);
  else
    follow(node.outside, before.first, before.last, false);  // two sides: their hull
}

Relaxation Forest::relaxation() const {
  Relaxation made;
  made.additive = false;
  made.atom.resize(domain_.atoms);
  made.cell.resize(domain_.cells);
  return made;
}

double Forest::value(std::int32_t output, std::size_t at, const Goal& goal) const {
  if (output >= 0) return goal.coefficient[static_cast<std::size_t>(output)] * values_[at] / divisor_;
  double total = 0;
  for (std::size_t o = 0; o < goal.coefficient.size(); ++o) total += goal.coefficient[o] * values_[at + o];
  return total / divisor_;
}

bool Forest::reaches(const Box& box, const Leaf& leaf) const {
  for (std::size_t c = leaf.first; c < leaf.last; ++c) {
    const Condition& own = conditions_[c];
    const Range& range = box.range[static_cast<std::size_t>(own.feature)];
    if (std::max(own.first, range.first) <= std::min(own.last, range.last)) continue;
    const Feature& f = domain_.features[static_cast<std::size_t>(own.feature)];
    bool any = false;
    for (std::size_t w = 0; w < f.words() && !any; ++w) any = (words_[own.word + w] & box.atoms[f.first_word + w]) != 0;
    if (!any) return false;
  }
  return true;
}

void Forest::relax(const Box& box, const Goal& goal, Relaxation& out) const {
  double base = 0;
  for (std::size_t o = 0; o < base_.size(); ++o) base += goal.coefficient[o] * base_[o] / divisor_;
  // cell[c] first collects, as differences between neighbours, how much worse than its best leaf every tree is there.
  std::fill(out.cell.begin(), out.cell.end(), 0.0);
  std::fill(out.atom.begin(), out.atom.end(), 0.0);
  out.upper = base;
  std::vector<std::size_t> reached;
  std::vector<double> gain;
  struct Piece {
    std::int32_t first, last;
    double best;
  };
  std::vector<Piece> pieces;
  std::vector<std::int32_t> tested, cuts;
  for (const Tree& tree : trees_) {
    reached.clear();
    gain.clear();
    tested.clear();
    double best = -kInf;
    for (std::size_t l = tree.first; l < tree.last; ++l) {
      if (!reaches(box, leaves_[l])) continue;
      reached.push_back(l);
      gain.push_back(value(tree.output, leaves_[l].value, goal));
      best = std::max(best, gain.back());
      for (std::size_t c = leaves_[l].first; c < leaves_[l].last; ++c) tested.push_back(conditions_[c].feature);
    }
    out.upper += best;
    std::sort(tested.begin(), tested.end());
    tested.erase(std::unique(tested.begin(), tested.end()), tested.end());
    for (const std::int32_t feature : tested) {
      const auto j = static_cast<std::size_t>(feature);
      const Feature& f = domain_.features[j];
      const Range& range = box.range[j];
      auto condition = [&](std::size_t l) -> const Condition* {
        for (std::size_t c = leaves_[l].first; c < leaves_[l].last; ++c)
          if (conditions_[c].feature == feature) return &conditions_[c];
        return nullptr;
      };
      box.each_atom(f, [&](std::size_t k) {
        double here = -kInf;
        for (std::size_t i = 0; i < reached.size(); ++i) {
          const Condition* own = condition(reached[i]);
          if (own == nullptr || (words_[own->word + k / 64] >> (k % 64) & 1)) here = std::max(here, gain[i]);
        }
        out.atom[f.first_atom + k] += here - best;
      });
      if (range.empty()) continue;
      cuts.assign({range.first, range.last + 1});
      for (const std::size_t l : reached)
        if (const Condition* own = condition(l)) {
          if (own->first > range.first && own->first <= range.last) cuts.push_back(own->first);
          if (own->last >= range.first && own->last < range.last) cuts.push_back(own->last + 1);
        }
      std::sort(cuts.begin(), cuts.end());
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      pieces.clear();
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) pieces.push_back({cuts[i], cuts[i + 1] - 1, -kInf});
      for (std::size_t i = 0; i < reached.size(); ++i) {
        const Condition* own = condition(reached[i]);
        for (Piece& piece : pieces)
          if (own == nullptr || (own->first <= piece.first && piece.last <= own->last)) piece.best = std::max(piece.best, gain[i]);
      }
      for (const Piece& piece : pieces) {
        const double worse = piece.best - best;
        out.cell[f.first_cell + static_cast<std::size_t>(piece.first)] += worse;
        if (static_cast<std::size_t>(piece.last) + 1 < f.low.size())
          out.cell[f.first_cell + static_cast<std::size_t>(piece.last) + 1] -= worse;
      }
    }
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

// To the last bit as the form scores: outputs are added up tree by tree and divided at the end.
double Forest::exact(const double* row, const Goal& goal) const {
  std::vector<double> scores = base_;
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
  double total = 0;
  for (std::size_t o = 0; o < scores.size(); ++o) total += goal.coefficient[o] * (scores[o] / divisor_);
  return total;
}

}  // namespace likely::search
