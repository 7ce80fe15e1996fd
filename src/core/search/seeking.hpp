// Seeking a first answer: known rows that are nearly answers are made one, whatever that costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "incumbents.hpp"
#include "problem.hpp"

namespace likely::search {

// From known rows, each with its values outside of the domain replaced by the cheapest ones, and from the cheapest row itself:
// one value at a time, the one that leaves least of goals, likelihood and rules missing. A feature that was changed rests (F.
// Glover, "Tabu search", ORSA Journal on Computing 1, 1989), and where no value helps, what is missing weighs more (P. Morris,
// "The breakout method for escaping from local minima", AAAI 1993). Of the rows in the order of what they lack, those from
// `first` on, at most `most`; the first that becomes an answer is the last. While there is `more` time.
void seek_answer(const Problem& problem, std::uint32_t alternative, const std::vector<std::vector<double>>& rows,
                 std::size_t first, std::size_t most, SolutionPool& pool, Workspace& workspace,
                 const std::function<bool()>& more);

}  // namespace likely::search
