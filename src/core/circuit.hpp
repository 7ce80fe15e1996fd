// Sum-product networks (Poon and Domingos 2011): one bottom-up sweep, several algebras; one top-down sweep for the
// derivatives of the network polynomial (Darwiche 2003) and expected counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "families.hpp"

namespace likely {

// What a sum node makes of its weighted children t_a = w_a o_a:
//   kSum    sum_a t_a: the likelihood
//   kUnder  max_a t_a: the paper's approximation, never above the likelihood
//   kOver   min(n max_a t_a, max_a o_a): never below it (a sum of n terms, and a mean with weights w)
enum class Algebra : int { kSum = 0, kUnder = 1, kOver = 2 };

enum class NodeKind : std::uint8_t { kSum = 0, kProduct = 1, kLeaf = 2 };

// The leaves of one variable. The breaks cut the doubles into cells; on a cell a leaf's steps are constant.
struct Variable {
  std::vector<double> breaks;
  std::vector<std::int32_t> leaves;  // places of nodes
  std::vector<Peaked> peaked;        // empty if no leaf has a parametric part
  std::vector<double> steps;         // [leaf][cell], no floor

  // Leaf by leaf the density in each cell over the largest of all leaves in that cell, and the logarithm of that
  // largest: products of many small densities then stay far from underflow. The last cell stands for an unknown value.
  std::vector<double> scaled;
  std::vector<double> log_scale;
  std::vector<double> log_density;

  double largest = 0;    // density of any leaf in any cell
  bool regular = false;  // breaks are b, b + 1, b + 2, ...

  std::size_t cells() const { return breaks.size() + 2; }  // with the one of an unknown value
  std::size_t cell(double v) const;
};

// The greatest value of every leaf of a variable over ranges of rows (cells, usually), in a binary tree: node n has the
// greatest over its rows; its halves are nodes 2n and 2n + 1; row r is node size + r. Values are over the largest of all.
struct RangeTree {
  RangeTree() = default;
  RangeTree(std::vector<double> rows, std::size_t count, double greatest);  // rows: [row][leaf]

  const double* node(std::size_t n) const { return values.data() + n * leaves; }
  const double* log_node(std::size_t n) const { return logs.data() + n * leaves; }

  std::size_t leaves = 0, size = 1;
  double largest = 1;
  std::vector<double> values, logs;  // [node][leaf]
};

class Circuit {
 public:
  // kind: numbers of NodeKind. children of node i are child[start[i] .. start[i + 1]), before it; weight alike.
  // Throws std::invalid_argument if that is not so.
  Circuit(const std::vector<std::int32_t>& kind, std::vector<std::int64_t> start, std::vector<std::int32_t> child,
          std::vector<double> weight, double floor);

  // The next variable: steps are [leaf][breaks + 1 cells], one row of parameters (family, a, b, share) per leaf.
  void add_variable(std::vector<double> breaks, std::vector<std::int32_t> leaves, std::vector<double> steps,
                    std::vector<Peaked> peaked);

  std::size_t variables() const { return variables_.size(); }
  std::size_t nodes() const { return kind_.size(); }
  std::size_t edges() const { return child_.size(); }
  const Variable& variable(std::size_t j) const { return variables_[j]; }
  NodeKind kind(std::size_t i) const { return kind_[i]; }
  std::span<const std::int32_t> children(std::size_t i) const { return {child_.data() + start_[i], fanin(i)}; }
  std::span<const double> weights(std::size_t i) const { return {weight_.data() + start_[i], fanin(i)}; }
  double floor() const { return floor_; }

  // Per variable, its leaves' steps over its cells; made when they are first asked for.
  const RangeTree& tree(std::size_t j) const;

  // out[r] = the logarithm of the root's value at row r; a NaN is any value.
  void evaluate(const double* rows, std::size_t count, Algebra algebra, double* out, std::size_t threads) const;
  // The same for a single row; `value` is room for a number per node.
  double evaluate_row(const double* row, Algebra algebra, std::vector<double>& value) const;

  // Expectation step: for every row, the posterior probability of every edge of a sum and of every leaf, summed over
  // rows with their weights: edge[e], and leaf[offset(variable) + leaf * cells + cell]. out[r] is the log-likelihood.
  // The same sums to the last bit on any number of threads.
  void expect(const double* rows, const double* row_weight, std::size_t count, double* out, double* edge, double* leaf,
              std::size_t threads) const;
  std::size_t leaf_cells() const;  // the length of `leaf`

  // value[i] = log of node i, where leaves have the given logs.
  void sweep(const double* leaf_log, Algebra algebra, double* value) const;
  // derivative[i] = log of the derivative of the root by node i, at the values that sweep(kSum) gave.
  void differentiate(const double* value, double* derivative) const;

 private:
  struct Block;
  void read_block(const double* rows, Block& block) const;
  template <Algebra algebra>
  void sweep_block(Block& block) const;
  void finish_block(const double* rows, Algebra algebra, const Block& block, double* out) const;
  void leaf_logs(const double* row, double* logs) const;
  double read_leaves(std::size_t j, double v, std::vector<double>& value) const;
  void expect_block(const double* rows, const double* row_weight, Block& block, double* out, double* edge, double* leaf) const;
  void expect_row(const double* row, double row_weight, double& out, double* edge, double* leaf) const;
  double weight_sum(std::size_t i) const;
  std::size_t fanin(std::size_t i) const { return start_[i + 1] - start_[i]; }

  std::vector<NodeKind> kind_;
  std::vector<std::int64_t> start_;
  std::vector<std::int32_t> child_;
  std::vector<double> weight_;
  double floor_;
  std::vector<Variable> variables_;
  mutable std::vector<RangeTree> trees_;
  mutable std::unique_ptr<std::once_flag> made_trees_ = std::make_unique<std::once_flag>();
};

}  // namespace likely
