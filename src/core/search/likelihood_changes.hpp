// How likely a row is with one value changed, for many values of all features at once: what local search looks at.
#pragma once

#include <cstddef>
#include <vector>

#include "likelihood.hpp"

namespace likely::search {

// Of a mixture of products of blocks and leaves (`Likelihood::components`). Changing one value changes one factor of every
// component: of a leaf, its density; of a Gaussian block, a parabola in the warped value. Numbers are given, some per cell, and
// looked at in that order. What comes out is near the likelihood, but rows are tested elsewhere: nothing is claimed of it.
class LikelihoodChanges {
 public:
  // numbers[j]: those of feature j that are looked at. What is above `enough`, or far below it, need not be told exactly.
  LikelihoodChanges(const Likelihood& likelihood, std::size_t alternative, double enough,
                    const std::vector<std::vector<double>>& numbers);

  // The log-likelihood of a row; then, of the row with the i-th number, or the k-th atom, in place of its value of feature j.
  double evaluate(const std::vector<double>& row);
  double with_number(std::size_t j, std::size_t i) const { return of_number_[j][i]; }
  double with_atom(std::size_t j, std::size_t k) const { return of_atom_[j][k]; }

 private:
  // The numbers of a feature as a warp sees them.
  struct Warped {
    const Warp* warp;
    std::vector<Warp::Point> points;
  };
  // A component in which a feature's term varies: log t = rest + term.
  struct Leaf {
    std::size_t leaf;
    double rest;
  };
  struct Parabola {
    std::size_t warped;
    double rest, at, slope, curvature;  // of the block's exponent, at the row's own coordinate
  };

  double enter(std::size_t k, const std::vector<double>& row, double least);
  double of_terms() const;
  double enter_block(std::size_t b, const std::vector<double>& row);
  double log_leaf(std::size_t j, std::size_t leaf, double v) const;
  void fill(std::size_t j);

  const Likelihood& likelihood_;
  std::size_t alternative_;
  double enough_;
  std::vector<std::vector<std::size_t>> cell_row_;  // per feature and number: of its leaves
  std::vector<std::vector<Warped>> warps_;          // per feature
  std::vector<std::vector<std::size_t>> warped_;    // per block and variable: which of the feature's
  std::vector<std::vector<double>> precision_;      // per block
  // Of the row that was evaluated last:
  std::vector<double> z_, pull_;           // of a block
  std::vector<double> terms_;              // of one value, per component
  std::vector<std::vector<Leaf>> leaves_;  // per feature
  std::vector<std::vector<Parabola>> parabolas_;
  std::vector<std::vector<double>> of_number_, of_atom_;
};

}  // namespace likely::search
