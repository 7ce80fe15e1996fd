// Upper bounds of scores that are sums of functions of sums of ... of inputs and trees, over a box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "curve.hpp"
#include "forest.hpp"
#include "score.hpp"
#include "score_functions.hpp"

namespace likely::search {

// A graph of units, each after those that it reads: inputs (functions of one feature), outputs of forests, trees whose leaves are
// linear functions of inputs, sums, and functions (of one unit, or of a group). Every kind of unit has one bound: over a box,
// from the bounds of the units that it reads.
//
// Two relaxations come of it. Additive: every function is replaced by a line above or below it, and a goal's coefficients are
// carried backwards to the inputs (CROWN, as for networks; Zhang et al. 2018), where trees count with the greatest that they can
// be, and trees of linear leaves with a line that is the mean of their leaves. Per value, if there are trees or curved inputs:
// with one value of the box fixed, the units' bounds forwards, from those of the inputs and trees under that value; functions
// that never fall then take none of the bound's tightness away.
class Composite final : public Score {
 public:
  enum class Kind { kInput, kTrees, kSum, kFunction, kLinearTree };

  struct Unit {
    Kind kind;
    std::size_t source;                // kInput: which; kTrees, kLinearTree: which forest of its kind; kFunction: which function
    std::size_t place;                 // kTrees: which output; kFunction: which number of its group; kLinearTree: which tree
    std::vector<std::uint32_t> reads;  // units before; kLinearTree: all inputs of its leaves
    // kSum: of each, and the sizes of the terms that each weight is the sum of; a sum has so many roundings.
    std::vector<double> weights, sizes;
    double bias = 0, bias_size = 0;
    double roundings = 0;
  };
  // An input: what it is for every atom of its feature, and a curve of its numbers.
  struct Input {
    std::size_t feature;
    std::vector<double> atoms;  // none: 0
    Curve curve;
  };

  // Trees whose leaves are linear: to the value of a leaf that starts at `v` are added its terms, from starts[v] up to
  // starts[v + 1], each a weight times an input.
  struct LinearForest {
    std::unique_ptr<Forest> trees;
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> inputs;
    std::vector<double> weights;
  };

  // `outputs` are units. Forests are of the same domain.
  Composite(const Domain& domain, std::vector<Input> inputs, std::vector<std::unique_ptr<Forest>> forests,
            std::vector<LinearForest> linear_forests, std::vector<ScoreFunction> functions, std::vector<Unit> units,
            std::vector<std::uint32_t> outputs);

  std::unique_ptr<ScoreWorkspace> workspace(const std::vector<Goal>& goals) const override;
  bool enter(const Region& region, ScoreWorkspace& workspace) const override;
  void relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
             Relaxation& out) const override;
  void outputs(const double* row, std::vector<double>& scores) const override;
  void rounding(const double* row, std::vector<double>& out) const override;
  const std::vector<double>& greatest_rounding() const override { return greatest_rounding_; }
  bool constant_on_cells() const override { return constant_on_cells_; }
  // If nothing but trees is read, through functions of one number each: with lines above these, a sum of trees is above a goal.
  const Forest* trees() const override { return all_trees_.get(); }
  bool trees_bound() const override { return all_trees_ != nullptr; }
  void bound_by_trees(const Region& region, const std::vector<Goal>& goals, ScoreWorkspace& workspace,
                      TreeGains& out) const override;
  void guess_by_trees(const double* row, const std::vector<Goal>& goals, TreeGains& out) const override;
  // How many relaxations say something of their own: with two, goals are given twice, and the second of each is additive.
  std::size_t relaxations_per_goal() const { return per_value_ && any_inputs_ ? 2 : 1; }

 private:
  struct Carried;
  struct Workspace;
  struct Value;
  struct Reached;

  void find_dependencies();
  void measure_trees();
  void measure_rounding();
  void request(const std::vector<Goal>& goals, Workspace& work) const;
  Interval of_sum(const Unit& unit, const std::vector<Interval>& range) const;
  Interval of_function(const Unit& unit, const std::vector<Interval>& range) const;
  double lost(const Unit& unit, const std::vector<Interval>& range) const;
  Interval of_input(const Box& box, std::size_t input) const;
  void bound_units(const Box& box, Workspace& work) const;
  void bound_trees(const Region& region, Workspace& work) const;
  void bound_values(const Box& box, Workspace& work) const;
  void start(const Goal& goal, Carried& carried) const;
  void carry_backwards(const Workspace& work, Carried& carried, std::vector<double>* gaps = nullptr) const;
  void by_feature(const Box& box, const Carried& carried, Relaxation& out) const;
  double of_numbers(std::size_t j, const Carried& carried, double low, double high) const;
  double curves_above(std::size_t j, const Carried& carried, double low, double high) const;
  Line numbers_above(std::size_t j, const Carried& carried, double low, double high, int parts) const;
  void to_values(const Carried& carried, const Relaxation& relaxation, const std::vector<Value>& values, double sign,
                 std::vector<double>& out) const;
  void relax_per_value(const std::vector<Goal>& goals, std::size_t g, Workspace& work, Relaxation& out) const;
  void attribute(const Workspace& work, std::vector<double> gaps, Relaxation& out) const;

  // of bounds that are sums of trees (composite_trees.cpp)
  std::vector<Interval> both_ends(const Region& region, Workspace& work) const;
  void keep_reaching(const Goal& goal, std::vector<Interval>& range) const;
  void carry_to_trees(const std::vector<Interval>& range, Carried& carried) const;
  void add_gains(const Carried& carried, std::size_t g, std::size_t goals, TreeGains& out) const;
  void evaluate(const double* row, std::vector<double>& value) const;

  // of linear trees (linear_trees.cpp)
  void read_leaves(std::size_t u);
  const Forest::Tree& tree_of(const Unit& unit) const;
  Interval of_input_in(const Box& box, const Unit& unit, const Forest::Leaf& leaf, std::size_t r, Interval anywhere) const;
  void find_reached(const Box& box, std::size_t u, const std::vector<Interval>& range, Reached& out) const;
  double leaf_bound(std::size_t u, const Reached& reached, std::size_t k, double c, const std::vector<double>& less) const;
  double tree_bound(std::size_t u, const Reached& reached, double c, const std::vector<double>& less) const;
  double at_leaf(const Unit& unit, const double* row, const std::vector<double>& value) const;
  Interval at_leaf(const Unit& unit, const double* row, const std::vector<Interval>& range) const;
  double lost_in_leaves(std::size_t u, const std::vector<Interval>& range, const std::vector<double>& off) const;
  void carry_tree(const Workspace& work, std::size_t u, double c, Carried& carried, std::vector<double>* gaps) const;
  Interval of_value(const Input& input, const Value& value) const;
  bool allows(const Forest& trees, const Forest::Condition& asked, const Value& value) const;
  void bound_tree_values(std::size_t u, double sign, const Workspace& work, std::vector<double>& out) const;
  void attribute_tree(const Workspace& work, std::size_t u, double gap, Relaxation& out) const;

  const Domain& domain_;
  std::vector<Input> inputs_;
  std::vector<std::unique_ptr<Forest>> forests_;
  std::unique_ptr<Forest> all_trees_;  // of all forests, if their sums can bound the scores
  std::vector<LinearForest> linear_forests_;
  std::vector<ScoreFunction> functions_;
  std::vector<Unit> units_;
  std::vector<std::uint32_t> outputs_;
  std::vector<std::size_t> unit_of_input_;
  std::vector<std::vector<std::size_t>> inputs_of_;                   // per feature
  std::vector<std::vector<std::pair<std::size_t, double>>> of_atom_;  // per atom of all features: inputs that are not 0
  std::vector<std::uint8_t> on_inputs_, on_trees_, feeds_;            // per unit; `feeds_`: a function reads it
  std::vector<std::vector<double>> leaf_weights_;                     // per linear tree: leaf x unit that it reads
  std::vector<Interval> domain_range_;                                // per unit: what it can be over the whole domain
  std::vector<Interval> tree_range_;                                  // per unit: outputs of forests over the whole domain
  bool per_value_ = false, any_inputs_ = false, any_trees_ = false, constant_on_cells_ = true;
  std::vector<double> greatest_rounding_;
};

}  // namespace likely::search
