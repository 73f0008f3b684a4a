//===- RepeatedSizes.cpp - what is repeated if its size is 1 --------------===//

#include "backend/cpu/SizeNamer.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool SizeNamer::isOfInputs(const SizeExpression &size) {
  auto isKnown = [&](const SizeExpression &each) {
    return llvm::all_of(each.terms(), [&](const auto &term) {
      return llvm::all_of(term.parameters, [&](uint32_t parameter) {
        return parameter < firstComputed || followsInputs.contains(parameter);
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
bool SizeNamer::mayTakeAsEqual(const SizeExpression &a,
                               const SizeExpression &b) {
  auto isGiven = [&](const SizeExpression &size) {
    const std::optional<uint32_t> parameter = size.asParameter();
    const FollowingSize *source =
        parameter ? table.sourceOf(*parameter) : nullptr;
    return size.number() || (parameter && *parameter < firstComputed) ||
           (source && source->kind == FollowingKind::Together);
  };
  return !a.number() && !b.number() && !(isGiven(a) && isGiven(b)) &&
         isOfInputs(a) && isOfInputs(b);
}

Known SizeNamer::joinedSize(const SizeExpression &a, const SizeExpression &b) {
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
  if (mayTakeAsEqual(a, b) && expectEqual(a, b))
    return b.asParameter() && !a.asParameter() ? b : a;
  const SizeExpression joined =
      table.followingOf(FollowingKind::Together, a, b);
  expectSize(joined);
  if (a.number() || b.number())
    return a.number() ? a : b;
  return joined;
}

bool SizeNamer::isJoinedOf(const SizeExpression &joined,
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

/// The elements of \p value along \p dim as often as \p size says, the one
/// there is each time if there is one. (Where \p size is that of \p value, the
/// places are these elements' own, and all others are the last one's.)
Value SizeNamer::repeatedAlong(Operation *user, Value value, int64_t dim,
                               const SizeExpression &size) {
  OpBuilder builder(user);
  nn::TensorBuilder emit(builder, user->getLoc());
  const Location location = user->getLoc();
  Value places = builder.create<stablehlo::IotaOp>(
      location, typeOfSizes({nameOf(size)}, emit.integerType(64)), 0);
  dims[places] = {size};
  Dims sizes = dimsOf(value);
  const int64_t rank = static_cast<int64_t>(sizes.size());
  SmallVector<int64_t> slice, others;
  for (int64_t i = 0; i < rank; ++i) {
    slice.push_back(i == dim ? 1 : nameOf(sizes[i]));
    if (i != dim)
      others.push_back(i);
  }
  sizes[dim] = size;
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      builder.getContext(), others, {dim}, {}, {}, {dim}, 1);
  Value taken = builder.create<stablehlo::GatherOp>(
      location, value.getType(), value, places, numbers,
      builder.getDenseI64ArrayAttr(slice), builder.getBoolAttr(true));
  setSizes(taken, sizes);
  return taken;
}

Result<Value> SizeNamer::repeatedWhereOne(Operation *op, Value operand,
                                          ArrayRef<int64_t> places,
                                          const Dims &sizes) {
  const Dims own = dimsOf(operand);
  for (auto [dim, size, place] : llvm::enumerate(own, places)) {
    const SizeExpression &all = sizes[place];
    if (size == SizeExpression(1) || size == all || areExpectedEqual(size, all))
      continue;
    // A number that is not 1 cannot be repeated.
    if (size.number() && mustBeSame(size, all))
      continue;
    const Known joined = joinedSize(size, all);
    if (!joined || size.number() ||
        !(all.number() || *joined == all || expectEqual(*joined, all)))
      return refused(op, "dimension " + std::to_string(place) +
                             " may be repeated or not, as sizes will be");
    if (areExpectedEqual(size, all))
      continue;
    operand = repeatedAlong(op, operand, static_cast<int64_t>(dim), all);
  }
  return operand;
}
