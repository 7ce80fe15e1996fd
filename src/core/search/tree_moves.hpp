// Local search over rows of a forest: what all goals gain, and how likely a row is, if one feature has another value, for all
// values at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "forest.hpp"
#include "likelihood_changes.hpp"

namespace likely::search {

// Of every cell only the cheapest value is looked at; where the likelihood varies in a cell, a few more. What is found is tested
// elsewhere: nothing is claimed of it.
class TreeMoves {
 public:
  TreeMoves(const Forest& forest, const std::vector<Goal>& goals);
  // Of scores that are no sums of trees: what leaves add is guessed anew around every row that is evaluated.
  TreeMoves(const Score& score, const std::vector<Goal>& goals);
  // Rows must also be as likely as the threshold, as rows of an alternative.
  TreeMoves(const Forest& forest, const std::vector<Goal>& goals, const Likelihood& likelihood, std::size_t alternative,
            double threshold);
  TreeMoves(const Score& score, const std::vector<Goal>& goals, const Likelihood& likelihood, std::size_t alternative,
            double threshold);

  using More = std::function<bool()>;  // whether there is more time
  static bool always() { return true; }

  // From a row, the changes that gain most per cost until all is reached, and then those that save most as long as it is; false
  // if that leads to no row that costs less than `most`.
  bool repair(std::vector<double>& row, double most, const More& more = always);
  // From a row that reaches all: each of its changes taken back and repaired by others, as long as that saves.
  void improve(std::vector<double>& row, const More& more = always);

 private:
  struct Move {
    std::size_t feature;
    double value, rank;  // 0: none
  };
  // A number of a feature that is looked at, and its cell.
  struct Number {
    double value, cost;
    std::size_t cell;
  };

  void find_likely(const Likelihood& likelihood, std::size_t alternative, double threshold);
  void find_numbers(const Likelihood* likelihood);
  void measure_nats();
  double missed_nats(double log_likelihood) const;
  void evaluate(const std::vector<double>& row);
  void add_gains(const Forest::Tree& tree);
  void add_gain(const Forest::Condition& asked, std::size_t g, double gain);
  bool meets(const Forest::Condition& asked) const;
  template <class Work>
  void each_move(const std::vector<double>& row, const Work& work) const;
  bool close_gap(std::vector<double>& row, double most, std::size_t kept, const More& more);
  void save(std::vector<double>& row, const More& more);

  const Forest& forest_;
  const Domain& domain_;
  const Score* guesses_ = nullptr;  // if leaves only guess at the scores
  std::vector<Goal> goals_;
  TreeGains gains_;
  std::vector<std::vector<Number>> numbers_;  // per feature
  std::optional<LikelihoodChanges> changes_;  // none: every row is likely enough
  double threshold_ = 0;
  double nat_ = 1;       // what a nat that the likelihood misses counts beside what goals miss
  int evaluations_ = 0;  // that are left
  // Of the row that was evaluated last:
  std::vector<std::int32_t> cell_, atom_;                      // of each value; -1: it is none
  std::vector<double> missing_;                                // per goal
  std::vector<std::vector<double>> cell_gain_, atom_gain_;     // per goal, over all cells and atoms
  double misses_ = 0, cost_ = 0;                               // over all goals and the likelihood; of the row
  std::vector<std::pair<std::uint32_t, std::uint32_t>> near_;  // leaves, and the one condition that keeps the row from each
};

}  // namespace likely::search
