#include "mixture.hpp"

#include <algorithm>
#include <cmath>

#include "clones.hpp"
#include "parallel.hpp"
#include "tolerances.hpp"

namespace likely {

namespace {

constexpr std::size_t kPieces = 4;        // rows are summed in at most as many pieces, whatever the number of threads
constexpr std::size_t kPieceRows = 4096;  // of at least as many rows
constexpr std::size_t kFlush = 2048;      // rows after which single-precision sums are added to double ones

LIKELY_CLONES void multiply(float* value, const float* factor, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) value[c] *= factor[c];
}

LIKELY_CLONES void add(float* sum, const float* value, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) sum[c] += value[c];
}

LIKELY_CLONES void scale(float* value, float by, std::size_t count) {
  for (std::size_t c = 0; c < count; ++c) value[c] *= by;
}

// In eight strands, so that it can be vectorised and is the same sum everywhere.
LIKELY_CLONES float sum_of(const float* value, std::size_t count) {
  float strand[8] = {};
  std::size_t c = 0;
  for (; c + 8 <= count; c += 8)
    for (std::size_t s = 0; s < 8; ++s) strand[s] += value[c + s];
  for (std::size_t s = 0; c < count; ++c, ++s) strand[s] += value[c];
  return ((strand[0] + strand[1]) + (strand[2] + strand[3])) + ((strand[4] + strand[5]) + (strand[6] + strand[7]));
}

// What one piece of the rows sums up.
struct Sums {
  Sums(std::size_t bins, std::size_t components)
      : small(bins * components), small_total(components), counts(bins * components), total(components) {}

  void flush() {
    for (std::size_t i = 0; i < small.size(); ++i) counts[i] += static_cast<double>(small[i]);
    for (std::size_t c = 0; c < small_total.size(); ++c) total[c] += static_cast<double>(small_total[c]);
    std::fill(small.begin(), small.end(), 0.0f);
    std::fill(small_total.begin(), small_total.end(), 0.0f);
  }

  std::vector<float> small, small_total;
  std::vector<double> counts, total;
};

// value[c] = weight[c] * the product of the row's ratios, up to a factor whose logarithm is returned.
double densities(const std::uint16_t* bins, const std::vector<std::size_t>& offset, const float* ratio, const float* weight,
                 std::size_t components, float* value) {
  double log_factor = 0;
  std::copy_n(weight, components, value);
  for (std::size_t j = 0; j < offset.size(); ++j) {
    multiply(value, ratio + (offset[j] + bins[j]) * components, components);
    if ((j + 1) % tolerance::kMixtureFactorsBetweenScaling == 0 && j + 1 < offset.size()) {
      const float largest = *std::max_element(value, value + components);
      if (!(largest > tolerance::kSmallestMixtureDensity)) continue;
      scale(value, 1 / largest, components);
      log_factor += std::log(static_cast<double>(largest));
    }
  }
  return log_factor;
}

}  // namespace

void expect_mixture(const BinnedRows& rows, const float* ratio, const float* weight, std::size_t bins, std::size_t components,
                    std::size_t blocks, double* log_ratio, double* counts, double* total, std::size_t threads) {
  const std::size_t variables = rows.offset.size(), block = components / blocks;
  const std::size_t pieces = std::clamp<std::size_t>(rows.count / kPieceRows, 1, kPieces);
  const std::size_t size = (rows.count + pieces - 1) / pieces;
  std::vector<Sums> sums;
  for (std::size_t p = 0; p < pieces; ++p) sums.emplace_back(bins, components);
  parallel_for(pieces, 1, threads, [&](std::size_t first, std::size_t last) {
    std::vector<float> value(components);
    for (std::size_t p = first; p < last; ++p) {
      for (std::size_t r = p * size; r < std::min(rows.count, (p + 1) * size); ++r) {
        const std::uint16_t* row = rows.bins + r * variables;
        const double log_factor = densities(row, rows.offset, ratio, weight, components, value.data());
        double mean = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
          float* component = value.data() + b * block;
          float all = sum_of(component, block);
          if (!(all > tolerance::kSmallestMixtureDensity)) {  // a row far from all components belongs to each by its weight
            std::copy_n(weight + b * block, block, component);
            all = 1;
            mean += static_cast<double>(tolerance::kSmallestMixtureDensity);
          } else {
            mean += static_cast<double>(all);
          }
          scale(component, static_cast<float>(rows.weight[r]) / all, block);
        }
        log_ratio[r] = log_factor + std::log(mean / static_cast<double>(blocks));
        add(sums[p].small_total.data(), value.data(), components);
        for (std::size_t j = 0; j < variables; ++j)
          add(sums[p].small.data() + (rows.offset[j] + row[j]) * components, value.data(), components);
        if ((r + 1) % kFlush == 0) sums[p].flush();
      }
      sums[p].flush();
    }
  });
  for (const Sums& piece : sums) {
    for (std::size_t i = 0; i < piece.counts.size(); ++i) counts[i] += piece.counts[i];
    for (std::size_t c = 0; c < components; ++c) total[c] += piece.total[c];
  }
}

}  // namespace likely
