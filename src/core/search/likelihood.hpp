// How likely the rows of a box can be: upper bounds from the circuit, for the box and for every single value of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../circuit.hpp"
#include "../tolerances.hpp"
#include "domain.hpp"

namespace likely::search {

// One upward sweep with every leaf at its greatest value over the box gives U >= p(x) for every row x of the box; one
// downward sweep gives the derivatives D of U (of the network polynomial: Darwiche 2003, "A differential approach to
// inference in Bayesian networks"). A circuit is linear in the leaves of one feature, so
//   U_j(v) = sum over the leaves of feature j of D_leaf p_leaf(v)
// bounds all rows of the box with x_j = v. With the max algebra (the paper's approximation) sums are maxima throughout.
class Likelihood {
 public:
  // Rows have the domain's features, then the circuit's target, which is targets[a] if alternative a is sought (NaN: any
  // class); given[a] is taken from all log-likelihoods then: that of what they are conditional on. `weighed`: likelihood
  // has a weight in the objective.
  Likelihood(const Circuit& circuit, const Domain& domain, const std::vector<double>& targets, std::vector<double> given,
             bool approximate, bool weighed);

  // What the two sweeps know of a box.
  struct Sweep {
    std::vector<double> leaf;      // per node: a leaf's greatest value over the box, scaled
    std::vector<double> log_leaf;  // and its logarithm, if likelihood is weighed
    std::vector<double> value, derivative;
    std::vector<double> scratch;  // leaves of one feature
    double log_scale = 0;
    double log_upper = 0;  // log U
  };
  // Whether the likelihood is the same all over a cell: no leaf is parametric.
  bool constant_on_cells() const;
  Sweep sweep() const;  // with buffers of the right size

  // Fills leaf, value and log_upper, for rows of the class of an alternative.
  void bound(const Box& box, std::size_t alternative, Sweep& sweep) const;
  // Fills derivative; after bound.
  void differentiate(Sweep& sweep) const;
  // log of U_j(v) for an atom, and for a cell of numbers; after differentiate.
  double log_upper_atom(const Sweep& sweep, std::size_t j, std::size_t atom) const;
  double log_upper_cell(const Sweep& sweep, std::size_t j, std::size_t cell) const;
  // Removes every atom, and every cell at the ends of the range, whose bound is below `lower`; true if any was.
  bool filter(Box& box, const Sweep& sweep, double lower) const;

  // The joint bound of likelihood and a reward w_j(v) for x_j = v: what the rows of a box can be worth, where likelihood
  // has a weight (max-product with the reward in the leaves, as in most probable explanation). For the sum over children
  // t_a of a node, and any shares r that sum to 1, log sum_a t_a <= max_a [log t_a - log r_a]; with r the shares of the
  // upward sweep and L the logarithm of what it gave, this becomes, with M the excess over weight * L,
  //   M(leaf) = max over v of [weight (log p_leaf(v) - L(leaf)) + w_j(v)],   M(product) = sum,   M(sum) = max
  // and for every row  sum_j w_j(x_j) + weight log p(x) <= M(root) + weight L(root).  One sweep up, and one down for the
  // same with a single value fixed.
  struct Joint {
    std::vector<double> atom;                // over all atoms: w_j
    std::vector<double> run;                 // per feature kJointRuns runs of cells: the greatest w_j on each
    std::vector<double> leaf, excess, down;  // per node
  };
  // The runs of cells that a range is cut into; the last ones may be empty (first > last).
  Range run(const Box& box, std::size_t j, std::size_t r) const;
  Joint joint() const;  // with buffers of the right size
  // M(root), after bound; `atom` and `run` are given.
  double excess(const Box& box, const Sweep& sweep, double weight, Joint& joint) const;
  // After excess: the same with one value fixed.
  void descend(Joint& joint) const;
  double excess_atom(const Sweep& sweep, const Joint& joint, double weight, std::size_t j, std::size_t atom) const;
  double excess_run(const Box& box, const Sweep& sweep, const Joint& joint, double weight, std::size_t j, std::size_t r) const;

  // The exact log-likelihood of a row of the domain's features, with the class of an alternative.
  struct RowBuffers {
    std::vector<double> row, nodes;
  };
  double exact(const double* row, std::size_t alternative, RowBuffers& buffers) const;

 private:
  // The leaves of one feature over its atoms and cells: rows of the circuit's own tree; or, where leaves are parametric, of
  // one made for this domain.
  struct Variable {
    const RangeTree* tree;
    std::unique_ptr<RangeTree> made_here;
    std::vector<std::int32_t> leaves;
    std::vector<std::size_t> atom_row, cell_row;  // the latter never fall
    bool peaked = false;
    double log_scale = 0;

    const double* atom(std::size_t k) const { return tree->node(tree->size + atom_row[k]); }
    const double* log_atom(std::size_t k) const { return tree->log_node(tree->size + atom_row[k]); }
    const double* cell(std::size_t c) const { return tree->node(tree->size + cell_row[c]); }
    // The first cell from row r on.
    std::int32_t first_cell(std::size_t r) const;
  };

  Variable make_variable(std::size_t j, const Feature& feature) const;
  std::vector<double> target_leaves(double target) const;
  void greatest(std::size_t j, const Box& box, double* out) const;
  void sweep_up(Sweep& sweep) const;
  double combined(const Variable& variable, const Sweep& sweep, const double* values) const;
  std::size_t run_width(const Variable& variable, const Range& range) const;
  const double* run_logs(const Variable& variable, const Range& run, std::size_t width) const;
  double best_excess(const Variable& variable, const Sweep& sweep, const Joint& joint, double weight, const double* logs) const;
  std::int32_t outermost_likely(const Variable& variable, const Sweep& sweep, std::int32_t first, std::int32_t last, double lower,
                                bool from_left) const;

  const Circuit& circuit_;
  const Domain& domain_;
  std::vector<double> targets_, given_;  // per alternative
  std::vector<std::vector<double>> target_leaves_;
  bool approximate_, weighed_;
  std::vector<Variable> variables_;
};

}  // namespace likely::search
