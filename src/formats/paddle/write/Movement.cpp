// Ops that move elements to places that are known when the program is written,
// and shapes that are not.

#include "formats/paddle/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/SizeSources.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::paddle {

/// A shape operand as Paddle's vector of i32.
static Var shapeOperand(OperatorWriter &e, Value value) {
  return e.cast(e.operand(value), IntegerType::get(value.getContext(), 32));
}

static LogicalResult writeIota(OperatorWriter &e, stablehlo::IotaOp op) {
  auto type = tensorOf(op.getResult());
  auto element = sinter::elementTypeOf(type.getElementType());
  if (!type.hasStaticShape() || !element ||
      !e.typeNumber(type.getElementType()))
    return e.unsupported("of this type");
  const auto dimension = static_cast<int64_t>(op.getIotaDimension());
  Ints shape(type.getRank(), 1);
  shape[dimension] = type.getDimSize(dimension);
  SmallVector<double> numbers;
  for (int64_t i = 0; i < shape[dimension]; ++i)
    numbers.push_back(static_cast<double>(i));
  Var range = e.constant(
      tensorOfDoubles(*element, Shape(shape.begin(), shape.end()), numbers));
  if (ArrayRef<int64_t>(shape) == type.getShape())
    return e.alias(range);
  return e.result("expand_v2", {{"X", range}},
                  {{"shape", Ints(type.getShape())}});
}

/// The operand with its dimensions in order and ones between them.
static Var spread(OperatorWriter &e, Value operand, ArrayRef<int64_t> dims,
                  int64_t rank) {
  Ints order = identity(static_cast<int64_t>(dims.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  Var x = e.transpose(e.operand(operand), order);
  if (dims.empty())
    return e.reshape(x, Ints(rank, 1));
  Ints axes;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dims, i))
      axes.push_back(i);
  return e.unsqueeze(x, axes);
}

static LogicalResult writeBroadcastInDim(OperatorWriter &e,
                                         stablehlo::BroadcastInDimOp op) {
  auto type = tensorOf(op.getResult());
  Var x =
      spread(e, op.getOperand(), op.getBroadcastDimensions(), type.getRank());
  Ints shape(type.getShape());
  bool expands = false;
  for (auto [i, size] : llvm::enumerate(shape)) {
    expands |= x.shape()[i] != size;
    if (ShapedType::isDynamic(size)) {
      if (!ShapedType::isDynamic(x.shape()[i]))
        return e.unsupported("to an unknown size");
      size = -1;
    }
  }
  return expands ? e.result("expand_v2", {{"X", x}}, {{"shape", shape}})
                 : e.alias(x);
}

static LogicalResult
writeDynamicBroadcastInDim(OperatorWriter &e,
                           stablehlo::DynamicBroadcastInDimOp op) {
  Var x = spread(e, op.getOperand(), op.getBroadcastDimensions(),
                 tensorOf(op.getResult()).getRank());
  return e.result(
      "expand_v2",
      {{"X", x}, {"Shape", shapeOperand(e, op.getOutputDimensions())}});
}

/// expand_as_v2 repeats one way only: the other tensor must be of the result's
/// shape.
static LogicalResult writeBroadcastLike(OperatorWriter &e,
                                        nn::BroadcastLikeOp op) {
  auto type = tensorOf(op.getResult());
  for (Value other : op.getOthers()) {
    auto like = tensorOf(other);
    if (like.getShape() != type.getShape() ||
        e.writer.isBroadcast(other.getDefiningOp()))
      continue;
    Ints target;
    for (int64_t size : like.getShape())
      target.push_back(ShapedType::isDynamic(size) ? -1 : size);
    return e.result(
        "expand_as_v2",
        {{"X", e.operand(op.getOperand())}, {"Y", e.operand(other)}},
        {{"target_shape", target}});
  }
  return e.unsupported("to the sizes of several tensors");
}

static LogicalResult writeReshape(OperatorWriter &e, stablehlo::ReshapeOp op) {
  auto type = tensorOf(op.getResult());
  if (llvm::count_if(type.getShape(), ShapedType::isDynamic) > 1)
    return e.unsupported("to more than one unknown size");
  return e.alias(e.reshape(e.operand(op.getOperand()), type.getShape()));
}

/// Sizes that are the operand's in the same place are 0, and one may be left
/// open; else the shape is a tensor.
static LogicalResult writeDynamicReshape(OperatorWriter &e,
                                         stablehlo::DynamicReshapeOp op) {
  auto type = tensorOf(op.getResult());
  const Value source = shapeSource(op.getOperand());
  Ints shape;
  int64_t open = 0;
  for (auto [i, size] : llvm::enumerate(sourcesOfSizes(op.getOutputShape()))) {
    const int64_t own = type.getDimSize(static_cast<int64_t>(i));
    if (size.known && *size.known > 0) {
      shape.push_back(*size.known);
    } else if (!ShapedType::isDynamic(own) && own > 0) {
      shape.push_back(own);
    } else if (!size.known && size.of == source &&
               size.dimension == static_cast<int64_t>(i)) {
      shape.push_back(0);
    } else {
      shape.push_back(-1);
      ++open;
    }
  }
  Var x = e.operand(op.getOperand());
  if (open <= 1 && static_cast<int64_t>(shape.size()) == type.getRank())
    return e.result("reshape2", {{"X", x}}, {{"shape", shape}});
  return e.result("reshape2",
                  {{"X", x}, {"Shape", shapeOperand(e, op.getOutputShape())}},
                  {{"shape", Ints(type.getRank(), -1)}});
}

/// The sizes of a tensor, which Paddle gives as i32.
static Var shapeOf(OperatorWriter &e, Value value) {
  Var x = e.operand(value);
  return e.make("shape", {{"Input", x}}, {},
                e.typed({x.rank()}, IntegerType::get(value.getContext(), 32)));
}

static LogicalResult writeDimensionSize(OperatorWriter &e,
                                        stablehlo::GetDimensionSizeOp op) {
  const auto dimension = static_cast<int64_t>(op.getDimension());
  Var size = e.slice(shapeOf(e, op.getOperand()), {0}, {dimension},
                     {dimension + 1}, {1});
  return e.alias(e.cast(e.reshape(size, {}), elementOf(op)));
}

static LogicalResult writeShape(OperatorWriter &e, nn::ShapeOp op) {
  return e.alias(e.cast(shapeOf(e, op.getOperand()), elementOf(op)));
}

static LogicalResult writeTranspose(OperatorWriter &e,
                                    stablehlo::TransposeOp op) {
  return e.alias(e.transpose(e.operand(op.getOperand()), op.getPermutation()));
}

static LogicalResult writeSlice(OperatorWriter &e, stablehlo::SliceOp op) {
  auto from = tensorOf(op.getOperand());
  Ints axes, starts, ends, steps;
  for (int64_t i = 0; i < from.getRank(); ++i) {
    const int64_t start = op.getStartIndices()[i],
                  limit = op.getLimitIndices()[i], step = op.getStrides()[i];
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

static LogicalResult writeRealDynamicSlice(OperatorWriter &e,
                                           stablehlo::RealDynamicSliceOp op) {
  auto steps = constantIntegers(op.getStrides());
  if (!steps || !llvm::all_of(*steps, [](int64_t step) { return step == 1; }))
    return e.unsupported("with steps");
  const int64_t rank = tensorOf(op.getOperand()).getRank();
  return e.result("slice",
                  {{"Input", e.operand(op.getOperand())},
                   {"StartsTensor", shapeOperand(e, op.getStartIndices())},
                   {"EndsTensor", shapeOperand(e, op.getLimitIndices())}},
                  {{"axes", identity(rank)},
                   {"starts", Ints(rank, -1)},
                   {"ends", Ints(rank, -1)},
                   {"infer_flags", Ints(rank, -1)},
                   {"decrease_axis", Ints()}});
}

static LogicalResult writePad(OperatorWriter &e, stablehlo::PadOp op) {
  auto filler = splatNumber(op.getPaddingValue());
  auto isNegative = [](int64_t each) { return each < 0; };
  auto isPositive = [](int64_t each) { return each > 0; };
  if (!filler || llvm::any_of(op.getInteriorPadding(), isPositive) ||
      llvm::any_of(op.getEdgePaddingLow(), isNegative) ||
      llvm::any_of(op.getEdgePaddingHigh(), isNegative))
    return e.unsupported("between elements, by a computed number, or that "
                         "takes elements away");
  return e.alias(e.pad(e.operand(op.getOperand()), *filler,
                       op.getEdgePaddingLow(), op.getEdgePaddingHigh()));
}

/// Images at their edges.
static LogicalResult writePadMode(OperatorWriter &e, nn::PadModeOp op) {
  ArrayRef<int64_t> low = op.getLow(), high = op.getHigh();
  if (low.size() != 4 || op.getMode() == "wrap" || low[0] != 0 || low[1] != 0 ||
      high[0] != 0 || high[1] != 0 ||
      llvm::any_of(low, [](int64_t each) { return each < 0; }) ||
      llvm::any_of(high, [](int64_t each) { return each < 0; }))
    return e.unsupported("of other dimensions than an image's");
  return e.result("pad2d", {{"X", e.operand(op.getOperand())}},
                  {{"paddings", Ints{low[2], high[2], low[3], high[3]}},
                   {"mode", op.getMode().str()},
                   {"pad_value", 0.0},
                   {"data_format", "NCHW"}});
}

static LogicalResult writeReverse(OperatorWriter &e, stablehlo::ReverseOp op) {
  return e.alias(e.reverse(e.operand(op.getOperand()), op.getDimensions()));
}

static LogicalResult writeConcatenate(OperatorWriter &e,
                                      stablehlo::ConcatenateOp op) {
  Vars parts;
  for (Value each : op.getInputs())
    parts.push_back(e.operand(each));
  return e.result("concat", {{"X", parts}},
                  {{"axis", static_cast<int64_t>(op.getDimension())}});
}

WriterRules movementRules() {
  static const WriterRule rules[] = {writerRule<writeIota>(),
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
                                     writerRule<writePadMode>(),
                                     writerRule<writeReverse>(),
                                     writerRule<writeConcatenate>()};
  return rules;
}

} // namespace sinter::paddle
