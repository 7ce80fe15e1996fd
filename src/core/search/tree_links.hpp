// Which values of which features the leaves of every tree of a forest tell apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace likely::search {

struct TreeLinks {
  explicit TreeLinks(const Forest& forest);

  // A feature that a tree tests: its cells in parts that the leaves of the tree do not tell apart, and its atoms. Whatever is
  // kept per value of a link is kept of the parts, in order, and then of the atoms.
  struct Link {
    std::uint32_t tree, feature;
    std::uint32_t first_start, parts;  // where the parts begin, in `starts`
    std::uint32_t first_value;         // its place among the values of all links
  };
  // The parts of a link that a leaf asks for, and its condition; -1: it asks for nothing.
  struct Span {
    std::int32_t first, last, condition;
  };

  // Pairs of a leaf and a feature that its tree tests: how much work a forest is.
  static std::size_t size(const Forest& forest);

  const Forest& forest;
  std::vector<Link> links;                     // by tree, then by feature
  std::vector<std::uint32_t> first_link;       // per tree, and in the end how many there are
  std::vector<std::vector<std::uint32_t>> of;  // per feature
  std::vector<std::int32_t> starts;            // of each link's parts, and in the end how many cells the feature has
  std::vector<Span> spans;                     // per leaf and link of its tree
  std::vector<std::size_t> first_span;         // per leaf
  std::vector<std::size_t> additions;          // per feature: of a sum over its links, cell by cell
  std::size_t values = 0;                      // of all links

 private:
  void add(std::uint32_t tree);
  std::vector<std::vector<std::int32_t>> starts_of(const Forest::Tree& tree) const;
  Span span_of(const Link& link, const Forest::Leaf& leaf) const;
};

}  // namespace likely::search
