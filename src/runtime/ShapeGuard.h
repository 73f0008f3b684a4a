//===- ShapeGuard.h - conditions on sizes that a program relies on --------===//
//
// A program with dynamic dimensions is correct as long as all of its guards
// hold. They are collected at compile time (backend/cpu/shapes/ShapeGuards.h)
// and checked as soon as sizes are known, before they are used.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_SHAPEGUARD_H
#define SINTER_RUNTIME_SHAPEGUARD_H

#include "runtime/Result.h"
#include "runtime/SizeExpression.h"

namespace sinter {

struct ShapeGuard {
  enum class Relation : uint8_t {
    Equal,     ///< left == right
    AtMost,    ///< left <= right
    Broadcast, ///< left == right, or one of them is 1
  };

  Relation relation = Relation::AtMost;
  SizeExpression left, right;
  /// The node that needs it, by its name in the user's file.
  std::string node;
  /// What the sizes are for that node ("dimension 1 of operand 2"); empty if
  /// the expression suffices.
  std::string leftIs, rightIs;

  /// Whether it holds for these values of both sides.
  bool holds(int64_t leftValue, int64_t rightValue) const;
  /// "dimension 1 of operand 2 (K) == dimension 0 of operand 1 (400)", with a
  /// name for each parameter.
  std::string text(std::span<const std::string> names) const;
  /// The error (InvalidModel) that it does not hold for these values; the least
  /// int64_t stands for an overflow.
  Error error(std::span<const std::string> names, int64_t leftValue,
              int64_t rightValue) const;
};

} // namespace sinter

#endif // SINTER_RUNTIME_SHAPEGUARD_H
