#include "columns.hpp"

#include "parallel.hpp"
#include "values.hpp"

namespace likely {

void Columns::expand(const double* rows, std::size_t count, std::size_t features, double* out, std::size_t threads) const {
  parallel_for(count, 4096, threads,
               [&](std::size_t begin, std::size_t end) { expand_piece(rows, begin, end, features, out); });
}

void Columns::expand_piece(const double* rows, std::size_t begin, std::size_t end, std::size_t features, double* out) const {
  const std::size_t width = columns_.size();
  for (std::size_t r = begin; r < end; ++r) {
    const double* row = rows + r * features;
    double* to = out + r * width;
    for (std::size_t c = 0; c < width; ++c) {
      const Column& column = columns_[c];
      const double x = row[column.feature];
      if (x != x)
        to[c] = x;
      else if (column.discrete)
        to[c] = tables_[column.table + static_cast<std::size_t>(x)];
      else if (is_code(x))
        to[c] = tables_[column.table + code_index(x)];
      else
        to[c] = column.slope * x + column.intercept;
    }
  }
}

}  // namespace likely
