// Linear upper bounds of a ReLU network over a box: backward linear bound propagation.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "score.hpp"

namespace likely::search {

// Prices of what is known of goals, >= 0, and of units before their ReLU, z in [low, high], of either sign.
struct UnitMultipliers {
  std::vector<double> goals;
  // Per layer and unit. If it is unstable: of relu(z) - z, from 0 to -low; if it was decided: of z, from 0 or up to 0.
  std::vector<std::vector<double>> units;
  // Of unstable ones: of slope z - relu(z), from slope low (the chord) to 0.
  std::vector<std::vector<double>> chords;

  std::size_t bytes() const {
    std::size_t sum = goals.capacity() * sizeof(double);
    for (const auto* layers : {&units, &chords})
      for (const std::vector<double>& layer : *layers) sum += sizeof(layer) + layer.capacity() * sizeof(double);
    return sum;
  }
};

// One end of the range of a unit before its ReLU: with sign 1 the upper one, with -1 the lower one.
struct UnitSide {
  std::size_t layer, unit;
  double sign;
};

// A network of ReLU layers over inputs that are functions of one feature each; without hidden layers, a linear model.
// The first layer is given by what every value of a feature adds to its units: of numbers, linear in the offset from the
// feature's anchor.
//
// The bound is CROWN's (Zhang et al. 2018, "Efficient neural network robustness certification with general activation
// functions"): an unstable ReLU is replaced by a linear function above or below it, and the goal's coefficients are carried
// backwards to the inputs. Categories are one-hot groups of inputs, over which the greatest is taken exactly.
//
// Every result comes with what rounding may have done to it: that is relative to the sizes of all terms, layer by layer,
// which the same network with absolute values of its weights adds up (Higham 2002, section 3.5).
class Network final : public Score {
 public:
  struct Layer {
    std::size_t inputs, outputs;
    std::vector<double> weight;  // [output][input]
    std::vector<double> bias;
  };

  // What values of features add to the units of the first layer.
  struct FirstLayer {
    std::vector<double> atoms;               // [atom of all features][unit]
    std::vector<double> slopes, at_anchors;  // [feature][unit]
  };
  // An input that is linear in a feature's numbers: slope * (x - center) + intercept.
  struct Input {
    std::size_t feature;
    double slope, center, intercept;

    double at(double x) const { return slope * (x - center) + intercept; }
  };
  // All of them, by feature, and the weights of each: [input][unit]. One number is evaluated by these, as the form does it:
  // what rounding does to an input is then no matter of opinion.
  struct Inputs {
    std::vector<Input> inputs;
    std::vector<double> weights;
  };

  // `sizes` has, in place of each sum of terms in `first`, the sum of their sizes; `terms` is how many terms an output has at
  // most, all layers taken together. bias: [unit] of the first layer; later: the other layers.
  Network(const Domain& domain, FirstLayer first, FirstLayer sizes, Inputs inputs, std::size_t terms, std::vector<double> bias,
          std::vector<Layer> later);

  std::unique_ptr<ScoreWorkspace> workspace(const std::vector<Goal>& goals) const override;
  bool enter(const Region& region, ScoreWorkspace& workspace) const override;
  void relax(const Region& region, const std::vector<Goal>& goals, std::size_t g, ScoreWorkspace& workspace,
             Relaxation& out) const override;
  void outputs(const double* row, std::vector<double>& scores) const override;
  void rounding(const double* row, std::vector<double>& out) const override;
  const std::vector<double>& greatest_rounding() const override { return greatest_rounding_; }
  bool constant_on_cells() const override { return false; }
  const Network* hidden_units() const override { return later_.empty() ? nullptr : this; }

  // What the units can be, layer by layer, in the region that was entered.
  UnitRanges ranges(const ScoreWorkspace& workspace) const;
  // One inequality from many: constant + sum_j a_j(x_j) >= 0 for all rows of the region that was entered which reach all goals.
  void aggregate(const Region& region, const std::vector<Goal>& goals, const UnitMultipliers& multipliers,
                 ScoreWorkspace& workspace, Relaxation& out) const;
  // The greatest that `sign` times a unit before its ReLU can be in rows of the region that was entered which reach all goals:
  // not more than this, whatever the multipliers are.
  double greatest_of_unit(const Region& region, const std::vector<Goal>& goals, const UnitMultipliers& multipliers,
                          const UnitSide& side, ScoreWorkspace& workspace) const;
  // Per layer of the region that was entered: the units whose ReLU, if unstable, is held to be above its argument, not above 0.
  std::vector<std::vector<double>> above_argument(const ScoreWorkspace& workspace) const;
  // On which side of 0 the units of a row are, layer by layer; those that rounding leaves open are not listed.
  std::vector<UnitSplit> sides(const double* row) const;
  // What all units of a row are before their ReLUs, layer by layer.
  std::vector<std::vector<double>> arguments(const double* row) const;

 private:
  friend class Triangles;
  struct Workspace;
  void add_number(std::size_t j, double x, double* units, bool sizes = false) const;
  void first_layer_sizes(const Box& box, std::vector<double>& size) const;
  void next_layer_sizes(std::size_t at, const std::vector<double>& before, std::vector<double>& size) const;
  void to_rounding(std::vector<double> size, std::vector<double>& out) const;
  struct Carried;
  Carried carry_backwards(const std::vector<Goal>& goals, const UnitMultipliers& multipliers, const UnitSide* side,
                          Workspace& work) const;
  static void take_known(const Region& region, std::size_t at, Workspace& work);
  void first_layer_bounds(const Box& box, Workspace& work) const;
  void first_layer_within_budget(const Box& box, Workspace& work) const;
  void hidden_layer_bounds(const Region& region, std::size_t at, Workspace& work) const;
  void interval_bounds(const Region& region, std::size_t at, Workspace& work) const;
  void take_maxima(std::size_t at, Workspace& work) const;
  bool decide_units(const Region& region, std::size_t at, Workspace& work) const;
  double backward_bounds(std::vector<double>& coefficient, std::size_t layer, const Workspace& work,
                         std::vector<std::vector<double>>* gap = nullptr) const;
  void maximise(const Box& box, std::size_t count, Workspace& work) const;
  void bound_by_feature(const Box& box, const std::vector<double>& coefficient, Relaxation& out) const;
  void attribute_slack(Workspace& work, std::vector<double>& attribution) const;
  std::vector<double> first_layer(const double* row) const;
  std::vector<double> next_layer(std::size_t at, std::vector<double> z) const;
  double bias_part(const std::vector<double>& coefficient) const;
  void widen(std::size_t at, Workspace& work) const;

  const Domain& domain_;
  std::size_t units_;  // of the first layer
  FirstLayer first_, sizes_;
  Inputs inputs_;
  std::vector<std::size_t> first_input_;  // of each feature, and in the end how many there are
  double roundoff_;                       // of an output, relative to the sizes of its terms
  std::vector<double> bias_;
  std::vector<Layer> later_;
  std::vector<double> greatest_rounding_;
};

}  // namespace likely::search
