// Axes of element-wise operations.

#include "graph/axes/Axes.h"

#include "graph/chlo/ChloOps.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {

Axes elementwise(Operation *op) {
  Builder builder(op);
  builder.alike(builder.resultRank());
  return builder.take();
}

Axes passedOn(Operation *op) {
  Builder builder(op);
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    for (int64_t j = 0; j < builder.resultRank(i); ++j)
      builder.keep({operand(i, j), result(i, j)});
  return builder.take();
}

/// The result's dimension for dimension \p dimension of an operand: as in
/// \p given, else aligned at the last one.
static int64_t resultDimensionOf(const Builder &builder, unsigned operand,
                                 int64_t dimension,
                                 std::optional<ArrayRef<int64_t>> given) {
  const int64_t missing = builder.resultRank() - builder.rankOf(operand);
  return given && missing ? (*given)[dimension] : dimension + missing;
}

static Axes broadcastAlong(Operation *op,
                           std::optional<ArrayRef<int64_t>> given) {
  Builder builder(op);
  SmallVector<SmallVector<Place>> wide(builder.resultRank());
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (int64_t j = 0; j < builder.rankOf(i); ++j)
      if (builder.sizeAt(operand(i, j)) != 1)
        wide[resultDimensionOf(builder, i, j, given)].push_back(operand(i, j));
  for (auto [i, places] : llvm::enumerate(wide)) {
    // A dynamic size among others may be broadcast.
    const size_t all = places.size();
    if (all > 1)
      llvm::erase_if(places, [&](Place each) {
        return ShapedType::isDynamic(builder.sizeAt(each));
      });
    Place to = result(i);
    if (places.empty() && builder.sizeAt(to) != 1)
      continue;
    const bool isKnown = places.size() == all;
    places.push_back(to);
    builder.add(isKnown ? AxisKind::Kept : AxisKind::Mixed, places);
  }
  return builder.take();
}

Axes broadcastTogether(Operation *op) {
  return broadcastAlong(op, std::nullopt);
}

/// Only the shapes of the others count: along axes that only they have, the
/// operand is broadcast, if its own size is static.
static Axes likeOthers(nn::BroadcastLikeOp op) {
  Axes axes = broadcastTogether(op);
  auto from = tensorOf(op.getOperand());
  const int64_t missing =
      static_cast<int64_t>(axes.results[0].size()) - from.getRank();
  for (auto [i, list] : llvm::enumerate(axes.results[0])) {
    const int64_t own = static_cast<int64_t>(i) - missing;
    AxisKind &kind = axes.axes[list.front()].kind;
    if (llvm::is_contained(axes.operands[0], list))
      kind = AxisKind::Kept;
    else
      kind = own >= 0 && from.isDynamicDim(own) ? AxisKind::Mixed
                                                : AxisKind::Repeated;
  }
  return axes;
}

/// The slope broadcasts to the operand.
static Axes sloped(nn::PReluOp op) {
  Builder builder(op);
  const int64_t missing = builder.rankOf(0) - builder.rankOf(1);
  for (int64_t i = 0; i < builder.resultRank(); ++i) {
    SmallVector<Place> places = {operand(0, i), result(i)};
    const int64_t size =
        i < missing ? 1 : builder.sizeAt(operand(1, i - missing));
    const bool isDynamic = ShapedType::isDynamic(size);
    if (size != 1 && !isDynamic)
      places.push_back(operand(1, i - missing));
    builder.add(isDynamic ? AxisKind::Mixed : AxisKind::Kept, places);
  }
  return builder.take();
}

/// A splat.
static Axes filled(chlo::ConstantLikeOp op) {
  Axes axes = elementwise(op);
  for (Axis &axis : axes.axes)
    axis.kind = AxisKind::Repeated;
  return axes;
}

static NewOrder reordered(Operation *, ArrayRef<int64_t> order) {
  return llvm::to_vector(order);
}

namespace {
/// For every operation with the Elementwise trait.
struct ElementwiseModel : AxesOpInterface::FallbackModel<ElementwiseModel> {
  Axes getAxes(Operation *op) const { return elementwise(op); }
  NewOrder reorder(Operation *op, ArrayRef<int64_t> order,
                   ArrayRef<int64_t>) const {
    return reordered(op, order);
  }
};

/// For those whose operands broadcast.
struct BroadcastingModel : AxesOpInterface::FallbackModel<BroadcastingModel> {
  Axes getAxes(Operation *op) const {
    auto given = op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
    return broadcastAlong(op, given ? std::optional(given.asArrayRef())
                                    : std::nullopt);
  }
  NewOrder reorder(Operation *, ArrayRef<int64_t>, ArrayRef<int64_t>) const {
    return std::nullopt;
  }
};
} // namespace

void attachElementwise(MLIRContext *c) {
  for (RegisteredOperationName name : c->getRegisteredOperations())
    if (name.hasTrait<OpTrait::Elementwise>())
      name.attachInterface<ElementwiseModel>();
    else if (name.getStringRef().starts_with("chlo.broadcast_"))
      name.attachInterface<BroadcastingModel>();
  attach<SelectOp, elementwise, reordered>(c);
  attach<ClampOp, elementwise, reordered>(c);
  attach<MapOp, elementwise>(c);
  attach<OptimizationBarrierOp, passedOn>(c);
  attach<nn::PReluOp, sloped>(c);
  attach<nn::BroadcastLikeOp, likeOthers>(c);
  attach<chlo::ConstantLikeOp, filled>(c);
}

} // namespace sinter::axes
