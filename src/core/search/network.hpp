// Linear upper bounds of a ReLU network over a box: backward linear bound propagation.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "score.hpp"

namespace likely::search {

// A network of ReLU layers over inputs that are functions of one feature each; without hidden layers, a linear model.
// The first layer is given by what every value of a feature adds to its units.
//
// The bound is CROWN's (Zhang et al. 2018, "Efficient neural network robustness certification with general activation
// functions"): an unstable ReLU is replaced by a linear function above or below it, and the goal's coefficients are carried
// backwards to the inputs. Categories are one-hot groups of inputs, over which the greatest is taken exactly.
class Network final : public Score {
 public:
  struct Layer {
    std::size_t inputs, outputs;
    std::vector<double> weight;  // [output][input]
    std::vector<double> bias;
  };

  // atoms: [atom of all features][unit]; slopes, intercepts: [feature][unit]; bias: [unit]; later: the other layers.
  Network(const Domain& domain, std::vector<double> atoms, std::vector<double> slopes, std::vector<double> intercepts,
          std::vector<double> bias, std::vector<Layer> later);

  std::unique_ptr<ScoreWorkspace> workspace(const Goal& goal) const override;
  void relax(const Box& box, const Goal& goal, ScoreWorkspace& workspace, Relaxation& out) const override;
  void outputs(const double* row, std::vector<double>& scores) const override;

 private:
  struct Workspace;
  void first_layer_bounds(const Box& box, Workspace& work) const;
  void hidden_layer_bounds(const Box& box, std::size_t at, Workspace& work) const;
  void interval_bounds(std::size_t at, Workspace& work) const;
  double backward_bounds(std::vector<double>& coefficient, std::size_t layer, const Workspace& work,
                         std::vector<std::vector<double>>* gap = nullptr) const;
  void maximise(const Box& box, std::size_t count, Workspace& work) const;
  void bound_by_feature(const Box& box, const std::vector<double>& coefficient, Relaxation& out) const;
  void attribute_slack(Workspace& work, std::vector<double>& attribution) const;
  double bias_part(const std::vector<double>& coefficient) const;

  const Domain& domain_;
  std::size_t units_;  // of the first layer
  std::vector<double> atoms_, slopes_, intercepts_, bias_;
  std::vector<Layer> later_;
};

}  // namespace likely::search
