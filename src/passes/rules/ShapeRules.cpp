#include "passes/RuleTables.h"

#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "passes/Matching.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static Value shapeOfStatic(nn::ShapeOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getOperand());
  if (!type.hasStaticShape())
    return {};
  return makeConstant(builder, op.getLoc(), tensorOfIntegers(type.getShape()));
}

static Value sizeOfStatic(GetDimensionSizeOp op, OpBuilder &builder) {
  int64_t size = tensorOf(op.getOperand()).getDimSize(op.getDimension());
  if (ShapedType::isDynamic(size) || size > std::numeric_limits<int32_t>::max())
    return {};
  Tensor scalar(ElementType::I32, {});
  scalar.set<int32_t>(0, static_cast<int32_t>(size));
  return makeConstant(builder, op.getLoc(), scalar);
}

/// Some static sizes of a shape that may have dynamic ones.
static Value sizesOfShape(Operation *slice, nn::ShapeOp shape,
                          ArrayRef<int64_t> dimensions, OpBuilder &builder) {
  auto type = tensorOf(shape.getOperand());
  auto result = tensorOf(slice->getResult(0));
  SmallVector<int64_t> sizes;
  for (int64_t dimension : dimensions) {
    if (dimension < 0)
      dimension += type.getRank();
    if (dimension < 0 || dimension >= type.getRank() ||
        type.isDynamicDim(dimension))
      return {};
    sizes.push_back(type.getDimSize(dimension));
  }
  if (!result.hasStaticShape() ||
      result.getNumElements() != static_cast<int64_t>(sizes.size()))
    return {};
  return makeConstant(
      builder, slice->getLoc(),
      tensorOfIntegers(sizes).reshaped(Shape(result.getShape())));
}
static Value takeOfShape(nn::TakeOp op, OpBuilder &builder) {
  auto shape = op.getOperand().getDefiningOp<nn::ShapeOp>();
  std::optional<SmallVector<int64_t>> indices =
      shape ? constantIntegers(op.getIndices()) : std::nullopt;
  return indices ? sizesOfShape(op, shape, *indices, builder) : Value();
}
static Value sliceOfShape(SliceOp op, OpBuilder &builder) {
  auto shape = op.getOperand().getDefiningOp<nn::ShapeOp>();
  if (!shape)
    return {};
  SmallVector<int64_t> dimensions;
  for (int64_t i = op.getStartIndices()[0]; i < op.getLimitIndices()[0];
       i += op.getStrides()[0])
    dimensions.push_back(i);
  return sizesOfShape(op, shape, dimensions, builder);
}

/// The type with the constant sizes, if these are compatible with \p written;
/// \p written if it is static.
static std::optional<RankedTensorType> typeOfSizes(Value sizes,
                                                   RankedTensorType written) {
  std::optional<SmallVector<int64_t>> shape = constantIntegers(sizes);
  if (!shape && written.hasStaticShape())
    return written;
  if (!shape || static_cast<int64_t>(shape->size()) != written.getRank() ||
      !elementCount(*shape) ||
      failed(verifyCompatibleShape(*shape, written.getShape())))
    return std::nullopt;
  return RankedTensorType::get(*shape, written.getElementType());
}

/// Gives \p value the less static type that its users expect; Specialize
/// refines it together with them.
static Value withType(Value value, Type type) {
  value.setType(type);
  return value;
}

static Value dynamicReshape(DynamicReshapeOp op, OpBuilder &builder) {
  auto type = typeOfSizes(op.getOutputShape(), tensorOf(op));
  auto from = tensorOf(op.getOperand());
  // With a dynamic dimension on both sides of a static reshape, the sizes in
  // the shape operand would be lost.
  if (!type || *type != op.getType() ||
      !(from.hasStaticShape() || type->hasStaticShape()))
    return {};
  if (from.hasStaticShape() &&
      elementCount(from.getShape()) != elementCount(type->getShape()))
    return {};
  return builder.create<ReshapeOp>(op.getLoc(), *type, op.getOperand());
}

static Value dynamicBroadcast(DynamicBroadcastInDimOp op, OpBuilder &builder) {
  auto type = typeOfSizes(op.getOutputDimensions(), tensorOf(op));
  auto from = tensorOf(op.getOperand());
  if (!type || !from.hasStaticShape() || *type != op.getType() ||
      static_cast<int64_t>(op.getBroadcastDimensions().size()) !=
          from.getRank())
    return {};
  for (auto [index, dimension] : llvm::enumerate(op.getBroadcastDimensions()))
    if (dimension < 0 || dimension >= type->getRank() ||
        (from.getDimSize(index) != 1 &&
         from.getDimSize(index) != type->getDimSize(dimension)))
      return {};
  return builder.create<BroadcastInDimOp>(op.getLoc(), *type, op.getOperand(),
                                          op.getBroadcastDimensions());
}

static Value dynamicIota(DynamicIotaOp op, OpBuilder &builder) {
  auto type = typeOfSizes(op.getOutputShape(), tensorOf(op));
  if (!type || *type != op.getType())
    return {};
  return builder.create<IotaOp>(op.getLoc(), *type, op.getIotaDimension());
}

static Value dynamicSlice(RealDynamicSliceOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getOperand());
  auto starts = constantIntegers(op.getStartIndices());
  auto limits = constantIntegers(op.getLimitIndices());
  auto strides = constantIntegers(op.getStrides());
  size_t rank = type.getRank();
  if (!starts || !limits || !strides || starts->size() != rank ||
      limits->size() != rank || strides->size() != rank)
    return {};
  for (size_t i = 0; i < rank; ++i) {
    if ((*starts)[i] < 0 || (*starts)[i] > (*limits)[i] || (*strides)[i] < 1 ||
        (!type.isDynamicDim(i) && (*limits)[i] > type.getDimSize(i)))
      return {};
    int64_t size = llvm::divideCeil(
        static_cast<uint64_t>((*limits)[i] - (*starts)[i]), (*strides)[i]);
    if (!tensorOf(op).isDynamicDim(i) && tensorOf(op).getDimSize(i) != size)
      return {};
  }
  Value slice = builder.create<SliceOp>(op.getLoc(), op.getOperand(), *starts,
                                        *limits, *strides);
  return withType(slice, op.getType());
}

/// A dimension that becomes shorter.
static Value setDimensionSize(SetDimensionSizeOp op, OpBuilder &builder) {
  auto from = tensorOf(op.getOperand()), to = tensorOf(op);
  auto size = constantIntegers(op.getSize());
  const uint64_t dimension = op.getDimension();
  if (!from.hasStaticShape() || !to.hasStaticShape() || !size ||
      size->size() != 1 || size->front() != to.getDimSize(dimension) ||
      size->front() > from.getDimSize(dimension))
    return {};
  SmallVector<int64_t> starts(from.getRank(), 0), strides(from.getRank(), 1);
  return builder.create<SliceOp>(op.getLoc(), op.getOperand(), starts,
                                 to.getShape(), strides);
}

/// With static shapes, NumPy's rule is a broadcast_in_dim.
static Value broadcastLike(nn::BroadcastLikeOp op, OpBuilder &builder) {
  auto from = tensorOf(op.getOperand()), to = tensorOf(op);
  if (!from.hasStaticShape() || !to.hasStaticShape())
    return {};
  if (from == to)
    return op.getOperand();
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0; i < from.getRank(); ++i)
    dimensions.push_back(to.getRank() - from.getRank() + i);
  return builder.create<BroadcastInDimOp>(op.getLoc(), to, op.getOperand(),
                                          dimensions);
}

RuleTable shapeRules() {
  static const std::vector<RewriteRule> rules = {
      rule<nn::ShapeOp, shapeOfStatic>("shape-constant",
                                       "shape(x : 2x3) -> [2, 3]"),
      rule<nn::TakeOp, takeOfShape>("take-of-shape",
                                    "take(shape(x : ?x3), [1]) -> [3]"),
      rule<SliceOp, sliceOfShape>("slice-of-shape",
                                  "shape(x : ?x3)[1:2] -> [3]"),
      rule<GetDimensionSizeOp, sizeOfStatic>(
          "dimension-size-constant", "get_dimension_size(x : 2x3, 1) -> 3"),
      rule<DynamicReshapeOp, dynamicReshape>(
          "dynamic-reshape-constant",
          "dynamic_reshape(x, [2, 3]) -> reshape(x)"),
      rule<DynamicBroadcastInDimOp, dynamicBroadcast>(
          "dynamic-broadcast-constant",
          "dynamic_broadcast_in_dim(x, [2, 3]) -> broadcast_in_dim(x)"),
      rule<DynamicIotaOp, dynamicIota>("dynamic-iota-constant",
                                       "dynamic_iota([2, 3]) -> iota"),
      rule<RealDynamicSliceOp, dynamicSlice>(
          "dynamic-slice-constant",
          "real_dynamic_slice(x, [0], [2], [1]) -> slice(x)"),
      rule<SetDimensionSizeOp, setDimensionSize>(
          "set-dimension-size-slice",
          "set_dimension_size(x : 4, 3, dim 0) : 3 -> slice(x)"),
      rule<nn::BroadcastLikeOp, broadcastLike>(
          "broadcast-like-static",
          "broadcast_like(x : 3, y : 2x3) -> broadcast_in_dim(x), or x"),
  };
  return {"Shapes", rules};
}

} // namespace sinter
