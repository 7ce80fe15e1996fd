// The core's pieces, each against enumeration or sampling of what it must hold for. Whole searches are tested through the
// binding (tests/search), against oracles in Python: what is here needs no Python, and says which piece is wrong.
// doctest: one header, from the package of the system (no download while building).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
