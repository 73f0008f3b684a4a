#include "passes/MoveTransposes.h"

#include "graph/Broadcast.h"
#include "graph/ElementUses.h"
#include "graph/PermutedType.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/RulePass.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

/// A permutation of dimensions or a reshape.
class Rearrangement {
public:
  static Rearrangement of(TransposeOp op) {
    Rearrangement result;
    result.permutation.assign(op.getPermutation().begin(),
                              op.getPermutation().end());
    result.isTranspose = true;
    return result;
  }
  static Rearrangement of(ReshapeOp op) { return toShapeOf(op); }
  static Rearrangement of(DynamicReshapeOp op) {
    Rearrangement result = toShapeOf(op);
    result.sizes = op.getOutputShape();
    return result;
  }

  /// How many more transposes (reshapes) must run if \p value is wanted
  /// rearranged; negative if fewer. Nothing beyond the depth or where it
  /// cannot be.
  std::optional<int> cost(Value value, unsigned depth = 32) const;
  /// The rearranged value.
  Value build(Value value, OpBuilder &builder) const;
  /// Whether this can be done to \p value without computing a dynamic size.
  bool fits(Value value) const {
    return isTranspose || sizes || isSetByCount(tensorOf(value));
  }

private:
  static Rearrangement toShapeOf(Value reshaped) {
    auto type = tensorOf(reshaped);
    Rearrangement result;
    result.shape = llvm::to_vector(type.getShape());
    if (auto perAxis =
            dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType()))
      result.axis = perAxis.getQuantizedDimension();
    return result;
  }
  RankedTensorType typeOf(Value value) const;
  /// Creates the operation that does this to \p value.
  Value apply(Value value, OpBuilder &builder) const;
  SmallVector<int64_t> composeWith(TransposeOp inner) const {
    SmallVector<int64_t> both;
    for (int64_t dimension : permutation)
      both.push_back(inner.getPermutation()[dimension]);
    return both;
  }
  /// The operand of \p broadcast, broadcast to the shape of \p like, which is
  /// rearranged.
  Value repeat(const Broadcast &broadcast, Value like,
               OpBuilder &builder) const;
  /// Whether the value is \p op with another rearrangement of the same kind.
  bool cancels(Operation *op) const;
  bool passesThrough(Operation *op) const;

  bool isTranspose = false;
  SmallVector<int64_t> permutation, shape;
  /// The dimension of the shape along which it is quantised, if it is.
  int64_t axis = 0;
  /// The sizes of a dynamic shape.
  Value sizes;
};

} // namespace

RankedTensorType Rearrangement::typeOf(Value value) const {
  auto type = tensorOf(value);
  return isTranspose ? permutedType(type, permutation)
                     : RankedTensorType::get(
                           shape, alongAxis(type.getElementType(), axis));
}

Value Rearrangement::apply(Value value, OpBuilder &builder) const {
  if (isTranspose)
    return builder.create<TransposeOp>(value.getLoc(), typeOf(value), value,
                                       permutation);
  if (sizes)
    return builder.create<DynamicReshapeOp>(value.getLoc(), typeOf(value),
                                            value, sizes);
  return builder.create<ReshapeOp>(value.getLoc(), typeOf(value), value);
}

bool Rearrangement::cancels(Operation *op) const {
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return isTranspose && llvm::equal(composeWith(transpose),
                                      llvm::seq<int64_t>(permutation.size()));
  if (isTranspose || !isa<ReshapeOp, DynamicReshapeOp>(op))
    return false;
  auto target = typeOf(op->getResult(0));
  return op->getOperand(0).getType() == target && isSetByCount(target);
}

bool Rearrangement::passesThrough(Operation *op) const {
  if (op->getNumResults() != 1 || !hasOneElementUse(op->getResult(0)) ||
      op->getNumRegions())
    return false;
  if (isa<ConcatenateOp>(op))
    return isTranspose;
  // A reshape costs nothing, and moving one splits a source node.
  if (!isTranspose && isPartOfNode(op))
    return false;
  // Only the reshape's own type has the quantised dimension.
  if (!isTranspose &&
      (llvm::any_of(op->getOperandTypes(), isQuantizedPerAxis) ||
       isQuantizedPerAxis(op->getResult(0).getType())))
    return false;
  return op->hasTrait<OpTrait::Elementwise>() && isPure(op) &&
         fits(op->getResult(0));
}

/// The operand of an elementwise operation whose shape a broadcast among its
/// operands can take; null if there is none.
static Value besideBroadcasts(Operation *op) {
  for (Value operand : op->getOperands())
    if (operand.getType() == op->getResult(0).getType() ||
        tensorOf(operand).getShape() == tensorOf(op->getResult(0)).getShape())
      if (!Broadcast::of(operand) && !operand.getDefiningOp<ConstantOp>())
        return operand;
  return {};
}

/// A broadcast from a static to a dynamic shape, among the operands of an
/// elementwise operation: it is rearranged with another operand.
static std::optional<Broadcast> dynamicBroadcast(Value value) {
  std::optional<Broadcast> broadcast = Broadcast::of(value);
  if (!broadcast || isa<BroadcastInDimOp>(broadcast->op) ||
      !tensorOf(broadcast->operand).hasStaticShape())
    return std::nullopt;
  return broadcast;
}

std::optional<int> Rearrangement::cost(Value value, unsigned depth) const {
  if (depth == 0)
    return std::nullopt;
  if (tensorOf(value).getRank() == 0)
    return 0;
  Operation *op = value.getDefiningOp();
  if (!op)
    return 1;
  if (isa<ConstantOp>(op))
    return splatValue(value) || value.hasOneUse() ? 0 : 1;
  if (cancels(op))
    return hasOneElementUse(value) ? -1 : 0;
  if (isTranspose ? isa<TransposeOp>(op) : isa<ReshapeOp, DynamicReshapeOp>(op))
    return hasOneElementUse(value) ? 0 : 1;
  if (isTranspose && isa<BroadcastInDimOp>(op))
    return 0;
  if (!passesThrough(op))
    return 1;
  int sum = 0;
  const bool hasBeside = isTranspose && besideBroadcasts(op);
  for (Value operand : op->getOperands()) {
    if (hasBeside && dynamicBroadcast(operand))
      continue;
    std::optional<int> each = cost(operand, depth - 1);
    if (!each)
      return std::nullopt;
    sum += *each;
  }
  return sum;
}

Value Rearrangement::build(Value value, OpBuilder &builder) const {
  Operation *op = value.getDefiningOp();
  if (tensorOf(value).getRank() == 0)
    return value;
  if (!op)
    return apply(value, builder);
  if (isa<ConstantOp>(op)) {
    std::optional<double> splat = splatValue(value);
    bool isPlain = isFloatTensor(value) || isIntegerTensor(value);
    return splat && isPlain && tensorOf(value).hasStaticShape()
               ? makeSplat(builder, value.getLoc(), typeOf(value), *splat)
               : apply(value, builder);
  }
  if (cancels(op))
    return op->getOperand(0);
  if (auto inner = dyn_cast<TransposeOp>(op); inner && isTranspose)
    return builder.create<TransposeOp>(inner.getLoc(), typeOf(value),
                                       inner.getOperand(), composeWith(inner));
  if (!isTranspose && isa<ReshapeOp, DynamicReshapeOp>(op))
    return apply(op->getOperand(0), builder);
  if (auto inner = dyn_cast<BroadcastInDimOp>(op); inner && isTranspose) {
    SmallVector<int64_t> dimensions;
    for (int64_t dimension : inner.getBroadcastDimensions())
      dimensions.push_back(llvm::find(permutation, dimension) -
                           permutation.begin());
    return builder.create<BroadcastInDimOp>(inner.getLoc(), typeOf(value),
                                            inner.getOperand(), dimensions);
  }
  if (!passesThrough(op))
    return apply(value, builder);
  IRMapping mapping;
  Value beside = isTranspose ? besideBroadcasts(op) : Value();
  if (beside)
    mapping.map(beside, build(beside, builder));
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    std::optional<Broadcast> broadcast =
        beside ? dynamicBroadcast(operand) : std::nullopt;
    mapping.map(operand,
                broadcast ? repeat(*broadcast, mapping.lookup(beside), builder)
                          : build(operand, builder));
  }
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(typeOf(value));
  if (isTranspose)
    cast<AxesOpInterface>(copy).reorder(
        permutation,
        tensorOf(copy->getOperand(axesOf(op)->leading())).getShape());
  return copy->getResult(0);
}

Value Rearrangement::repeat(const Broadcast &broadcast, Value like,
                            OpBuilder &builder) const {
  // Where each dimension of the broadcast operand goes, and in which order.
  SmallVector<std::pair<int64_t, int64_t>> targets;
  for (auto [index, dimension] : llvm::enumerate(broadcast.dimensions))
    targets.push_back({llvm::find(permutation, dimension) - permutation.begin(),
                       static_cast<int64_t>(index)});
  llvm::sort(targets);
  SmallVector<int64_t> dimensions, order;
  for (auto [dimension, index] : targets) {
    dimensions.push_back(dimension);
    order.push_back(index);
  }
  Value operand = broadcast.operand;
  Location location = broadcast.op->getLoc();
  if (!isIota(order))
    operand = builder.create<TransposeOp>(location, operand, order);
  return broadcastTo(builder, location, typeOf(broadcast.op->getResult(0)),
                     operand, dimensions, like);
}

/// Moves a transpose or reshape up if that leaves fewer of them.
template <typename Op> static Value moveUp(Op op, OpBuilder &builder) {
  Operation *source = op.getOperand().getDefiningOp();
  Rearrangement rearrangement = Rearrangement::of(op);
  if (!source || !rearrangement.fits(op) ||
      !rearrangement.fits(op.getOperand()))
    return {};
  bool isThrough =
      source->hasTrait<OpTrait::Elementwise>() || isa<ConcatenateOp>(source);
  std::optional<int> cost =
      isThrough ? rearrangement.cost(op.getOperand()) : std::nullopt;
  // This one itself is removed: one fewer.
  if (!cost || *cost - 1 >= 0)
    return {};
  return rearrangement.build(op.getOperand(), builder);
}

ArrayRef<RewriteRule> moveTransposesRules() {
  static const std::vector<RewriteRule> rules = {
      rule<TransposeOp, moveUp<TransposeOp>>(
          "move-transpose", "transpose(relu(transpose(x))) -> relu(x)"),
      rule<ReshapeOp, moveUp<ReshapeOp>>(
          "move-reshape", "reshape(relu(reshape(x))) -> relu(x)"),
      rule<DynamicReshapeOp, moveUp<DynamicReshapeOp>>(
          "move-reshape",
          "dynamic_reshape(relu(dynamic_reshape(x : ?x3, s)), t) : ?x3 -> "
          "relu(x)"),
  };
  return rules;
}

namespace {
struct MoveTransposes : RulePass<MoveTransposes> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveTransposes)
  using RulePass::RulePass;
  StringRef getArgument() const final { return "move-transposes"; }
  StringRef getDescription() const final {
    return "Move transposes and reshapes until they cancel";
  }
  RuleList tables() const {
    return {moveTransposesRules(), movementRules().rules};
  }
};
} // namespace

std::unique_ptr<Pass> createMoveTransposes(std::shared_ptr<PatternRun> run) {
  return std::make_unique<MoveTransposes>(std::move(run));
}

} // namespace sinter
