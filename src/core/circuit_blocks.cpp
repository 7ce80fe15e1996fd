// The blocks of a circuit among its leaves: what they are worth at a few rows, and on which scale.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "circuit.hpp"

namespace likely {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

void Circuit::add_block(std::int32_t node, std::vector<std::int32_t> variables, std::vector<Warp> warps, std::vector<double> mean,
                        std::vector<double> factor) {
  if (node < 0 || node >= static_cast<std::int32_t>(kind_.size()) || kind_[node] != NodeKind::kBlock)
    throw std::invalid_argument("a block must be a node of that kind");
  if (warps.size() != variables.size()) throw std::invalid_argument("a block needs a warp per variable");
  std::vector<std::size_t> used;
  in_block_.resize(variables_.size(), false);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i] < 0 || variables[i] >= static_cast<std::int32_t>(variables_.size()))
      throw std::invalid_argument("the variables of a block must be variables of the circuit");
    in_block_[variables[i]] = true;
    const WarpOf made{variables[i], std::move(warps[i])};
    const auto known = std::find(warps_.begin(), warps_.end(), made);
    used.push_back(known - warps_.begin());
    if (known == warps_.end()) warps_.push_back(made);
  }
  widest_block_ = std::max(widest_block_, variables.size());
  blocks_.emplace_back(std::move(variables), std::move(used), std::move(mean), std::move(factor));
  block_nodes_.push_back(node);
}

Circuit::BlockRoom::BlockRoom(const Circuit& circuit, std::size_t rows_at_once)
    : lanes(rows_at_once),
      z(circuit.warps_.size() * lanes),
      log_slope(z.size()),
      whitened(circuit.widest_block_ * lanes),
      logs(circuit.blocks_.size() * lanes),
      scale(circuit.blocks_.empty() ? 0 : circuit.variables() * lanes),
      marginals(circuit.blocks_.size()) {}

// room.logs[block][lane] = the log density of a block at each row, and at least the floor of as many leaves.
void Circuit::read_blocks(const double* rows, std::size_t count, BlockRoom& room) const {
  const std::size_t lanes = room.lanes, width = variables_.size();
  const double log_floor = log_of(floor_);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    for (std::size_t r = 0; r < lanes; ++r) {
      const Warp::Point point = warps_[w].warp.at(rows[std::min(r, count - 1) * width + warps_[w].variable]);
      room.z[w * lanes + r] = point.z;
      room.log_slope[w * lanes + r] = point.log_slope;
    }
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    double* logs = room.logs.data() + b * lanes;
    blocks_[b].log_density(room.z.data(), room.log_slope.data(), lanes, room.whitened.data(), logs);
    for (std::size_t r = 0; r < lanes; ++r) {
      const std::size_t known = known_in_block(b, rows + std::min(r, count - 1) * width);
      if (known < blocks_[b].variables().size())
        logs[r] = blocks_[b].log_marginal(room.z.data() + r, room.log_slope.data() + r, lanes, room.marginals[b]);
      if (known > 0) logs[r] = std::max(logs[r], static_cast<double>(known) * log_floor);
    }
  }
}

std::size_t Circuit::known_in_block(std::size_t b, const double* row) const {
  std::size_t known = 0;
  for (const std::int32_t j : blocks_[b].variables()) known += !std::isnan(row[j]);
  return known;
}

// Every induced tree has one factor per variable, in a leaf or in a block, so values may be divided by any scale per
// variable: here by the largest of the variable's leaves (which read_leaves left in room.scale) and of its blocks' shares,
// a block's log density over its known variables. Then no leaf and no block exceeds 1, and the largest is near it.
void Circuit::place_blocks(const double* rows, std::size_t count, BlockRoom& room, double* value, double* log_scale) const {
  const std::size_t lanes = room.lanes, width = variables_.size();
  std::vector<double> scale(width);
  read_blocks(rows, count, room);
  for (std::size_t r = 0; r < lanes; ++r) {
    const double* row = rows + std::min(r, count - 1) * width;
    std::fill(scale.begin(), scale.end(), -kInf);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const double share = room.logs[b * lanes + r] / static_cast<double>(std::max<std::size_t>(1, known_in_block(b, row)));
      for (const std::int32_t j : blocks_[b].variables()) scale[j] = std::max(scale[j], share);
    }
    for (std::size_t j = 0; j < width; ++j) {
      if (!in_block_[j]) continue;
      const double of_leaves = variables_[j].leaves.empty() ? -kInf : room.scale[j * lanes + r];
      scale[j] = std::isnan(row[j]) ? 0 : std::max(scale[j], of_leaves);
      if (!std::isnan(row[j]) && of_leaves < scale[j])
        for (const std::int32_t leaf : variables_[j].leaves) value[leaf * lanes + r] *= std::exp(of_leaves - scale[j]);
      log_scale[r] += scale[j];
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      double log = room.logs[b * lanes + r];
      if (log > -kInf)
        for (const std::int32_t j : blocks_[b].variables()) log -= scale[j];
      value[block_nodes_[b] * lanes + r] = std::exp(log);
    }
  }
}

}  // namespace likely
