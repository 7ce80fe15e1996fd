// How well the rows of a box can score: upper bounds from the classifier, for the box and for every single value of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../trees.hpp"
#include "domain.hpp"

namespace likely::search {

// An upper bound of a score over a box. It is either a sum over features,
//   score(x) <= constant + sum_j a_j(x_j),   a_j linear in numbers and a table of atoms,
// or, for trees, given per single value: score(x) <= atom[k], cell[c] for all rows of the box with that value.
struct Relaxation {
  bool additive = true;
  double upper = 0;      // the greatest over the box
  double rounding = 0;   // by how much sums that make up a bound may be off
  double constant = 0;
  std::vector<double> slope;      // per feature: a_j(v) = slope_j v + intercept_j
  std::vector<double> intercept;
  std::vector<double> atom;       // over all atoms: a_j, or the bound
  std::vector<double> cell;       // over all cells: the bound; trees only
  std::vector<double> most;       // per feature: the greatest a_j over the box
  std::vector<double> blame;      // per feature: its part in how far the bound may lie above the score, at a guess
  std::vector<double> gain;       // trees only: what each leaf scores,
  std::vector<std::uint32_t> ranked, rank;  // the leaves of each tree from the best to the worst, and each leaf's place there

  double number(std::size_t j, double v) const { return slope[j] * v + intercept[j]; }
};

constexpr double kRounding = 1e-12;  // of a sum, relative to its terms: more than a few thousand operations lose

// A goal is score(x) = sum_o coefficient_o output_o(x) >= least.
struct Goal {
  std::vector<double> coefficient;  // per output
  double least;

  double score(const std::vector<double>& outputs) const;
};

// log of the share of one output in the softmax of all lies between two numbers.
struct Share {
  std::size_t output;
  double scale, low, high;

  bool holds(const std::vector<double>& outputs) const;
};

// All goals must be met. A share is looked at when a row is tested; the goals are what follows from it and is linear.
struct Alternative {
  std::vector<Goal> goals;
  std::optional<Share> share;

  bool met(const std::vector<double>& outputs) const;
};

class Score {
 public:
  virtual ~Score() = default;
  virtual Relaxation relaxation(const Goal& goal) const = 0;  // of a goal, not yet of a box: with buffers of the right size
  virtual void relax(const Box& box, const Goal& goal, Relaxation& out) const = 0;
  virtual void outputs(const double* row, std::vector<double>& out) const = 0;  // to the last bit what the form scores
};

// A network of ReLU layers over inputs that are functions of one feature each; without hidden layers, a linear model.
// The first layer is given by what every value of a feature adds to its units.
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

  Relaxation relaxation(const Goal& goal) const override;
  void relax(const Box& box, const Goal& goal, Relaxation& out) const override;
  void outputs(const double* row, std::vector<double>& out) const override;

 private:
  struct Work;
  void first_bounds(const Box& box, Work& work) const;
  double pull_back(std::vector<double>& coefficient, std::size_t layer, const Work& work,
                   std::vector<std::vector<double>>* loose = nullptr) const;
  void greatest(const Box& box, std::size_t count, Work& work) const;
  void layer_bounds(const Box& box, std::size_t at, Work& work) const;
  void find_blame(Work& work, std::vector<double>& blame) const;
  void spread(const Box& box, const std::vector<double>& coefficient, Relaxation& out) const;

  const Domain& domain_;
  std::size_t units_;
  std::vector<double> atoms_, slopes_, intercepts_, bias_;
  std::vector<Layer> later_;
};

// A sum of decision trees. Every leaf is known by the cells and atoms that lead to it, so the bound of a tree over a box
// is its best leaf that the box reaches; and with one value fixed, the best of those that the value reaches too.
class Forest final : public Score {
 public:
  // As `Trees`; scores are divided by `divisor`. The domain's cells do not straddle a test.
  Forest(const Domain& domain, std::vector<Node> nodes, const std::vector<std::int32_t>& roots,
         const std::vector<std::int32_t>& output_of, std::vector<double> values, std::vector<double> base, double divisor);

  Relaxation relaxation(const Goal& goal) const override;
  void relax(const Box& box, const Goal& goal, Relaxation& out) const override;
  void outputs(const double* row, std::vector<double>& out) const override;

 private:
  // A test of a feature: inside are cells first..last and some atoms. A successor is a test, or ~leaf.
  struct Test {
    std::int32_t feature, first, last, inside, outside;
    std::size_t word;  // where its atoms start in words_
  };
  // What a leaf asks of one feature: cells first..last (the hull of them), and some of its atoms.
  struct Condition {
    std::int32_t feature, first, last;
    std::size_t word;
  };
  struct Leaf {
    std::uint32_t first, last;  // conditions, by feature; last excluded
    std::size_t value;
  };
  struct Tree {
    std::uint32_t first, last;  // leaves, last excluded
    std::int32_t output, root;  // the root among the nodes given
    std::int32_t top;           // and among the tests, or ~leaf
  };
  struct Path;  // the conditions on the way to a leaf, while a tree is being read
  struct Left;  // what of a feature no leaf looked at so far reaches
  struct Work;

  std::int32_t grow(std::int32_t at, Path& path);
  std::int32_t add_leaf(std::size_t value, const Path& path);
  double value(std::int32_t output, std::size_t at, const Goal& goal) const;
  bool meets(const Box& box, std::int32_t feature, std::int32_t first, std::int32_t last, std::size_t word) const;
  bool leaves(const Box& box, const Test& test) const;
  bool reaches(const Box& box, const Leaf& leaf) const;
  void find_reached(const Box& box, const Tree& tree, const Relaxation& ranks, Work& work) const;
  void look_beyond(const Box& box, const Leaf& best, Work& work) const;
  void take(const Leaf& leaf, double worse, Work& work, Relaxation& out) const;

  const Domain& domain_;
  std::vector<Node> nodes_;
  std::vector<double> values_, base_;
  double divisor_;
  std::vector<Tree> trees_;
  std::vector<Test> tests_;
  std::vector<Leaf> leaves_;
  std::vector<Condition> conditions_;
  std::vector<std::uint64_t> words_;
};

}  // namespace likely::search
