//===- ShapeGuards.cpp - what a program relies on of its dynamic sizes ----===//

#include "backend/cpu/shapes/ShapeGuards.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

std::optional<SizeExpression> cpu::differenceOf(const SizeExpression &from,
                                                const SizeExpression &what) {
  const auto less = SizeExpression::productOf(what, -1);
  return less ? SizeExpression::sumOf(from, *less) : std::nullopt;
}

ShapeGuards::ShapeGuards(SizeTable &table) : table(table) {
  for (const ShapeGuard &guard : table.guards)
    learn(guard);
}

size_t ShapeGuards::GuardHash::operator()(const ShapeGuard &guard) const {
  const SizeExpressionHash hash;
  return llvm::hash_combine(static_cast<int>(guard.relation), hash(guard.left),
                            hash(guard.right));
}

/// The node that \p op came of, by its name in the user's file, or what it is.
static std::string nodeOf(Operation *op) {
  if (!op)
    return {};
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    return name.getName().str();
  return op->getName().getStringRef().str();
}

void ShapeGuards::learn(const ShapeGuard &guard) {
  using Relation = ShapeGuard::Relation;
  known.insert(guard);
  if (guard.relation == Relation::Equal) {
    if (const auto zero = differenceOf(guard.left, guard.right))
      solve(*zero);
    return;
  }
  const SizeExpression size =
      guard.relation == Relation::AtMost
          ? guard.right
          : table.followingOf(FollowingKind::Together, guard.left, guard.right);
  if (const auto parameter = size.asParameter();
      parameter && (guard.relation == Relation::Broadcast || guard.left == 0))
    guarded.insert(*parameter);
}

void ShapeGuards::add(ShapeGuard::Relation relation, const SizeExpression &left,
                      const SizeExpression &right, const Twine &leftIs,
                      const Twine &rightIs) {
  ShapeGuard guard{relation, left, right, {}, {}, {}};
  if (known.contains(guard))
    return;
  guard.node = nodeOf(node);
  guard.leftIs = leftIs.str();
  guard.rightIs = rightIs.str();
  learn(guard);
  table.guards.push_back(std::move(guard));
}

bool ShapeGuards::requireEqual(const SizeExpression &a, const SizeExpression &b,
                               const Twine &aIs, const Twine &bIs) {
  if (areEqual(a, b))
    return true;
  const auto rest = differenceOf(a, b);
  if (!rest || rest->number())
    return false;
  add(ShapeGuard::Relation::Equal, a, b, aIs, bIs);
  return true;
}

void ShapeGuards::requireAtMost(const SizeExpression &a,
                                const SizeExpression &b, const Twine &aIs,
                                const Twine &bIs) {
  if (!isAtMost(a, b))
    add(ShapeGuard::Relation::AtMost, a, b, aIs, bIs);
}

SizeExpression ShapeGuards::requireBroadcast(const SizeExpression &a,
                                             const SizeExpression &b) {
  // Either order is the same.
  if (!known.contains({ShapeGuard::Relation::Broadcast, b, a, {}, {}, {}}))
    add(ShapeGuard::Relation::Broadcast, a, b, "", "");
  return table.followingOf(FollowingKind::Together, a, b);
}

/// Replaces a parameter of \p zero, which is required to be 0, in what follows:
/// the last one that occurs only once, and alone.
void ShapeGuards::solve(const SizeExpression &zero) {
  const auto left = reduced(zero);
  if (!left)
    return;
  for (const SizeExpression::Term &term : llvm::reverse(left->terms())) {
    const bool isAlone =
        term.parameters.size() == 1 &&
        (term.factor == 1 || term.factor == -1) &&
        llvm::count_if(left->terms(), [&](const auto &other) {
          return llvm::is_contained(other.parameters, term.parameters.front());
        }) == 1;
    if (!isAlone)
      continue;
    const uint32_t parameter = term.parameters.front();
    // zero = factor * parameter + rest, and factor is its own reciprocal.
    const auto rest = differenceOf(
        *left, *SizeExpression::productOf(SizeExpression::parameter(parameter),
                                          term.factor));
    const auto value =
        rest ? SizeExpression::productOf(*rest, -term.factor) : std::nullopt;
    if (value)
      replaced.try_emplace(parameter, *value);
    return;
  }
}

std::optional<SizeExpression>
ShapeGuards::reduced(const SizeExpression &size) const {
  SizeExpression sum;
  bool isReduced = true;
  for (const SizeExpression::Term &term : size.terms()) {
    std::optional<SizeExpression> product = SizeExpression(term.factor);
    for (uint32_t parameter : term.parameters) {
      auto found = replaced.find(parameter);
      isReduced &= found == replaced.end();
      product = SizeExpression::productOf(
          *product, found == replaced.end()
                        ? SizeExpression::parameter(parameter)
                        : found->second);
      if (!product)
        return std::nullopt;
    }
    const auto next = SizeExpression::sumOf(sum, *product);
    if (!next)
      return std::nullopt;
    sum = *next;
  }
  // What stands for a parameter may have been replaced since.
  return isReduced ? std::optional(sum) : reduced(sum);
}

bool ShapeGuards::areEqual(const SizeExpression &a,
                           const SizeExpression &b) const {
  using Relation = ShapeGuard::Relation;
  if (a == b || known.contains({Relation::Equal, a, b, {}, {}, {}}) ||
      known.contains({Relation::Equal, b, a, {}, {}, {}}))
    return true;
  if (replaced.empty())
    return false;
  const auto first = reduced(a);
  return first && first == reduced(b);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

void ShapeGuards::boundFollowing() const {
  // Each follows from those before it.
  for (; bounded < table.following.size(); ++bounded) {
    const FollowingSize &each = table.following[bounded];
    const auto size = boundOf(each.size), other = boundOf(each.other);
    std::optional<int64_t> &bound = bounds[each.parameter];
    switch (each.kind) {
    case FollowingKind::Quotient:
      bound = size && *size >= 0 ? *size / each.divisor : -1;
      break;
    case FollowingKind::Least:
      if (size && other)
        bound = std::min(*size, *other);
      break;
    case FollowingKind::Greatest:
      bound = size && other ? std::max(*size, *other) : size ? size : other;
      break;
    case FollowingKind::Together:
      bound = -1;
      break;
    }
  }
}

std::optional<int64_t> ShapeGuards::boundOf(uint32_t parameter) const {
  auto found = bounds.find(parameter);
  const std::optional<int64_t> bound =
      found == bounds.end() ? std::optional<int64_t>(0) : found->second;
  return guarded.contains(parameter) ? std::max<int64_t>(bound.value_or(0), 0)
                                     : bound;
}

std::optional<int64_t> ShapeGuards::boundOf(const SizeExpression &size) const {
  int64_t sum = 0;
  for (const SizeExpression::Term &term : size.terms()) {
    int64_t product = term.factor;
    for (uint32_t parameter : term.parameters) {
      const std::optional<int64_t> bound = boundOf(parameter);
      // A product of several has one only where none of them is negative.
      if (!bound || term.factor < 0 ||
          (*bound < 0 && term.parameters.size() > 1) ||
          llvm::MulOverflow(product, *bound, product))
        return std::nullopt;
    }
    if (llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<int64_t>
ShapeGuards::lowerBound(const SizeExpression &size) const {
  boundFollowing();
  return boundOf(size);
}

bool ShapeGuards::isNonNegative(const SizeExpression &size) const {
  return lowerBound(size).value_or(-1) >= 0;
}

bool ShapeGuards::isAtMost(const SizeExpression &a, const SizeExpression &b,
                           unsigned depth) const {
  constexpr unsigned deepest = 4;
  if (const auto rest = differenceOf(b, a); rest && isNonNegative(*rest))
    return true;
  const std::optional<uint32_t> parameter = a.asParameter();
  const FollowingSize *source =
      parameter && depth < deepest ? table.sourceOf(*parameter) : nullptr;
  return source && source->kind == FollowingKind::Least &&
         (isAtMost(source->size, b, depth + 1) ||
          isAtMost(source->other, b, depth + 1));
}
