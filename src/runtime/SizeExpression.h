//===- SizeExpression.h - a size as a polynomial over size parameters -----===//
//
// Sizes known only at run time (a batch, the length of a sequence) are
// parameters, by index. Sizes that follow from them are sums of products: two
// sizes are equal for all parameters exactly if their expressions are equal.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_SIZEEXPRESSION_H
#define SINTER_RUNTIME_SIZEEXPRESSION_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

class SizeExpression {
public:
  /// factor * the parameters, in ascending order, each as often as its power.
  struct Term {
    int64_t factor = 0;
    std::vector<uint32_t> parameters;

    bool operator==(const Term &) const = default;
  };

  SizeExpression(int64_t number = 0);
  static SizeExpression parameter(uint32_t number);
  /// From stored terms; nothing if they are not in order, or are more or of a
  /// higher degree than expressions have.
  static std::optional<SizeExpression> of(const std::vector<Term> &terms);

  /// In order of their parameters, none with the factor 0.
  const std::vector<Term> &terms() const { return sum; }
  /// Its value if it is constant.
  std::optional<int64_t> number() const;
  /// Its parameter if it is just that.
  std::optional<uint32_t> asParameter() const;

  // Nothing on overflow, and where an expression would become too large.
  static std::optional<SizeExpression> sumOf(const SizeExpression &a,
                                             const SizeExpression &b);
  static std::optional<SizeExpression> productOf(const SizeExpression &a,
                                                 const SizeExpression &b);
  /// a / b, if b is one term that each term of a is a multiple of, or a is one
  /// term times b.
  static std::optional<SizeExpression> quotientOf(const SizeExpression &a,
                                                  const SizeExpression &b);

  /// Its value; nothing on overflow, or if a parameter is not there.
  std::optional<int64_t> at(std::span<const int64_t> parameters) const;
  /// "2*N*sequence + 1", with a name for each parameter.
  std::string text(std::span<const std::string> names) const;

  bool operator==(const SizeExpression &) const = default;

private:
  static std::optional<SizeExpression> normalized(std::vector<Term> terms);

  std::vector<Term> sum;
};

/// For tables of expressions.
struct SizeExpressionHash {
  size_t operator()(const SizeExpression &size) const;
};

} // namespace sinter

#endif // SINTER_RUNTIME_SIZEEXPRESSION_H
