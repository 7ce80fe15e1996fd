#include "rules.hpp"

#include <algorithm>
#include <cmath>

#include "../values.hpp"

namespace likely::search {

namespace {

// A linear rule may be missed by this much, relative to the size of its terms; the twin of likely/schema/rules.py.
constexpr double kFeasibility = 1e-9;
// Linear rules over reals may tighten each other for ever, by less and less.
constexpr int kMostRounds = 30;

bool within(const std::vector<std::pair<double, double>>& region, double v) {
  return std::any_of(region.begin(), region.end(), [v](const auto& part) { return part.first <= v && v <= part.second; });
}

bool any_empty(const Domain& domain, const Box& box) {
  for (std::size_t j = 0; j < domain.features.size(); ++j)
    if (box.empty(domain, j)) return true;
  return false;
}

enum class Outcome { kNothing, kChanged, kImpossible };

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

Outcome filter(const Domain& domain, Box& box, const LinearRow& row) {
  if (!row.applies(domain, box)) return Outcome::kNothing;
  double least = 0;
  for (std::size_t i = 0; i < row.features.size(); ++i) {
    const Range& range = box.range[row.features[i]];
    least += std::min(row.coefficients[i] * range.low, row.coefficients[i] * range.high);
  }
  const double upper = row.eased(box);
  if (least > upper) return Outcome::kImpossible;
  bool changed = false;
  for (std::size_t i = 0; i < row.features.size(); ++i) {
    const double c = row.coefficients[i];
    if (c == 0) continue;
    const Range& range = box.range[row.features[i]];
    const double others = least - std::min(c * range.low, c * range.high), most = (upper - others) / c;
    changed |= c > 0 ? box.keep_numbers(domain, row.features[i], range.low, most)
                     : box.keep_numbers(domain, row.features[i], most, range.high);
    if (box.range[row.features[i]].empty()) return Outcome::kImpossible;
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

bool LinearRow::applies(const Domain& domain, const Box& box) const {
  return std::all_of(features.begin(), features.end(), [&](std::size_t j) {
    return !box.range[j].empty() && box.atom_count(domain.features[j]) == 0;
  });
}

double LinearRow::eased(const Box& box) const {
  double terms = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Range& range = box.range[features[i]];
    terms += std::abs(coefficients[i]) * std::max(std::abs(range.low), std::abs(range.high));
  }
  return upper + 2 * kFeasibility * std::max(std::abs(upper), terms);
}

Literal::Literal(const Domain& domain, std::size_t feature, const std::vector<std::pair<double, double>>& region)
    : feature_(feature), region_(region), inside_before_{0}, atoms_(domain.features[feature].words(), 0) {
  const Feature& f = domain.features[feature];
  for (std::size_t c = 0; c < f.low.size(); ++c) inside_before_.push_back(inside_before_.back() + within(region, f.low[c]));
  for (std::size_t k = 0; k < f.atom.size(); ++k)
    if (within(region, f.atom[k])) atoms_[k / 64] |= std::uint64_t{1} << (k % 64);
}

Literal::State Literal::state(const Domain& domain, const Box& box) const {
  const Feature& f = domain.features[feature_];
  const Range& range = box.range[feature_];
  std::size_t inside = 0, all = box.atom_count(f);
  for (std::size_t w = 0; w < f.words(); ++w) inside += std::popcount(atoms_[w] & box.atoms[f.first_word + w]);
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
    std::uint64_t& own = box.atoms[f.first_word + w];
    const std::uint64_t kept = own & (inside ? atoms_[w] : ~atoms_[w]);
    changed |= kept != own;
    own = kept;
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

bool Literal::holds(const double* row) const { return within(region_, row[feature_]); }

bool Rules::propagate(const Domain& domain, Box& box) const {
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; ++round) {
    changed = false;
    if (!filter_all(domain, box, clauses, changed) || !filter_all(domain, box, at_most, changed) ||
        !filter_all(domain, box, linear, changed) || any_empty(domain, box))
      return false;
  }
  return true;
}

bool Rules::hold(const double* row) const {
  for (const Clause& clause : clauses)
    if (std::none_of(clause.literals.begin(), clause.literals.end(), [row](const Literal& l) { return l.holds(row); })) return false;
  for (const AtMost& rule : at_most) {
    const auto held = std::count_if(rule.literals.begin(), rule.literals.end(), [row](const Literal& l) { return l.holds(row); });
    if (static_cast<std::size_t>(held) > rule.count) return false;
  }
  for (const LinearRow& rule : linear) {
    double total = 0, size = 0;
    bool numbers = true;
    for (std::size_t i = 0; i < rule.features.size(); ++i) {
      const double x = row[rule.features[i]];
      numbers = numbers && !is_code(x);
      total += rule.coefficients[i] * x;
      size += std::abs(rule.coefficients[i] * x);
    }
    if (numbers && total > rule.upper + kFeasibility * std::max(size, std::abs(rule.upper))) return false;
  }
  return true;
}

}  // namespace likely::search
