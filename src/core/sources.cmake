# The files of the core that do not know Python.
set(LIKELY_CORE_SOURCES
  circuit.cpp circuit_blocks.cpp columns.cpp families.cpp gaussian.cpp gaussian_mixture.cpp mixture.cpp trees.cpp
  search/block_bound.cpp search/branching.cpp search/budget.cpp search/composite.cpp search/composite_trees.cpp search/curve.cpp search/domain.cpp search/duals.cpp search/exchange.cpp search/expansion.cpp search/fixing.cpp search/follow.cpp
  search/forest.cpp search/forest_build.cpp search/heuristics.cpp search/incumbents.cpp search/likelihood.cpp search/likelihood_blocks.cpp search/likelihood_hulls.cpp search/likelihood_changes.cpp search/likelihood_components.cpp search/linear_trees.cpp
  search/marginals.cpp search/network.cpp search/node.cpp search/part_programme.cpp search/part_terms.cpp search/priced_likelihood.cpp search/pricing.cpp search/propagation.cpp search/record.cpp search/relinking.cpp search/rules.cpp
  search/score.cpp search/score_functions.cpp search/search.cpp search/seeking.cpp search/simplex.cpp search/tree_duals.cpp search/tree_likelihood.cpp search/tree_links.cpp search/tree_moves.cpp
  search/tree_search.cpp search/tree_values.cpp search/triangles.cpp search/unit_bounds.cpp search/unit_multipliers.cpp search/unit_prices.cpp search/unit_ranges.cpp
  search/units.cpp search/workers.cpp)
list(TRANSFORM LIKELY_CORE_SOURCES PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
