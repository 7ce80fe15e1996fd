// Debugging: a known answer is followed through the tree, and the step that loses it is named (as HiGHS and SCIP do with a
// debug solution).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "incumbents.hpp"
#include "node.hpp"
#include "problem.hpp"
#include "record.hpp"

namespace likely::search {

class Follower {
 public:
  // Follows no row, but may record.
  explicit Follower(const Problem& problem) : domain_(problem.domain) {}
  // The row need not be an answer: whatever removes it is named. Throws std::invalid_argument if it is no row of the domain.
  Follower(const Problem& problem, std::vector<double> row, Workspace& workspace);

  // From now on watches this node, if the row is in it and is better than all that is known.
  void watch(const Node& node, const SolutionPool& pool);
  // After a step on the node that is watched: the row must still be in its box, and not below its bound. `left` is false if
  // the step found no row left.
  void after(Step step, const Node& node, bool left);
  // After the node was split: one of the parts has the row.
  void after_branching(const std::vector<Box>& parts);

  // Takes over what a copy saw, if the row was not lost before.
  void take_over(const Follower& copy) {
    if (!loss_) loss_ = copy.loss_;
  }

  // Every step on a node is written down, too.
  void record(Recorder* recorder) { recorder_ = recorder; }
  bool records() const { return recorder_ != nullptr; }

  void count_node() { ++nodes_; }
  const std::optional<Loss>& loss() const { return loss_; }

 private:
  void lose(Step step);
  bool has_sides(const std::vector<UnitSplit>& splits) const;

  const Domain& domain_;
  std::vector<double> row_;
  std::vector<UnitSplit> sides_;   // on which its hidden units are, if they are for sure
  std::uint32_t alternative_ = 0;  // of which it is the best answer
  double objective_ = kInf;
  double cutoff_ = kInf;
  bool watching_ = false;
  std::uint64_t nodes_ = 0;
  std::optional<Loss> loss_;
  Recorder* recorder_ = nullptr;
};

}  // namespace likely::search
