// The certificate of a search: its tree, written down step by step, so that somebody else can derive every bound again.
//
// JSON, a line for each tree (its roots) and for each node that was looked at: what every step left of its box, and the
// multipliers that the step used; then its children, if it has any. A node without a line was left open: its bound is its
// parent's. docs/certificates.md has the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "node.hpp"
#include "problem.hpp"

namespace likely::search {

class Recorder {
 public:
  // What the steps leave in the workspace is read there. Beyond `most_bytes` nothing more is written.
  Recorder(const Problem& problem, const Workspace& workspace, std::size_t most_bytes);

  // A new tree begins: everything that was open is in these nodes, one per alternative.
  void add_roots(const std::vector<std::int64_t>& ids);
  // From now on, the steps are this node's.
  void begin(std::int64_t id, const Node& node, double cutoff);
  void after(Step step, const Node& node, bool left);
  // A part of the node that waits in the queue.
  void add_child(std::uint64_t id, const Node& part);
  // Nothing more is done with the node.
  void end();

  std::string take() { return std::move(text_); }
  bool truncated() const { return truncated_; }

 private:
  void write_changes(const Box& before, const Box& after);
  void write_multipliers(Step step, const Node& node, bool left);
  void write_units(std::uint32_t alternative);
  void write(double number);
  void write(const Multipliers& at);
  void write(const std::vector<double>& numbers);
  void write(const std::vector<std::vector<double>>& layers);
  void write_prices(const std::vector<Prices>& last, const Likelihood& likelihood, const PricedParts& priced);
  void write(const std::vector<Prices>& prices);

  const Problem& problem_;
  const Workspace& workspace_;
  std::size_t most_bytes_;
  bool truncated_ = false;
  std::string text_, line_, children_;
  Box box_;
  Step last_ = Step::kPruning;
  std::size_t splits_ = 0;  // of the node that is looked at
};

}  // namespace likely::search
