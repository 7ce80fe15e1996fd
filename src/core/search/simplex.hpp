// A dual simplex method for small, dense linear programmes whose variables all have two bounds (Lemke 1954; the long step of
// Kirillova et al. 1979, see Koberstein 2005, "The dual simplex method"). Nothing that is claimed rests on it: what it finds
// are multipliers, and any multipliers give a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace likely::search {

// Minimise cost . x over bounds of x and of the rows' activities, matrix x.
struct LinearProgramme {
  std::size_t columns = 0, rows = 0;
  std::vector<double> matrix;     // [row][column]
  std::vector<double> cost;       // per column
  std::vector<double> low, high;  // of columns, then of rows: finite

  void reset(std::size_t count);  // no rows, columns from 0 to 1 that cost nothing
  double* add_row(double from, double to);
};

class Simplex {
 public:
  enum class End { kOptimal, kInfeasible, kCutOff, kStopped };

  // The slack basis: every row basic.
  void load(const LinearProgramme& programme);
  // Brings variables into the basis in place of rows, as far as it can be; numbers below `columns` are columns, others rows.
  void start_from(const std::vector<std::uint32_t>& basic, const std::vector<std::uint32_t>& nonbasic);
  void set_cost(const std::vector<double>& cost);
  void set_bounds(std::uint32_t variable, double low, double high);
  // Goes on from the basis that there is, until no bound is violated, the objective reaches `cutoff`, or there were too many
  // pivots.
  End solve(double cutoff, std::size_t most_pivots);

  // From values that violate no bound, with another cost: the primal method, which keeps them so. Ends when the objective comes
  // down to `enough`, too. Norms of rows, by which the dual method chooses, are then those of before.
  End improve(double enough, std::size_t most_pivots);

  double objective() const;
  std::size_t pivots() const { return pivots_; }
  // By how much the objective grows per unit of a row's activity; if there is no solution, large enough to show it.
  double multiplier(std::size_t row) const { return reduced_[columns_ + row]; }
  double value(std::uint32_t variable) const { return value_[variable]; }
  std::uint32_t basic(std::size_t place) const { return basic_[place]; }
  std::uint32_t nonbasic(std::size_t place) const { return nonbasic_[place]; }
  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return rows_; }

 private:
  struct Step {
    std::size_t place;
    double ratio, slope;
  };
  void to_bounds();
  void basic_values();
  void move(std::size_t column, double to);
  void pivot(std::size_t row, std::size_t column, bool with_norms = true);
  std::size_t leaving() const;
  std::size_t improving() const;
  void update_weights(std::size_t row, std::size_t column);
  double step_to_bound(std::size_t column, double direction, std::size_t& row) const;
  bool entering(std::size_t row, bool raise, double missing, std::size_t& column);
  void show_infeasible(std::size_t row, bool raise, double missing, double cutoff);

  std::size_t columns_ = 0, rows_ = 0, pivots_ = 0;
  std::vector<double> tableau_;                  // [basic][nonbasic]: what a basic variable gains per unit of a nonbasic one
  std::vector<double> norm_;                     // of the rows of the tableau, squared
  std::vector<std::uint32_t> basic_, nonbasic_;  // variables: columns, then rows
  std::vector<double> cost_, low_, high_, value_, reduced_;  // per variable
  std::vector<Step> steps_;
  std::vector<double> weight_;  // of nonbasic variables: about how far basic ones move with them, squared
};

}  // namespace likely::search
