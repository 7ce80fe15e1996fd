#include "score.hpp"

#include <algorithm>
#include <cmath>

#include "../tolerances.hpp"

namespace likely::search {

double Goal::score(const std::vector<double>& outputs) const {
  double total = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o) total += coefficient[o] * outputs[o];
  return total;
}

double Goal::rounding(const std::vector<double>& of_outputs, double factor) const {
  double total = tolerance::kRoundoff * std::abs(lower);
  for (std::size_t o = 0; o < of_outputs.size(); ++o) total += factor * std::abs(coefficient[o]) * of_outputs[o];
  return total;
}

bool Share::holds(const std::vector<double>& outputs, double rounding) const {
  const double greatest = *std::max_element(outputs.begin(), outputs.end());
  double total = 0;
  for (const double score : outputs) total += std::exp(scale * (score - greatest));
  const double log_share = scale * (outputs[output] - greatest) - std::log(total);
  const double slack = 2 * scale * rounding + tolerance::kShareRoundoffs * tolerance::kRoundoff * (1 + std::abs(log_share));
  return low - slack <= log_share && log_share <= high + slack;
}

// A score that misses its goal by no more than rounding meets it, unless that is more than a tiny part of the goal itself: then
// nobody can tell.
Verdict Alternative::judge(const std::vector<double>& outputs, const std::vector<double>& rounding) const {
  Verdict verdict = Verdict::kMet;
  for (const Goal& goal : goals) {
    const double missing = goal.lower - goal.score(outputs);
    if (missing <= 0) continue;
    const double off = goal.rounding(rounding);
    if (missing > off) return Verdict::kMissed;
    if (goal.lower != 0 && off > tolerance::kMostRoundingOfGoal * std::abs(goal.lower)) verdict = Verdict::kUndecided;
  }
  if (share && !share->holds(outputs, *std::max_element(rounding.begin(), rounding.end()))) return Verdict::kMissed;
  return verdict;
}

bool Alternative::met(const std::vector<double>& outputs) const {
  for (const Goal& goal : goals)
    if (goal.score(outputs) < goal.lower) return false;
  return !share || share->holds(outputs, 0);
}

}  // namespace likely::search
