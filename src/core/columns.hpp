// Rows of features -> the columns that a model reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace likely {

// One column of a model's input: table[k] for the k-th discrete value or code of its feature, and
// slope * (x - center) + intercept for a number x: as a scaler computes it, so that no digits are lost.
struct Column {
  std::int32_t feature;
  bool discrete;
  double slope;
  double center;
  double intercept;
  std::size_t table;    // where its entries start in Columns::tables
  std::size_t entries;  // how many there are
};

class Columns {
 public:
  Columns(std::vector<Column> columns, std::vector<double> tables) : columns_(std::move(columns)), tables_(std::move(tables)) {}

  std::size_t size() const { return columns_.size(); }

  // rows: count x features, out: count x size(), both row by row. An unknown (NaN) stays NaN. Throws
  // std::out_of_range for a row that lacks a feature, or a discrete value or code that has no entry.
  void expand(const double* rows, std::size_t count, std::size_t features, double* out, std::size_t threads) const;

 private:
  // Whether every value had its entry.
  bool expand_piece(const double* rows, std::size_t begin, std::size_t end, std::size_t features, double* out) const;

  std::vector<Column> columns_;
  std::vector<double> tables_;
};

}  // namespace likely
