#include "gaussian_mixture.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "clones.hpp"
#include "lanes.hpp"
#include "parallel.hpp"
#include "tolerances.hpp"

namespace likely {

namespace {

constexpr std::size_t kTile = 4;           // rows of a tile: with two times as many lanes, its sums fit into registers
constexpr std::size_t kWide = 2 * kLanes;  // columns of a tile
constexpr std::size_t kChunk = 64;         // rows that are transposed, or weighted, together: they stay in the nearest cache
constexpr std::size_t kGrain = 256;        // rows that are worth a thread
constexpr std::size_t kPieces = 8;         // rows are summed in at most as many pieces, whatever the number of threads
constexpr std::size_t kPieceRows = 2048;   // of at least as many rows

std::size_t rounded_up(std::size_t size, std::size_t multiple) { return (size + multiple - 1) / multiple * multiple; }

// square[l] = |root z - shift|^2 of as many rows as a tile is wide; z[j * kWide + l] is column j of row l.
LIKELY_CLONES void squares(const double* root, const double* shift, const double* z, std::size_t width, double* square) {
  Lanes low{}, high{};
  for (std::size_t i = 0; i < width; i += kTile) {
    Lanes sum[kTile][2];
    for (std::size_t t = 0; t < kTile; ++t) {
      const double start[kLanes] = {-shift[i + t], -shift[i + t], -shift[i + t], -shift[i + t]};
      load(start, sum[t][0]);
      load(start, sum[t][1]);
    }
    for (std::size_t j = 0; j < i + kTile; ++j) {
      Lanes left, right;
      load(z + j * kWide, left);
      load(z + j * kWide + kLanes, right);
      for (std::size_t t = 0; t < kTile; ++t) {
        const double factor = root[(i + t) * width + j];
        sum[t][0] += factor * left;
        sum[t][1] += factor * right;
      }
    }
    for (std::size_t t = 0; t < kTile; ++t) {
      low += sum[t][0] * sum[t][0];
      high += sum[t][1] * sum[t][1];
    }
  }
  store(low, square);
  store(high, square + kLanes);
}

// sum[i * width + j] += weighted[r * width + i] * z[r * width + j], summed over rows, where j's tile is not right of i's.
LIKELY_CLONES void add_products(const double* weighted, const double* z, std::size_t rows, std::size_t width, double* sum) {
  for (std::size_t i = 0; i < width; i += kTile) {
    for (std::size_t j = 0; j < i + kTile; j += kWide) {
      Lanes tile[kTile][2];
      for (std::size_t t = 0; t < kTile; ++t) {
        load(sum + (i + t) * width + j, tile[t][0]);
        load(sum + (i + t) * width + j + kLanes, tile[t][1]);
      }
      for (std::size_t r = 0; r < rows; ++r) {
        Lanes left, right;
        load(z + r * width + j, left);
        load(z + r * width + j + kLanes, right);
        for (std::size_t t = 0; t < kTile; ++t) {
          const double factor = weighted[r * width + i + t];
          tile[t][0] += factor * left;
          tile[t][1] += factor * right;
        }
      }
      for (std::size_t t = 0; t < kTile; ++t) {
        store(tile[t][0], sum + (i + t) * width + j);
        store(tile[t][1], sum + (i + t) * width + j + kLanes);
      }
    }
  }
}

// Some rows with a one in front, as wide as tiles need, and those of one component weighted by its shares.
class Chunk {
 public:
  explicit Chunk(std::size_t columns)
      : columns_(columns),
        width_(rounded_up(columns + 1, kWide)),
        least_(kChunk),
        z_(kChunk * width_),
        some_(z_),
        weighted_(z_) {}

  std::size_t width() const { return width_; }

  void take(const NumberRows& rows, const double* share, std::size_t components, std::size_t first, std::size_t last) {
    for (std::size_t r = first; r < last; ++r) {
      double* const row = z_.data() + (r - first) * width_;
      row[0] = 1;
      std::copy_n(rows.z + r * columns_, columns_, row + 1);
      const double* const shares = share + r * components;
      least_[r - first] = tolerance::kSmallestShare * std::accumulate(shares, shares + components, 0.0);
    }
    count_ = last - first;
  }

  // Adds the products of the rows that have a share in a component (`share` of the first row, `stride` apart) to its sum.
  void add(const double* share, std::size_t stride, double* sum) {
    std::size_t kept = 0;
    for (std::size_t r = 0; r < count_; ++r) {
      const double weight = share[r * stride];
      if (!(weight > least_[r])) continue;
      const double* const row = z_.data() + r * width_;
      std::copy_n(row, width_, some_.data() + kept * width_);
      for (std::size_t j = 0; j < width_; ++j) weighted_[kept * width_ + j] = weight * row[j];
      ++kept;
    }
    add_products(weighted_.data(), some_.data(), kept, width_, sum);
  }

 private:
  std::size_t columns_, width_, count_ = 0;
  std::vector<double> least_, z_, some_, weighted_;
};

}  // namespace

void gaussian_logs(const NumberRows& rows, const Gaussians& gaussians, double* out, std::size_t threads) {
  const std::size_t columns = rows.columns, width = rounded_up(columns, kTile), components = gaussians.components;
  std::vector<double> root(components * width * width), shift(components * width);
  for (std::size_t k = 0; k < components; ++k) {
    std::copy_n(gaussians.shift + k * columns, columns, shift.data() + k * width);
    for (std::size_t i = 0; i < columns; ++i)
      std::copy_n(gaussians.root + (k * columns + i) * columns, i + 1, root.data() + (k * width + i) * width);
  }
  const std::size_t groups = (rows.count + kWide - 1) / kWide, together = kChunk / kWide;
  parallel_for(groups, kGrain / kWide, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<double> z(together * width * kWide);
    double square[kWide];
    for (std::size_t first = begin; first < end; first += together) {
      const std::size_t last = std::min(end, first + together);
      for (std::size_t r = first * kWide; r < std::min(rows.count, last * kWide); ++r)
        for (std::size_t j = 0; j < columns; ++j)
          z[((r / kWide - first) * width + j) * kWide + r % kWide] = rows.z[r * columns + j];
      for (std::size_t k = 0; k < components; ++k)
        for (std::size_t group = first; group < last; ++group) {
          squares(root.data() + k * width * width, shift.data() + k * width, z.data() + (group - first) * width * kWide, width,
                  square);
          for (std::size_t r = group * kWide; r < std::min(rows.count, (group + 1) * kWide); ++r)
            out[r * components + k] = gaussians.constant[k] - square[r % kWide] / 2;
        }
    }
  });
}

void gaussian_sums(const NumberRows& rows, const double* share, std::size_t components, double* out, std::size_t threads) {
  const std::size_t pieces = std::clamp<std::size_t>(rows.count / kPieceRows, 1, kPieces);
  const std::size_t size = (rows.count + pieces - 1) / pieces, wanted = rows.columns + 1;
  const std::size_t width = Chunk(rows.columns).width();
  std::vector<std::vector<double>> sums(pieces, std::vector<double>(components * width * width));
  parallel_for(pieces, 1, threads, [&](std::size_t begin, std::size_t end) {
    Chunk chunk(rows.columns);
    for (std::size_t p = begin; p < end; ++p) {
      const std::size_t stop = std::min(rows.count, (p + 1) * size);
      for (std::size_t first = p * size; first < stop; first += kChunk) {
        chunk.take(rows, share, components, first, std::min(stop, first + kChunk));
        for (std::size_t k = 0; k < components; ++k)
          chunk.add(share + first * components + k, components, sums[p].data() + k * width * width);
      }
    }
  });
  std::fill_n(out, components * wanted * wanted, 0.0);
  for (std::size_t k = 0; k < components; ++k)
    for (std::size_t i = 0; i < wanted; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double* const cell = out + k * wanted * wanted;
        for (const std::vector<double>& sum : sums) cell[i * wanted + j] += sum[(k * width + i) * width + j];
        cell[j * wanted + i] = cell[i * wanted + j];
      }
}

}  // namespace likely
