// The triangle relaxation of a ReLU network (Ehlers 2017, "Formal verification of piece-wise linear feed-forward neural
// networks") as a linear programme: the cheapest point of a region that reaches the goals, if an unstable unit may be anywhere in
// the triangle of 0, its pre-activation and their chord. Its multipliers become one inequality over features, which is what
// bounds: alpha-beta-CROWN (Wang et al. 2021) with the optimal slopes and prices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "network.hpp"
#include "simplex.hpp"

namespace likely::search {

// Columns that are basic and rows that are not, by what they stand for, so that they mean the same in another node.
struct Basis {
  std::vector<std::uint32_t> columns, rows;
};

// The rows of the programme as inequalities over features and the ReLUs of unstable units:
//   constant + sum over features of what the value adds + sum over units of what their ReLU adds >= 0.
struct UnitRows {
  struct Row {
    std::size_t layer, unit;  // past the last layer: of a goal
    bool chord;
    double sign;  // of its multiplier
  };
  struct Relu {
    std::uint32_t layer, unit;
    double high;               // from 0
    std::vector<double> adds;  // per row, at `high`
    std::size_t row;           // that it is not below its argument
  };

  std::vector<Row> rows;
  std::size_t goals = 0;
  std::vector<std::size_t> units;    // per layer
  std::vector<double> constant;      // per row
  std::vector<double> slope, start;  // [feature][row]: of numbers, from `from` on
  std::vector<double> from;          // per feature
  std::vector<double> atoms;         // [atom of all features][row]
  std::vector<Relu> relus;

  // Prices of the rows as multipliers, and the other way round.
  void to_multipliers(const double* prices, UnitMultipliers& out) const;
  void from_multipliers(const UnitMultipliers& multipliers, double times, double* prices) const;
};

class Triangles {
 public:
  // An unstable unit in the solution, and how much there is to gain from deciding it.
  struct Candidate {
    std::uint32_t layer, unit;
    double gain;
  };

  explicit Triangles(const Network& network) : network_(network) {}

  // The programme of a region that the workspace was entered with; with its budget as a row, which the cheapest point keeps
  // anyway, or without.
  void build(const Region& region, const std::vector<Goal>& goals, const ScoreWorkspace& workspace, bool with_budget = false);
  // Brings the variables of a basis into it.
  void start_from(const Basis& start);
  // Solves it; the objective is the cost.
  Simplex::End solve(const Basis& start, double cutoff);
  // Goes on with the greatest of `sign` times a unit before its ReLU as the objective, until it is `enough`.
  Simplex::End solve_for(const UnitSide& side, double enough);
  // A unit before its ReLU in the solution.
  double argument(std::size_t layer, std::size_t unit) const;
  std::size_t pivots() const { return simplex_.pivots(); }
  std::size_t size() const { return programme_.rows * programme_.columns; }
  double objective() const { return cheapest_ + simplex_.objective(); }
  Basis basis() const { return basis_of(simplex_); }
  const UnitMultipliers& multipliers();
  // The rows of the last solution's programme, for programmes that know more.
  void fill_rows(UnitRows& out) const;
  const UnitMultipliers& last_multipliers() const { return multipliers_; }
  bool unstable(std::size_t layer, std::size_t unit) const { return column_of_[layer][unit] >= 0; }
  // The solution as a point, with the atoms that have the greatest share of it; and as a row, its numbers on the grid, moved away
  // from the cheapest row.
  void point(std::vector<double>& out) const;
  void row(std::vector<double>& out) const;
  bool has_unstable() const { return columns_.size() > first_column_.back(); }
  // Unstable units that are not on their ReLU in the solution, the one that promises most first.
  std::vector<Candidate> candidates() const;
  // Units that are undecided, by how much their triangles may be above their ReLUs at a row, times what that may change.
  std::vector<Candidate> candidates_at(const double* row) const;
  // The objective if a unit is decided, after some pivots; and the basis.
  double probe(const UnitSplit& split, double cutoff, Basis& basis) const;

 private:
  struct Column {  // of a feature: from one vertex to another; of a unit: what its ReLU gives
    std::size_t feature, from, to;
    std::uint32_t key;
  };
  void add_features();
  void first_layer();
  void next_layer(std::size_t at);
  double add_relus(std::size_t at, const double* weights, double* terms) const;
  void add_unit(std::size_t at, std::size_t h);
  void add_goals(const std::vector<Goal>& goals);
  void add_shares();
  void add_budget();
  void perturb(double room);
  double* add_row(double low, double high, std::uint32_t key);
  double effect(std::size_t vertex, std::size_t feature, std::size_t h) const;
  Basis basis_of(const Simplex& simplex) const;
  std::vector<std::size_t> list_rows(UnitRows& out) const;
  double entry(const UnitRows& rows, const std::vector<std::size_t>& places, std::size_t r, std::size_t column) const;
  void fill_numbers(std::size_t j, const std::vector<std::size_t>& places, UnitRows& out) const;
  void fill_shares(std::size_t j, const std::vector<std::size_t>& places, UnitRows& out) const;

  const Network& network_;
  const Network::Workspace* bounds_ = nullptr;
  std::vector<Column> columns_;
  std::vector<std::uint32_t> row_keys_;
  std::vector<std::size_t> base_;                            // per feature: its cheapest vertex
  std::vector<std::size_t> first_column_;                    // per feature, and in the end how many columns features have
  std::vector<std::vector<std::int32_t>> column_of_;         // per layer and unit: its column, if it is unstable; else -1
  std::vector<std::vector<std::int32_t>> row_of_;            // its first row; -1: none
  std::vector<std::vector<double>> expression_, constants_;  // per layer: z as a function of the columns, [unit][column]
  std::vector<std::vector<std::int32_t>> decided_;           // 1: on, -1: off
  std::vector<std::vector<double>> influence_;               // per layer and unit: how much the goals may gain per unit
  std::size_t first_goal_ = 0;                               // row
  std::size_t goal_count_ = 0;
  double cheapest_ = 0;
  LinearProgramme programme_;
  Simplex simplex_;
  UnitMultipliers multipliers_;
};

}  // namespace likely::search
