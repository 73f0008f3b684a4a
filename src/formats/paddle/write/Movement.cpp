// Ops that move elements (reshape, broadcast, slice, pad, ...), and dynamic
// shapes.

#include "formats/paddle/write/SizesAndIndices.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/IntegerRange.h"
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
  const int64_t size = shape[dimension];
  SmallVector<double> numbers;
  for (int64_t i = 0; i < size && size <= formats::mostCounted; ++i)
    numbers.push_back(static_cast<double>(i));
  Var range = size <= formats::mostCounted
                  ? e.constant(tensorOfDoubles(
                        *element, Shape(shape.begin(), shape.end()), numbers))
                  : e.cast(count(e, size, shape), type.getElementType());
  if (ArrayRef<int64_t>(shape) == type.getShape())
    return e.alias(range);
  return e.result("expand_v2", {{"X", range}},
                  {{"shape", Ints(type.getShape())}});
}

/// Element \p i of a vector of sizes: a vector of one i64.
static Var sizeAt(OperatorWriter &e, Value sizes, int64_t i) {
  return e.cast(e.slice(e.operand(sizes), {0}, {i}, {i + 1}, {1}), e.i64());
}

static LogicalResult writeDynamicIota(OperatorWriter &e,
                                      stablehlo::DynamicIotaOp op) {
  auto type = tensorOf(op.getResult());
  if (!e.typeNumber(type.getElementType()) ||
      type.getElementType().isInteger(1))
    return e.unsupported("of this type");
  const auto dimension = static_cast<int64_t>(op.getIotaDimension());
  const int64_t size = type.getDimSize(dimension);
  Ints shape(type.getRank(), 1);
  shape[dimension] = size;
  Var numbers = ShapedType::isDynamic(size)
                    ? upTo(e, sizeAt(e, op.getOutputShape(), dimension))
                    : count(e, size, {size});
  numbers = e.reshape(e.cast(numbers, type.getElementType()), shape);
  if (type.getRank() == 1)
    return e.alias(numbers);
  Vars sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(sizeAt(e, op.getOutputShape(), i));
  return e.alias(expand(e, numbers, type.getShape(), sizes));
}

/// The operand transposed and reshaped with ones between its dimensions.
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

/// expand_as_v2 broadcasts in one direction only: the other tensor must have
/// the result's shape.
static LogicalResult writeBroadcastLike(OperatorWriter &e,
                                        nn::BroadcastLikeOp op) {
  auto type = tensorOf(op.getResult());
  for (Value other : op.getOthers()) {
    auto like = tensorOf(other);
    if (like.getShape() != type.getShape() ||
        e.writer.isBroadcast(other.getDefiningOp()))
      continue;
    return e.result(
        "expand_as_v2",
        {{"X", e.operand(op.getOperand())}, {"Y", e.operand(other)}},
        {{"target_shape", dynamicShape(like.getShape())}});
  }
  return e.unsupported("to the sizes of several tensors");
}

static LogicalResult writeReshape(OperatorWriter &e, stablehlo::ReshapeOp op) {
  auto type = tensorOf(op.getResult());
  if (llvm::count_if(type.getShape(), ShapedType::isDynamic) > 1)
    return e.unsupported("to more than one unknown size");
  return e.alias(e.reshape(e.operand(op.getOperand()), type.getShape()));
}

/// Sizes equal to the operand's at the same index are 0, and one may be
/// inferred; else the shape is a tensor.
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

static LogicalResult writeDimensionSize(OperatorWriter &e,
                                        stablehlo::GetDimensionSizeOp op) {
  const auto dimension = static_cast<int64_t>(op.getDimension());
  Var size = e.slice(shapeOf(e, e.operand(op.getOperand())), {0}, {dimension},
                     {dimension + 1}, {1});
  return e.alias(e.cast(e.reshape(size, {}), elementOf(op)));
}

static LogicalResult writeShape(OperatorWriter &e, nn::ShapeOp op) {
  return e.alias(e.cast(shapeOf(e, e.operand(op.getOperand())), elementOf(op)));
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
  if (!steps)
    return e.unsupported("with computed steps");
  return e.alias(e.sliceAt(
      e.operand(op.getOperand()), e.operand(op.getStartIndices()),
      e.operand(op.getLimitIndices()), *steps, tensorOf(op.getResult())));
}

/// Inserts \p between fillers after each element of a dimension but the last
/// one: reshapes each element to a row, which is padded.
static Var spaced(OperatorWriter &e, const Var &x, int64_t axis,
                  int64_t between, double filler) {
  const int64_t rank = x.rank(), size = x.shape()[axis];
  Ints low(rank + 1, 0), high(rank + 1, 0), flat(x.shape()), factors(rank, 1);
  high[axis + 1] = between;
  factors[axis] = between + 1;
  flat[axis] = productOf({size, between + 1});
  Var rows = e.pad(e.unsqueeze(x, {axis + 1}), filler, low, high);
  Var row = reshape(e, rows, flat, [&] {
    return Vars{e.binary("elementwise_mul", e.cast(shapeOf(e, x), e.i64()),
                         e.integers(factors, {rank}))};
  });
  const bool isDynamic = ShapedType::isDynamic(size);
  return e.slice(row, {axis}, {0},
                 {isDynamic ? -between : flat[axis] - between}, {1});
}

static LogicalResult writePad(OperatorWriter &e, stablehlo::PadOp op) {
  auto filler = attributeNumber(op.getPaddingValue());
  if (!filler)
    return e.unsupported("with a computed number");
  Var x = e.operand(op.getOperand());
  ArrayRef<int64_t> low = op.getEdgePaddingLow(),
                    high = op.getEdgePaddingHigh();
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t between = op.getInteriorPadding()[i];
    if (ShapedType::isDynamic(x.shape()[i]) && (low[i] < 0 || high[i] < 0))
      return e.unsupported("of an unknown number of elements");
    if (between > 0 && x.shape()[i] != 0 && x.shape()[i] != 1)
      x = spaced(e, x, i, between, *filler);
  }
  return e.alias(e.pad(x, *filler, low, high));
}

/// The filler of a padding: a constant, or a tensor of one element.
struct Filler {
  std::optional<double> number;
  Value value;
};

/// A tensor of \p filler of computed sizes, \p sizes, a vector of i32.
static Var filled(OperatorWriter &e, const Filler &filler, const Var &sizes,
                  RankedTensorType type) {
  const Ints declared(type.getRank(), -1);
  if (filler.number)
    return e.make("fill_constant", {{"ShapeTensor", sizes}},
                  {{"shape", declared},
                   {"dtype", *e.typeNumber(type.getElementType())},
                   {"value", *filler.number},
                   {"force_cpu", false}},
                  type);
  Var one = e.reshape(e.operand(filler.value), Ints(type.getRank(), 1));
  return e.make("expand_v2", {{"X", one}, {"Shape", sizes}},
                {{"shape", declared}}, type);
}

/// The lower bound of element \p i of \p amounts, from its own operand if
/// \p amounts is a concatenate.
static double minAmount(Value amounts, int64_t i) {
  if (auto known = constantIntegers(amounts))
    return static_cast<double>((*known)[i]);
  return IntegerRange::of(amounts).low;
}

/// Dynamic padding is a tensor of fillers that is concatenated with the
/// operand; if the amount may be negative, the operand is sliced first.
static LogicalResult writeDynamicPad(OperatorWriter &e,
                                     stablehlo::DynamicPadOp op) {
  const Filler filler{attributeNumber(op.getPaddingValue()),
                      op.getPaddingValue()};
  auto interior = constantIntegers(op.getInteriorPadding());
  Var x = e.operand(op.getOperand());
  if (!interior || !e.typeNumber(x.element()))
    return e.unsupported("between elements, by computed amounts");
  const int64_t rank = x.rank();
  for (auto [i, between] : llvm::enumerate(*interior)) {
    if (between > 0 && !filler.number)
      return e.unsupported("between elements, with a computed number");
    if (between > 0 && x.shape()[i] != 0 && x.shape()[i] != 1)
      x = spaced(e, x, static_cast<int64_t>(i), between, *filler.number);
  }
  Type i32 = IntegerType::get(op.getContext(), 32);
  auto amountAt = [&](Value amounts, int64_t axis) {
    return e.slice(shapeOperand(e, amounts), {0}, {axis}, {axis + 1}, {1});
  };
  auto zero = [&] { return e.cast(e.integers({0}, {1}), i32); };
  auto isNone = [](Value amounts, int64_t axis) {
    auto known = constantIntegers(amounts);
    return known && (*known)[axis] == 0;
  };
  // The intersection of [-low, size + high) with the operand.
  Ints axes;
  Vars starts, ends;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool cutsLow = minAmount(op.getEdgePaddingLow(), axis) < 0,
               cutsHigh = minAmount(op.getEdgePaddingHigh(), axis) < 0;
    Var size = e.slice(shapeOf(e, x), {0}, {axis}, {axis + 1}, {1});
    Var start = zero(), end = size;
    if (cutsLow)
      start = e.binary("elementwise_max",
                       e.scaled(amountAt(op.getEdgePaddingLow(), axis), -1, 0),
                       start);
    if (cutsHigh)
      end = e.binary("elementwise_add", size,
                     e.binary("elementwise_min",
                              amountAt(op.getEdgePaddingHigh(), axis), zero()));
    if (cutsLow || cutsHigh)
      axes.push_back(axis);
    starts.push_back(start);
    ends.push_back(end);
  }
  if (!axes.empty()) {
    Ints shape(x.shape());
    for (int64_t axis : axes)
      shape[axis] = ShapedType::kDynamic;
    x = e.sliceAt(x, e.concat(starts, 0), e.concat(ends, 0), Ints(rank, 1),
                  e.typed(shape, x.element()));
  }
  auto join = [&](Value amounts, int64_t axis, bool isBefore) {
    if (isNone(amounts, axis))
      return;
    auto known = constantIntegers(amounts);
    Var amount = amountAt(amounts, axis);
    if (minAmount(amounts, axis) < 0)
      amount = e.binary("elementwise_max", amount, zero());
    Var sizes = shapeOf(e, x);
    Vars pieces;
    if (axis > 0)
      pieces.push_back(e.slice(sizes, {0}, {0}, {axis}, {1}));
    pieces.push_back(amount);
    if (axis + 1 < rank)
      pieces.push_back(e.slice(sizes, {0}, {axis + 1}, {rank}, {1}));
    Ints shape(x.shape());
    shape[axis] =
        known ? std::max<int64_t>((*known)[axis], 0) : ShapedType::kDynamic;
    Var fill =
        filled(e, filler, e.concat(pieces, 0), e.typed(shape, x.element()));
    x = e.concat(isBefore ? Vars{fill, x} : Vars{x, fill}, axis);
  };
  for (int64_t axis = 0; axis < rank; ++axis) {
    join(op.getEdgePaddingLow(), axis, true);
    join(op.getEdgePaddingHigh(), axis, false);
  }
  return e.alias(x);
}

/// Pads images at their edges.
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
  Vars pieces;
  for (Value each : op.getInputs())
    pieces.push_back(e.operand(each));
  return e.result("concat", {{"X", pieces}},
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
                                     writerRule<writeDynamicPad>(),
                                     writerRule<writeDynamicIota>(),
                                     writerRule<writePadMode>(),
                                     writerRule<writeReverse>(),
                                     writerRule<writeConcatenate>()};
  return rules;
}

} // namespace sinter::paddle
