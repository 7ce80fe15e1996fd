#include "columns.hpp"

#include <atomic>
#include <stdexcept>

#include "parallel.hpp"
#include "values.hpp"

namespace likely {

void Columns::expand(const double* rows, std::size_t count, std::size_t features, double* out, std::size_t threads) const {
  for (const Column& column : columns_)
    if (column.feature < 0 || static_cast<std::size_t>(column.feature) >= features)
      throw std::out_of_range("rows must have a value of every feature that the model reads");
  std::atomic<bool> known = true;  // an exception may not leave a thread
  parallel_for(count, 4096, threads, [&](std::size_t begin, std::size_t end) {
    if (!expand_piece(rows, begin, end, features, out)) known = false;
  });
  if (!known) throw std::out_of_range("rows must hold numbers of known values; encode them with the schema of the form");
}

bool Columns::expand_piece(const double* rows, std::size_t begin, std::size_t end, std::size_t features, double* out) const {
  const std::size_t width = columns_.size();
  bool known = true;
  for (std::size_t r = begin; r < end; ++r) {
    const double* row = rows + r * features;
    double* to = out + r * width;
    for (std::size_t c = 0; c < width; ++c) {
      const Column& column = columns_[c];
      const double x = row[column.feature];
      if (x != x) {
        to[c] = x;
      } else if (column.discrete || is_code(x)) {
        const double place = column.discrete ? x : code_place(x);
        if (place >= 0 && place < static_cast<double>(column.entries))
          to[c] = tables_[column.table + static_cast<std::size_t>(place)];
        else
          known = false;
      } else {
        to[c] = column.slope * (x - column.center) + column.intercept;
      }
    }
  }
  return known;
}

}  // namespace likely
