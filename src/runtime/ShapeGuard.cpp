//===- ShapeGuard.cpp - conditions on sizes that a program relies on ------===//

#include "runtime/ShapeGuard.h"

#include <limits>

namespace sinter {

bool ShapeGuard::holds(int64_t leftValue, int64_t rightValue) const {
  switch (relation) {
  case Relation::Equal:
    return leftValue == rightValue;
  case Relation::AtMost:
    return leftValue <= rightValue;
  case Relation::Broadcast:
    return leftValue == rightValue || leftValue == 1 || rightValue == 1;
  }
  return false;
}

static std::string sideText(const std::string &what, const SizeExpression &size,
                            std::span<const std::string> names) {
  const std::string text = size.text(names);
  return what.empty() ? text : what + " (" + text + ")";
}

std::string ShapeGuard::text(std::span<const std::string> names) const {
  const char *between = relation == Relation::Equal    ? " == "
                        : relation == Relation::AtMost ? " <= "
                                                       : " broadcasts with ";
  return sideText(leftIs, left, names) + between +
         sideText(rightIs, right, names);
}

/// "dimension 1 of operand 2, which is 50", or "N - 3, which is -1".
static std::string valueText(const std::string &what,
                             const SizeExpression &size,
                             std::span<const std::string> names,
                             int64_t value) {
  std::string name = what.empty() ? size.text(names) : what;
  if (size.number() && what.empty())
    return name;
  return name + ", which is " +
         (value == std::numeric_limits<int64_t>::min() ? "too large"
                                                       : std::to_string(value));
}

Error ShapeGuard::error(std::span<const std::string> names, int64_t leftValue,
                        int64_t rightValue) const {
  const char *between = relation == Relation::Equal    ? ", must equal "
                        : relation == Relation::AtMost ? ", must be at most "
                                                       : ", does not broadcast "
                                                         "with ";
  return invalidModel(
      (node.empty() ? "sizes do not fit: " : "node '" + node + "': ") +
      valueText(leftIs, left, names, leftValue) + between +
      valueText(rightIs, right, names, rightValue));
}

} // namespace sinter
