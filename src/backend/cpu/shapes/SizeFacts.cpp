//===- SizeFacts.cpp - symbolic sizes, and what is known of them ----------===//

#include "backend/cpu/shapes/SizeFacts.h"

#include "backend/cpu/ir/OperationKind.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Error cpu::refused(Operation *op, const std::string &what) {
  return unsupported(nodeAndKind(op, op->getLoc()) + ": " + what);
}

Result<SizeExpression> SizeFacts::inputSize(const std::string &name) {
  const auto next = static_cast<uint32_t>(numbers.size());
  const uint32_t number = numbers.try_emplace(name, next).first->second;
  if (number >= table.parameters.size())
    table.parameters.push_back(name);
  else if (table.parameters[number] != name)
    return unsupported("the inputs have not the dynamic dimensions any "
                       "more of which the shape guards are: " +
                       name);
  return SizeExpression::parameter(number);
}

SizeExpression SizeFacts::unknownSize() {
  const auto number = static_cast<uint32_t>(table.parameters.size());
  table.parameters.emplace_back();
  return SizeExpression::parameter(number);
}

Dim SizeFacts::dimOf(const SizeExpression &size) {
  if (std::optional<int64_t> number = size.number())
    return *number;
  const auto [known, isNew] =
      numberOfSize.try_emplace(size, static_cast<int64_t>(table.sizes.size()));
  if (isNew) {
    table.sizes.push_back(size);
    guards.requireNonNegative(size);
  }
  return Dim::named(known->second);
}

Known SizeFacts::countOf(ArrayRef<SizeExpression> sizes) {
  Known result = 1;
  for (const SizeExpression &size : sizes)
    if (result)
      result = SizeExpression::productOf(*result, size);
  return result;
}

bool SizeFacts::isComputed(const SizeExpression &size) const {
  return mayDefine && llvm::any_of(size.terms(), [&](const auto &term) {
           return llvm::any_of(term.parameters, [&](uint32_t parameter) {
             return parameter >= inputs();
           });
         });
}

bool SizeFacts::mustBeSame(const SizeExpression &a, const SizeExpression &b) {
  return guards.areEqual(a, b) ||
         ((isComputed(a) || isComputed(b)) && guards.requireEqual(a, b));
}

//===----------------------------------------------------------------------===//
// The smaller and the larger one
//===----------------------------------------------------------------------===//

/// The number that \p size has besides what follows from parameters.
static int64_t numberIn(const SizeExpression &size) {
  for (const SizeExpression::Term &term : size.terms())
    if (term.parameters.empty())
      return term.factor;
  return 0;
}

/// min(a, b) = min(a + n, b + n) - n where both are sizes then; nothing where
/// there is no such n.
Known SizeFacts::leastOfShifted(const SizeExpression &a,
                                const SizeExpression &b) {
  const int64_t shift = std::max(-numberIn(a), -numberIn(b));
  const Known left = SizeExpression::sumOf(a, shift),
              right = SizeExpression::sumOf(b, shift);
  if (shift <= 0 || !left || !right || !guards.isNonNegative(*left) ||
      !guards.isNonNegative(*right))
    return std::nullopt;
  return SizeExpression::sumOf(
      table.followingOf(FollowingKind::Least, *left, *right), -shift);
}

Known SizeFacts::chosen(const SizeExpression &a, const SizeExpression &b,
                        bool smaller) {
  if (a.number() && b.number())
    return smaller ? std::min(*a.number(), *b.number())
                   : std::max(*a.number(), *b.number());
  if (guards.isAtMost(b, a))
    return smaller ? b : a;
  if (guards.isAtMost(a, b))
    return smaller ? a : b;
  const bool areSizes = guards.isNonNegative(a) && guards.isNonNegative(b);
  const bool isNumber = a.number() || b.number();
  const bool isOne = guards.isNonNegative(a) || guards.isNonNegative(b);
  // What gets less as sizes grow is seldom the larger one.
  auto shrinks = [](const SizeExpression &size) {
    return !size.number() && llvm::all_of(size.terms(), [](const auto &term) {
      return term.parameters.empty() || term.factor < 0;
    });
  };
  if (areSizes ||
      (!smaller && isOne && (!isNumber || shrinks(a) || shrinks(b))))
    return table.followingOf(
        smaller ? FollowingKind::Least : FollowingKind::Greatest, a, b);
  if (smaller)
    if (const Known least = leastOfShifted(a, b))
      return least;
  // Which it is the program finds out.
  if (isComputed(a) || isComputed(b) || !isNumber)
    return std::nullopt;
  const SizeExpression &dynamic = a.number() ? b : a;
  const SizeExpression &bound = a.number() ? a : b;
  // The size is taken, and what the bound leaves may not be negative.
  const Known left =
      smaller ? differenceOf(bound, dynamic) : differenceOf(dynamic, bound);
  if (!left)
    return std::nullopt;
  guards.requireNonNegative(*left);
  return dynamic;
}

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

bool SizeFacts::isOfInputs(const SizeExpression &size) {
  auto isKnown = [&](const SizeExpression &each) {
    return llvm::all_of(each.terms(), [&](const auto &term) {
      return llvm::all_of(term.parameters, [&](uint32_t parameter) {
        return parameter < inputs() || followsInputs.contains(parameter);
      });
    });
  };
  // Each follows from those before it.
  for (; seenFollowing < table.following.size(); ++seenFollowing)
    if (const FollowingSize &each = table.following[seenFollowing];
        isKnown(each.size) && isKnown(each.other))
      followsInputs.insert(each.parameter);
  return isKnown(size);
}

/// Whether \p a and \p b, which are broadcast together, are taken to be the
/// same: sizes behind windows or of parts are seldom 1. Dimensions of inputs
/// are whatever users want them to be, and numbers what was computed.
bool SizeFacts::mayTakeAsEqual(const SizeExpression &a,
                               const SizeExpression &b) {
  auto isGiven = [&](const SizeExpression &size) {
    const std::optional<uint32_t> parameter = size.asParameter();
    const FollowingSize *source =
        parameter ? table.sourceOf(*parameter) : nullptr;
    return size.number() || (parameter && *parameter < inputs()) ||
           (source && source->kind == FollowingKind::Together);
  };
  return !a.number() && !b.number() && !(isGiven(a) && isGiven(b)) &&
         isOfInputs(a) && isOfInputs(b);
}

bool SizeFacts::isJoinedOf(const SizeExpression &joined,
                           const SizeExpression &part, unsigned depth) const {
  constexpr unsigned deepest = 6;
  if (joined == part)
    return true;
  const std::optional<uint32_t> parameter = joined.asParameter();
  const FollowingSize *source =
      parameter && depth < deepest ? table.sourceOf(*parameter) : nullptr;
  return source && source->kind == FollowingKind::Together &&
         (isJoinedOf(source->size, part, depth + 1) ||
          isJoinedOf(source->other, part, depth + 1));
}

Known SizeFacts::broadcastOf(const SizeExpression &a, const SizeExpression &b) {
  if (a == b || b == SizeExpression(1))
    return a;
  if (a == SizeExpression(1))
    return b;
  if (a.number() && b.number())
    return std::nullopt;
  if (isJoinedOf(a, b))
    return a;
  if (isJoinedOf(b, a))
    return b;
  if (mayTakeAsEqual(a, b) && guards.requireEqual(a, b))
    return b.asParameter() && !a.asParameter() ? b : a;
  const SizeExpression joined = guards.requireBroadcast(a, b);
  if (a.number() || b.number())
    return a.number() ? a : b;
  return joined;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

stablehlo::ComparisonDirection
cpu::oppositeOf(stablehlo::ComparisonDirection direction) {
  using Direction = stablehlo::ComparisonDirection;
  switch (direction) {
  case Direction::EQ:
    return Direction::NE;
  case Direction::NE:
    return Direction::EQ;
  case Direction::GE:
    return Direction::LT;
  case Direction::GT:
    return Direction::LE;
  case Direction::LE:
    return Direction::GT;
  case Direction::LT:
    return Direction::GE;
  }
  llvm_unreachable("not a comparison");
}

Known SizeFacts::compared(stablehlo::ComparisonDirection direction,
                          const SizeExpression &a,
                          const SizeExpression &b) const {
  using Direction = stablehlo::ComparisonDirection;
  const Known rest = differenceOf(a, b);
  const std::optional<int64_t> less = rest ? rest->number() : std::nullopt;
  if (!less) {
    const auto isBelow = [&](const SizeExpression &low,
                             const SizeExpression &high) {
      const Known next = SizeExpression::sumOf(low, 1);
      return next && guards.isAtMost(*next, high);
    };
    const bool below = isBelow(a, b), above = isBelow(b, a);
    const bool atMost = below || guards.isAtMost(a, b),
               atLeast = above || guards.isAtMost(b, a);
    const auto decided = [](bool holds, bool fails) {
      return holds ? Known(1) : fails ? Known(0) : std::nullopt;
    };
    switch (direction) {
    case Direction::EQ:
      return decided(false, below || above);
    case Direction::NE:
      return decided(below || above, false);
    case Direction::LT:
      return decided(below, atLeast);
    case Direction::LE:
      return decided(atMost, above);
    case Direction::GT:
      return decided(above, atMost);
    case Direction::GE:
      return decided(atLeast, below);
    }
  }
  switch (direction) {
  case Direction::EQ:
    return *less == 0;
  case Direction::NE:
    return *less != 0;
  case Direction::LT:
    return *less < 0;
  case Direction::LE:
    return *less <= 0;
  case Direction::GT:
    return *less > 0;
  case Direction::GE:
    return *less >= 0;
  }
  llvm_unreachable("not a comparison");
}

bool SizeFacts::requireComparison(stablehlo::ComparisonDirection direction,
                                  const SizeExpression &a,
                                  const SizeExpression &b) {
  using Direction = stablehlo::ComparisonDirection;
  // Takes it for granted that large - small >= least.
  auto expect = [&](const SizeExpression &large, const SizeExpression &small,
                    int64_t least) {
    Known rest = differenceOf(large, small);
    if (rest)
      rest = SizeExpression::sumOf(*rest, -least);
    if (!rest || rest->number().value_or(0) < 0)
      return false;
    guards.requireNonNegative(*rest);
    return true;
  };
  switch (direction) {
  case Direction::EQ:
    return guards.requireEqual(a, b);
  case Direction::NE: {
    const Known rest = differenceOf(a, b);
    const Known square =
        rest ? SizeExpression::productOf(*rest, *rest) : Known();
    return square && expect(*square, 0, 1);
  }
  case Direction::GE:
    return expect(a, b, 0);
  case Direction::GT:
    return expect(a, b, 1);
  case Direction::LE:
    return expect(b, a, 0);
  case Direction::LT:
    return expect(b, a, 1);
  }
  llvm_unreachable("not a comparison");
}

/// A program for no sizes but 0 serves nobody. What follows from sizes, a
/// number of windows say, may well be 0.
Result<void> SizeFacts::checkGuards() const {
  auto isOfSizes = [&](const SizeExpression::Term &term) {
    return llvm::none_of(term.parameters, [&](uint32_t parameter) {
      return table.sourceOf(parameter) != nullptr;
    });
  };
  auto isForNone = [&](const Known &rest) {
    return rest &&
           llvm::all_of(rest->terms(), [&](const SizeExpression::Term &term) {
             return term.factor < 0 && isOfSizes(term);
           });
  };
  for (const ShapeGuard &guard : table.guards)
    if (isForNone(differenceOf(guard.right, guard.left)) ||
        (guard.relation == ShapeGuard::Relation::Equal &&
         isForNone(differenceOf(guard.left, guard.right))))
      return unsupported("it would be for sizes only where " +
                         guard.text(table.parameters));
  return {};
}
