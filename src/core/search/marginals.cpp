#include "marginals.hpp"

#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "../tolerances.hpp"

namespace likely::search {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The logarithm of a sum of exponentials, term by term.
class LogSum {
 public:
  void add(double log) {
    if (log == -kInf) return;
    if (log > most_) {
      sum_ = sum_ * std::exp(most_ - log) + 1;
      most_ = log;
    } else {
      sum_ += std::exp(log - most_);
    }
  }
  double log() const { return most_ == -kInf ? -kInf : most_ + std::log(sum_); }

 private:
  double most_ = -kInf, sum_ = 0;
};

// The first and the last double at which a warp has a density.
std::pair<double, double> support(const Warp& warp) {
  auto outermost = [&](double inside, double outside) {
    while (true) {
      const double middle = inside + (outside - inside) / 2;
      if (middle == inside || middle == outside) return inside;
      (warp.at(middle).log_slope > -kInf ? inside : outside) = middle;
    }
  };
  const double first = warp.parts().front().high, last = warp.parts().back().low;
  return {warp.lower() > -kInf ? outermost(first, warp.lower()) : -kInf,
          warp.upper() < kInf ? outermost(last, warp.upper()) : kInf};
}

}  // namespace

Marginals::Marginals(const Circuit& circuit, const Domain& domain) : circuit_(circuit), log_floor_(log_of(circuit.floor())) {
  std::vector<double> logs(circuit.nodes(), 0.0);
  log_share_.resize(circuit.nodes());
  circuit.sweep(logs.data(), Algebra::kSum, logs.data());
  circuit.differentiate(logs.data(), log_share_.data());
  features_.resize(circuit.variables());
  add_components(circuit);
  for (std::size_t j = 0; j < domain.features.size(); ++j) {
    const Feature& feature = domain.features[j];
    if (features_[j].components.empty() || feature.low.empty()) continue;
    const std::vector<double> at = marks(j, feature);
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double high = k + 1 < at.size() ? std::nextafter(at[k + 1], -kInf) : feature.high.back();
      add_pieces(j, at[k], high, mixed(features_[j], at[k]), tolerance::kMarginalCuts);
    }
    double most = 0;
    for (const Piece& piece : features_[j].pieces)
      if (piece.possible) most = std::max({most, std::abs(piece.line.at_low), std::abs(piece.line.at_high)});
    size_ += most;
  }
}

void Marginals::add_components(const Circuit& circuit) {
  for (std::size_t b = 0; b < circuit.blocks(); ++b) {
    const GaussianBlock& block = circuit.block(b);
    const std::vector<double> covariance = block.covariance();
    const std::size_t count = block.variables().size();
    for (std::size_t i = 0; i < count; ++i) {
      const double deviation = std::sqrt(covariance[i * count + i]);
      const double log_normaliser = std::log(deviation) + 0.5 * std::log(2 * std::numbers::pi);
      features_[static_cast<std::size_t>(block.variables()[i])].components.push_back(
          {block.warp(i), log_share(circuit.block_node(b)), block.mean()[i], deviation, log_normaliser});
    }
  }
  for (std::size_t j = 0; j < circuit.variables(); ++j) {
    const likely::Variable& variable = circuit.variable(j);
    assert(variable.peaked.empty());
    if (variable.leaves.empty()) continue;
    for (std::size_t c = 0; c + 1 < variable.cells(); ++c) {
      LogSum sum;
      for (std::size_t l = 0; l < variable.leaves.size(); ++l)
        sum.add(log_share(variable.leaves[l]) + variable.log_density[l * variable.cells() + c]);
      features_[j].log_leaves.push_back(sum.log());
    }
  }
}

double Marginals::log(std::size_t j, double v) const {
  if (std::isnan(v)) return 0;
  const OfFeature& of = features_[j];
  LogSum sum;
  if (!of.log_leaves.empty()) sum.add(of.log_leaves[circuit_.variable(j).cell(v)]);
  for (const Component& component : of.components) {
    const Warp::Point point = circuit_.warp(component.warp).at(v);
    const double away = (point.z - component.mean) / component.deviation;
    sum.add(component.log_share + std::max(log_floor_, point.log_slope - component.log_normaliser - 0.5 * away * away));
  }
  return sum.log();
}

double Marginals::least(std::size_t j, double low, double high) const {
  double least = kInf;
  each_line(j, low, high, [&](double, double, double at_low, double at_high) { least = std::min({least, at_low, at_high}); });
  return least;
}

// -- pieces -------------------------------------------------------------------------------------------------------------

// Where pieces begin: the first number, ends of the parts of warps and of their supports, and steps of leaves.
std::vector<double> Marginals::marks(std::size_t j, const Feature& feature) const {
  std::vector<double> made{feature.low.front()};
  const double first = made[0], last = feature.high.back();
  auto add = [&](double x) {
    if (x > first && x <= last) made.push_back(x);
  };
  for (const Component& component : features_[j].components) {
    const Warp& warp = circuit_.warp(component.warp);
    for (const Warp::Part& part : warp.parts()) add(part.low);
    const auto [from, to] = support(warp);
    add(from);
    add(std::nextafter(to, kInf));
  }
  for (const double x : circuit_.variable(j).breaks) add(x);
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

// Whether a chord in the coordinate of one block may be none in that of another, on the piece that begins at x.
bool Marginals::mixed(const OfFeature& of, double x) const {
  bool bent = false, same = true;
  for (const Component& component : of.components) {
    const Warp& warp = circuit_.warp(component.warp);
    bent |= warp.parts()[warp.part_of(x)].bend != 0;
    same &= component.warp == of.components.front().warp;
  }
  return bent && !same;
}

// Cuts an interval until its line is near the marginal.
void Marginals::add_pieces(std::size_t j, double low, double high, bool mixed, int cuts) {
  OfFeature& of = features_[j];
  const Line made = line(j, low, high, mixed);
  const double at = middle(of, low, high);
  const double gap =
      std::max({log(j, low) - made.at_low, log(j, high) - made.at_high, log(j, at) - 0.5 * (made.at_low + made.at_high)});
  if (gap <= tolerance::kMarginalGap || std::isnan(gap) || cuts == 0 || at <= low || at > high) {
    of.pieces.push_back({low, high, mixed, possible(of, made, low), made});
    return;
  }
  add_pieces(j, low, std::nextafter(at, -kInf), mixed, cuts - 1);
  add_pieces(j, at, high, mixed, cuts - 1);
}

// In the coordinate of the first block that has a density there: the parts of a tail that ends are wide in it.
double Marginals::middle(const OfFeature& of, double low, double high) const {
  for (const Component& component : of.components) {
    const Warp& warp = circuit_.warp(component.warp);
    const Warp::Point from = warp.at(low), to = warp.at(high);
    if (!(from.log_slope > -kInf && to.log_slope > -kInf)) continue;
    return std::clamp(warp.inverse(0.5 * from.z + 0.5 * to.z), low, high);
  }
  return 0.5 * low + 0.5 * high;
}

// A component that has no density at an end has none within: pieces end where supports do. What rounding may have added to any
// logarithm, here or where a row is tested, is taken off.
Marginals::Line Marginals::line(std::size_t j, double low, double high, bool mixed) const {
  const OfFeature& of = features_[j];
  double most = -kInf, sum = 0, rise = 0;
  auto add = [&](double at_low, double at_high) {
    const double log = 0.5 * at_low + 0.5 * at_high;
    if (!(log > -kInf)) return;
    if (log > most) {
      const double scale = std::exp(most - log);
      sum *= scale;
      rise *= scale;
      most = log;
    }
    const double weight = std::exp(log - most);
    sum += weight;
    rise += weight * (at_high - at_low);
  };
  if (!of.log_leaves.empty()) {
    const double leaves = of.log_leaves[circuit_.variable(j).cell(low)];
    add(leaves, leaves);
  }
  std::size_t warped = circuit_.warps();
  Warp::Point from{}, to{};
  for (const Component& component : of.components) {
    if (component.warp != warped) {
      warped = component.warp;
      from = circuit_.warp(warped).at(low);
      to = circuit_.warp(warped).at(high);
    }
    auto log_at = [&](const Warp::Point& point) {
      const double precision = 1 / (component.deviation * component.deviation), away = point.z - component.mean;
      const double log = point.log_slope - component.log_normaliser - 0.5 * away * away * precision;
      const double size = 1 + std::abs(log) + std::abs(away) * (std::abs(point.z) + std::abs(component.mean)) * precision;
      return std::isfinite(size) ? log - tolerance::kMarginalRoundoffs * tolerance::kRoundoff * size : -kInf;
    };
    double at_low = log_at(from), at_high = log_at(to);
    if (mixed) at_low = at_high = std::min(at_low, at_high);
    if (!(0.5 * at_low + 0.5 * at_high > log_floor_)) at_low = at_high = log_floor_;
    add(component.log_share + at_low, component.log_share + at_high);
  }
  if (most == -kInf) return {-tolerance::kMostLog, -tolerance::kMostLog};
  const double log = most + std::log(sum), half = 0.5 * rise / sum;
  const double rounding = tolerance::kMarginalRoundoffs * tolerance::kRoundoff * (1 + std::abs(log) + std::abs(half));
  return {log - half - rounding, log + half - rounding};
}

bool Marginals::possible(const OfFeature& of, const Line& line, double x) const {
  return line.at_low > -tolerance::kMostLog ||
         std::any_of(of.components.begin(), of.components.end(), [&](const Component& component) {
           return component.log_share > -kInf && circuit_.warp(component.warp).at(x).log_slope > -kInf;
         });
}

}  // namespace likely::search
