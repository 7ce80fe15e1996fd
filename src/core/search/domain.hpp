// What a row may be, and what a change costs: the finest partition that any part of a problem can tell apart.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace likely::search {

// An interval of a feature's numbers on which the cost is linear.
struct Segment {
  double low, high;
  double cost_low, cost_high;

  // Interpolated from the cheaper end: near it, a far end that costs very much takes no digits.
  double cost(double v) const {
    if (!(high > low)) return cost_low;
    return cost_low <= cost_high ? cost_low + (cost_high - cost_low) * ((v - low) / (high - low))
                                 : cost_high + (cost_low - cost_high) * ((high - v) / (high - low));
  }
};

// One feature. Its values are atoms (categories, codes: no order) and numbers (also ranks). Numbers are cut into cells:
// closed intervals of doubles, in order, on each of which circuit, trees and rules are constant and the cost is linear.
struct Feature {
  std::vector<double> atom;  // the double that stands for each atom
  std::vector<double> atom_cost;
  std::vector<double> low, high;      // of cells
  std::vector<Segment> segments;      // of numbers, in order
  std::vector<std::int32_t> segment;  // of each cell
  double grid = 0;                    // the distance of neighbouring numbers; 0: every real
  double factual = 0;                 // NaN: unknown
  double anchor = 0;                  // linear functions of the numbers are functions of v - anchor: numbers that are large
                                      // beside their spread lose no digits so
  std::size_t first_atom = 0;         // places in arrays over all features' atoms, cells
  std::size_t first_cell = 0;
  std::size_t first_word = 0;  // in Box::atoms

  std::size_t words() const { return (atom.size() + 63) / 64; }
  std::int32_t cell_of(double v) const;  // the cell that holds v; -1 if none does
  std::int32_t atom_of(double v) const;  // -1 if none is v
  double cost(double v) const;
  double down_to_grid(double v) const;  // the greatest number of the feature's grid that is not above v
  double up_to_grid(double v) const;
  double nearest(double v) const;  // the number of the feature that is next to v; there must be one
  // The end of a cell that is nearer to the factual.
  double nearest_end(std::size_t cell) const { return low[cell] > factual ? low[cell] : high[cell]; }
  double after(double v) const;     // the number of the grid that follows one of it; v itself if every real is a value
  double multiple(double k) const;  // k steps, as the nearest double
  double slack(double v) const;     // how far from a whole number of steps a multiple may be computed to lie
  bool has(double v) const { return atom_of(v) >= 0 || cell_of(v) >= 0; }
  double span() const { return low.empty() ? 0 : high.back() - low.front(); }
  bool whole() const;  // whether all its numbers are whole numbers
};

struct Domain {
  std::vector<Feature> features;
  std::size_t atoms = 0, cells = 0, words = 0;

  void finish();  // fills in the first_* places
  double cost(const double* row) const;
};

// What every value costs, over all cells and atoms; of a cell, the least of its numbers.
struct ValueCosts {
  std::vector<double> cell, atom;
};

// Cells first..last of a feature's numbers, and within them low <= v <= high. Empty if first > last.
struct Range {
  std::int32_t first, last;
  double low, high;

  bool empty() const { return first > last; }
};

// A set of rows: for every feature the atoms and the range of numbers still allowed.
struct Box {
  std::vector<Range> range;
  std::vector<std::uint64_t> atoms;

  bool has_atom(const Feature& f, std::size_t k) const { return atoms[f.first_word + k / 64] >> (k % 64) & 1; }
  void drop_atom(const Feature& f, std::size_t k) { atoms[f.first_word + k / 64] &= ~(std::uint64_t{1} << (k % 64)); }
  std::size_t atom_count(const Feature& f) const {
    std::size_t count = 0;
    for (std::size_t w = 0; w < f.words(); ++w) count += static_cast<std::size_t>(std::popcount(atoms[f.first_word + w]));
    return count;
  }
  bool empty(const Domain& domain, std::size_t j) const { return range[j].empty() && atom_count(domain.features[j]) == 0; }
  bool any_empty(const Domain& domain) const;  // no value of some feature is left, hence no row
  bool contains(const Domain& domain, const double* row) const;
  std::size_t value_count(const Domain& domain) const;  // atoms and cells, over all features
  template <class Work>
  void each_atom(const Feature& f, const Work& work) const {
    for (std::size_t w = 0; w < f.words(); ++w)
      for (std::uint64_t left = atoms[f.first_word + w]; left != 0; left &= left - 1)
        work(64 * w + static_cast<std::size_t>(std::countr_zero(left)));
  }

  // Restrict the numbers of feature j to cells first..last, or to low <= v <= high; true if that changed anything.
  bool keep_cells(const Domain& domain, std::size_t j, std::int32_t first, std::int32_t last);
  bool keep_numbers(const Domain& domain, std::size_t j, double low, double high);
  void drop_numbers(std::size_t j) { range[j].last = range[j].first - 1; }
  void fix(const Domain& domain, std::size_t j, double v);

  bool single(const Domain& domain, std::size_t j) const;       // one value left
  bool single_cell(const Domain& domain, std::size_t j) const;  // one atom or one cell left
  bool single(const Domain& domain) const;                      // one row
  bool single_cells(const Domain& domain) const;                // one atom or one cell of every feature
  // One value, or an interval of reals that is a tiny part of the feature's numbers; and the same of every feature.
  bool narrow(const Domain& domain, std::size_t j) const;
  bool narrow(const Domain& domain) const;
};

Box whole(const Domain& domain);

}  // namespace likely::search
