#include "graph/Broadcast.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

std::optional<Broadcast> Broadcast::of(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<RankedTensorType>(value.getType()))
    return std::nullopt;
  if (auto fixed = dyn_cast<BroadcastInDimOp>(op))
    return Broadcast{op, fixed.getOperand(),
                     SmallVector<int64_t>(fixed.getBroadcastDimensions())};
  if (auto open = dyn_cast<DynamicBroadcastInDimOp>(op))
    return Broadcast{op, open.getOperand(),
                     SmallVector<int64_t>(open.getBroadcastDimensions())};
  auto like = dyn_cast<nn::BroadcastLikeOp>(op);
  if (!like)
    return std::nullopt;
  int64_t rank = tensorOf(value).getRank();
  int64_t own = tensorOf(like.getOperand()).getRank();
  return Broadcast{op, like.getOperand(),
                   llvm::to_vector(llvm::seq<int64_t>(rank - own, rank))};
}

Value Broadcast::rebuild(OpBuilder &builder, Location location,
                         Value value) const {
  auto to = type().clone(tensorOf(value).getElementType());
  if (isa<BroadcastInDimOp>(op))
    return builder.create<BroadcastInDimOp>(location, to, value, dimensions);
  if (auto open = dyn_cast<DynamicBroadcastInDimOp>(op))
    return builder.create<DynamicBroadcastInDimOp>(
        location, to, value, open.getOutputDimensions(),
        open.getBroadcastDimensionsAttr(),
        open.getKnownExpandingDimensionsAttr(),
        open.getKnownNonexpandingDimensionsAttr());
  return builder.create<nn::BroadcastLikeOp>(
      location, to, value, cast<nn::BroadcastLikeOp>(op).getOthers());
}

Value broadcastTo(OpBuilder &builder, Location location, RankedTensorType type,
                  Value operand, ArrayRef<int64_t> dimensions, Value like) {
  if (type.hasStaticShape())
    return builder.create<BroadcastInDimOp>(location, type, operand,
                                            dimensions);
  // By NumPy's rule: [C] along dimension 1 of 4 is [C, 1, 1].
  int64_t first = dimensions.empty() ? type.getRank() : dimensions.front();
  SmallVector<int64_t> shape(type.getRank() - first, 1);
  for (auto [size, dimension] :
       llvm::zip_equal(tensorOf(operand).getShape(), dimensions))
    shape[dimension - first] = size;
  if (tensorOf(operand).getShape() != ArrayRef<int64_t>(shape))
    operand = builder.create<ReshapeOp>(
        location, tensorOf(operand).clone(shape), operand);
  return builder.create<nn::BroadcastLikeOp>(location, type, operand,
                                             ValueRange(like));
}

Value splatLike(OpBuilder &builder, Location location, RankedTensorType type,
                double number, Value like) {
  if (type.hasStaticShape())
    return makeSplat(builder, location, type, number);
  Value scalar =
      makeSplat(builder, location, type.clone(ArrayRef<int64_t>()), number);
  return broadcastTo(builder, location, type, scalar, {}, like);
}

Value broadcastScalar(OpBuilder &builder, Location location,
                      RankedTensorType type, Value scalar,
                      const SizeSources &sizes) {
  if (type.hasStaticShape())
    return builder.create<BroadcastInDimOp>(location, type, scalar,
                                            ArrayRef<int64_t>());
  if (static_cast<int64_t>(sizes.size()) != type.getRank())
    return {};
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  SmallVector<Value> parts;
  for (auto [value, dimension] : sizes) {
    const int64_t size = tensorOf(value).getDimSize(dimension);
    Value part;
    if (ShapedType::isDynamic(size))
      part = builder.create<ReshapeOp>(
          location, one,
          builder.create<GetDimensionSizeOp>(location, value,
                                             static_cast<uint64_t>(dimension)));
    else
      part = makeSplat(builder, location, one, static_cast<double>(size));
    parts.push_back(part);
  }
  Value shape = builder.create<ConcatenateOp>(location, parts, /*dimension=*/0);
  return builder.create<DynamicBroadcastInDimOp>(
      location, type, scalar, shape, builder.getDenseI64ArrayAttr({}),
      DenseI64ArrayAttr(), DenseI64ArrayAttr());
}

SmallVector<Value> repeatedInResults(Operation *op, ValueRange scalars,
                                     const SizeSources &sizes,
                                     OpBuilder &builder) {
  for (auto [scalar, type] : llvm::zip_equal(scalars, op->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    const bool isDynamic = !tensor.hasStaticShape();
    if ((isDynamic && static_cast<int64_t>(sizes.size()) != tensor.getRank()) ||
        tensorOf(scalar).getRank() != 0 ||
        tensorOf(scalar).getElementType() != tensor.getElementType())
      return {};
  }
  SmallVector<Value> results;
  for (auto [scalar, type] : llvm::zip_equal(scalars, op->getResultTypes()))
    results.push_back(broadcastScalar(
        builder, op->getLoc(), cast<RankedTensorType>(type), scalar, sizes));
  return results;
}

} // namespace sinter
