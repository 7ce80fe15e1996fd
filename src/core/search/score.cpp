#include "score.hpp"

#include <algorithm>
#include <cmath>

namespace likely::search {

double Goal::score(const std::vector<double>& outputs) const {
  double total = 0;
  for (std::size_t o = 0; o < outputs.size(); ++o) total += coefficient[o] * outputs[o];
  return total;
}

bool Share::holds(const std::vector<double>& outputs) const {
  const double greatest = *std::max_element(outputs.begin(), outputs.end());
  double total = 0;
  for (const double score : outputs) total += std::exp(scale * (score - greatest));
  const double log_share = scale * (outputs[output] - greatest) - std::log(total);
  return low <= log_share && log_share <= high;
}

bool Alternative::met(const std::vector<double>& outputs) const {
  for (const Goal& goal : goals)
    if (goal.score(outputs) < goal.lower) return false;
  return !share || share->holds(outputs);
}

}  // namespace likely::search
