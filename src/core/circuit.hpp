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
#include "gaussian.hpp"

namespace likely {

// What a sum node makes of its weighted children t_a = w_a o_a:
//   kSum    sum_a t_a: the likelihood
//   kUnder  max_a t_a: the paper's approximation, never above the likelihood
//   kOver   min(n max_a t_a, max_a o_a): never below it (a sum of n terms, and a mean with weights w)
enum class Algebra : int { kSum = 0, kUnder = 1, kOver = 2 };

enum class NodeKind : std::uint8_t { kSum = 0, kProduct = 1, kLeaf = 2, kBlock = 3 };

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
  // The density at a node of kind kBlock, of variables that were added before.
  void add_block(std::int32_t node, std::vector<std::int32_t> variables, std::vector<Warp> warps, std::vector<double> mean,
                 std::vector<double> factor);

  std::size_t variables() const { return variables_.size(); }
  std::size_t nodes() const { return kind_.size(); }
  std::size_t edges() const { return child_.size(); }
  std::size_t blocks() const { return blocks_.size(); }
  const GaussianBlock& block(std::size_t b) const { return blocks_[b]; }
  std::int32_t block_node(std::size_t b) const { return block_nodes_[b]; }
  const Warp& warp(std::size_t w) const { return warps_[w].warp; }
  std::size_t warps() const { return warps_.size(); }
  bool in_block(std::size_t j) const { return !in_block_.empty() && in_block_[j]; }
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
  struct Batch;
  struct WarpOf {
    std::int32_t variable;
    Warp warp;
    bool operator==(const WarpOf& other) const = default;
  };
  // What a few rows are to the blocks.
  struct BlockRoom {
    BlockRoom(const Circuit& circuit, std::size_t rows_at_once);
    std::size_t lanes;
    std::vector<double> z, log_slope;  // [warp][lane]
    std::vector<double> whitened, logs;
    std::vector<double> scale;  // [variable][lane]: of the leaves of variables that are in blocks
    std::vector<GaussianBlock::Marginal> marginals;
  };
  void read_batch(const double* rows, Batch& batch) const;
  template <Algebra algebra>
  void sweep_batch(Batch& batch) const;
  void finish_batch(const double* rows, Algebra algebra, const Batch& batch, double* out) const;
  void leaf_logs(const double* row, double* logs) const;
  double read_row(const double* row, std::vector<double>& value) const;
  double read_leaves(std::size_t j, double v, std::vector<double>& value) const;
  void expect_batch(const double* rows, const double* row_weight, Batch& batch, double* out, double* edge, double* leaf) const;
  void expect_row(const double* row, double row_weight, double& out, double* edge, double* leaf) const;
  void read_blocks(const double* rows, std::size_t count, BlockRoom& room) const;
  void place_blocks(const double* rows, std::size_t count, BlockRoom& room, double* value, double* log_scale) const;
  std::size_t known_in_block(std::size_t b, const double* row) const;
  bool inner(std::size_t i) const { return kind_[i] == NodeKind::kSum || kind_[i] == NodeKind::kProduct; }
  double weight_sum(std::size_t i) const;
  std::size_t fanin(std::size_t i) const { return start_[i + 1] - start_[i]; }

  std::vector<NodeKind> kind_;
  std::vector<std::int64_t> start_;
  std::vector<std::int32_t> child_;
  std::vector<double> weight_;
  double floor_;
  std::vector<Variable> variables_;
  std::vector<GaussianBlock> blocks_;
  std::vector<std::int32_t> block_nodes_;
  std::vector<WarpOf> warps_;  // blocks share equal ones
  std::vector<bool> in_block_;
  std::size_t widest_block_ = 0;
  mutable std::vector<RangeTree> trees_;
  mutable std::unique_ptr<std::once_flag> made_trees_ = std::make_unique<std::once_flag>();
};

}  // namespace likely
