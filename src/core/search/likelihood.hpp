// How likely the rows of a box can be: upper bounds from the circuit, for the box and for every single value of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../circuit.hpp"
#include "../tolerances.hpp"
#include "block_bound.hpp"
#include "domain.hpp"
#include "marginals.hpp"
#include "part_terms.hpp"

namespace likely::search {

// One upward sweep with every leaf at its greatest value over the box gives U >= p(x) for every row x of the box; one
// downward sweep gives the derivatives D of U (of the network polynomial: Darwiche 2003, "A differential approach to
// inference in Bayesian networks"). A circuit is linear in the leaves of one feature, so
//   U_j(v) = sum over the leaves of feature j of D_leaf p_leaf(v)
// bounds all rows of the box with x_j = v. With the max algebra (the paper's approximation) sums are maxima throughout. A
// Gaussian block is a leaf of several features; its bound is a sum of terms of one feature each (`BlockBound`), so that fixing
// one value changes one term.
//
// How well values fit together, log p(x) - sum_j log p_j(x_j), is the logarithm of a circuit, too: every leaf of feature j is
// divided by the marginal p_j, and every one-variable term of a block is lowered by log p_j.
class Likelihood {
 public:
  enum class Measure { kLikelihood, kCoherence };
  // Rows have the domain's features, then the circuit's target, which is targets[a] if alternative a is sought (NaN: any
  // class); given[a] is taken from all log-likelihoods then: that of what they are conditional on. The components of a mixture
  // are parts with prices of their own (`Priced`), unless all prices are to be the same.
  Likelihood(const Circuit& circuit, const Domain& domain, const std::vector<double>& targets, std::vector<double> given,
             bool approximate, Measure measure = Measure::kLikelihood, bool by_components = true);

  // What the two sweeps know of a box.
  struct Sweep {
    std::vector<double> leaf;  // per node: a leaf's greatest value over the box, scaled
    std::vector<double> value, derivative;
    std::vector<double> scratch;  // leaves of one feature
    std::vector<BlockBound::Tangent> tangents;
    std::vector<double> least;  // per feature: what its marginal is not below, if that is taken off; 0 otherwise
    double log_scale = 0;
    double log_upper = 0;    // log U
    bool in_doubles = true;  // no block is too large for a double; if one is, only logarithms are right
  };
  // Whether the likelihood is the same all over a cell: no leaf is parametric, and there is no block.
  bool constant_on_cells() const;
  Sweep sweep() const;  // with buffers of the right size

  // Fills leaf, value and log_upper, for rows of the class of an alternative.
  void bound(const Box& box, std::size_t alternative, Sweep& sweep) const;
  // Fills derivative; after bound.
  void differentiate(Sweep& sweep) const;
  // log of U_j(v) for an atom, and for a cell of numbers; after differentiate.
  double log_upper_atom(const Sweep& sweep, std::size_t j, std::size_t atom) const;
  double log_upper_cell(const Sweep& sweep, std::size_t j, std::size_t cell) const;
  // Of a circuit without blocks: removes every atom, and every cell at the ends of the range, whose bound is below `lower`; true
  // if any was.
  bool filter(Box& box, const Sweep& sweep, double lower) const;

  // Likelihood and a reward w_j(v) for x_j = v in one bound. Every induced tree of a circuit has one leaf per feature (of a
  // block, one for all of its features), so with the rewards in the leaves,
  //   V(leaf) = max over v of p_leaf(v) exp(w_j(v)),   products and sums as they are,
  // p(x) exp(sum_j w_j(x_j)) <= V(root) for every row x of the box: one sweep up, and one down for the same with a single value
  // fixed. The components of a mixture are parts of their own, each with its own rewards: p is the sum of what the parts are.
  // Everything is a logarithm here: rewards may be large.
  //
  // Rewards are linear on a segment of the costs, so of a leaf's numbers only the corners of the concave hull of its logarithm on
  // every segment can give the greatest, whatever the rewards are.
  struct Hulls {
    struct Corner {
      double value, offset;  // the number, and less the feature's anchor
      double log_density;    // scaled
      double cost;
    };
    std::vector<Range> range;                  // per feature: that they are of
    std::vector<std::vector<Corner>> of_leaf;  // per node
    std::vector<std::size_t> begin;            // per leaf of a feature: where the hull of the last segment begins
  };
  // The hulls of all leaves over a box; those of features whose numbers are the same as before stay.
  void fill_hulls(const Box& box, Hulls& hulls) const;
  struct Priced {
    Rewards rewards;
    std::vector<double> log_value, log_down;  // per node: scaled
    std::vector<double> down, most_down;      // of leaves: no logarithm, less the greatest of the feature; and that
    std::vector<double> leaf_at;              // per leaf: the value of its feature that gave it
    std::vector<BlockBound::Tangent> tangents;
    std::vector<std::vector<double>> block_rewards;  // per block and variable: the greatest reward
    std::vector<double> block_floors;                // per block: with its least density
    double shift = 0;                                // of the part's logarithms: its weight, their scale and rounding
  };
  Priced priced() const;  // with buffers of the right size
  std::size_t parts() const { return parts_.size(); }
  // log V of a part; `rewards` are given. With hulls, they are of the box; without, runs of cells count with their greatest
  // density, which takes less time than to make hulls, if it is done once.
  double price(const Box& box, const Hulls* hulls, std::size_t alternative, std::size_t part, Priced& priced) const;
  // The terms of a part that is a product of blocks and leaves; false if it is none, or no row of the box is possible to it.
  // `begin` begins a feature's term, as `PartTerms` does, and `gains` are those of a value.
  struct Gains {
    std::function<void(std::size_t j, std::ptrdiff_t coordinate, PartTerms& terms)> begin;
    std::function<void(std::size_t j, double value, double* out)> gains;
  };
  bool fill_terms(const Box& box, const Hulls& hulls, std::size_t part, const Gains& gains, std::size_t prices,
                  PartTerms& terms) const;
  // The points of the tangents of a part's blocks, less the means: all in one, in the order of the terms' coordinates. They stay
  // there when it is priced; without points, tangents begin at the means and go on by themselves.
  void set_points(std::size_t part, const std::vector<double>& points, Priced& priced) const;
  // Whether a block of the part had its least density in the last `price`.
  bool rests_on_floor(std::size_t p, const Priced& priced) const;
  // Where the tangents of a part's blocks, or of all blocks, are: in the same way.
  std::vector<double> points(std::size_t part, const Priced& priced) const;
  std::vector<double> points(const Sweep& sweep) const;
  // After price: what follows needs it.
  void descend(std::size_t part, Priced& priced) const;
  double log_upper_atom(std::size_t part, const Priced& priced, std::size_t j, std::size_t atom) const;
  double log_upper_numbers(std::size_t part, const Priced& priced, const Box& box, std::size_t j, const Range& cells) const;
  // The runs of cells that a range is cut into; the last ones may be empty (first > last).
  Range run(const Box& box, std::size_t j, std::size_t r) const;
  // Whether every part is a product of blocks and leaves: its best prices are the solution of a small programme.
  bool has_product_parts() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.product; });
  }
  bool has_blocks() const { return !blocks_.empty(); }
  bool in_blocks(std::size_t j) const { return !places_[j].empty(); }
  // Calls work(j, value, probability) for what gave the bound: the values of the leaves, and how much each leaf is part of it.
  template <class Work>
  void each_choice(std::size_t part, const Priced& priced, const Work& work) const;
  // By how much the tangents of a part's blocks are above the density where the bound is reached, as parts of features.
  void add_gaps(std::size_t part, const Priced& priced, double share, std::vector<double>& gaps) const;
  // Between the point of the tangent and the best of feature j's term: where a split takes most of the gap away. NaN if feature j
  // is in no block of the part.
  double between(std::size_t part, const Priced& priced, std::size_t j) const;
  // Of a part that is a product, the value of a feature in its block at a coordinate, less the mean; and the height of a
  // feature's term at a number (`PartTerms`).
  double value_at(std::size_t part, std::size_t j, double away) const;
  double height_at(std::size_t part, std::size_t j, double v, double away) const;
  // The numbers of feature j that lie on the same part of the warps of its blocks as v, and on so many parts on either side.
  std::pair<double, double> neighbours(std::size_t j, double v, std::size_t parts) const;

  // The components of a mixture of products of blocks and leaves; none if the circuit is no such mixture. With a price u of cost,
  // the tangents of its blocks at given points (less the means; none: at the means), every row x of a box has
  //   log t(x) - u cost(x) <= max(log_upper - sum_j costs_j(x_j), floor).
  struct ComponentTerms {
    double log_upper = 0, floor = 0;
    ValueCosts costs;
    std::vector<double> at;  // per cell: the number that has its cost
    Rewards rewards;
  };
  std::size_t components() const { return components_.size(); }
  void component_terms(const Box& box, std::size_t alternative, std::size_t component, double cost_price,
                       const std::vector<double>& points, ComponentTerms& out) const;
  // The candidates of its terms, one or more per cell and atom, for prices that are constant on cells but for that of cost; false
  // if it has none of some feature. gains(j, is an atom, which cell or atom, value, out) is false if the value is not of
  // interest.
  using CellGains = std::function<bool(std::size_t j, bool atom, std::size_t k, double value, double* out)>;
  bool fill_cells(const Box& box, std::size_t component, const CellGains& gains, std::size_t prices, PartTerms& terms) const;

  // Numbers of feature j, in low..high, at which the density of its blocks differs; none if it is in no block.
  std::vector<double> numbers_between(std::size_t j, double low, double high) const;

  // The exact log-likelihood of a row of the domain's features, with the class of an alternative.
  struct RowBuffers {
    std::vector<double> row, nodes;
  };
  double exact(const double* row, std::size_t alternative, RowBuffers& buffers) const;

 private:
  friend class LikelihoodChanges;

  // The leaves of one feature over its atoms and cells: rows of the circuit's own tree; or, where leaves are parametric, of
  // one made for this domain.
  struct Variable {
    const RangeTree* tree;
    std::unique_ptr<RangeTree> made_here;
    std::vector<std::int32_t> leaves;
    std::vector<std::size_t> atom_row, cell_row;  // the latter never fall
    std::vector<double> cell_least;               // of a feature in blocks, by whose marginal leaves are divided: its least there
    bool peaked = false;
    double log_scale = 0;

    const double* atom(std::size_t k) const { return tree->node(tree->size + atom_row[k]); }
    const double* log_atom(std::size_t k) const { return tree->log_node(tree->size + atom_row[k]); }
    const double* cell(std::size_t c) const { return tree->node(tree->size + cell_row[c]); }
    // The first cell from row r on.
    std::int32_t first_cell(std::size_t r) const;
  };

  // A variable of a block, and what divides the densities of blocks and leaves of a feature.
  struct Place {
    std::size_t block, variable;
  };
  void make_blocks();
  void bound_blocks(const Box& box, Sweep& sweep) const;
  const Place& place_of(std::size_t part, std::size_t j) const;
  double log_block(const Sweep& sweep, std::size_t b, double log_upper, double more = 0) const;
  double block_part(const Sweep& sweep, std::size_t j, double low, double high) const;
  double block_floors(const Sweep& sweep, std::size_t j, double v) const;

  // Of a feature in blocks, what its marginal is not below in low..high, if it is taken off; 0 otherwise.
  double least_marginal(std::size_t j, double low, double high) const;
  double least_marginal(std::size_t j, const Box& box) const;
  double log_marginal(std::size_t j, double v) const;  // the marginal itself, alike
  double leaf_shift(std::size_t j, const Range& range) const;
  const Rewards* no_rewards() const { return marginals_ ? &no_rewards_ : nullptr; }

  // The nodes of a part of the root's sum, in order; and which of them are leaves (per feature) and blocks.
  struct Part {
    std::vector<std::int32_t> nodes;
    std::vector<std::vector<std::size_t>> leaves;
    std::vector<std::size_t> blocks;
    double log_weight = 0;
    bool product = false;  // of blocks and leaves
  };
  void make_parts(bool by_components);
  std::vector<std::int32_t> descendants(std::size_t top) const;
  void fill_hulls(const Box& box, std::size_t j, Hulls& hulls) const;
  bool fill_leaf(const Box& box, const Hulls& hulls, std::size_t j, std::size_t leaf, const Gains& gains, PartTerms& terms) const;
  void price_leaves(const Box& box, const Hulls* hulls, const Part& part, std::size_t j, Priced& priced) const;
  void price_runs(const Box& box, const Part& part, std::size_t j, Priced& priced) const;
  // A child of the root's sum: its leaf of every feature (-1: in a block), and its leaf of the target (-1: none).
  struct Component {
    double log_weight = 0;
    std::vector<std::int32_t> leaf;
    std::int32_t target = -1;
    std::vector<std::size_t> blocks;
  };
  void make_components();
  bool gather_component(std::int32_t node, Component& out) const;
  double leaf_terms(const Box& box, std::size_t j, std::size_t leaf, ComponentTerms& out) const;
  std::pair<double, double> block_terms(const Box& box, std::size_t b, const double* points, ComponentTerms& out) const;
  void set_cost_rewards(double cost_price, Rewards& rewards) const;
  void fill_leaf_cells(const Box& box, std::size_t j, std::size_t leaf, const CellGains& gains, PartTerms& terms) const;
  void fill_block_cells(const Box& box, const BlockBound& block, std::size_t i, const CellGains& gains, PartTerms& terms) const;
  void price_block(const Box& box, std::size_t b, Priced& priced) const;
  std::pair<double, double> best_number(const Rewards& rewards, std::size_t j, const Range& range) const;
  double reward_rounding(const Box& box, const Rewards& rewards) const;
  double log_together(double one, double other) const;

  Variable make_variable(std::size_t j, const Feature& feature) const;
  double leaf_density(std::size_t j, std::size_t l, double low, double high, double log_marginal) const;
  std::vector<double> target_leaves(double target) const;
  void greatest(std::size_t j, const Box& box, double* out) const;
  void sweep_up(Sweep& sweep) const;
  double combined(const Variable& variable, const Sweep& sweep, const double* values) const;
  double together(double one, double other) const { return approximate_ ? std::max(one, other) : one + other; }
  std::size_t run_width(const Variable& variable, const Range& range, std::size_t runs = tolerance::kPricedRuns) const;
  Range run(const Box& box, std::size_t j, std::size_t r, std::size_t width) const;
  static std::size_t run_node(const Variable& variable, const Range& run, std::size_t width);
  double leaves_part(const Part& part, const Priced& priced, std::size_t j, const double* values) const;
  std::int32_t outermost_likely(const Variable& variable, const Sweep& sweep, std::int32_t first, std::int32_t last, double lower,
                                bool from_left) const;

  const Circuit& circuit_;
  const Domain& domain_;
  std::vector<double> targets_, given_;  // per alternative
  std::vector<std::vector<double>> target_leaves_;
  bool approximate_;
  std::unique_ptr<Marginals> marginals_;  // that everything is divided by; none for the likelihood
  Rewards no_rewards_;                    // none but those
  std::vector<BlockBound> blocks_;
  std::vector<double> block_scale_, block_floor_;  // logarithms: what a block is divided by, and its least density
  std::vector<std::vector<Place>> places_;         // per feature
  std::vector<double> feature_scale_;              // logarithm of what its leaves and blocks are divided by; of those in blocks
  std::vector<Variable> variables_;
  std::vector<Part> parts_;
  std::vector<Component> components_;
};

template <class Work>
void Likelihood::each_choice(std::size_t p, const Priced& priced, const Work& work) const {
  const Part& part = parts_[p];
  const double root = priced.log_value[part.nodes.back()];
  auto probability = [&](std::int32_t node) { return std::exp(priced.log_down[node] + priced.log_value[node] - root); };
  for (std::size_t j = 0; j < variables_.size(); ++j)
    for (const std::size_t l : part.leaves[j])
      if (const std::int32_t node = variables_[j].leaves[l]; priced.log_down[node] + priced.log_value[node] > root - 30)
        work(j, priced.leaf_at[node], probability(node));
  for (const std::size_t b : part.blocks) {
    const double share = probability(circuit_.block_node(b));
    if (!(share > 0) || !(priced.tangents[b].log_upper > -std::numeric_limits<double>::infinity())) continue;
    for (std::size_t i = 0; i < blocks_[b].count(); ++i)
      work(blocks_[b].feature(i), blocks_[b].warp(i).inverse(priced.tangents[b].where[i]), share);
  }
}

}  // namespace likely::search
