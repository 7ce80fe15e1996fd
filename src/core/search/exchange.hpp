// Exchange: of an answer, one number goes back towards the factual, and one or two others make up for it at less cost.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "incumbents.hpp"
#include "problem.hpp"

namespace likely::search {

// Improves an answer until no exchange makes it cheaper, while there is `more` time. Where goal and likelihood are both just
// reached, no number can go back alone; and on a fine grid, rounding never finds the last small gain. For costs alone, without a
// weight of likelihood.
void exchange(const Problem& problem, std::uint32_t alternative, std::vector<double> answer, SolutionPool& pool,
              Workspace& workspace, const std::function<bool()>& more);

}  // namespace likely::search
