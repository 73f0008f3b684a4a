// Ops that move elements (reshape, broadcast, slice, pad, ...), and dynamic
// shapes.

#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/SizeSources.h"
#include "graph/nn/NnOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::onnx {

/// A shape operand as ONNX's vector of i64.
static Name shapeOperand(NodeWriter &e, Value value) {
  return e.cast(e.operand(value), elementOf(value),
                IntegerType::get(value.getContext(), 64));
}

static LogicalResult writeIota(NodeWriter &e, stablehlo::IotaOp op) {
  auto type = tensorOf(op);
  if (!type.hasStaticShape() || isa<ComplexType>(type.getElementType()))
    return e.unsupported("of this type");
  Type i64 = IntegerType::get(op.getContext(), 64);
  int64_t dimension = op.getIotaDimension();
  Ints shape(type.getRank(), 1);
  shape[dimension] = type.getDimSize(dimension);
  Name range = e.cast(e.count(shape[dimension], dimension, type.getRank()), i64,
                      type.getElementType());
  if (ArrayRef<int64_t>(shape) != type.getShape())
    range = e.make("Expand", {range, e.integers(type.getShape())});
  return e.alias(range);
}

static LogicalResult writeDynamicIota(NodeWriter &e,
                                      stablehlo::DynamicIotaOp op) {
  auto type = tensorOf(op.getResult());
  Type i64 = IntegerType::get(op.getContext(), 64);
  int64_t dimension = op.getIotaDimension();
  Name shape = shapeOperand(e, op.getOutputShape());
  Name size =
      e.make("Gather", {shape, e.scalar(i64, dimension)}, {{"axis", 0}});
  Name range = e.make("Range", {e.scalar(i64, 0), size, e.scalar(i64, 1)});
  Ints axes = identity(type.getRank());
  axes.erase(axes.begin() + dimension);
  range = e.unsqueeze(e.cast(range, i64, type.getElementType()), axes);
  return e.result("Expand", {range, shape});
}

/// The operand transposed and reshaped with ones between its dimensions.
static Name spread(NodeWriter &e, Value operand, ArrayRef<int64_t> dims,
                   int64_t rank) {
  Ints order = identity(dims.size());
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  Ints axes;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dims, i))
      axes.push_back(i);
  return e.unsqueeze(e.transpose(e.operand(operand), order), axes);
}

static LogicalResult writeBroadcastInDim(NodeWriter &e,
                                         stablehlo::BroadcastInDimOp op) {
  auto type = tensorOf(op.getResult()), from = tensorOf(op.getOperand());
  Name x =
      spread(e, op.getOperand(), op.getBroadcastDimensions(), type.getRank());
  // A dynamic size is the operand's: Expand keeps it for a 1.
  Ints shape(type.getShape());
  bool expands = false;
  for (auto [i, size] : llvm::enumerate(shape)) {
    auto dim = llvm::find(op.getBroadcastDimensions(), i);
    int64_t own =
        dim == op.getBroadcastDimensions().end()
            ? 1
            : from.getDimSize(dim - op.getBroadcastDimensions().begin());
    expands |= own != size;
    if (ShapedType::isDynamic(size)) {
      if (!ShapedType::isDynamic(own))
        return e.unsupported("to an unknown size");
      size = 1;
    }
  }
  if (!expands)
    return e.alias(x);
  return e.result("Expand", {x, e.integers(shape)});
}

static LogicalResult
writeDynamicBroadcastInDim(NodeWriter &e,
                           stablehlo::DynamicBroadcastInDimOp op) {
  Name x = spread(e, op.getOperand(), op.getBroadcastDimensions(),
                  tensorOf(op.getResult()).getRank());
  return e.result("Expand", {x, shapeOperand(e, op.getOutputDimensions())});
}

/// Expand broadcasts in both directions, like broadcast_like.
static LogicalResult writeBroadcastLike(NodeWriter &e, nn::BroadcastLikeOp op) {
  Name x = e.operand(op.getOperand());
  for (Value other : op.getOthers())
    x = e.make("Expand", {x, e.make("Shape", {e.operand(other)})});
  return e.alias(x);
}

static LogicalResult writeReshape(NodeWriter &e, stablehlo::ReshapeOp op) {
  if (llvm::count_if(tensorOf(op).getShape(), ShapedType::isDynamic) > 1)
    return e.unsupported("to more than one unknown size");
  return e.alias(
      e.reshape(e.operand(op.getOperand()), tensorOf(op).getShape()));
}

static LogicalResult writeDynamicReshape(NodeWriter &e,
                                         stablehlo::DynamicReshapeOp op) {
  if (const Ints *axes = e.writer.unsqueezedAxes(op))
    return e.alias(e.unsqueeze(e.operand(op.getOperand()), *axes));
  if (e.writer.isInferred(op))
    return e.alias(
        e.reshape(e.operand(op.getOperand()), tensorOf(op).getShape()));
  Name shape = shapeOperand(e, op.getOutputShape());
  e.need(14);
  return e.result("Reshape", {e.operand(op.getOperand()), shape},
                  {{"allowzero", 1}});
}

static LogicalResult writeDimensionSize(NodeWriter &e,
                                        stablehlo::GetDimensionSizeOp op) {
  Type i64 = IntegerType::get(op.getContext(), 64);
  Name shape = e.make("Shape", {e.operand(op.getOperand())});
  Name size = e.make(
      "Gather", {shape, e.scalar(i64, static_cast<double>(op.getDimension()))},
      {{"axis", 0}});
  return e.alias(e.cast(size, i64, elementOf(op)));
}

static LogicalResult writeShape(NodeWriter &e, nn::ShapeOp op) {
  return e.result("Shape", e.operands());
}

static LogicalResult writeTranspose(NodeWriter &e, stablehlo::TransposeOp op) {
  return e.result("Transpose", e.operands(), {{"perm", op.getPermutation()}});
}

static LogicalResult writeSlice(NodeWriter &e, stablehlo::SliceOp op) {
  auto from = tensorOf(op.getOperand());
  Ints axes, starts, ends, steps;
  for (int64_t i = 0; i < from.getRank(); ++i) {
    int64_t start = op.getStartIndices()[i], limit = op.getLimitIndices()[i];
    int64_t step = op.getStrides()[i];
    if (start == 0 && step == 1 && limit == from.getDimSize(i))
      continue;
    axes.push_back(i);
    starts.push_back(start);
    ends.push_back(limit);
    steps.push_back(step);
  }
  return e.alias(
      e.slice(e.operand(op.getOperand()), axes, starts, ends, steps));
}

static LogicalResult writeRealDynamicSlice(NodeWriter &e,
                                           stablehlo::RealDynamicSliceOp op) {
  return e.result("Slice",
                  {e.operand(op.getOperand()),
                   shapeOperand(e, op.getStartIndices()),
                   shapeOperand(e, op.getLimitIndices()),
                   e.integers(identity(tensorOf(op.getOperand()).getRank())),
                   shapeOperand(e, op.getStrides())});
}

static LogicalResult writePad(NodeWriter &e, stablehlo::PadOp op) {
  Name x = e.operand(op.getOperand()), filler = e.operand(op.getPaddingValue());
  x = e.dilate(x, filler, tensorOf(op.getOperand()).getShape(),
               op.getInteriorPadding());
  return e.alias(
      e.pad(x, filler, op.getEdgePaddingLow(), op.getEdgePaddingHigh()));
}

static LogicalResult writeDynamicPad(NodeWriter &e,
                                     stablehlo::DynamicPadOp op) {
  auto interior = constantIntegers(op.getInteriorPadding());
  if (!interior ||
      llvm::any_of(*interior, [](int64_t each) { return each != 0; }))
    return e.unsupported("between elements");
  Type i64 = IntegerType::get(op.getContext(), 64);
  auto amounts = [&](Value value) {
    return e.cast(e.operand(value), elementOf(value), i64);
  };
  Name pads = e.make(
      "Concat",
      {amounts(op.getEdgePaddingLow()), amounts(op.getEdgePaddingHigh())},
      {{"axis", 0}});
  return e.result("Pad", {e.operand(op.getOperand()), pads,
                          e.operand(op.getPaddingValue())});
}

static LogicalResult writePadMode(NodeWriter &e, nn::PadModeOp op) {
  if (op.getMode() == "wrap")
    e.need(19);
  Ints pads(op.getLow());
  pads.append(op.getHigh().begin(), op.getHigh().end());
  return e.result("Pad", {e.operand(op.getOperand()), e.integers(pads)},
                  {{"mode", op.getMode()}});
}

static LogicalResult writeReverse(NodeWriter &e, stablehlo::ReverseOp op) {
  return e.alias(e.reverse(e.operand(op.getOperand()), op.getDimensions()));
}

static LogicalResult writeConcatenate(NodeWriter &e,
                                      stablehlo::ConcatenateOp op) {
  return e.result("Concat", e.operands(),
                  {{"axis", static_cast<int64_t>(op.getDimension())}});
}

WriterRules movementRules() {
  static const WriterRule rules[] = {writerRule<writeIota>(),
                                     writerRule<writeDynamicIota>(),
                                     writerRule<writeBroadcastInDim>(),
                                     writerRule<writeDynamicBroadcastInDim>(),
                                     writerRule<writeBroadcastLike>(),
                                     writerRule<writeReshape>(),
                                     writerRule<writeDynamicReshape>(),
                                     writerRule<writeDimensionSize>(),
                                     writerRule<writeShape>(),
                                     writerRule<writeTranspose>(),
                                     writerRule<writeSlice>(),
                                     writerRule<writeRealDynamicSlice>(),
                                     writerRule<writePad>(),
                                     writerRule<writeDynamicPad>(),
                                     writerRule<writePadMode>(),
                                     writerRule<writeReverse>(),
                                     writerRule<writeConcatenate>()};
  return rules;
}

} // namespace sinter::onnx
