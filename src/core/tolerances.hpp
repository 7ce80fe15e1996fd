// Every tolerance and every limit of effort of the core, each with one meaning and its reason. Tolerances of the first two
// sections decide what is claimed: bounds are only ever relaxed outwards by them. The others decide how much work is done.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace likely::tolerance {

// -- rounding: by how much a computed bound may be off ------------------------------------------------------------------

// Unit roundoff of doubles: what one operation loses, relative to its result. A sum of n terms loses no more than n times
// that of the sizes of its terms (Higham 2002, "Accuracy and stability of numerical algorithms", section 4.2); of the
// result it can lose everything.
inline constexpr double kRoundoff = 0x1p-53;
// A bound of a score and the score of a row may each be off by the rounding of their terms, and a row may miss its goal by as
// much: so often counts the rounding of the terms where a bound is held against a goal, and once more for the comparison.
inline constexpr double kRoundingsOfBound = 4;
// Of a bound of the objective, relative to 1 + its size: it is a sum of costs, multiplied gains and a log-likelihood.
inline constexpr double kBoundRounding = 1e-9;
// Of the logarithm of a likelihood, absolute: sums and products of a few thousand rounded terms.
inline constexpr double kLogLikelihoodRounding = 1e-9;
// Of the place where a linear function crosses a limit, relative to the width of the interval that it crosses, and in units
// of roundoff of the numbers themselves: a removed number must be beyond the limit by more than the crossing is off.
inline constexpr double kCrossingRounding = 1e-9;
inline constexpr double kCrossingRoundoffs = 8;
// Of a number that should be a whole number of grid steps, in steps: for decimals (0.1 is not a double), for the size of
// the number, and never so much that two neighbours could be confused. Less than likely/schema/grid.py allows numbers of a
// column: these are ends of ranges that the core computed itself.
inline constexpr double kGridRounding = 1e-9;
inline constexpr double kGridRoundingPerStep = 1e-15;
inline constexpr double kMostGridRounding = 0.25;
// Of 1 / grid from a whole number, if the grid is a decimal fraction (0.01) and its multiples are read as k / 100.
inline constexpr double kDecimalGrid = 1e-12;

inline double bound_rounding(double bound) { return kBoundRounding * (1 + std::abs(bound)); }
inline double crossing_rounding(double low, double high) {
  return kCrossingRounding * (high - low) + kCrossingRoundoffs * kRoundoff * std::max(std::abs(low), std::abs(high));
}
inline double grid_rounding(double steps) {
  return std::min(kGridRounding + kGridRoundingPerStep * std::abs(steps), kMostGridRounding);
}

// -- Gaussian blocks ----------------------------------------------------------------------------------------------------

// Rounds of coordinate ascent towards the point of a tangent; any point gives a valid bound. They end when no coordinate moves by
// more than this many deviations.
inline constexpr int kTangentRounds = 12;
inline constexpr double kTangentStep = 1e-7;
// Newton steps there: what is added to the curvature, which may have none in some direction.
inline constexpr double kRidge = 1e-9;
// Lines of a term that are wider than this, in warped units, have corners of the hull in between, up to so many.
inline constexpr double kWideLine = 0.125;
inline constexpr double kMostCorners = 32;
// The curvature that a tangent keeps: the share of what it could take that each coordinate takes in a round, and rounds. It stays
// below by a little, so that rounding cannot exceed it; and a pivot below the last one counts as none.
inline constexpr int kDiagonalRounds = 12;
inline constexpr double kDiagonalShare = 0.15;
inline constexpr double kCurvatureCaution = 1e-6;
inline constexpr double kLeastFactorPivot = 1e-12;
inline constexpr int kDiagonalHalvings = 40;
// Lines below the logarithm of a marginal are cut in two as long as they are farther from it, in nats, so often at most.
inline constexpr double kMarginalGap = 0.02;
inline constexpr int kMarginalCuts = 8;
// They are lower by this many units of roundoff of the sizes of their terms: a few operations, here and where a row is tested.
inline constexpr double kMarginalRoundoffs = 32;
// No logarithm of a density matters that is farther from 0, and no scale of the densities of a feature is. Over these scales a
// block is about 1 at most; one that is larger than this (a logarithm) is of a circuit that needs larger scales.
inline constexpr double kMostLog = 1e100;
inline constexpr double kMostLogScale = 300;
inline constexpr double kMostLogOfBlock = 1;
// Bisections towards the number from which on a feature may be likely enough.
inline constexpr int kEdgeSteps = 8;

// -- meaning: what counts as kept, as equal, as one number --------------------------------------------------------------

// A linear rule over whole numbers is kept or broken, exactly. Another may be exceeded by this many units of roundoff per
// term of it, relative to the sum of the sizes of its terms: what somebody who adds them up may lose; the twin of
// likely/schema/rules.py.
inline constexpr double kRuleRoundoffs = 2;
inline double rule_slack(std::size_t terms, double size) {
  return kRuleRoundoffs * kRoundoff * static_cast<double>(terms + 1) * size;
}
// A score that rounding alone keeps from its goal reaches it, if rounding is at most this share of what is asked for; the twin
// of MARGIN_ROUNDING in likely/problem/tolerances.py.
inline constexpr double kMostRoundingOfGoal = 1e-6;
// Of the logarithm of a share, in units of roundoff of 1 + its size: a few exponentials, their sum and its logarithm.
inline constexpr double kShareRoundoffs = 16;
// An interval of reals narrower than this share of its feature's numbers is narrow: it is split on only when no node is left
// that has wider ones. Nothing is claimed of what it holds.
inline constexpr double kNarrow = 1e-10;
// Two objectives that differ by no more are one where a list of answers is compared with a bound (absolute).
inline constexpr double kSameObjective = 1e-9;

// -- underflow: where products of densities are computed again with logarithms ------------------------------------------

// A row's scaled likelihood: well above the least normal double (2e-308), so that terms that still count have all digits.
inline constexpr double kSmallestRowLikelihood = 1e-250;
// An upper bound of scaled likelihoods, and the divisor in a derivative. What is smaller is raised to this value, which only
// weakens a bound: so it may lie nearer to the least normal double than a row's value, which must have all its digits.
inline constexpr double kSmallestBoundLikelihood = 1e-280;
// A single-precision product of mixture weights and ratios: above the least normal float (1e-38).
inline constexpr float kSmallestMixtureDensity = 1e-36F;
// Factors of that product between two looks at its size.
inline constexpr std::size_t kMixtureFactorsBetweenScaling = 6;
// A component's part of a row, of all that components have of it, below which the row adds nothing to its mean and covariance:
// a million rows of as much add less than the tenth pseudo-row that every component has.
inline constexpr double kSmallestShare = 1e-12;

// -- propagation --------------------------------------------------------------------------------------------------------

// Rounds of rules, score, likelihood and cost on one node, before it is branched on: later rounds remove little.
inline constexpr int kPropagationRounds = 6;
// Rounds of the rules alone: linear rules over reals may tighten each other for ever, by less and less.
inline constexpr int kRuleRounds = 30;
// A range that keeps more than this share of its width is no reason for another round.
inline constexpr double kSameWidth = 0.9;
// Runs of cells per feature for which the bound of cost, score and likelihood together is computed.
inline constexpr std::size_t kPricedRuns = 16;

// Runs of cells per feature of which the hulls of leaves are made.
inline constexpr std::size_t kHullRuns = 256;

// -- duals --------------------------------------------------------------------------------------------------------------

// Multipliers of a goal are tried from the first up, in powers of the growth, until the dual falls; the last, 4^39 times
// the first, is beyond any ratio of cost and score.
inline constexpr double kFirstMultiplier = 4e-3;
inline constexpr double kMultiplierGrowth = 4;
inline constexpr double kMostMultiplier = kFirstMultiplier * 0x1p78;
// Intersections of tangents after that: the dual is piecewise linear, and few have more pieces near their top.
inline constexpr int kTangentCuts = 25;
// Halvings of the interval in which the tangent of a smooth function is sought that begins at the function: more change the line
// by less than a part in a million.
inline constexpr int kTangentSteps = 20;
// Roundings of one function of scores (scaled, shifted, exponential of somebody else's library, divided), with room to spare.
inline constexpr double kRoundoffsOfFunction = 16;
// Steps towards a quantile of the normal distribution at most: each doubles the digits, from two or so.
inline constexpr int kQuantileSteps = 12;
// Parts of an interval in which an activation that bends both ways is held against a line.
inline constexpr int kActivationParts = 32;
// Parts of a range, or of a cell, in which a curve of one feature is held against a line.
inline constexpr int kCurveParts = 16;
inline constexpr int kCurvePartsOfCell = 4;
// A kink of a curve that is nearer to the end of a range than this share of it raises a line, and does not make it steeper.
inline constexpr double kNearKink = 1e-6;
// The first multiplier of a linear rule, as the share of the bound that it would move if the excess stayed as it is.
inline constexpr double kFirstRuleShare = 0.01;
inline constexpr int kRuleMultiplierSteps = 24;
// Golden-section steps, and the relative width of the bracket at which they end.
inline constexpr int kGoldenSteps = 50;
inline constexpr double kGoldenWidth = 1e-9;
inline constexpr double kGoldenRatio = 0.3819660112501051;  // (3 - sqrt 5) / 2

// -- the linear programme of a network's units --------------------------------------------------------------------------

// Entries of the tableau that are smaller are no pivots; bounds and reduced costs that are missed by less are kept.
inline constexpr double kLeastPivot = 1e-9;
inline constexpr double kPrimalFeasible = 1e-9;
inline constexpr double kDualFeasible = 1e-9;
// Pivots after which the values of basic variables are computed anew.
inline constexpr std::size_t kPivotsBetweenValues = 50;
// Costs are first raised by about this share of the room below the cut-off, each by another part of it: ties stall the method.
inline constexpr double kPerturbation = 1e-5;
// Multipliers that show that there is no solution reach so many times the cut-off.
inline constexpr double kBeyondCutoff = 2;
// Pivots of one solution, per row and column; and of the look at a unit that may be split.
inline constexpr std::size_t kPivotsPerRow = 5;
inline constexpr std::size_t kPivotsOfProbe = 40;
// Ranges of units are narrowed by programmes of their own at nodes that are made after so many others: most searches are over
// before. An end is sought where it may move by more than this share of the range, with at most so many pivots; all ends of a
// layer together with pivots that look at so many entries, some tenth of a second.
inline constexpr std::uint64_t kNodesBeforeRanges = 32;
inline constexpr double kLeastRangeGain = 0.1;
inline constexpr std::size_t kPivotsOfRange = 300;
inline constexpr std::size_t kRangeWork = 200'000'000;
// The least range that a variable counts with where the primal method looks for one to move.
inline constexpr double kLeastMove = 1e-6;
// A unit is on its ReLU if it is above it by less than this share of what it can be.
inline constexpr double kLeastUnitGap = 1e-7;
// Features have many numbers if at least so many of them have more than so many: below, boxes of features are few enough. And if
// these are most features, or so many: where most features are categories, these decide, and the rest would be in the way.
inline constexpr std::ptrdiff_t kLeastWideFeatures = 3, kManyWideFeatures = 8;
inline constexpr double kWideSteps = 12;
// Solutions of one node's programme, each after features were fixed.
inline constexpr int kUnitRounds = 2;
// Units that are looked at before one is split, at first and where ranges were narrowed, which takes longer than that; what
// deciding one raises the bound by counts as at least so much.
inline constexpr std::size_t kProbedUnitsAtFirst = 3;
inline constexpr std::size_t kProbedUnits = 10;
inline constexpr double kLeastGain = 1e-9;
// A number is on its grid if it is nearer than this share of a step.
inline constexpr double kLeastFraction = 1e-6;
// Regions that a walk from a known row visits; how far it steps across, as a share of the way to the cheapest row; walks
// at first, and further ones if the search is not over soon.
inline constexpr int kRegionSteps = 30;
inline constexpr double kRegionStep = 1e-4;
inline constexpr std::size_t kRegionStarts = 5;
inline constexpr std::size_t kMoreRegionStarts = 45;
// With a likelihood and no Gaussian blocks, nodes that are made before so many others are not bounded by their units' programme;
// from its solution towards a known answer the search walks at every so manyth node.
inline constexpr std::uint64_t kNodesBeforeUnits = 32;
inline constexpr std::uint64_t kNodesBetweenWalks = 8;
// Prices of units together with the likelihood begin when so many nodes were made (of those that have prices): most searches are
// over then. They are sought at a cost that is this share of what is left above the node's bound, up to this share of it (within
// limits, in nats). They are of use if they raise the bound by this share of it; where they are not, they pause for 1, 3 and 7
// nodes on the way down. With a weight, they wait until no more nats are left.
inline constexpr std::uint64_t kNodesBeforeUnitPrices = 150;
inline constexpr double kUnitPriceShare = 0.3;
inline constexpr double kUnitPriceGap = 0.05;
inline constexpr double kLeastProgrammeGap = 1e-6, kMostProgrammeGap = 0.1;
inline constexpr double kLittleOfUnits = 0.2;
inline constexpr int kLongestUnitPause = 7;
inline constexpr double kMostNatsLeft = 12;
// What is to be gained from deciding a unit, or from a cut, tells where to branch if it is at least this share of the nats by
// which the likelihood is above what is asked for.
inline constexpr double kTellingShare = 0.5;
// By how much, relatively, a node's bound is above that of its units alone if likelihood binds.
inline constexpr double kBindingShare = 1e-3;

// -- the decomposition of trees -----------------------------------------------------------------------------------------

// Nodes after which a search begins anew with it: some ten times its work on the first node, so that small searches lose little.
inline constexpr std::uint64_t kNodesBeforeTrees = 500;
// Where the likelihood has Gaussian blocks, whose nodes take long. Where it has none, nodes are fast and the decomposition has
// work for every component: as many more for each so many of them.
inline constexpr std::uint64_t kNodesBeforeLikelyTrees = 20;
inline constexpr std::uint64_t kComponentsPerWait = 4;
// Local search takes a function of trees for a line around a row: over such a share of all that the function reads.
inline constexpr double kGuessedStep = 0.02;
// Pairs of a leaf and a feature that its tree tests, at most: a sweep over more takes a good part of a tenth of a second.
inline constexpr std::size_t kMostTreeWork = 4'000'000;
// Sweeps over all features at a node that has no dual variables yet, and at one that has its parent's; and how often they are
// done again after values went.
inline constexpr int kFirstTreeSweeps = 60;
inline constexpr int kTreeSweeps = 10;
inline constexpr int kTreeRounds = 2;
// They end after so many that each closed less than this share of the gap.
inline constexpr int kIdleSweeps = 3;
inline constexpr double kLittleOfGap = 0.01;
// With a likelihood: rounds of shares, then prices and points, and sweeps in each, at a node that has none yet and at one that
// has its parent's. Without blocks there are no points, and many components.
inline constexpr int kFirstLikelyRounds = 8;
inline constexpr int kFirstLikelySweeps = 20;
inline constexpr int kFirstMixtureRounds = 4;
inline constexpr int kFirstMixtureSweeps = 10;
inline constexpr int kLikelyRounds = 3;
inline constexpr int kLikelySweeps = 5;
// What lies between bound and cut-off is worth so many nats at most.
inline constexpr double kMostNatsOfCost = 200.0;
// Where prices change, shares stay in proportion, at least this part of them: a price of 0 would stay there. Below this share of
// those of the cost alone, prices of goals are small and fall no more.
inline constexpr double kLeastOfShares = 0.1;
inline constexpr double kSmallPrice = 0.02;
// The decomposition is of use if it lowers the line of a component by this part of what that is above the threshold at the
// cut-off. Where it is not, it pauses for 3, 12, 39, 60 nodes on the way down: prices of likelihood alone are sought much faster.
inline constexpr double kLittleOfSlack = 0.05;
inline constexpr int kTreePauseGrowth = 3;
inline constexpr int kLongestTreePause = 60;
// Rows that a component's decomposition leaves out are less likely to it than the threshold by so many nats: e^-12 of it is lost.
inline constexpr double kLeftOutBelow = 12.0;
// The first guess of the prices: this share of what may be spent is enough; of a goal that is reached, this share of the largest.
inline constexpr double kGuessedShare = 0.5;
inline constexpr double kLeastGuess = 0.1;
// Steps of the logarithm of a price: the first at a node that has none yet and at one that has its parent's; how they grow, and
// fall when the slope changes its sign.
inline constexpr double kFirstPriceStep = 0.25;
inline constexpr double kPriceStep = 0.03;
inline constexpr double kStepGrowth = 1.2;
inline constexpr double kStepFall = 0.5;
// A reduced cost is nearly the least below this share of how far those of a tree lie apart; beyond so many of these it is far
// from it.
inline constexpr double kNearlyLeast = 3e-3;
inline constexpr double kFarFromLeast = 30;
// A value is likely to be an answer's if its reduced cost is below this share of the gap; and so far apart are two sides of a cut
// that cost the same.
inline constexpr double kLikelyOfGap = 0.2;
inline constexpr double kApartOfGap = 0.1;

// -- prices of likelihood -----------------------------------------------------------------------------------------------

// Without Gaussian blocks, nodes that are made before so many others are not bounded by prices against a threshold.
inline constexpr std::uint64_t kNodesBeforePrices = 200;
// The parts of a circuit may have so many nodes together, per edge of the circuit.
inline constexpr std::size_t kMostPartSize = 4;
// Evaluations in search of the prices of one part of a circuit: at a node that has none yet, and at one that has its parent's.
inline constexpr int kFirstPriceSteps = 40;
inline constexpr int kPriceSteps = 6;
// How often they are sought again, at the cost that the last ones prove.
inline constexpr int kPriceRounds = 2;
// And where the least density of a block is in the way: half way to the cut-off, and then beyond it, so many times together.
inline constexpr int kFloorRounds = 8;
// Where less than this share of the cut-off is left between it and the bound, prices are sought at the cut-off, once.
inline constexpr double kNearCutoff = 0.02;
// A step that gains less (in nats) is the last; and a part that is at most this share of what is asked for is let be. Mixtures of
// leaves have more parts, each of which counts less.
inline constexpr double kPriceGain = 1e-7;
inline constexpr double kLeastPartShare = 1e-4;
inline constexpr double kLeastLeafPartShare = 1e-2;
// They are sought once more if the last ones closed at least this share of the gap.
inline constexpr double kPriceProgress = 0.02;
// Where values are removed: a part of the circuit below this logarithm of what is asked for is not looked at value by value; and
// from an end of a range, this share of it is looked at first.
inline constexpr double kSmallPart = -12;
inline constexpr double kFirstEdge = 0.05;
// Parts of a term that are wider than this, in warped units, have corners in between.
inline constexpr double kWideTerm = 0.25;
// The interior-point method for prices and points: how far every candidate is below its term's top at first (in nats), the
// distance from the least bound that ends it, steps, the share of the way to the edge that a step goes, and the least variance of
// a coordinate, where one candidate has all the weight.
inline constexpr double kFirstRoom = 0.1;
inline constexpr double kProgrammeGap = 1e-4;
inline constexpr int kProgrammeSteps = 40;
inline constexpr double kTowardsEdge = 0.99;
inline constexpr double kLeastProgrammeSpread = 1e-14;
// A price begins where all that it is of is worth at least this much, and at most this much (in nats).
inline constexpr double kFirstWorth = 1e-4;
inline constexpr double kMostWorth = 1e3;
// And where it ends, so that rounding is far below a nat.
inline constexpr double kMostPricedWorth = 1e7;
// A price is first tried in powers of this.
inline constexpr double kPriceGrowth = 8;
inline constexpr int kPriceTrials = 6;

// -- primal heuristics --------------------------------------------------------------------------------------------------

// A multiplier with which only the gain of a value counts, and its cost not at all.
inline constexpr double kGainOnly = 1e12;
// Greedy repair: how the last move grows while it was not far enough, and moves beyond what the relaxation asks for.
inline constexpr double kRepairGrowth = 1.2;
inline constexpr double kRepairStep = 1e-9;
inline constexpr int kMovesBeyond = 4;
// Rows of which all single changes are looked at: while a row is repaired, and while an answer of a forest is improved.
inline constexpr int kRepairEvaluations = 60;
inline constexpr int kMoveEvaluations = 200;
// Local search leaves out components that a row is less likely to than to the best by so many nats, and does not add up the
// others where all are below the threshold by as many.
inline constexpr double kFarBelow = 20;
// Known rows from which local search begins where the trees are decomposed and there is a likelihood, the cheapest first.
inline constexpr std::size_t kImprovedStarts = 3;
// With a likelihood, the row that the decomposition of trees points to is repaired at every so manyth node.
inline constexpr std::uint64_t kNodesBetweenRepairs = 8;
// Bisections of how far a number is pulled back.
inline constexpr int kPullBackSteps = 16;
// Two-variable moves: by how much goal and rule are overfulfilled, relative to their terms; the first that is enough.
inline constexpr double kOverfulfilment[] = {1e-15, 1e-12, 1e-9};
// Bisections on the way from a row to an answer.
inline constexpr int kWalkSteps = 14;
// A part of a circuit whose row is tried has at least this share in what is asked for.
inline constexpr double kTriedPartShare = 0.05;
// Local search: boxes around answers, how much better an answer must be (relative) to be searched around in turn, and how many
// parts of a warp on either side of an answer are looked at first.
inline constexpr int kNearbyRounds = 40;
inline constexpr double kNearbyGain = 1e-3;
inline constexpr std::size_t kNearbyParts = 16;
// Exchange: after how many nodes answers are improved by it first (and when that number has doubled, and so on), by which factor
// less is taken back each time, which share of the cost is too little to look at, how often the way that another number can go is
// halved until it is affordable, how many pairs of numbers are tried, and how often all features are gone through.
inline constexpr std::uint64_t kNodesBeforeExchange = 32;
inline constexpr double kExchangeShare = 0.25;
inline constexpr double kLeastExchange = 1e-6;
inline constexpr int kExchangeHalvings = 4;
inline constexpr int kExchangePasses = 20;
inline constexpr std::size_t kExchangePairs = 8;
// Without any answer after so many nodes, one is sought, and again whenever that many more were looked at: from so many known
// rows first. Values of a feature that are looked at; steps per feature; for how many steps a feature rests after its change; by
// how much what is missing counts for more where no value helps; the least and the most that a row may be said to lack.
inline constexpr std::uint64_t kNodesBeforeSeeking = 64;
inline constexpr std::size_t kSoughtRows = 4;
inline constexpr std::size_t kSoughtValues = 16;
inline constexpr std::size_t kSeekingSteps = 6;
inline constexpr std::size_t kSeekingRest = 4;
inline constexpr double kLackGrowth = 2;
inline constexpr double kLeastLack = 1e-3, kMostLack = 1e4;
// Path relinking: parts of a circuit whose rows are repaired, how far neighbouring cells are looked at, and how often all values
// of an answer are gone through.
inline constexpr std::size_t kRelinkedParts = 3;
inline constexpr std::int32_t kNeighbouringCells = 4;
inline constexpr int kImprovingPasses = 3;
// Parts of a warp on either side of the row that a dive begins with.
inline constexpr std::size_t kDiveParts = 8;
// Intervals of a narrow box of which every choice of ends is tried (2^6 rows).
inline constexpr std::size_t kEndPointReals = 6;
// Cells of a feature that the scan of single changes looks at.
inline constexpr std::size_t kScannedCells = 64;

// -- branching ----------------------------------------------------------------------------------------------------------

// Room for what is missed, at least: below it, every loss is the whole of it.
inline constexpr double kLeastScoreRoom = 1e-12;
inline constexpr double kLeastLikelihoodRoom = 1e-9;
// A gap between a tangent and a density that is worth a split, in nats; and one between the mean of a term and the term at the
// mean.
inline constexpr double kLeastGap = 1e-6;
inline constexpr double kLeastMixedGap = 1e-6;
// A feature's share in what one demand misses counts up to this much.
inline constexpr double kMostShare = 2;
// A share below this is none: the feature is then ranked after all that have one (by this rank) by how far its score
// varies (up to this much), and last by how many cells it still has (in this unit).
inline constexpr double kLeastShare = 1e-9;
inline constexpr double kShareRank = 1e6;
inline constexpr double kSpreadRank = 1e3;
inline constexpr double kMostSpread = 1e3;
inline constexpr double kPerCell = 1e-6;
// A cut-off where none is known yet, in place of infinity, so that a share of the gap is a number.
inline constexpr double kNoCutoff = 1e300;

// -- the search ---------------------------------------------------------------------------------------------------------

// Seconds between two calls of the caller's callback: thirty times a second feels immediate.
inline constexpr double kSecondsBetweenPolls = 0.03;
// Nodes after which a search looks at several at a time: before, threads would take longer to start than they save.
inline constexpr std::uint64_t kNodesBeforeRounds = 200;
// Nodes of a round: enough for a few threads, and so few that what one finds hardly comes late for the others.
inline constexpr std::size_t kNodesOfRound = 16;
// Memory of open nodes beyond which a search plunges: a small part of what computers have, and a million nodes and more.
inline constexpr std::size_t kOpenBytes = std::size_t{1} << 30;

}  // namespace likely::tolerance
