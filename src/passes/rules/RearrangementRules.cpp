#include "graph/ElementUses.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static bool isScalar(Value value) { return tensorOf(value).getRank() == 0; }

/// The scalar that a value broadcasts, or null.
static Value repeatedScalar(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  return broadcast && isScalar(broadcast.getOperand())
             ? Value(broadcast.getOperand())
             : Value();
}
static Value repeat(Value scalar, Operation *op, OpBuilder &builder) {
  auto type = tensorOf(op->getResult(0));
  if (!scalar || !type.hasStaticShape() ||
      tensorOf(scalar).getElementType() != type.getElementType())
    return {};
  return builder.create<BroadcastInDimOp>(op->getLoc(), type, scalar,
                                          ArrayRef<int64_t>());
}

//===----------------------------------------------------------------------===//
// Rearrangements of broadcasts
//===----------------------------------------------------------------------===//

/// A transpose, reshape, reverse or slice of equal elements.
template <typename Op> static Value ofRepeated(Op op, OpBuilder &builder) {
  return repeat(repeatedScalar(op.getOperand()), op, builder);
}

static Value transposeBroadcast(TransposeOp op, OpBuilder &builder) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!broadcast || isScalar(broadcast.getOperand()))
    return {};
  SmallVector<int64_t> dimensions;
  for (int64_t dimension : broadcast.getBroadcastDimensions())
    dimensions.push_back(llvm::find(op.getPermutation(), dimension) -
                         op.getPermutation().begin());
  return builder.create<BroadcastInDimOp>(op.getLoc(), op.getType(),
                                          broadcast.getOperand(), dimensions);
}

/// Where only broadcast dimensions are sliced, the broadcast gets smaller.
static Value sliceBroadcast(SliceOp op, OpBuilder &builder) {
  auto broadcast = op.getOperand().getDefiningOp<BroadcastInDimOp>();
  if (!broadcast || isScalar(broadcast.getOperand()))
    return {};
  auto from = tensorOf(broadcast.getOperand()), whole = tensorOf(broadcast);
  for (auto [index, dimension] :
       llvm::enumerate(broadcast.getBroadcastDimensions())) {
    bool isRepeated = from.getDimSize(index) == 1;
    if (!isRepeated &&
        tensorOf(op).getDimSize(dimension) != whole.getDimSize(dimension))
      return {};
  }
  if (!from.hasStaticShape() || !tensorOf(op).hasStaticShape())
    return {};
  return builder.create<BroadcastInDimOp>(op.getLoc(), op.getType(),
                                          broadcast.getOperand(),
                                          broadcast.getBroadcastDimensions());
}

/// A broadcast that only permutes dimensions.
static Value broadcastToTranspose(BroadcastInDimOp op, OpBuilder &builder) {
  auto from = tensorOf(op.getOperand()), to = tensorOf(op);
  if (!from.hasStaticShape() || !to.hasStaticShape() ||
      from.getRank() != to.getRank() ||
      from.getNumElements() != to.getNumElements() || isEmpty(op) ||
      isa<quant::QuantizedType>(to.getElementType()))
    return {};
  if (llvm::is_sorted(op.getBroadcastDimensions()))
    return {};
  SmallVector<int64_t> permutation(to.getRank());
  for (auto [index, dimension] : llvm::enumerate(op.getBroadcastDimensions()))
    permutation[dimension] = index;
  return builder.create<TransposeOp>(op.getLoc(), to, op.getOperand(),
                                     permutation);
}

/// Which dimension of \p to, in order, each dimension of \p from becomes (-1
/// for one of size 1 that is dropped); nothing where the reshape does more than
/// add and drop dimensions of size 1.
static std::optional<SmallVector<int64_t>> unitReshape(RankedTensorType from,
                                                       RankedTensorType to) {
  SmallVector<int64_t> targets(from.getRank(), -1);
  int64_t next = 0;
  auto skipUnits = [&] {
    while (next < to.getRank() && to.getDimSize(next) == 1)
      ++next;
  };
  for (int64_t i = 0; i < from.getRank(); ++i) {
    if (from.getDimSize(i) == 1) {
      if (next < to.getRank() && to.getDimSize(next) == 1)
        targets[i] = next++;
      continue;
    }
    skipUnits();
    if (next == to.getRank() || to.getDimSize(next) != from.getDimSize(i))
      return std::nullopt;
    targets[i] = next++;
  }
  skipUnits();
  if (next != to.getRank())
    return std::nullopt;
  return targets;
}

/// A reshape that only adds or removes dimensions of size 1, before a
/// broadcast.
static Value broadcastReshape(BroadcastInDimOp op, OpBuilder &builder) {
  auto reshape = op.getOperand().getDefiningOp<ReshapeOp>();
  if (!reshape)
    return {};
  auto from = tensorOf(reshape.getOperand()), middle = tensorOf(reshape);
  if (!from.hasStaticShape() || !middle.hasStaticShape() ||
      from.getElementType() != tensorOf(op).getElementType())
    return {};
  auto targets = unitReshape(from, middle);
  // A dropped dimension of size 1 has no counterpart in the result.
  if (!targets || llvm::is_contained(*targets, -1))
    return {};
  SmallVector<int64_t> dimensions;
  for (int64_t target : *targets)
    dimensions.push_back(op.getBroadcastDimensions()[target]);
  return builder.create<BroadcastInDimOp>(op.getLoc(), op.getType(),
                                          reshape.getOperand(), dimensions);
}

//===----------------------------------------------------------------------===//
// reverse, slice
//===----------------------------------------------------------------------===//

static Value reverseUnit(ReverseOp op, OpBuilder &builder) {
  SmallVector<int64_t> rest;
  for (int64_t dimension : op.getDimensions())
    if (tensorOf(op).getDimSize(dimension) > 1 ||
        tensorOf(op).isDynamicDim(dimension))
      rest.push_back(dimension);
  if (isEmpty(op) || rest.empty())
    return op.getOperand();
  if (rest.size() == op.getDimensions().size())
    return {};
  return builder.create<ReverseOp>(op.getLoc(), op.getType(), op.getOperand(),
                                   rest);
}

/// A slice of a padded tensor that lies inside of the tensor itself.
static Value slicePad(SliceOp op, OpBuilder &builder) {
  auto pad = op.getOperand().getDefiningOp<PadOp>();
  if (!pad || !areAll(pad.getInteriorPadding(), 0))
    return {};
  auto inner = tensorOf(pad.getOperand());
  if (!inner.hasStaticShape() || isEmpty(op))
    return {};
  SmallVector<int64_t> starts, limits;
  for (int64_t i = 0; i < inner.getRank(); ++i) {
    int64_t low = pad.getEdgePaddingLow()[i];
    int64_t start, limit;
    if (llvm::SubOverflow(op.getStartIndices()[i], low, start) ||
        llvm::SubOverflow(op.getLimitIndices()[i], low, limit) || start < 0 ||
        limit > inner.getDimSize(i))
      return {};
    starts.push_back(start);
    limits.push_back(limit);
  }
  return builder.create<SliceOp>(op.getLoc(), op.getType(), pad.getOperand(),
                                 starts, limits, op.getStrides());
}

/// A slice of a concatenate becomes one of the operands that it overlaps.
static Value sliceToOperands(SliceOp op, OpBuilder &builder) {
  auto concatenate = op.getOperand().getDefiningOp<ConcatenateOp>();
  if (!concatenate || !hasOneElementUse(concatenate) || isEmpty(op))
    return {};
  int64_t axis = concatenate.getDimension(), at = 0, before = 0;
  SmallVector<Value> overlapping;
  for (Value input : concatenate.getInputs()) {
    int64_t size = tensorOf(input).getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return {};
    if (at + size <= op.getStartIndices()[axis])
      before += size;
    else if (at < op.getLimitIndices()[axis])
      overlapping.push_back(input);
    at += size;
  }
  if (overlapping.size() == concatenate.getInputs().size() ||
      overlapping.size() < 2)
    return {};
  SmallVector<int64_t> starts(op.getStartIndices()),
      limits(op.getLimitIndices());
  starts[axis] -= before;
  limits[axis] -= before;
  Value rest =
      builder.create<ConcatenateOp>(concatenate.getLoc(), overlapping, axis);
  return builder.create<SliceOp>(op.getLoc(), op.getType(), rest, starts,
                                 limits, op.getStrides());
}

//===----------------------------------------------------------------------===//
// concatenate, pad
//===----------------------------------------------------------------------===//

static Value concatenateEmpty(ConcatenateOp op, OpBuilder &builder) {
  // An operand that is empty in another dimension still counts.
  SmallVector<Value> rest;
  for (Value input : op.getInputs())
    if (tensorOf(input).getDimSize(op.getDimension()) != 0)
      rest.push_back(input);
  if (rest.empty() || rest.size() == op.getInputs().size())
    return {};
  if (rest.size() == 1)
    return rest[0];
  return builder.create<ConcatenateOp>(op.getLoc(), op.getType(), rest,
                                       op.getDimension());
}

/// Adjacent operands that broadcast the same scalar become one.
static Value concatenateRepeated(ConcatenateOp op, OpBuilder &builder) {
  int64_t axis = op.getDimension();
  for (size_t i = 1; i < op.getInputs().size(); ++i) {
    Value first = op.getInputs()[i - 1], second = op.getInputs()[i];
    Value scalar = repeatedScalar(first);
    if (!scalar || scalar != repeatedScalar(second) ||
        !tensorOf(first).hasStaticShape() || !tensorOf(second).hasStaticShape())
      continue;
    SmallVector<int64_t> shape(tensorOf(first).getShape());
    shape[axis] += tensorOf(second).getDimSize(axis);
    auto type = RankedTensorType::get(shape, tensorOf(first).getElementType());
    SmallVector<Value> inputs(op.getInputs());
    inputs[i - 1] = builder.create<BroadcastInDimOp>(op.getLoc(), type, scalar,
                                                     ArrayRef<int64_t>());
    inputs.erase(inputs.begin() + i);
    if (inputs.size() == 1)
      return inputs[0];
    return builder.create<ConcatenateOp>(op.getLoc(), op.getType(), inputs,
                                         axis);
  }
  return {};
}

static Value padPad(PadOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<PadOp>();
  if (!inner || inner.getPaddingValue() != op.getPaddingValue() ||
      !areAll(op.getInteriorPadding(), 0) ||
      !areAll(inner.getInteriorPadding(), 0))
    return {};
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < tensorOf(op).getRank(); ++i) {
    int64_t each[] = {inner.getEdgePaddingLow()[i], op.getEdgePaddingLow()[i],
                      inner.getEdgePaddingHigh()[i],
                      op.getEdgePaddingHigh()[i]};
    // Removed elements do not come back.
    if (llvm::any_of(each, [](int64_t size) { return size < 0; }))
      return {};
    int64_t before, after;
    if (llvm::AddOverflow(each[0], each[1], before) ||
        llvm::AddOverflow(each[2], each[3], after))
      return {};
    low.push_back(before);
    high.push_back(after);
  }
  return builder.create<PadOp>(op.getLoc(), op.getType(), inner.getOperand(),
                               op.getPaddingValue(), low, high,
                               op.getInteriorPadding());
}

/// Padding that only removes elements.
static Value padToSlice(PadOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getOperand());
  if (!type.hasStaticShape() || !areAll(op.getInteriorPadding(), 0) ||
      isEmpty(op))
    return {};
  SmallVector<int64_t> starts, limits;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    int64_t low = op.getEdgePaddingLow()[i], high = op.getEdgePaddingHigh()[i];
    if (low > 0 || high > 0)
      return {};
    starts.push_back(-low);
    limits.push_back(type.getDimSize(i) + high);
  }
  if (areAll(starts, 0) && llvm::equal(limits, type.getShape()))
    return {};
  return builder.create<SliceOp>(op.getLoc(), op.getType(), op.getOperand(),
                                 starts, limits,
                                 SmallVector<int64_t>(starts.size(), 1));
}

/// Of an empty tensor, only padding is left.
static Value padEmpty(PadOp op, OpBuilder &builder) {
  if (!isEmpty(op.getOperand()) || isEmpty(op))
    return {};
  return repeat(op.getPaddingValue(), op, builder);
}
/// Padding of a splat with the same scalar.
static Value padRepeated(PadOp op, OpBuilder &builder) {
  Value scalar = repeatedScalar(op.getOperand());
  return scalar == op.getPaddingValue() ? repeat(scalar, op, builder) : Value();
}

RuleTable rearrangementRules() {
  static const std::vector<RewriteRule> rules = {
      rule<TransposeOp, ofRepeated<TransposeOp>>(
          "transpose-splat", "transpose(broadcast(scalar)) -> "
                             "broadcast(scalar)"),
      rule<ReshapeOp, ofRepeated<ReshapeOp>>(
          "reshape-splat", "reshape(broadcast(scalar)) -> broadcast(scalar)"),
      rule<ReverseOp, ofRepeated<ReverseOp>>(
          "reverse-splat", "reverse(broadcast(scalar)) -> broadcast(scalar)"),
      rule<SliceOp, ofRepeated<SliceOp>>(
          "slice-splat", "slice(broadcast(scalar)) -> broadcast(scalar)"),
      rule<TransposeOp, transposeBroadcast>(
          "transpose-broadcast", "transpose(broadcast(x)) -> broadcast(x)"),
      rule<SliceOp, sliceBroadcast>(
          "slice-broadcast",
          "slice(broadcast(x)) of repeated elements -> broadcast(x)"),
      rule<BroadcastInDimOp, broadcastToTranspose>(
          "broadcast-to-transpose",
          "broadcast that repeats nothing -> transpose"),
      rule<BroadcastInDimOp, broadcastReshape>(
          "broadcast-reshape",
          "broadcast(reshape(x : 3 to 3x1)) -> broadcast(x)"),
      rule<ReverseOp, reverseUnit>("reverse-unit",
                                   "reverse(x) along size 1 -> x"),
      rule<SliceOp, slicePad>("slice-pad",
                              "slice(pad(x)) inside x -> slice(x)"),
      rule<SliceOp, sliceToOperands>(
          "slice-concatenate-part",
          "slice(concatenate(x, y, z)) -> slice(concatenate(x, y))"),
      rule<ConcatenateOp, concatenateEmpty>(
          "concatenate-empty", "concatenate(x, y : 0 elements) -> x"),
      rule<ConcatenateOp, concatenateRepeated>(
          "concatenate-splats",
          "concatenate(broadcast(s), broadcast(s)) -> broadcast(s)"),
      rule<PadOp, padPad>("pad-pad", "pad(pad(x, v), v) -> pad(x, v)"),
      rule<PadOp, padToSlice>("pad-to-slice",
                              "pad(x) by negative sizes -> slice(x)"),
      rule<PadOp, padEmpty>("pad-empty", "pad(x : 0 elements, v) -> "
                                         "broadcast(v)"),
      rule<PadOp, padRepeated>("pad-splat",
                               "pad(broadcast(v), v) -> broadcast(v)"),
  };
  return {"Repeated, padded and joined tensors", rules};
}

} // namespace sinter
