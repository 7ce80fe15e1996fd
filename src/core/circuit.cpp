#include "circuit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "parallel.hpp"
#include "tolerances.hpp"

namespace likely {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kLanes = 32;   // rows swept together, so that every loop over them is a vector instruction
constexpr std::size_t kPieces = 16;  // expected counts are summed in as many pieces, whatever the number of threads

constexpr const char* kKinds = "sums and products have children, leaves and blocks have none, and there is no other kind";

}  // namespace

std::size_t Variable::cell(double v) const {
  if (std::isnan(v)) return breaks.size() + 1;
  if (regular) {
    const double place = std::floor(v) - breaks[0] + 1;  // whole numbers, so that the difference is exact
    return place <= 0 ? 0 : place >= static_cast<double>(breaks.size()) ? breaks.size() : static_cast<std::size_t>(place);
  }
  const double* first = breaks.data();
  std::size_t left = breaks.size();
  while (left > 0) {  // the first break above v, without a branch that could be guessed wrong
    const std::size_t half = (left + 1) / 2;
    first += first[half - 1] <= v ? half : 0;
    left -= half;
  }
  return first - breaks.data();
}

Circuit::Circuit(const std::vector<std::int32_t>& kind, std::vector<std::int64_t> start, std::vector<std::int32_t> child,
                 std::vector<double> weight, double floor)
    : start_(std::move(start)), child_(std::move(child)), weight_(std::move(weight)), floor_(floor) {
  for (const std::int32_t number : kind) {
    if (number < 0 || number > static_cast<std::int32_t>(NodeKind::kBlock)) throw std::invalid_argument(kKinds);
    kind_.push_back(static_cast<NodeKind>(number));
  }
  if (kind_.empty() || start_.size() != kind_.size() + 1 || start_.front() != 0 ||
      start_.back() != static_cast<std::int64_t>(child_.size()) || weight_.size() != child_.size())
    throw std::invalid_argument("a circuit needs a start per node, and a weight per child");
  for (std::size_t i = 0; i < kind_.size(); ++i)
    if (start_[i + 1] < start_[i] || inner(i) != (start_[i + 1] > start_[i])) throw std::invalid_argument(kKinds);
  for (std::size_t i = 0; i < kind_.size(); ++i)
    for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e)
      if (child_[e] < 0 || child_[e] >= static_cast<std::int32_t>(i)) throw std::invalid_argument("children come first");
}

void Circuit::add_variable(std::vector<double> breaks, std::vector<std::int32_t> leaves, std::vector<double> steps,
                           std::vector<Peaked> peaked) {
  Variable made;
  const std::size_t known = breaks.size() + 1, width = known + 1, count = leaves.size();
  if (steps.size() != count * known || peaked.size() != count || !std::is_sorted(breaks.begin(), breaks.end()))
    throw std::invalid_argument("a variable needs sorted breaks, and a density per leaf and cell");
  for (std::int32_t leaf : leaves)
    if (leaf < 0 || leaf >= static_cast<std::int32_t>(kind_.size()) || kind_[leaf] != NodeKind::kLeaf)
      throw std::invalid_argument("a variable's leaves must be leaves");
  made.scaled.assign(count * width, 1);
  made.log_density.assign(count * width, 0);
  made.log_scale.assign(width, 0);
  for (std::size_t c = 0; c < known; ++c) {
    double largest = floor_;
    for (std::size_t l = 0; l < count; ++l) largest = std::max(largest, steps[l * known + c]);
    made.log_scale[c] = log_of(largest);
    for (std::size_t l = 0; l < count; ++l) {
      const double density = std::max(floor_, steps[l * known + c]);
      made.scaled[l * width + c] = largest > 0 ? density / largest : 0;
      made.log_density[l * width + c] = log_of(density);
    }
  }
  made.largest = std::max(floor_, steps.empty() ? 0.0 : *std::max_element(steps.begin(), steps.end()));
  made.regular = !breaks.empty() && breaks[0] == std::floor(breaks[0]) && std::abs(breaks[0]) < 0x1p52;
  for (std::size_t c = 1; c < breaks.size(); ++c) made.regular = made.regular && breaks[c] == breaks[0] + static_cast<double>(c);
  if (std::any_of(peaked.begin(), peaked.end(), [](const Peaked& p) { return p.family != Family::kNone; }))
    made.peaked = std::move(peaked);
  made.breaks = std::move(breaks);
  made.leaves = std::move(leaves);
  made.steps = std::move(steps);
  variables_.push_back(std::move(made));
}

RangeTree::RangeTree(std::vector<double> rows, std::size_t count, double greatest)
    : leaves(count), largest(greatest > 0 ? greatest : 1) {
  const std::size_t height = leaves == 0 ? 0 : rows.size() / leaves;
  while (size < height) size *= 2;
  values.assign(2 * size * leaves, 0.0);
  std::transform(rows.begin(), rows.end(), values.begin() + static_cast<std::ptrdiff_t>(size * leaves),
                 [this](double density) { return density / largest; });
  for (std::size_t n = size - 1; n >= 1; --n) {
    const double *left = node(2 * n), *right = node(2 * n + 1);
    for (std::size_t l = 0; l < leaves; ++l) values[n * leaves + l] = std::max(left[l], right[l]);
  }
  logs.resize(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), log_of);
}

const RangeTree& Circuit::tree(std::size_t j) const {
  std::call_once(*made_trees_, [this] {
    for (const Variable& variable : variables_) {
      const std::size_t count = variable.leaves.size(), known = variable.breaks.size() + 1;
      std::vector<double> rows(known * count);
      for (std::size_t l = 0; l < count; ++l)
        for (std::size_t c = 0; c < known; ++c) rows[c * count + l] = std::max(floor_, variable.steps[l * known + c]);
      trees_.emplace_back(std::move(rows), count, variable.largest);
    }
  });
  return trees_[j];
}

// At least 1: weights may sum to a little more.
double Circuit::weight_sum(std::size_t i) const {
  double total = 0;
  for (const double weight : weights(i)) total += weight;
  return std::max(1.0, total);
}

std::size_t Circuit::leaf_cells() const {
  std::size_t total = 0;
  for (const Variable& variable : variables_) total += variable.leaves.size() * variable.cells();
  return total;
}

// A few rows at a time: node by node the values of all lanes, side by side.
struct Circuit::Batch {
  explicit Batch(const Circuit& circuit)
      : value(circuit.nodes() * kLanes), cell(circuit.variables() * kLanes), room(circuit, kLanes) {}
  double* at(std::size_t node) { return value.data() + node * kLanes; }
  const double* at(std::size_t node) const { return value.data() + node * kLanes; }

  std::size_t count = 0;  // rows in it; lanes beyond hold copies of the last
  std::vector<double> value;
  std::vector<std::uint32_t> cell;  // [variable][lane]
  std::array<double, kLanes> log_scale{};
  BlockRoom room;
};

void Circuit::read_batch(const double* rows, Batch& batch) const {
  batch.log_scale.fill(0);
  std::vector<double> densities;
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    std::uint32_t* cell = batch.cell.data() + j * kLanes;
    const std::size_t width = variable.cells();
    double* scale = in_block(j) ? batch.room.scale.data() + j * kLanes : batch.log_scale.data();
    if (in_block(j)) std::fill(scale, scale + kLanes, 0.0);
    for (std::size_t r = 0; r < kLanes; ++r)
      cell[r] = static_cast<std::uint32_t>(variable.cell(rows[std::min(r, batch.count - 1) * variables_.size() + j]));
    if (variable.peaked.empty()) {
      for (std::size_t r = 0; r < kLanes; ++r) scale[r] += variable.log_scale[cell[r]];
      for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
        const double* table = variable.scaled.data() + l * width;
        double* out = batch.at(variable.leaves[l]);
        for (std::size_t r = 0; r < kLanes; ++r) out[r] = table[cell[r]];
      }
      continue;
    }
    densities.resize(variable.leaves.size());
    for (std::size_t r = 0; r < kLanes; ++r) {
      const double v = rows[std::min(r, batch.count - 1) * variables_.size() + j];
      if (std::isnan(v)) {
        for (std::int32_t leaf : variable.leaves) batch.at(leaf)[r] = 1;
        continue;
      }
      double largest = floor_;
      for (std::size_t l = 0; l < densities.size(); ++l) {
        densities[l] = std::max(floor_, variable.steps[l * (width - 1) + cell[r]] + variable.peaked[l].density(v));
        largest = std::max(largest, densities[l]);
      }
      scale[r] += log_of(largest);
      for (std::size_t l = 0; l < densities.size(); ++l)
        batch.at(variable.leaves[l])[r] = largest > 0 ? densities[l] / largest : 0;
    }
  }
  if (!blocks_.empty()) place_blocks(rows, batch.count, batch.room, batch.value.data(), batch.log_scale.data());
}

template <Algebra algebra>
void Circuit::sweep_batch(Batch& batch) const {
  for (std::size_t i = 0; i < kind_.size(); ++i) {
    if (!inner(i)) continue;
    double* out = batch.at(i);
    std::array<double, kLanes> total, largest;
    total.fill(kind_[i] == NodeKind::kProduct ? 1 : 0);
    largest.fill(0);
    for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
      const double* in = batch.at(child_[e]);
      const double w = weight_[e];
      if (kind_[i] == NodeKind::kProduct) {
        for (std::size_t r = 0; r < kLanes; ++r) total[r] *= in[r];
      } else if constexpr (algebra == Algebra::kSum) {
        for (std::size_t r = 0; r < kLanes; ++r) total[r] += w * in[r];
      } else {
        for (std::size_t r = 0; r < kLanes; ++r) total[r] = std::max(total[r], w * in[r]);
        if (w > 0)
          for (std::size_t r = 0; r < kLanes; ++r) largest[r] = std::max(largest[r], in[r]);
      }
    }
    if (algebra == Algebra::kOver && kind_[i] == NodeKind::kSum)
      for (std::size_t r = 0; r < kLanes; ++r)
        total[r] = std::min(static_cast<double>(fanin(i)) * total[r], weight_sum(i) * largest[r]);
    std::copy(total.begin(), total.end(), out);
  }
}

void Circuit::leaf_logs(const double* row, double* logs) const {
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    const std::size_t width = variable.cells(), cell = variable.cell(row[j]);
    for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
      double log_density = variable.log_density[l * width + cell];
      if (!variable.peaked.empty() && !std::isnan(row[j]))
        log_density = log_of(std::max(floor_, variable.steps[l * (width - 1) + cell] + variable.peaked[l].density(row[j])));
      logs[variable.leaves[l]] = log_density;
    }
  }
  if (blocks_.empty()) return;
  BlockRoom room(*this, 1);
  read_blocks(row, 1, room);
  for (std::size_t b = 0; b < blocks_.size(); ++b) logs[block_nodes_[b]] = room.logs[b];
}

void Circuit::finish_batch(const double* rows, Algebra algebra, const Batch& batch, double* out) const {
  const double* root = batch.at(kind_.size() - 1);
  std::vector<double> logs;
  for (std::size_t r = 0; r < batch.count; ++r) {
    if (root[r] > tolerance::kSmallestRowLikelihood) {
      out[r] = std::log(root[r]) + batch.log_scale[r];
      continue;
    }
    logs.resize(kind_.size());
    leaf_logs(rows + r * variables_.size(), logs.data());
    sweep(logs.data(), algebra, logs.data());
    out[r] = logs.back();
  }
}

void Circuit::evaluate(const double* rows, std::size_t count, Algebra algebra, double* out, std::size_t threads) const {
  parallel_for(count, 64 * kLanes, threads, [&](std::size_t begin, std::size_t end) {
    Batch batch(*this);
    for (std::size_t r = begin; r < end; r += kLanes) {
      const double* piece = rows + r * variables_.size();
      batch.count = std::min(kLanes, end - r);
      read_batch(piece, batch);
      switch (algebra) {
        case Algebra::kSum: sweep_batch<Algebra::kSum>(batch); break;
        case Algebra::kUnder: sweep_batch<Algebra::kUnder>(batch); break;
        case Algebra::kOver: sweep_batch<Algebra::kOver>(batch); break;
      }
      finish_batch(piece, algebra, batch, out + r);
    }
  });
}

double Circuit::evaluate_row(const double* row, Algebra algebra, std::vector<double>& value) const {
  value.resize(kind_.size());
  double log_scale = algebra == Algebra::kOver ? 0 : read_row(row, value);
  for (std::size_t i = 0; i < kind_.size() && algebra != Algebra::kOver; ++i) {
    if (!inner(i)) continue;
    double total = kind_[i] == NodeKind::kProduct ? 1 : 0;
    for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
      const double in = value[child_[e]];
      total = kind_[i] == NodeKind::kProduct ? total * in
              : algebra == Algebra::kSum     ? total + weight_[e] * in
                                             : std::max(total, weight_[e] * in);
    }
    value[i] = total;
  }
  if (algebra != Algebra::kOver && value.back() > tolerance::kSmallestRowLikelihood) return std::log(value.back()) + log_scale;
  leaf_logs(row, value.data());
  sweep(value.data(), algebra, value.data());
  return value.back();
}

// All leaves and blocks at a row, scaled; returns the logarithm of the scale.
double Circuit::read_row(const double* row, std::vector<double>& value) const {
  double log_scale = 0;
  BlockRoom room(*this, 1);
  for (std::size_t j = 0; j < variables_.size(); ++j) {
    const double of_leaves = read_leaves(j, row[j], value);
    if (in_block(j))
      room.scale[j] = of_leaves;
    else
      log_scale += of_leaves;
  }
  if (!blocks_.empty()) place_blocks(row, 1, room, value.data(), &log_scale);
  return log_scale;
}

// The leaves of a variable at a value over the largest of them, to the last bit as in a batch; returns the logarithm of
// that largest.
double Circuit::read_leaves(std::size_t j, double v, std::vector<double>& value) const {
  const Variable& variable = variables_[j];
  const std::size_t width = variable.cells(), cell = variable.cell(v);
  if (variable.peaked.empty() || std::isnan(v)) {
    for (std::size_t l = 0; l < variable.leaves.size(); ++l)
      value[variable.leaves[l]] = std::isnan(v) ? 1 : variable.scaled[l * width + cell];
    return std::isnan(v) ? 0 : variable.log_scale[cell];
  }
  double largest = floor_;
  for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
    double& density = value[variable.leaves[l]];
    density = std::max(floor_, variable.steps[l * (width - 1) + cell] + variable.peaked[l].density(v));
    largest = std::max(largest, density);
  }
  for (const std::int32_t leaf : variable.leaves) value[leaf] = largest > 0 ? value[leaf] / largest : 0;
  return log_of(largest);
}

void Circuit::sweep(const double* leaf_log, Algebra algebra, double* value) const {
  for (std::size_t i = 0; i < kind_.size(); ++i) {
    if (!inner(i)) {
      value[i] = leaf_log[i];
      continue;
    }
    double total = 0, largest_term = -kInf, largest = -kInf;
    for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
      const double in = value[child_[e]];
      if (kind_[i] == NodeKind::kProduct) {
        total = total == -kInf || in == -kInf ? -kInf : total + in;
      } else {
        largest_term = std::max(largest_term, log_of(weight_[e]) + in);
        if (weight_[e] > 0) largest = std::max(largest, in);
      }
    }
    if (kind_[i] == NodeKind::kProduct) {
      value[i] = total;
    } else if (algebra == Algebra::kUnder || largest_term == -kInf) {
      value[i] = largest_term;
    } else if (algebra == Algebra::kOver) {
      value[i] = std::min(std::log(static_cast<double>(fanin(i))) + largest_term, std::log(weight_sum(i)) + largest);
    } else {
      for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e)
        total += std::exp(log_of(weight_[e]) + value[child_[e]] - largest_term);
      value[i] = largest_term + std::log(total);
    }
  }
}

namespace {

void add_log(double& sum, double term) {
  if (term == -kInf) return;
  const double high = std::max(sum, term);
  sum = high + std::log1p(std::exp(std::min(sum, term) - high));
}

}  // namespace

void Circuit::differentiate(const double* value, double* derivative) const {
  std::fill(derivative, derivative + kind_.size(), -kInf);
  derivative[kind_.size() - 1] = 0;
  for (std::size_t i = kind_.size(); i-- > 0;) {
    if (!inner(i) || derivative[i] == -kInf) continue;
    std::size_t zeros = 0;
    double others = 0;  // the product of all children that are not 0
    if (kind_[i] == NodeKind::kProduct) {
      for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
        zeros += value[child_[e]] == -kInf;
        others += value[child_[e]] == -kInf ? 0 : value[child_[e]];
      }
    }
    for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
      const double in = value[child_[e]];
      if (kind_[i] == NodeKind::kSum) {
        add_log(derivative[child_[e]], derivative[i] + log_of(weight_[e]));
      } else if (zeros == 0 || (zeros == 1 && in == -kInf)) {
        add_log(derivative[child_[e]], derivative[i] + others - (in == -kInf ? 0 : in));
      }
    }
  }
}

void Circuit::expect_row(const double* row, double row_weight, double& out, double* edge, double* leaf) const {
  std::vector<double> value(kind_.size()), flow(kind_.size(), 0.0);
  leaf_logs(row, value.data());
  sweep(value.data(), Algebra::kSum, value.data());
  out = value.back();
  if (out == -kInf) return;
  flow.back() = row_weight;
  for (std::size_t i = kind_.size(); i-- > 0;) {
    if (flow[i] == 0) continue;
    for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
      const double part =
          kind_[i] == NodeKind::kProduct ? flow[i] : flow[i] * std::exp(log_of(weight_[e]) + value[child_[e]] - value[i]);
      flow[child_[e]] += part;
      if (kind_[i] == NodeKind::kSum) edge[e] += part;
    }
  }
  for (std::size_t j = 0, offset = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    const std::size_t width = variable.cells(), cell = variable.cell(row[j]);
    for (std::size_t l = 0; l < variable.leaves.size(); ++l) leaf[offset + l * width + cell] += flow[variable.leaves[l]];
    offset += variable.leaves.size() * width;
  }
}

void Circuit::expect_batch(const double* rows, const double* row_weight, Batch& batch, double* out, double* edge,
                           double* leaf) const {
  read_batch(rows, batch);
  sweep_batch<Algebra::kSum>(batch);
  const std::size_t root = kind_.size() - 1;
  std::array<double, kLanes> share;
  for (std::size_t r = 0; r < kLanes; ++r) {
    share[r] = 0;
    if (r >= batch.count) continue;
    if (batch.at(root)[r] > tolerance::kSmallestRowLikelihood) {
      out[r] = std::log(batch.at(root)[r]) + batch.log_scale[r];
      share[r] = row_weight[r] / batch.at(root)[r];
    } else {
      expect_row(rows + r * variables_.size(), row_weight[r], out[r], edge, leaf);
    }
  }
  // Downwards, the place of a node's value takes its flow (the posterior probability that a row passes there). A sum
  // passes on w o_child / o; so a child that was not yet reached must keep its value: flows are gathered beside.
  std::vector<double> flow(batch.value.size(), 0.0);
  for (std::size_t r = 0; r < kLanes; ++r) flow[root * kLanes + r] = share[r] * batch.at(root)[r];
  for (std::size_t i = kind_.size(); i-- > 0;) {
    const double* through = flow.data() + i * kLanes;
    if (kind_[i] == NodeKind::kProduct) {
      for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
        double* to = flow.data() + child_[e] * kLanes;
        for (std::size_t r = 0; r < kLanes; ++r) to[r] += through[r];
      }
    } else if (kind_[i] == NodeKind::kSum) {
      std::array<double, kLanes> ratio;
      for (std::size_t r = 0; r < kLanes; ++r) ratio[r] = batch.at(i)[r] > 0 ? through[r] / batch.at(i)[r] : 0;
      for (std::int64_t e = start_[i]; e < start_[i + 1]; ++e) {
        double* to = flow.data() + child_[e] * kLanes;
        const double* in = batch.at(child_[e]);
        double total = 0;
        for (std::size_t r = 0; r < kLanes; ++r) {
          const double part = weight_[e] * in[r] * ratio[r];
          to[r] += part;
          total += part;
        }
        edge[e] += total;
      }
    }
  }
  for (std::size_t j = 0, offset = 0; j < variables_.size(); ++j) {
    const Variable& variable = variables_[j];
    const std::uint32_t* cell = batch.cell.data() + j * kLanes;
    for (std::size_t l = 0; l < variable.leaves.size(); ++l) {
      const double* into = flow.data() + variable.leaves[l] * kLanes;
      for (std::size_t r = 0; r < kLanes; ++r) leaf[offset + cell[r]] += into[r];
      offset += variable.cells();
    }
  }
}

void Circuit::expect(const double* rows, const double* row_weight, std::size_t count, double* out, double* edge, double* leaf,
                     std::size_t threads) const {
  const std::size_t pieces = std::min(kPieces, std::max<std::size_t>(1, count / (8 * kLanes)));
  const std::size_t size = (count + pieces - 1) / pieces, width = edges() + leaf_cells();
  std::vector<double> sums(pieces * width, 0.0);
  parallel_for(pieces, 1, threads, [&](std::size_t first, std::size_t last) {
    Batch batch(*this);
    for (std::size_t p = first; p < last; ++p) {
      double* sum = sums.data() + p * width;
      for (std::size_t r = p * size; r < std::min(count, (p + 1) * size); r += kLanes) {
        batch.count = std::min(kLanes, std::min(count, (p + 1) * size) - r);
        expect_batch(rows + r * variables_.size(), row_weight + r, batch, out + r, sum, sum + edges());
      }
    }
  });
  for (std::size_t p = 0; p < pieces; ++p) {
    for (std::size_t e = 0; e < edges(); ++e) edge[e] += sums[p * width + e];
    for (std::size_t c = 0; c < leaf_cells(); ++c) leaf[c] += sums[p * width + edges() + c];
  }
}

}  // namespace likely
