// Upper bounds of a sum of decision trees over a box, for the box and for every single value of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../trees.hpp"
#include "score.hpp"

namespace likely::search {

// A sum of decision trees, whose nodes may share successors. Every leaf is known by the cells and atoms that lead to it, by
// whatever path, so the bound of a tree over a box is its best leaf that the box reaches (the leaf-wise bound of tree verifiers:
// Chen et al. 2019, "Robustness verification of tree-based models"; Devos et al. 2021, Veritas); and with one value fixed, the
// best of those that the value reaches too, for all values at once.
class Forest final : public Score {
 public:
  // As `Trees`; scores are divided by `divisor`. The domain's cells do not straddle a test.
  Forest(const Domain& domain, std::vector<TreeNode> nodes, const std::vector<std::int32_t>& roots,
         const std::vector<std::int32_t>& output_of, std::vector<double> values, std::vector<double> base, double divisor);

  // All trees of several forests of one domain, in order; it has their tests and leaves, and one output that means nothing.
  static std::unique_ptr<Forest> joined(const std::vector<std::unique_ptr<Forest>>& forests);

  std::unique_ptr<ScoreWorkspace> workspace(const std::vector<Goal>& goals) const override;
  bool enter(const Region& /*region*/, ScoreWorkspace& /*workspace*/) const override { return true; }
  void relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
             Relaxation& out) const override;
  void outputs(const double* row, std::vector<double>& scores) const override;
  void rounding(const double* row, std::vector<double>& out) const override;
  const std::vector<double>& greatest_rounding() const override { return greatest_rounding_; }
  bool constant_on_cells() const override { return true; }
  // Of every output: the sum of the sizes of what it is added up from, at the smallest leaf of each tree; and how far it can
  // vary.
  const std::vector<double>& least_size() const { return least_size_; }
  const std::vector<double>& spread() const { return spread_; }
  const Forest* trees() const override { return this; }

  // What a leaf asks of one feature: cells first..last (the hull of them), and some of its atoms.
  struct Condition {
    std::int32_t feature, first, last;
    std::size_t word;  // where its atoms start among the words
  };
  struct Leaf {
    std::uint32_t first, last;  // conditions, by feature; last excluded
    std::size_t value;
  };
  struct Tree {
    std::uint32_t first, last;  // leaves, last excluded
    std::int32_t output, root;  // the root among the nodes given
    std::int32_t top;           // and among the tests, or ~leaf
    bool shared;                // whether several tests lead to one
  };
  const Domain& domain() const { return domain_; }
  const std::vector<Tree>& all_trees() const { return trees_; }
  const std::vector<Leaf>& all_leaves() const { return leaves_; }
  const std::vector<Condition>& conditions() const { return conditions_; }
  const std::vector<std::uint64_t>& words() const { return words_; }
  // What a leaf of a tree adds to the score of a goal; and what all rows have.
  double gain(const Tree& tree, const Leaf& leaf, const Goal& goal) const { return value(tree.output, leaf.value, goal); }
  double base_gain(const Goal& goal) const;
  // Where the values of the leaf that a row reaches start, and the value there.
  std::size_t value_of(const Tree& tree, const double* row) const {
    return static_cast<std::size_t>(leaf_values(tree.root, row) - values_.data());
  }
  double value_at(std::size_t place) const { return values_[place]; }
  // Whether some row of a box reaches a leaf; and whether a condition allows an atom.
  bool has_atom(const Condition& asked, std::size_t k) const { return (words_[asked.word + k / 64] >> (k % 64) & 1) != 0; }
  bool reaches(const Box& box, const Leaf& leaf) const;

 private:
  // A test of a feature: inside are cells first..last and some atoms. A successor is a test, or ~leaf.
  struct Test {
    std::int32_t feature, first, last, inside, outside;
    std::size_t word;  // where its atoms start in words_
  };
  struct Part;        // what of a feature leads to a node, while a tree is being read
  struct Builder;     // reads one tree
  struct Uncovered;   // what of a feature no leaf looked at so far reaches
  struct Workspace;   // of one goal
  struct Workspaces;  // of all goals

  void measure_leaves();
  const double* leaf_values(std::int32_t root, const double* row) const;
  Workspace workspace_of(const Goal& goal) const;
  void constant_bound(const Box& box, const Goal& goal, Relaxation& out) const;
  double value(std::int32_t output, std::size_t at, const Goal& goal) const;
  bool meets(const Box& box, std::int32_t feature, std::int32_t first, std::int32_t last, std::size_t word) const;
  bool leaves(const Box& box, const Test& test) const;
  void find_reached(const Box& box, const Tree& tree, Workspace& work) const;
  double best_leaves(const Box& box, const Tree& tree, Workspace& work, Relaxation& out) const;
  void start_covering(const Box& box, const Leaf& best, Workspace& work) const;
  void cover(const Leaf& leaf, double worse, Workspace& work, Relaxation& out) const;

  const Domain& domain_;
  std::vector<TreeNode> nodes_;
  std::vector<double> values_, base_;
  double divisor_;
  std::vector<Tree> trees_;
  std::vector<Test> tests_;
  std::vector<Leaf> leaves_;
  std::vector<Condition> conditions_;
  std::vector<std::uint64_t> words_;
  std::size_t additions_ = 0;  // that one bound is made of, at most
  std::vector<double> greatest_rounding_, least_size_, spread_;
};

}  // namespace likely::search
