#include "simplex.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "../clones.hpp"
#include "../tolerances.hpp"

namespace likely::search {

namespace {

// row -= by * pivot_row; returns the squared norm of what it is then.
LIKELY_CLONES double eliminate(double* row, const double* pivot_row, double by, std::size_t count) {
  double lanes[4] = {0, 0, 0, 0};
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    for (std::size_t i = 0; i < 4; ++i) {
      row[k + i] -= by * pivot_row[k + i];
      lanes[i] += row[k + i] * row[k + i];
    }
  }
  for (; k < count; ++k) {
    row[k] -= by * pivot_row[k];
    lanes[0] += row[k] * row[k];
  }
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

// The same without the norm.
LIKELY_CLONES void subtract(double* row, const double* pivot_row, double by, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) row[k] -= by * pivot_row[k];
}

}  // namespace

void LinearProgramme::reset(std::size_t count) {
  columns = count;
  rows = 0;
  matrix.clear();
  cost.assign(count, 0.0);
  low.assign(count, 0.0);
  high.assign(count, 1.0);
}

double* LinearProgramme::add_row(double from, double to) {
  ++rows;
  matrix.resize(rows * columns, 0.0);
  low.push_back(from);
  high.push_back(to);
  return matrix.data() + (rows - 1) * columns;
}

void Simplex::load(const LinearProgramme& programme) {
  columns_ = programme.columns;
  rows_ = programme.rows;
  pivots_ = 0;
  tableau_ = programme.matrix;
  low_ = programme.low;
  high_ = programme.high;
  nonbasic_.resize(columns_);
  basic_.resize(rows_);
  std::iota(nonbasic_.begin(), nonbasic_.end(), 0U);
  std::iota(basic_.begin(), basic_.end(), static_cast<std::uint32_t>(columns_));
  norm_.assign(rows_, 0.0);
  for (std::size_t r = 0; r < rows_; ++r)
    for (std::size_t k = 0; k < columns_; ++k) norm_[r] += tableau_[r * columns_ + k] * tableau_[r * columns_ + k];
  value_.assign(columns_ + rows_, 0.0);
  set_cost(programme.cost);
}

void Simplex::set_cost(const std::vector<double>& cost) {
  cost_ = cost;
  cost_.resize(columns_ + rows_, 0.0);
  reduced_.assign(columns_ + rows_, 0.0);
  for (std::size_t k = 0; k < columns_; ++k) {
    double total = cost_[nonbasic_[k]];
    for (std::size_t r = 0; r < rows_; ++r)
      if (cost_[basic_[r]] != 0) total += cost_[basic_[r]] * tableau_[r * columns_ + k];
    reduced_[nonbasic_[k]] = total;
  }
}

void Simplex::set_bounds(std::uint32_t variable, double low, double high) {
  low_[variable] = low;
  high_[variable] = high;
}

void Simplex::start_from(const std::vector<std::uint32_t>& basic, const std::vector<std::uint32_t>& nonbasic) {
  std::vector<bool> leaves(columns_ + rows_, false);
  for (const std::uint32_t variable : nonbasic) leaves[variable] = true;
  for (const std::uint32_t variable : basic) {
    const auto place = std::find(nonbasic_.begin(), nonbasic_.end(), variable);
    if (place == nonbasic_.end()) continue;
    const auto column = static_cast<std::size_t>(place - nonbasic_.begin());
    std::size_t best = rows_;
    double most = tolerance::kLeastPivot;
    for (std::size_t r = 0; r < rows_; ++r) {
      const double size = std::abs(tableau_[r * columns_ + column]);
      if (leaves[basic_[r]] && size > most) {
        most = size;
        best = r;
      }
    }
    if (best < rows_) pivot(best, column);
  }
}

// Every nonbasic variable at the bound that its reduced cost asks for: all have two, so that every basis is dual feasible.
void Simplex::to_bounds() {
  for (const std::uint32_t variable : nonbasic_) {
    const bool stays = value_[variable] == high_[variable] && std::abs(reduced_[variable]) <= tolerance::kDualFeasible;
    const bool upper = reduced_[variable] < -tolerance::kDualFeasible || stays;
    value_[variable] = upper ? high_[variable] : low_[variable];
  }
}

void Simplex::basic_values() {
  for (std::size_t r = 0; r < rows_; ++r) {
    double total = 0;
    for (std::size_t k = 0; k < columns_; ++k) total += tableau_[r * columns_ + k] * value_[nonbasic_[k]];
    value_[basic_[r]] = total;
  }
}

double Simplex::objective() const {
  double total = 0;
  for (const std::uint32_t variable : nonbasic_) total += reduced_[variable] * value_[variable];
  return total;
}

// A nonbasic variable takes another value, and all that depend on it follow.
void Simplex::move(std::size_t column, double to) {
  const double by = to - value_[nonbasic_[column]];
  for (std::size_t r = 0; r < rows_; ++r) value_[basic_[r]] += by * tableau_[r * columns_ + column];
  value_[nonbasic_[column]] = to;
}

void Simplex::pivot(std::size_t row, std::size_t column, bool with_norms) {
  double* pivot_row = tableau_.data() + row * columns_;
  const double inverse = 1 / pivot_row[column];
  // entering = inverse leaving - sum of the others: the row of the entering variable.
  for (std::size_t k = 0; k < columns_; ++k) pivot_row[k] *= -inverse;
  pivot_row[column] = inverse;
  double norm = 0;
  for (std::size_t k = 0; k < columns_; ++k) norm += pivot_row[k] * pivot_row[k];
  norm_[row] = norm;
  for (std::size_t r = 0; r < rows_; ++r) {
    if (r == row) continue;
    double* other = tableau_.data() + r * columns_;
    const double factor = other[column];
    if (factor == 0) continue;
    other[column] = 0;
    if (with_norms)
      norm_[r] = eliminate(other, pivot_row, -factor, columns_);
    else
      subtract(other, pivot_row, -factor, columns_);
  }
  const std::uint32_t enters = nonbasic_[column], leaves = basic_[row];
  const double price = reduced_[enters];
  for (std::size_t k = 0; k < columns_; ++k)
    if (k != column) reduced_[nonbasic_[k]] += price * pivot_row[k];
  reduced_[leaves] = price * inverse;
  reduced_[enters] = 0;
  nonbasic_[column] = leaves;
  basic_[row] = enters;
  ++pivots_;
}

// The basic variable that is farthest outside of its bounds, as a distance in the space of nonbasic ones.
std::size_t Simplex::leaving() const {
  std::size_t best = rows_;
  double most = 0;
  for (std::size_t r = 0; r < rows_; ++r) {
    const std::uint32_t variable = basic_[r];
    const double missing = std::max(low_[variable] - value_[variable], value_[variable] - high_[variable]);
    if (missing <= tolerance::kPrimalFeasible * (1 + std::abs(value_[variable]))) continue;
    if (missing * missing > most * (1 + norm_[r])) {
      most = missing * missing / (1 + norm_[r]);
      best = r;
    }
  }
  return best;
}

// The long-step ratio test: nonbasic variables go to their other bound while what is missing remains missing. False if all of
// them do: no values have the row within its bounds.
bool Simplex::entering(std::size_t row, bool raise, double missing, std::size_t& column) {
  const double* entries = tableau_.data() + row * columns_;
  steps_.clear();
  for (std::size_t k = 0; k < columns_; ++k) {
    const std::uint32_t variable = nonbasic_[k];
    if (high_[variable] <= low_[variable]) continue;
    const double entry = raise ? entries[k] : -entries[k];
    const bool at_upper = value_[variable] == high_[variable];
    if (at_upper ? entry < -tolerance::kLeastPivot : entry > tolerance::kLeastPivot)
      steps_.push_back(
          {k, std::max(0.0, at_upper ? -reduced_[variable] : reduced_[variable]) / std::abs(entry), std::abs(entry)});
  }
  std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.ratio < b.ratio; });
  std::size_t last = 0;
  for (; last < steps_.size(); ++last) {
    const std::uint32_t variable = nonbasic_[steps_[last].place];
    missing -= steps_[last].slope * (high_[variable] - low_[variable]);
    if (missing <= 0) break;
  }
  if (last == steps_.size()) return false;
  // Of steps that are as long, the one with the largest entry: a small pivot loses digits.
  std::size_t best = last;
  for (std::size_t i = last + 1; i < steps_.size() && steps_[i].ratio <= steps_[last].ratio + tolerance::kDualFeasible; ++i)
    if (steps_[i].slope > steps_[best].slope) best = i;
  column = steps_[best].place;
  for (std::size_t i = 0; i < last; ++i) {
    const std::uint32_t variable = nonbasic_[steps_[i].place];
    move(steps_[i].place, value_[variable] == high_[variable] ? low_[variable] : high_[variable]);
  }
  return true;
}

// A row that no values bring within its bounds: its multiple, added to the multipliers, raises the objective without end.
void Simplex::show_infeasible(std::size_t row, bool raise, double missing, double cutoff) {
  const double reach = std::isfinite(cutoff) ? std::max(0.0, cutoff - objective()) : std::abs(objective());
  double reachable = 0;
  for (const Step& step : steps_) {
    const std::uint32_t variable = nonbasic_[step.place];
    reachable += step.slope * (high_[variable] - low_[variable]);
  }
  const double by = (raise ? 1 : -1) * (tolerance::kBeyondCutoff * reach + tolerance::kBeyondCutoff) /
                    std::max(missing - reachable, tolerance::kLeastPivot);
  for (std::size_t k = 0; k < columns_; ++k) reduced_[nonbasic_[k]] -= by * tableau_[row * columns_ + k];
  reduced_[basic_[row]] += by;
}

Simplex::End Simplex::solve(double cutoff, std::size_t most_pivots) {
  const std::size_t most = pivots_ + most_pivots;
  to_bounds();
  basic_values();
  for (std::size_t since = 0;; ++since) {
    if (objective() >= cutoff) return End::kCutOff;
    std::size_t row = leaving();
    if (since > 0 && (row == rows_ || since % tolerance::kPivotsBetweenValues == 0)) {
      basic_values();
      row = leaving();
    }
    if (row == rows_) return End::kOptimal;
    if (pivots_ >= most) return End::kStopped;
    const std::uint32_t leaves = basic_[row];
    const bool raise = value_[leaves] < low_[leaves];
    const double missing = raise ? low_[leaves] - value_[leaves] : value_[leaves] - high_[leaves];
    std::size_t column = 0;
    if (!entering(row, raise, missing, column)) {
      show_infeasible(row, raise, missing, cutoff);
      return End::kInfeasible;
    }
    const double bound = raise ? low_[leaves] : high_[leaves];
    move(column, value_[nonbasic_[column]] + (bound - value_[leaves]) / tableau_[row * columns_ + column]);
    value_[leaves] = bound;
    pivot(row, column);
  }
}

// The nonbasic variable whose move improves the objective most for how far all variables move with it.
std::size_t Simplex::improving() const {
  std::size_t best = columns_;
  double most = 0;
  for (std::size_t k = 0; k < columns_; ++k) {
    const std::uint32_t variable = nonbasic_[k];
    if (high_[variable] <= low_[variable]) continue;
    const double gain = value_[variable] == high_[variable] ? reduced_[variable] : -reduced_[variable];
    if (gain > tolerance::kDualFeasible && gain * gain > most * weight_[k]) {
      most = gain * gain / weight_[k];
      best = k;
    }
  }
  return best;
}

// How far a nonbasic variable can move before it or a basic one is at a bound; `row` is that one's, or none. Of several that are
// about as near, the one with the largest entry (Harris 1973).
double Simplex::step_to_bound(std::size_t column, double direction, std::size_t& row) const {
  const std::uint32_t moved = nonbasic_[column];
  const double own = high_[moved] - low_[moved];
  double reach = own;
  for (std::size_t r = 0; r < rows_; ++r) {
    const double rate = direction * tableau_[r * columns_ + column];
    if (std::abs(rate) <= tolerance::kLeastPivot) continue;
    const std::uint32_t variable = basic_[r];
    const double room = rate > 0 ? high_[variable] - value_[variable] : value_[variable] - low_[variable];
    const double slack = tolerance::kPrimalFeasible * (1 + std::abs(value_[variable]));
    reach = std::min(reach, (std::max(room, 0.0) + slack) / std::abs(rate));
  }
  row = rows_;
  double largest = 0, step = own;
  for (std::size_t r = 0; r < rows_; ++r) {
    const double rate = direction * tableau_[r * columns_ + column];
    if (std::abs(rate) <= std::max(tolerance::kLeastPivot, largest)) continue;
    const std::uint32_t variable = basic_[r];
    const double room = std::max(rate > 0 ? high_[variable] - value_[variable] : value_[variable] - low_[variable], 0.0);
    if (room / std::abs(rate) > reach) continue;
    largest = std::abs(rate);
    step = room / std::abs(rate);
    row = r;
  }
  if (own <= step) row = rows_;
  return std::min(own, step);
}

// Devex (Forrest and Goldfarb 1992), before a pivot.
void Simplex::update_weights(std::size_t row, std::size_t column) {
  const double* entries = tableau_.data() + row * columns_;
  const double entering = weight_[column], inverse = 1 / entries[column];
  for (std::size_t k = 0; k < columns_; ++k) {
    const double ratio = entries[k] * inverse;
    weight_[k] = std::max(weight_[k], ratio * ratio * entering);
  }
  weight_[column] = std::max(1.0, entering * inverse * inverse);
}

Simplex::End Simplex::improve(double enough, std::size_t most_pivots) {
  const std::size_t most = pivots_ + most_pivots;
  weight_.resize(columns_);
  for (std::size_t k = 0; k < columns_; ++k) {  // a nonbasic variable counts as much as the range that it has
    const double range = std::max(high_[nonbasic_[k]] - low_[nonbasic_[k]], tolerance::kLeastMove);
    weight_[k] = 1 / (range * range);
  }
  for (std::size_t since = 0;; ++since) {
    const std::size_t column = improving();
    if (column == columns_) return End::kOptimal;
    if (objective() <= enough) return End::kCutOff;
    if (pivots_ >= most || since >= 2 * most_pivots) return End::kStopped;
    const std::uint32_t enters = nonbasic_[column];
    const double direction = value_[enters] == high_[enters] ? -1 : 1;
    std::size_t row = rows_;
    const double step = step_to_bound(column, direction, row);
    if (row == rows_) {
      move(column, direction > 0 ? high_[enters] : low_[enters]);
      continue;
    }
    const std::uint32_t leaves = basic_[row];
    const bool to_high = direction * tableau_[row * columns_ + column] > 0;
    move(column, value_[enters] + direction * step);
    value_[leaves] = to_high ? high_[leaves] : low_[leaves];
    update_weights(row, column);
    pivot(row, column, false);
  }
}

}  // namespace likely::search
