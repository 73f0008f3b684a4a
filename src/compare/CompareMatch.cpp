//===- CompareMatch.cpp - matches the tensors of two models ---------------===//

#include "compare/CompareMatch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace sinter {

std::vector<TensorMatch> matchNumbers(const RunFacts &first,
                                      const RunFacts &second) {
  std::unordered_map<int64_t, const ValueFacts *> left;
  for (const ValueFacts &value : second.values)
    if (value.isLeft)
      left[value.number] = &value;
  std::vector<TensorMatch> matches;
  for (const ValueFacts &value : first.values)
    if (const auto found = left.find(value.number);
        found != left.end() && value.isLeft)
      matches.push_back({value.number, value.number, MatchedBy::Model, &value,
                         found->second});
  return matches;
}

namespace {

/// "%12": a number of the printer, which means nothing.
bool isNumeral(const std::string &name) {
  return name.size() > 1 && name[0] == '%' && name[1] >= '0' && name[1] <= '9';
}

class Matcher {
public:
  Matcher(const RunFacts &first, const RunFacts &second)
      : first(valuesOf(first)), second(valuesOf(second)) {}

  std::vector<TensorMatch> match() {
    matchBy(MatchedBy::Name, [](const ValueFacts &value) {
      return value.isNamed && !isNumeral(value.name) ? value.name : "";
    });
    matchBy(MatchedBy::Origin, [](const ValueFacts &value) {
      return value.origin.empty() ? "" : value.origin + "\n" + value.op;
    });
    matchBy(MatchedBy::Flow, [](const ValueFacts &value) {
      return value.fromInputs ? std::to_string(value.fromInputs) : "";
    });
    matchBy(MatchedBy::Flow, [](const ValueFacts &value) {
      return value.toOutputs ? value.op + "\n" + std::to_string(value.toOutputs)
                             : "";
    });
    std::ranges::sort(matches, {},
                      [&](const TensorMatch &match) { return match.facts; });
    return std::move(matches);
  }

private:
  using FactsInOrder = std::vector<const ValueFacts *>;
  using Key = std::function<std::string(const ValueFacts &)>;

  static FactsInOrder valuesOf(const RunFacts &facts) {
    FactsInOrder values;
    for (const ValueFacts &value : facts.values)
      if (value.isLeft)
        values.push_back(&value);
    return values;
  }

  std::map<std::string, FactsInOrder> sorted(const FactsInOrder &values,
                                             const Key &key) const {
    std::map<std::string, FactsInOrder> groups;
    for (const ValueFacts *value : values)
      if (!taken.contains(value))
        if (std::string text = key(*value); !text.empty())
          groups[std::move(text)].push_back(value);
    return groups;
  }

  /// Matches values of the same key, if both have as many of them.
  void matchBy(MatchedBy by, const Key &key) {
    const std::map<std::string, FactsInOrder> others = sorted(second, key);
    for (const auto &[text, values] : sorted(first, key)) {
      const auto found = others.find(text);
      if (found == others.end() || found->second.size() != values.size())
        continue;
      for (size_t i = 0; i < values.size(); ++i) {
        const ValueFacts *value = values[i], *other = found->second[i];
        if (value->unfolded != other->unfolded)
          continue;
        matches.push_back({value->number, other->number, by, value, other});
        taken.insert(value);
        taken.insert(other);
      }
    }
  }

  FactsInOrder first, second;
  std::unordered_set<const ValueFacts *> taken;
  std::vector<TensorMatch> matches;
};

} // namespace

std::vector<TensorMatch> matchValues(const RunFacts &first,
                                     const RunFacts &second) {
  return Matcher(first, second).match();
}

} // namespace sinter
