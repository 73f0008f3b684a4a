#include "passes/Broadcast.h"

#include "graph/nn/NnOps.h"
#include "passes/Matching.h"

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

bool Broadcast::isAlike(const Broadcast &other) const {
  return op->getName() == other.op->getName() && type() == other.type() &&
         operand.getType() == other.operand.getType() &&
         dimensions == other.dimensions &&
         op->getOperands().drop_front() == other.op->getOperands().drop_front();
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

} // namespace sinter
