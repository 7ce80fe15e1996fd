// The marginals of a circuit with Gaussian blocks: how likely each value of a feature is alone, and lines below that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../circuit.hpp"
#include "domain.hpp"

namespace likely::search {

// p_j is a mixture of the leaves of feature j and of the marginals of its blocks, each with the derivative of the circuit by it
// where nothing is known. In warped coordinates the logarithm q of a component is concave, so on an interval it is above its
// chord c; and a logarithm of a sum of exponentials is convex, so
//   log p_j(z) = log sum_k exp q_k(z) >= log sum_k exp c_k(z) >= the tangent of that in the middle of the interval:
// a line that comes near to log p_j with the square of the interval's width.
class Marginals {
 public:
  // No leaf may be parametric.
  Marginals(const Circuit& circuit, const Domain& domain);

  // log p_j(v); 0 if v is not known.
  double log(std::size_t j, double v) const;
  // The share of a leaf or block in the marginals of its features.
  double log_share(std::int32_t node) const { return log_share_[static_cast<std::size_t>(node)]; }

  // Calls work(low, high, at_low, at_high) for one interval after the other: together they hold all numbers of low..high that
  // have a density. On each, log p_j is at least the line from at_low to at_high, in the warped coordinate of any block.
  template <class Work>
  void each_line(std::size_t j, double low, double high, const Work& work) const;
  // The sizes of the logarithms of all marginals of blocks, together.
  double size() const { return size_; }
  // What log p_j is not below on low..high; infinite if no number has a density.
  double least(std::size_t j, double low, double high) const;

 private:
  struct Component {
    std::size_t warp;
    double log_share, mean, deviation, log_normaliser;
  };
  struct Line {
    double at_low, at_high;
  };
  // An interval within which no warp has a bend and no leaf a step.
  struct Piece {
    double low, high;
    bool mixed;     // warps are bent there, and not all are the same
    bool possible;  // whether its numbers have a density
    Line line;
  };
  struct OfFeature {
    std::vector<Component> components;
    std::vector<double> log_leaves;  // all leaves together, in each cell of the circuit's; empty if there are none
    std::vector<Piece> pieces;       // in order, of the domain's numbers; none if the feature is in no block
  };

  void add_components(const Circuit& circuit);
  std::vector<double> marks(std::size_t j, const Feature& feature) const;
  bool mixed(const OfFeature& of, double x) const;
  void add_pieces(std::size_t j, double low, double high, bool mixed, int cuts);
  double middle(const OfFeature& of, double low, double high) const;
  Line line(std::size_t j, double low, double high, bool mixed) const;
  bool possible(const OfFeature& of, const Line& line, double x) const;

  const Circuit& circuit_;
  double log_floor_, size_ = 0;
  std::vector<double> log_share_;
  std::vector<OfFeature> features_;  // and the target
};

template <class Work>
void Marginals::each_line(std::size_t j, double low, double high, const Work& work) const {
  const std::vector<Piece>& pieces = features_[j].pieces;
  auto piece = std::partition_point(pieces.begin(), pieces.end(), [&](const Piece& one) { return one.high < low; });
  for (; piece != pieces.end() && piece->low <= high; ++piece) {
    if (!piece->possible) continue;
    const double from = std::max(low, piece->low), to = std::min(high, piece->high);
    const bool whole = from == piece->low && to == piece->high;
    const Line here = whole ? piece->line : line(j, from, to, piece->mixed);
    work(from, to, here.at_low, here.at_high);
  }
}

}  // namespace likely::search
