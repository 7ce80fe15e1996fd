#include "record.hpp"

#include <cmath>
#include <cstdio>

#include "network.hpp"

namespace likely::search {

Recorder::Recorder(const Problem& problem, const Workspace& workspace, std::size_t most_bytes)
    : problem_(problem), workspace_(workspace), most_bytes_(most_bytes) {}

// Exact: 17 digits are enough for every double.
void Recorder::write(double number) {
  if (std::isnan(number)) {
    line_ += "NaN";
  } else if (std::isinf(number)) {
    line_ += number > 0 ? "Infinity" : "-Infinity";
  } else {
    char digits[32];
    line_.append(digits, static_cast<std::size_t>(std::snprintf(digits, sizeof digits, "%.17g", number)));
  }
}

void Recorder::write(const std::vector<double>& numbers) {
  line_ += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) line_ += ',';
    write(numbers[i]);
  }
  line_ += ']';
}

void Recorder::add_roots(const std::vector<std::int64_t>& ids) {
  line_ = "{\"roots\":[";
  for (std::size_t a = 0; a < ids.size(); ++a) line_ += (a > 0 ? "," : "") + std::to_string(ids[a]);
  text_ += line_ + "]}\n";
}

void Recorder::begin(std::int64_t id, const Node& node, double cutoff) {
  line_ = "{\"node\":" + std::to_string(id) + ",\"cutoff\":";
  write(cutoff);
  line_ += ",\"steps\":[";
  children_.clear();
  box_ = node.box;
  splits_ = node.splits.size();
  last_ = Step::kPruning;
}

// Of every feature that changed: its place, the range of its numbers (null: none), the places of its atoms.
void Recorder::write_changes(const Box& before, const Box& after) {
  line_ += '[';
  bool first = true;
  for (std::size_t j = 0; j < problem_.domain.features.size(); ++j) {
    const Feature& f = problem_.domain.features[j];
    const Range &was = before.range[j], &is = after.range[j];
    bool changed = was.empty() != is.empty() || (!is.empty() && (was.low != is.low || was.high != is.high));
    for (std::size_t w = f.first_word; w < f.first_word + f.words(); ++w) changed |= before.atoms[w] != after.atoms[w];
    if (!changed) continue;
    line_ += (first ? "[" : ",[") + std::to_string(j) + ',';
    first = false;
    if (is.empty())
      line_ += "null";
    else
      write(std::vector<double>{is.low, is.high});
    line_ += ",[";
    bool first_atom = true;
    after.each_atom(f, [&](std::size_t k) {
      line_ += (first_atom ? "" : ",") + std::to_string(k);
      first_atom = false;
    });
    line_ += "]]";
  }
  line_ += ']';
}

void Recorder::after(Step step, const Node& node, bool left) {
  line_ += line_.back() == '[' ? "[\"" : ",[\"";
  line_ += name_of(step);
  line_ += left ? "\",true," : "\",false,";
  write_changes(box_, node.box);
  box_ = node.box;
  write_multipliers(step, node, left);
  last_ = step;
  line_ += ']';
}

// What the step can be derived from again; any numbers would do, these give the bound that the search had.
void Recorder::write_multipliers(Step step, const Node& node, bool left) {
  const Evaluation& evaluation = workspace_.evaluations[node.alternative];
  if (step == Step::kCostBound) {
    line_ += ",[";
    for (std::size_t g = 0; g < node.multipliers.size(); ++g) {
      if (g > 0) line_ += ',';
      write(node.multipliers[g]);
    }
    line_ += ']';
  } else if (step == Step::kUnits) {
    write_units(node.alternative);
  } else if (step == Step::kJointBound && last_ != step) {
    write_prices(node.prices, *evaluation.priced.likelihood, evaluation.priced);
  } else if (step == Step::kJointCoherence && last_ != step) {
    write_prices(node.coherence_prices, *problem_.coherence, evaluation.coherence_priced);
  } else if (step == Step::kLikelihood && problem_.likelihood->has_blocks() && (!left || problem_.likelihood_weight > 0)) {
    line_ += ',';
    write(problem_.likelihood->points(evaluation.sweep));
  } else if (const Network* network = problem_.score->hidden_units();
             step == Step::kScore && last_ != step && network != nullptr) {
    line_ += ',';
    write(network->above_argument(*workspace_.scores[node.alternative]));
  }
}

void Recorder::write(const std::vector<std::vector<double>>& layers) {
  line_ += '[';
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (l > 0) line_ += ',';
    write(layers[l]);
  }
  line_ += ']';
}

// The last prices, with which values were removed; and those that gave the bound, if these are others.
void Recorder::write_prices(const std::vector<Prices>& last, const Likelihood& likelihood, const PricedParts& priced) {
  std::vector<Prices> prices = last;
  for (std::size_t p = 0; p < prices.size(); ++p) prices[p].points = likelihood.points(p, priced.parts[p]);
  line_ += ",[";
  write(prices);
  if (!priced.best.empty() && priced.best != prices) {
    line_ += ',';
    write(priced.best);
  }
  line_ += ']';
}

void Recorder::write(const std::vector<Prices>& prices) {
  line_ += '[';
  for (std::size_t p = 0; p < prices.size(); ++p) {
    line_ += p > 0 ? ",[" : "[";
    write(prices[p].cost);
    for (const std::vector<double>* each : {&prices[p].goals, &prices[p].rules, &prices[p].points}) {
      line_ += ',';
      write(*each);
    }
    line_ += ']';
  }
  line_ += ']';
}

void Recorder::write(const Multipliers& at) { write(std::vector<double>{at.goal, at.rule, static_cast<double>(at.rule_index)}); }

void Recorder::write_units(std::uint32_t alternative) {
  const UnitMultipliers& at = workspace_.units->triangles.last_multipliers();
  line_ += ",{\"goals\":";
  write(at.goals);
  line_ += ",\"units\":";
  write(at.units);
  line_ += ",\"chords\":";
  write(at.chords);
  std::vector<std::vector<double>> unstable(at.units.size());
  for (std::size_t l = 0; l < unstable.size(); ++l)
    for (std::size_t h = 0; h < at.units[l].size(); ++h)
      if (workspace_.units->triangles.unstable(l, h)) unstable[l].push_back(static_cast<double>(h));
  line_ += ",\"unstable\":";
  write(unstable);
  line_ += ",\"above\":";
  write(workspace_.units->network.above_argument(*workspace_.scores[alternative]));
  line_ += ",\"dual\":";
  write(workspace_.units->dual.multipliers);
  line_ += '}';
}

void Recorder::add_child(std::uint64_t id, const Node& part) {
  std::string line;
  line.swap(line_);
  line_ = (children_.empty() ? "[" : ",[") + std::to_string(id) + ',';
  write_changes(box_, part.box);
  for (std::size_t i = splits_; i < part.splits.size(); ++i)
    line_ += ",[" + std::to_string(part.splits[i].layer) + ',' + std::to_string(part.splits[i].unit) +
             (part.splits[i].on ? ",true]" : ",false]");
  children_ += line_ + ']';
  line_.swap(line);
}

void Recorder::end() {
  if (truncated_) return;
  text_ += line_ + "],\"children\":[" + children_ + "]}\n";
  truncated_ = text_.size() > most_bytes_;
}

}  // namespace likely::search
