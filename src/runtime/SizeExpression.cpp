//===- SizeExpression.cpp - a size as a polynomial over size parameters ---===//

#include "runtime/SizeExpression.h"

#include <algorithm>

namespace sinter {

/// Real models stay below this limit.
static constexpr size_t mostTerms = 32, mostDegree = 16;

SizeExpression::SizeExpression(int64_t number) {
  if (number != 0)
    sum.push_back({number, {}});
}

SizeExpression SizeExpression::parameter(uint32_t number) {
  SizeExpression expression;
  expression.sum.push_back({1, {number}});
  return expression;
}

std::optional<SizeExpression>
SizeExpression::of(const std::vector<Term> &terms) {
  std::optional<SizeExpression> made = normalized(terms);
  if (!made || made->sum != terms)
    return std::nullopt;
  return made;
}

std::optional<SizeExpression>
SizeExpression::normalized(std::vector<Term> terms) {
  for (Term &term : terms) {
    std::ranges::sort(term.parameters);
    if (term.parameters.size() > mostDegree)
      return std::nullopt;
  }
  std::ranges::sort(terms, {}, &Term::parameters);
  SizeExpression result;
  for (Term &term : terms) {
    if (!result.sum.empty() &&
        result.sum.back().parameters == term.parameters) {
      int64_t &factor = result.sum.back().factor;
      if (__builtin_add_overflow(factor, term.factor, &factor))
        return std::nullopt;
    } else {
      result.sum.push_back(std::move(term));
    }
  }
  std::erase_if(result.sum, [](const Term &term) { return term.factor == 0; });
  if (result.sum.size() > mostTerms)
    return std::nullopt;
  return result;
}

std::optional<int64_t> SizeExpression::number() const {
  if (sum.empty())
    return 0;
  if (sum.size() == 1 && sum.front().parameters.empty())
    return sum.front().factor;
  return std::nullopt;
}

std::optional<uint32_t> SizeExpression::asParameter() const {
  if (sum.size() == 1 && sum.front().factor == 1 &&
      sum.front().parameters.size() == 1)
    return sum.front().parameters.front();
  return std::nullopt;
}

std::optional<SizeExpression> SizeExpression::sumOf(const SizeExpression &a,
                                                    const SizeExpression &b) {
  std::vector<Term> terms = a.sum;
  terms.insert(terms.end(), b.sum.begin(), b.sum.end());
  return normalized(std::move(terms));
}

std::optional<SizeExpression>
SizeExpression::productOf(const SizeExpression &a, const SizeExpression &b) {
  std::vector<Term> terms;
  for (const Term &left : a.sum)
    for (const Term &right : b.sum) {
      Term &term = terms.emplace_back(left);
      if (__builtin_mul_overflow(left.factor, right.factor, &term.factor))
        return std::nullopt;
      term.parameters.insert(term.parameters.end(), right.parameters.begin(),
                             right.parameters.end());
    }
  return normalized(std::move(terms));
}

std::optional<SizeExpression>
SizeExpression::quotientOf(const SizeExpression &a, const SizeExpression &b) {
  if (b.sum.empty())
    return std::nullopt;
  // One term of a is that of the quotient by the first term of b.
  if (b.sum.size() != 1) {
    SizeExpression first;
    first.sum = {b.sum.front()};
    for (const Term &term : a.sum) {
      SizeExpression part;
      part.sum = {term};
      if (const auto quotient = quotientOf(part, first);
          quotient && productOf(*quotient, b) == a)
        return quotient;
    }
    return std::nullopt;
  }
  const Term &by = b.sum.front();
  std::vector<Term> terms;
  for (const Term &term : a.sum) {
    // The least integer divided by -1 overflows.
    if (by.factor == -1 || term.factor % by.factor != 0 ||
        !std::ranges::includes(term.parameters, by.parameters))
      return std::nullopt;
    Term &rest = terms.emplace_back();
    rest.factor = term.factor / by.factor;
    std::ranges::set_difference(term.parameters, by.parameters,
                                std::back_inserter(rest.parameters));
  }
  return normalized(std::move(terms));
}

std::optional<int64_t>
SizeExpression::at(std::span<const int64_t> parameters) const {
  int64_t value = 0;
  for (const Term &term : sum) {
    int64_t product = term.factor;
    for (uint32_t parameter : term.parameters)
      if (parameter >= parameters.size() ||
          __builtin_mul_overflow(product, parameters[parameter], &product))
        return std::nullopt;
    if (__builtin_add_overflow(value, product, &value))
      return std::nullopt;
  }
  return value;
}

std::string SizeExpression::text(std::span<const std::string> names) const {
  std::string text;
  for (const Term &term : sum) {
    std::string product;
    if (term.factor != 1 || term.parameters.empty())
      product = std::to_string(term.factor);
    for (uint32_t parameter : term.parameters)
      product += (product.empty() ? "" : "*") +
                 (parameter < names.size() ? names[parameter]
                                           : "p" + std::to_string(parameter));
    text += (text.empty() ? "" : " + ") + product;
  }
  return text.empty() ? "0" : text;
}

size_t SizeExpressionHash::operator()(const SizeExpression &size) const {
  // Fowler, Noll and Vo's hash, FNV-1a, by integers.
  uint64_t hash = 0xcbf29ce484222325;
  auto mix = [&](uint64_t number) { hash = (hash ^ number) * 0x100000001b3; };
  for (const SizeExpression::Term &term : size.terms()) {
    mix(static_cast<uint64_t>(term.factor));
    for (uint32_t parameter : term.parameters)
      mix(parameter + 1);
  }
  return hash;
}

} // namespace sinter
