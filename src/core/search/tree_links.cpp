#include "tree_links.hpp"

#include <algorithm>

namespace likely::search {

TreeLinks::TreeLinks(const Forest& from) : forest(from), of(from.domain().features.size()) {
  for (std::uint32_t t = 0; t < forest.all_trees().size(); ++t) add(t);
  first_link.push_back(static_cast<std::uint32_t>(links.size()));
  for (std::size_t j = 0; j < of.size(); ++j) {
    additions.push_back(forest.domain().features[j].low.size());
    for (const std::uint32_t i : of[j]) additions[j] += 2 * links[i].parts + 1;
  }
}

std::size_t TreeLinks::size(const Forest& forest) {
  std::size_t total = 0;
  std::vector<std::uint32_t> last(forest.domain().features.size(), 0);  // the last tree, from 1 on, that tests a feature
  for (std::uint32_t t = 0; t < forest.all_trees().size(); ++t) {
    const Forest::Tree& tree = forest.all_trees()[t];
    std::size_t tested = 0;
    for (std::uint32_t l = tree.first; l < tree.last; ++l) {
      const Forest::Leaf& leaf = forest.all_leaves()[l];
      for (std::uint32_t c = leaf.first; c < leaf.last; ++c) {
        std::uint32_t& seen = last[static_cast<std::size_t>(forest.conditions()[c].feature)];
        tested += seen == t + 1 ? 0 : 1;
        seen = t + 1;
      }
    }
    total += tested * (tree.last - tree.first);
  }
  return total;
}

// Per feature: the cells with which a part begins; none if the tree does not test it.
std::vector<std::vector<std::int32_t>> TreeLinks::starts_of(const Forest::Tree& tree) const {
  std::vector<std::vector<std::int32_t>> made(of.size());
  for (std::uint32_t l = tree.first; l < tree.last; ++l) {
    const Forest::Leaf& leaf = forest.all_leaves()[l];
    for (std::uint32_t c = leaf.first; c < leaf.last; ++c) {
      const Forest::Condition& asked = forest.conditions()[c];
      std::vector<std::int32_t>& begin = made[static_cast<std::size_t>(asked.feature)];
      begin.push_back(0);
      if (asked.first > asked.last) continue;
      begin.push_back(asked.first);
      begin.push_back(asked.last + 1);
    }
  }
  for (std::vector<std::int32_t>& begin : made) {
    std::sort(begin.begin(), begin.end());
    begin.erase(std::unique(begin.begin(), begin.end()), begin.end());
  }
  return made;
}

void TreeLinks::add(std::uint32_t t) {
  const Forest::Tree& tree = forest.all_trees()[t];
  const std::vector<std::vector<std::int32_t>> begin = starts_of(tree);
  const std::size_t first = links.size();
  first_link.push_back(static_cast<std::uint32_t>(first));
  for (std::uint32_t j = 0; j < begin.size(); ++j) {
    if (begin[j].empty()) continue;
    const Feature& f = forest.domain().features[j];
    const auto cells = static_cast<std::int32_t>(f.low.size());
    const auto end = std::lower_bound(begin[j].begin(), begin[j].end(), cells);
    const auto parts = static_cast<std::uint32_t>(end - begin[j].begin());
    of[j].push_back(static_cast<std::uint32_t>(links.size()));
    links.push_back({t, j, static_cast<std::uint32_t>(starts.size()), parts, static_cast<std::uint32_t>(values)});
    starts.insert(starts.end(), begin[j].begin(), end);
    starts.push_back(cells);
    values += parts + f.atom.size();
  }
  for (std::uint32_t l = tree.first; l < tree.last; ++l) {
    first_span.push_back(spans.size());
    for (std::size_t i = first; i < links.size(); ++i) spans.push_back(span_of(links[i], forest.all_leaves()[l]));
  }
}

TreeLinks::Span TreeLinks::span_of(const Link& link, const Forest::Leaf& leaf) const {
  for (std::uint32_t c = leaf.first; c < leaf.last; ++c) {
    const Forest::Condition& asked = forest.conditions()[c];
    if (asked.feature != static_cast<std::int32_t>(link.feature)) continue;
    const auto begin = starts.begin() + link.first_start, end = begin + link.parts;
    return {static_cast<std::int32_t>(std::lower_bound(begin, end, asked.first) - begin),
            static_cast<std::int32_t>(std::upper_bound(begin, end, asked.last) - begin) - 1, static_cast<std::int32_t>(c)};
  }
  return {0, static_cast<std::int32_t>(link.parts) - 1, -1};
}

}  // namespace likely::search
