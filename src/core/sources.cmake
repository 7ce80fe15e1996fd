# The files of the core that do not know Python.
set(LIKELY_CORE_SOURCES
  circuit.cpp circuit_blocks.cpp columns.cpp families.cpp gaussian.cpp mixture.cpp trees.cpp
  search/branching.cpp search/domain.cpp search/duals.cpp search/fixing.cpp search/follow.cpp search/forest.cpp
  search/forest_build.cpp search/heuristics.cpp search/incumbents.cpp search/joint_likelihood.cpp search/likelihood.cpp search/network.cpp
  search/node.cpp search/propagation.cpp search/rules.cpp search/score.cpp search/search.cpp)
list(TRANSFORM LIKELY_CORE_SOURCES PREPEND "${CMAKE_CURRENT_LIST_DIR}/")
