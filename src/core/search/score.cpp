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
  const double most = *std::max_element(outputs.begin(), outputs.end());
  double total = 0;
  for (const double own : outputs) total += std::exp(scale * (own - most));
  const double found = scale * (outputs[output] - most) - std::log(total);
  return low <= found && found <= high;
}

bool Alternative::met(const std::vector<double>& outputs) const {
  for (const Goal& goal : goals)
    if (goal.score(outputs) < goal.least) return false;
  return !share || share->holds(outputs);
}

}  // namespace likely::search
