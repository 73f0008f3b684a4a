#include "passes/rules/DynamicRules.h"

#include "graph/Broadcast.h"
#include "graph/ElementUses.h"
#include "graph/nn/NnOps.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

//===----------------------------------------------------------------------===//
// Vectors of sizes as shapes
//===----------------------------------------------------------------------===//

/// Whether \p sizes are those of \p type from \p dimension on, as far as both
/// are known.
static bool areKnownSizes(ArrayRef<int64_t> sizes, RankedTensorType type,
                          int64_t dimension) {
  for (auto [index, size] : llvm::enumerate(sizes))
    if (dimension + static_cast<int64_t>(index) >= type.getRank() ||
        type.getDimSize(dimension + index) != size)
      return false;
  return true;
}

/// Whether the vector \p sizes is the shape of \p value: shape(x), or the
/// concatenated sizes of its dimensions.
static bool isShapeOf(Value sizes, Value value) {
  auto type = tensorOf(value);
  Value source = shapeSource(value);
  sizes = withoutForm(sizes);
  if (auto shape = sizes.getDefiningOp<nn::ShapeOp>())
    return shapeSource(shape.getOperand()) == source;
  SmallVector<Value> pieces = {sizes};
  if (auto concatenate = sizes.getDefiningOp<ConcatenateOp>())
    pieces = llvm::to_vector(concatenate.getInputs());
  int64_t dimension = 0;
  for (Value piece : pieces) {
    piece = withoutForm(piece);
    if (auto known = constantIntegers(piece)) {
      if (!areKnownSizes(*known, type, dimension))
        return false;
      dimension += known->size();
      continue;
    }
    auto size = piece.getDefiningOp<GetDimensionSizeOp>();
    if (!size || static_cast<int64_t>(size.getDimension()) != dimension ||
        shapeSource(size.getOperand()) != source)
      return false;
    ++dimension;
  }
  return dimension == type.getRank();
}

//===----------------------------------------------------------------------===//
// dynamic_broadcast_in_dim, dynamic_reshape
//===----------------------------------------------------------------------===//

static bool keepsDimensions(DynamicBroadcastInDimOp op) {
  return op.getOperand().getType() == op.getType() &&
         isIota(op.getBroadcastDimensions());
}

/// An attribute marks all dimensions as not expanded.
static Value broadcastNothing(DynamicBroadcastInDimOp op, OpBuilder &) {
  auto stays = op.getKnownNonexpandingDimensions();
  SmallVector<int64_t> dimensions;
  if (stays)
    dimensions.assign(stays->begin(), stays->end());
  llvm::sort(dimensions);
  return keepsDimensions(op) && isIota(dimensions) &&
                 static_cast<int64_t>(dimensions.size()) ==
                     tensorOf(op).getRank()
             ? Value(op.getOperand())
             : Value();
}
static Value broadcastToOwnShape(DynamicBroadcastInDimOp op, OpBuilder &) {
  return keepsDimensions(op) &&
                 isShapeOf(op.getOutputDimensions(), op.getOperand())
             ? Value(op.getOperand())
             : Value();
}
static Value broadcastReshaped(DynamicBroadcastInDimOp op, OpBuilder &) {
  auto inner = op.getOperand().getDefiningOp<DynamicReshapeOp>();
  return inner && keepsDimensions(op) &&
                 inner.getOutputShape() == op.getOutputDimensions()
             ? Value(inner)
             : Value();
}

/// Where one of the two types is less static, a conversion changes the type
/// only.
static Value reshapeToOwnShape(DynamicReshapeOp op, OpBuilder &builder) {
  if (!isShapeOf(op.getOutputShape(), op.getOperand()))
    return {};
  return op.getOperand().getType() == op.getType()
             ? Value(op.getOperand())
             : builder.create<ConvertOp>(op.getLoc(), op.getType(),
                                         op.getOperand());
}
/// With as many elements as before, a single dynamic dimension does not change.
static Value reshapeSetByCount(DynamicReshapeOp op, OpBuilder &) {
  return op.getOperand().getType() == op.getType() && isSetByCount(tensorOf(op))
             ? Value(op.getOperand())
             : Value();
}
/// A reshape keeps the row-major order of elements, which does not depend on
/// dimensions of size 1.
static Value reshapeTranspose(DynamicReshapeOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<TransposeOp>();
  if (!inner || !movesOnlyUnits(inner))
    return {};
  return builder.create<DynamicReshapeOp>(
      op.getLoc(), op.getType(), inner.getOperand(), op.getOutputShape());
}
/// Of two reshapes only the last one matters.
static Value dynamicReshapeReshape(DynamicReshapeOp op, OpBuilder &builder) {
  Operation *inner = op.getOperand().getDefiningOp();
  if (!isa_and_nonnull<ReshapeOp, DynamicReshapeOp>(inner))
    return {};
  Value source = inner->getOperand(0);
  if (source.getType() == op.getType() && isSetByCount(tensorOf(op)))
    return source;
  return builder.create<DynamicReshapeOp>(op.getLoc(), op.getType(), source,
                                          op.getOutputShape());
}
/// The operand with the shape that \p value was reshaped or broadcast to; null
/// if its shape has another source.
static Value givenSizes(Value value) {
  Operation *source = shapeSource(value).getDefiningOp();
  if (auto reshape = dyn_cast_or_null<DynamicReshapeOp>(source))
    return reshape.getOutputShape();
  if (auto broadcast = dyn_cast_or_null<DynamicBroadcastInDimOp>(source))
    return broadcast.getOutputDimensions();
  return {};
}
/// \p sizes in the type of \p op's result; null if their count differs.
static Value asType(Value sizes, Operation *op, OpBuilder &builder) {
  auto type = tensorOf(op->getResult(0));
  if (tensorOf(sizes).getShape() != type.getShape())
    return {};
  return sizes.getType() == type
             ? sizes
             : builder.create<ConvertOp>(op->getLoc(), type, sizes);
}
/// The shape of a dynamic reshape or broadcast.
static Value shapeOfReshape(nn::ShapeOp op, OpBuilder &builder) {
  Value sizes = givenSizes(op.getOperand());
  return sizes ? asType(sizes, op, builder) : Value();
}
/// The same for concatenated get_dimension_size operations.
static Value sizesOfReshape(ConcatenateOp op, OpBuilder &builder) {
  auto size =
      withoutForm(op.getInputs()[0]).getDefiningOp<GetDimensionSizeOp>();
  Value sizes = size ? givenSizes(size.getOperand()) : Value();
  return sizes && tensorOf(op).getRank() == 1 && isIntegerTensor(op) &&
                 isShapeOf(op, size.getOperand())
             ? asType(sizes, op, builder)
             : Value();
}
/// A reshape to the shape that the operand already has.
static Value reshapeThrough(DynamicReshapeOp op, OpBuilder &) {
  auto inner = shapeSource(op.getOperand()).getDefiningOp<DynamicReshapeOp>();
  return inner && op.getOperand().getType() == op.getType() &&
                 inner.getOutputShape() == op.getOutputShape()
             ? Value(op.getOperand())
             : Value();
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

/// An operand of \p op that has its result's shape and is not a broadcast.
static Value operandAsLarge(Operation *op) {
  const int64_t rank = tensorOf(op->getResult(0)).getRank();
  for (Value operand : op->getOperands())
    if (tensorOf(operand).getRank() == rank && !Broadcast::of(operand))
      return operand;
  return {};
}

/// A broadcast to computed sizes has the shape of the other operand, so that
/// these sizes need not be computed.
static Value broadcastBeside(Operation *op, OpBuilder &builder) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumOperands() < 2 ||
      op->getNumRegions())
    return {};
  SmallVector<Value> operands;
  bool changes = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(operand);
    auto broadcast = Broadcast::of(operand);
    if (!broadcast || !isa<DynamicBroadcastInDimOp>(broadcast->op) ||
        broadcast->type().hasStaticShape() ||
        !tensorOf(broadcast->operand).hasStaticShape() ||
        !llvm::is_sorted(broadcast->dimensions))
      continue;
    Value beside = operandAsLarge(op);
    if (!beside)
      return {};
    operands.back() =
        broadcastTo(builder, broadcast->op->getLoc(), broadcast->type(),
                    broadcast->operand, broadcast->dimensions, beside);
    changes = true;
  }
  if (!changes)
    return {};
  Operation *copy = cloneApart(builder, op);
  copy->setOperands(operands);
  return copy->getResult(0);
}

//===----------------------------------------------------------------------===//
// Uses of shapes
//===----------------------------------------------------------------------===//

/// If only the shape of \p value is used, the operand that it was computed from
/// and that has the same shape; null otherwise.
static Value sourceOfUnread(Value value) {
  Operation *op = value.getDefiningOp();
  constexpr int64_t mostUsesLookedAt = 64;
  if (!op || isa<ConstantOp>(op) || !isPure(op))
    return {};
  Value source = operandOfSameShape(op);
  return source && !llvm::hasNItemsOrMore(value.getUses(), mostUsesLookedAt) &&
                 hasNoElementUse(value)
             ? source
             : Value();
}
static Value shapeOfUnread(nn::ShapeOp op, OpBuilder &builder) {
  Value source = sourceOfUnread(op.getOperand());
  return source ? builder.create<nn::ShapeOp>(op.getLoc(), op.getType(), source)
                : Value();
}
static Value sizeOfUnread(GetDimensionSizeOp op, OpBuilder &builder) {
  Value source = sourceOfUnread(op.getOperand());
  return source ? builder.create<GetDimensionSizeOp>(op.getLoc(), op.getType(),
                                                     source, op.getDimension())
                : Value();
}
static Value likeUnread(nn::BroadcastLikeOp op, OpBuilder &builder) {
  SmallVector<Value> others;
  for (Value other : op.getOthers()) {
    Value source = sourceOfUnread(other);
    others.push_back(source ? source : other);
  }
  if (op.getOthers() == ValueRange(others))
    return {};
  return builder.create<nn::BroadcastLikeOp>(op.getLoc(), op.getType(),
                                             op.getOperand(), others);
}

//===----------------------------------------------------------------------===//
// real_dynamic_slice, dynamic_iota
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> sizesOfUnitSlice(RealDynamicSliceOp op) {
  auto strides = constantIntegers(op.getStrides());
  auto sum = op.getLimitIndices().getDefiningOp<AddOp>();
  if (!sum || !strides ||
      llvm::any_of(*strides, [](int64_t each) { return each != 1; }))
    return std::nullopt;
  for (auto [start, more] : {std::pair(sum.getLhs(), sum.getRhs()),
                             std::pair(sum.getRhs(), sum.getLhs())}) {
    auto sizes = constantIntegers(more);
    if (start == op.getStartIndices() && sizes &&
        static_cast<int64_t>(sizes->size()) == tensorOf(op).getRank() &&
        llvm::all_of(*sizes, [](int64_t size) { return size >= 0; }))
      return sizes;
  }
  return std::nullopt;
}

static Value sliceOfSize(RealDynamicSliceOp op, OpBuilder &builder) {
  auto sizes = sizesOfUnitSlice(op);
  auto type = tensorOf(op.getOperand());
  if (!sizes || ArrayRef<int64_t>(*sizes) != tensorOf(op).getShape())
    return {};
  for (auto [size, whole] : llvm::zip_equal(*sizes, type.getShape()))
    if (!ShapedType::isDynamic(whole) && size > whole)
      return {};
  auto scalar = RankedTensorType::get(
      {}, tensorOf(op.getStartIndices()).getElementType());
  SmallVector<Value> starts;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value one = builder.create<SliceOp>(
        op.getLoc(), op.getStartIndices(), ArrayRef<int64_t>{i},
        ArrayRef<int64_t>{i + 1}, ArrayRef<int64_t>{1});
    starts.push_back(builder.create<ReshapeOp>(op.getLoc(), scalar, one));
  }
  return builder.create<DynamicSliceOp>(op.getLoc(), op.getType(),
                                        op.getOperand(), starts, *sizes);
}

/// An iota that is broadcast to dynamic dimensions.
static Value iotaRepeated(DynamicIotaOp op, OpBuilder &builder) {
  auto type = tensorOf(op);
  int64_t dimension = op.getIotaDimension();
  if (type.getRank() < 2 || type.hasStaticShape() ||
      type.isDynamicDim(dimension))
    return {};
  auto line = RankedTensorType::get({type.getDimSize(dimension)},
                                    type.getElementType());
  Value counted = builder.create<IotaOp>(op.getLoc(), line, 0);
  return builder.create<DynamicBroadcastInDimOp>(
      op.getLoc(), type, counted, op.getOutputShape(),
      builder.getDenseI64ArrayAttr(dimension), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Custom calls
//===----------------------------------------------------------------------===//

/// The operands of a call that are the shapes of its results, where these are
/// static.
static std::optional<llvm::BitVector> knownShapeOperands(CustomCallOp op) {
  auto operandIndices =
      op->getAttrOfType<DenseIntElementsAttr>(shapeOperandsAttribute);
  if (!operandIndices || operandIndices.getNumElements() != op->getNumResults())
    return std::nullopt;
  llvm::BitVector which(op->getNumOperands());
  for (auto [index, result] :
       llvm::zip(operandIndices.getValues<APInt>(), op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || index.uge(op->getNumOperands()))
      return std::nullopt;
    Value operand = op->getOperand(index.getZExtValue());
    if (!isa<RankedTensorType>(operand.getType()) ||
        constantIntegers(operand) != SmallVector<int64_t>(type.getShape()))
      return std::nullopt;
    which.set(index.getZExtValue());
  }
  return which;
}

/// Shapes of static results need not be passed.
static Values callWithoutShapes(CustomCallOp op, OpBuilder &builder) {
  auto which = knownShapeOperands(op);
  if (!which || !op.getOutputOperandAliases().empty())
    return {};
  auto copy = cast<CustomCallOp>(builder.clone(*op));
  copy->eraseOperands(*which);
  copy->removeAttr(shapeOperandsAttribute);
  if (ArrayAttr layouts = op.getOperandLayoutsAttr()) {
    SmallVector<Attribute> kept;
    for (auto [index, layout] : llvm::enumerate(layouts))
      if (!which->test(index))
        kept.push_back(layout);
    copy.setOperandLayoutsAttr(builder.getArrayAttr(kept));
  }
  return Values(copy->getResults());
}

/// Removes the marker call that exporters insert where a type must be refined.
static Value unwrapped(CustomCallOp op, OpBuilder &) {
  return op.getCallTargetName() ==
                     "stablehlo.shape_refinement_operand_wrapper" &&
                 op->getNumOperands() > 0 && op->getNumResults() == 1 &&
                 op->getOperand(0).getType() == op->getResult(0).getType()
             ? op->getOperand(0)
             : Value();
}

RuleTable dynamicRules() {
  static const std::vector<RewriteRule> rules = {
      rule<DynamicBroadcastInDimOp, broadcastNothing>(
          "dynamic-broadcast-nothing",
          "dynamic_broadcast_in_dim(x) known to expand nothing -> x"),
      rule<DynamicBroadcastInDimOp, broadcastToOwnShape>(
          "dynamic-broadcast-own-shape",
          "dynamic_broadcast_in_dim(x, shape(x)) -> x"),
      rule<DynamicBroadcastInDimOp, broadcastReshaped>(
          "dynamic-broadcast-reshaped",
          "dynamic_broadcast_in_dim(dynamic_reshape(x, s), s) -> "
          "dynamic_reshape(x, s)"),
      rule<DynamicReshapeOp, reshapeToOwnShape>(
          "dynamic-reshape-own-shape",
          "dynamic_reshape(x, shape(x)) -> x, or convert(x)"),
      rule<DynamicReshapeOp, reshapeSetByCount>(
          "dynamic-reshape-same", "dynamic_reshape(x : ?x3) : ?x3 -> x"),
      rule<DynamicReshapeOp, reshapeTranspose>(
          "dynamic-reshape-transpose",
          "dynamic_reshape(transpose(x : ?x1x3), s) -> dynamic_reshape(x, s), "
          "where only dimensions of size 1 move"),
      rule<DynamicReshapeOp, dynamicReshapeReshape>(
          "dynamic-reshape-reshape",
          "dynamic_reshape(dynamic_reshape(x, s), t) -> dynamic_reshape(x, t), "
          "or x"),
      rule<nn::ShapeOp, shapeOfReshape>("shape-of-dynamic-reshape",
                                        "shape(dynamic_reshape(x, s)) -> s"),
      rule<ConcatenateOp, sizesOfReshape>("shape-of-dynamic-reshape",
                                          "concatenate(get_dimension_size(y, "
                                          "0), get_dimension_size(y, 1)), y = "
                                          "dynamic_reshape(x, s) -> s"),
      rule<DynamicReshapeOp, reshapeThrough>(
          "dynamic-reshape-through",
          "dynamic_reshape(abs(dynamic_reshape(x, s)), s) -> "
          "abs(dynamic_reshape(x, s))"),
      rule<Operation *, broadcastBeside>(
          "broadcast-beside",
          "add(x, dynamic_broadcast_in_dim(c, s)) -> add(x, broadcast_like(c, "
          "x))"),
      rule<nn::ShapeOp, shapeOfUnread>(
          "shape-of-unread",
          "shape(abs(x)) -> shape(x), where abs(x) has no other use"),
      rule<GetDimensionSizeOp, sizeOfUnread>(
          "shape-of-unread",
          "get_dimension_size(abs(x)) -> get_dimension_size(x), where abs(x) "
          "has no other use"),
      rule<nn::BroadcastLikeOp, likeUnread>(
          "shape-of-unread",
          "broadcast_like(c, abs(x)) -> broadcast_like(c, x), where abs(x) has "
          "no other use"),
      rule<RealDynamicSliceOp, sliceOfSize>(
          "dynamic-slice-of-size",
          "real_dynamic_slice(x, i, i + 2, [1]) -> dynamic_slice(x, i) : 2"),
      rule<DynamicIotaOp, iotaRepeated>(
          "dynamic-iota-broadcast",
          "dynamic_iota(s) : ?x3 -> dynamic_broadcast_in_dim(iota : 3, s)"),
      rule<CustomCallOp, callWithoutShapes>(
          "custom-call-shapes",
          "custom_call(x, [2, 3]) of shape 2x3 -> custom_call(x)"),
      rule<CustomCallOp, unwrapped>(
          "custom-call-wrapper",
          "shape_refinement_operand_wrapper(x : 2, [2]) : 2 -> x"),
  };
  return {"Unknown dimensions", rules};
}

} // namespace sinter
