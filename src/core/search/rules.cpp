#include "rules.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../exact_sum.hpp"
#include "../tolerances.hpp"
#include "../values.hpp"

namespace likely::search {

namespace {

bool in_region(const std::vector<std::pair<double, double>>& region, double v) {
  return std::any_of(region.begin(), region.end(), [v](const auto& part) { return part.first <= v && v <= part.second; });
}

std::size_t held(const std::vector<Literal>& literals, const double* row) {
  return static_cast<std::size_t>(
      std::count_if(literals.begin(), literals.end(), [row](const Literal& l) { return l.holds(row); }));
}
bool keeps(const Clause& clause, const double* row) { return held(clause.literals, row) > 0; }
bool keeps(const AtMost& rule, const double* row) { return held(rule.literals, row) <= rule.count; }

enum class Outcome { kNothing, kChanged, kImpossible };

// Unit propagation: if all literals but one are false in the box, that one must hold.
Outcome filter(const Domain& domain, Box& box, const Clause& clause) {
  const Literal* open = nullptr;
  for (const Literal& literal : clause.literals) {
    const Literal::State state = literal.state(domain, box);
    if (state == Literal::State::kAlways) return Outcome::kNothing;
    if (state == Literal::State::kNever) continue;
    if (open != nullptr) return Outcome::kNothing;
    open = &literal;
  }
  if (open == nullptr) return Outcome::kImpossible;
  return open->keep(domain, box, true) ? Outcome::kChanged : Outcome::kNothing;
}

// If as many literals as may hold do, no other one does.
Outcome filter(const Domain& domain, Box& box, const AtMost& rule) {
  std::size_t held = 0;
  for (const Literal& literal : rule.literals) held += literal.state(domain, box) == Literal::State::kAlways;
  if (held > rule.count) return Outcome::kImpossible;
  if (held < rule.count) return Outcome::kNothing;
  bool changed = false;
  for (const Literal& literal : rule.literals)
    if (literal.state(domain, box) == Literal::State::kSometimes) changed |= literal.keep(domain, box, false);
  return changed ? Outcome::kChanged : Outcome::kNothing;
}

// Bound tightening by activities (Savelsbergh 1994): each term has what the others, at their lowest, leave of the right side.
Outcome filter(const Domain& domain, Box& box, const LinearRule& rule) {
  if (!rule.applies(domain, box)) return Outcome::kNothing;
  auto least = [&](std::size_t i) {
    const Range& range = box.range[rule.features[i]];
    return std::min(rule.coefficients[i] * (range.low - rule.anchors[i]), rule.coefficients[i] * (range.high - rule.anchors[i]));
  };
  double lowest = 0;  // activity of the rule over the box, in offsets
  for (std::size_t i = 0; i < rule.features.size(); ++i) lowest += least(i);
  const double rest = rule.relaxed_rest(box);
  if (lowest > rest) return Outcome::kImpossible;
  bool changed = false;
  for (std::size_t i = 0; i < rule.features.size(); ++i) {
    const double c = rule.coefficients[i];
    if (c == 0) continue;
    const std::size_t j = rule.features[i];
    const Range& range = box.range[j];
    const double end = rule.anchors[i] + (rest - (lowest - least(i))) / c;
    const double wider =
        tolerance::kRoundoff * (2 * std::abs(end) + tolerance::kCrossingRoundoffs * std::abs(end - rule.anchors[i]));
    changed |= c > 0 ? box.keep_numbers(domain, j, range.low, end + wider) : box.keep_numbers(domain, j, end - wider, range.high);
    if (box.range[j].empty()) return Outcome::kImpossible;
  }
  return changed ? Outcome::kChanged : Outcome::kNothing;
}

template <class Rule>
bool filter_all(const Domain& domain, Box& box, const std::vector<Rule>& rules, bool& changed) {
  for (const Rule& rule : rules) {
    const Outcome outcome = filter(domain, box, rule);
    if (outcome == Outcome::kImpossible) return false;
    changed |= outcome == Outcome::kChanged;
  }
  return true;
}

}  // namespace

LinearRule::LinearRule(const Domain& domain, std::vector<std::size_t> features_, std::vector<double> coefficients_, double upper_)
    : features(std::move(features_)),
      coefficients(std::move(coefficients_)),
      dense(domain.features.size(), 0.0),
      upper(upper_),
      whole(is_whole(upper_)) {
  if (features.size() != coefficients.size()) throw std::invalid_argument("a linear rule needs a coefficient per feature");
  ExactSum left;
  left.add(upper);
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i] >= dense.size()) throw std::out_of_range("a rule about a feature that is not there");
    const Feature& f = domain.features[features[i]];
    dense[features[i]] += coefficients[i];
    anchors.push_back(f.anchor);
    left.add_product(-coefficients[i], f.anchor);
    whole = whole && is_whole(coefficients[i]) && f.whole();
  }
  rest = left.value();
}

bool LinearRule::applies(const Domain& domain, const Box& box) const {
  return std::all_of(features.begin(), features.end(),
                     [&](std::size_t j) { return !box.range[j].empty() && box.atom_count(domain.features[j]) == 0; });
}

bool LinearRule::holds(const double* row) const {
  ExactSum excess;
  excess.add(-upper);
  double size = 0;
  bool exact = is_whole(upper);
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double x = row[features[i]];
    if (is_code(x)) return true;
    excess.add_product(coefficients[i], x);
    size += std::abs(coefficients[i] * x);
    exact = exact && is_whole(coefficients[i]) && is_whole(x);
  }
  return excess.value() <= (exact ? 0 : tolerance::rule_slack(features.size(), std::max(size, std::abs(upper))));
}

double LinearRule::relaxed_rest(const Box& box) const {
  double numbers = 0, offsets = std::abs(rest);
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Range& range = box.range[features[i]];
    const double c = std::abs(coefficients[i]);
    numbers += c * std::max(std::abs(range.low), std::abs(range.high));
    offsets += c * std::max(std::abs(range.low - anchors[i]), std::abs(range.high - anchors[i]));
  }
  const double slack = whole ? 0 : 2 * tolerance::rule_slack(features.size(), std::max(numbers, std::abs(upper)));
  return rest + slack + 2 * tolerance::rule_slack(features.size(), offsets);
}

Literal::Literal(const Domain& domain, std::size_t feature, const std::vector<std::pair<double, double>>& region)
    : feature_(feature), region_(region), inside_before_{0}, atoms_(domain.features[feature].words(), 0) {
  const Feature& f = domain.features[feature];
  for (std::size_t c = 0; c < f.low.size(); ++c) inside_before_.push_back(inside_before_.back() + in_region(region, f.low[c]));
  for (std::size_t k = 0; k < f.atom.size(); ++k)
    if (in_region(region, f.atom[k])) atoms_[k / 64] |= std::uint64_t{1} << (k % 64);
}

Literal::State Literal::state(const Domain& domain, const Box& box) const {
  const Feature& f = domain.features[feature_];
  const Range& range = box.range[feature_];
  std::size_t inside = 0, all = box.atom_count(f);
  for (std::size_t w = 0; w < f.words(); ++w)
    inside += static_cast<std::size_t>(std::popcount(atoms_[w] & box.atoms[f.first_word + w]));
  if (!range.empty()) {
    all += static_cast<std::size_t>(range.last - range.first) + 1;
    inside += static_cast<std::size_t>(inside_before_[static_cast<std::size_t>(range.last) + 1] -
                                       inside_before_[static_cast<std::size_t>(range.first)]);
  }
  return inside == 0 ? State::kNever : inside == all ? State::kAlways : State::kSometimes;
}

bool Literal::keep(const Domain& domain, Box& box, bool inside) const {
  const Feature& f = domain.features[feature_];
  bool changed = false;
  for (std::size_t w = 0; w < f.words(); ++w) {
    std::uint64_t& allowed = box.atoms[f.first_word + w];
    const std::uint64_t kept = allowed & (inside ? atoms_[w] : ~atoms_[w]);
    changed |= kept != allowed;
    allowed = kept;
  }
  const Range range = box.range[feature_];
  if (range.empty()) return changed;
  auto wanted = [&](std::int32_t c) {
    return (inside_before_[static_cast<std::size_t>(c) + 1] > inside_before_[static_cast<std::size_t>(c)]) == inside;
  };
  std::int32_t first = range.first, last = range.last;
  while (first <= last && !wanted(first)) ++first;
  while (first <= last && !wanted(last)) --last;
  if (first > last) {
    box.drop_numbers(feature_);
    return true;
  }
  return box.keep_cells(domain, feature_, first, last) || changed;
}

bool Literal::holds(const double* row) const { return in_region(region_, row[feature_]); }

bool Rules::propagate(const Domain& domain, Box& box) const {
  bool changed = true;
  for (int round = 0; changed && round < tolerance::kRuleRounds; ++round) {
    changed = false;
    if (!filter_all(domain, box, clauses, changed) || !filter_all(domain, box, at_most, changed) ||
        !filter_all(domain, box, linear, changed) || box.any_empty(domain))
      return false;
  }
  return true;
}

bool Rules::hold(const double* row) const {
  return std::all_of(clauses.begin(), clauses.end(), [row](const Clause& clause) { return keeps(clause, row); }) &&
         std::all_of(at_most.begin(), at_most.end(), [row](const AtMost& rule) { return keeps(rule, row); }) &&
         std::all_of(linear.begin(), linear.end(), [row](const LinearRule& rule) { return rule.holds(row); });
}

std::optional<std::size_t> Rules::undecided(const Domain& domain, const Box& box, const double* row) const {
  auto first_open = [&](const auto& rule) -> std::optional<std::size_t> {
    if (keeps(rule, row)) return std::nullopt;
    for (const Literal& literal : rule.literals)
      if (literal.state(domain, box) == Literal::State::kSometimes) return literal.feature();
    return std::nullopt;
  };
  for (const Clause& clause : clauses)
    if (const auto feature = first_open(clause)) return feature;
  for (const AtMost& rule : at_most)
    if (const auto feature = first_open(rule)) return feature;
  return std::nullopt;
}

}  // namespace likely::search
