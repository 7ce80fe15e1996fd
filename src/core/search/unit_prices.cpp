#include "unit_prices.hpp"

#include <algorithm>

#include "../tolerances.hpp"

namespace likely::search {

UnitPrices::UnitPrices(const Problem& problem, const Node& node, Workspace& workspace, bool joint, std::size_t parts)
    : problem_(problem),
      node_(node),
      workspace_(workspace),
      work_(*workspace.units),
      joint_(joint),
      multipliers_(parts),
      candidates_(parts) {
  if (!joint) return;
  if (node.unit_prices) multipliers_ = *node.unit_prices;
  work_.priced.aggregates.resize(parts);
}

void UnitPrices::aggregate(std::size_t part) {
  const Region region = region_of(node_, work_.most_cost);
  work_.network.aggregate(region, problem_.goals(node_.alternative), multipliers_[part], *workspace_.scores[node_.alternative],
                          work_.priced.aggregates[part]);
}

const Relaxation* UnitPrices::inherit(std::size_t part) {
  if (multipliers_[part].units.empty()) return nullptr;
  aggregate(part);
  return &work_.priced.aggregates[part];
}

bool UnitPrices::fill_terms(const PartPricing& pricing, double cost, PartTerms& terms) const {
  return pricing.fill_terms_of_units(cost, work_.priced.rows, terms);
}

std::vector<double> UnitPrices::begin(std::size_t part, const PartPricing& pricing, const Prices& prices) {
  if (!has_rows_) work_.triangles.fill_rows(work_.priced.rows);
  has_rows_ = true;
  std::vector<double> at = pricing.variables_of_units(prices, work_.priced.rows.rows.size());
  const bool own = !multipliers_[part].units.empty();
  work_.priced.rows.from_multipliers(own ? multipliers_[part] : work_.triangles.last_multipliers(), own ? 1 : at[0],
                                     at.data() + pricing.first_row());
  return at;
}

const Relaxation& UnitPrices::follow(std::size_t part, const PartPricing& pricing, const std::vector<double>& at) {
  work_.priced.rows.to_multipliers(at.data() + pricing.first_row(), multipliers_[part]);
  aggregate(part);
  return work_.priced.aggregates[part];
}

// A ReLU that is above both 0 and its argument: deciding it takes that away, at the price of its chord.
void UnitPrices::find_candidates(std::size_t part, const PartPricing& pricing, const std::vector<double>& at,
                                 const PartTerms& terms, const PartProgramme& programme) {
  const std::size_t first = pricing.first_row(), relus = work_.priced.rows.relus.size();
  candidates_[part].clear();
  work_.priced.found = true;
  for (std::size_t i = 0; i < relus; ++i) {
    const UnitRows::Relu& relu = work_.priced.rows.relus[i];
    const double gap = std::min(programme.left(first + relu.row), programme.mean_value(terms.terms.size() - relus + i));
    if (gap > tolerance::kLeastUnitGap * relu.high)
      candidates_[part].push_back({relu.layer, relu.unit, gap * at[first + relu.row + 1]});
  }
}

void UnitPrices::keep(Node& node, const std::vector<double>& shares) {
  if (!joint_ || !work_.priced.found) return;
  for (std::size_t p = 0; p < candidates_.size(); ++p)
    for (Triangles::Candidate candidate : candidates_[p]) {
      candidate.gain *= shares[p];
      work_.priced.candidates.push_back(candidate);
    }
  std::sort(work_.priced.candidates.begin(), work_.priced.candidates.end(),
            [](const Triangles::Candidate& a, const Triangles::Candidate& b) { return a.gain > b.gain; });
  node.unit_prices = std::make_shared<const UnitPricesOfParts>(std::move(multipliers_));
}

}  // namespace likely::search
