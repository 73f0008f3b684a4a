// Gradients of what processes do together. The number that is differentiated
// is the sum of what all processes have; each gets the gradient by its own
// operands, and all of them come to the same operations again.

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// A collective operation on \p operands with the groups of \p like and with
/// \p attributes. \p combiner: the operation on two scalars, if it has a
/// region.
static Value together(TensorBuilder &e, StringRef name, Operation *like,
                      ValueRange operands, Type type,
                      ArrayRef<NamedAttribute> attributes = {},
                      StringRef combiner = "") {
  OperationState state(e.location, name);
  state.addOperands(operands);
  state.addTypes(type);
  state.addAttributes(attributes);
  SmallVector<StringRef> kept = {"replica_groups", "channel_handle",
                                 "use_global_device_ids"};
  if (name != AllReduceOp::getOperationName())
    kept.push_back("has_dynamic_root");
  for (StringRef each : kept)
    if (Attribute value = like->getAttr(each))
      state.addAttribute(each, value);
  Region *region = combiner.empty() ? nullptr : state.addRegion();
  if (region) {
    Type scalar =
        RankedTensorType::get({}, tensorOf(operands[0]).getElementType());
    e.fill(*region, {scalar, scalar},
           [&](TensorBuilder &inner, ValueRange pair) {
             OperationState combine(inner.location, combiner);
             combine.addOperands(pair);
             combine.addTypes(pair[0].getType());
             return SmallVector<Value>(
                 inner.builder.create(combine)->getResults());
           });
  }
  return e.builder.create(state)->getResult(0);
}

/// The sum (product) of what the processes of a group of \p like have.
static Value combined(TensorBuilder &e, Operation *like, Value value,
                      StringRef combiner = AddOp::getOperationName()) {
  return together(e, AllReduceOp::getOperationName(), like, value,
                  value.getType(), {}, combiner);
}

/// The gradient by \p operand, which together with those of the other
/// processes gives \p result in each of them; \p sum is what all of them have
/// as gradients by it. Of the greatest (least) ones, and of factors, each gets
/// its share. Null for other combiners.
static Value reducedBy(Operation *op, TensorBuilder &e, Value operand,
                       Value result, Value sum, StringRef combiner) {
  Type element = tensorOf(operand).getElementType();
  if (combiner == AddOp::getOperationName())
    return e.convert(sum, element);
  Value x = e.convert(operand, tensorOf(result).getElementType());
  auto where = [&](Value condition, Value value) {
    return e.convert(e.select(condition, value, e.splat(0, tensorOf(value))),
                     element);
  };
  bool isExtreme = combiner == MaxOp::getOperationName() ||
                   combiner == MinOp::getOperationName();
  if (isExtreme && isDifferentiable(x)) {
    Value isBest = e.compare(ComparisonDirection::EQ, x, result);
    Value sharers =
        combined(e, op, e.convert(isBest, tensorOf(result).getElementType()));
    return where(isBest, e.div(sum, sharers));
  }
  if (combiner != MulOp::getOperationName())
    return {};
  Value isZero = e.compare(ComparisonDirection::EQ, x, 0);
  Value count = e.convert(isZero, e.integerType(64));
  Value others = e.sub(combined(e, op, count), count);
  Value factor = e.select(isZero, e.splat(1, tensorOf(x)), x);
  Value product = combined(e, op, factor, MulOp::getOperationName());
  return where(e.compare(ComparisonDirection::EQ, others, 0),
               e.mul(sum, conjugate(e, e.div(product, factor))));
}

/// The same where not every process has the whole result, which extremes need.
static Value reducedApart(Operation *op, TensorBuilder &e, Value operand,
                          Value sum, StringRef combiner) {
  Value whole = sum;
  if (combiner == MaxOp::getOperationName() ||
      combiner == MinOp::getOperationName())
    whole = combined(e, op, e.convert(operand, tensorOf(sum).getElementType()),
                     combiner);
  return reducedBy(op, e, operand, whole, sum, combiner);
}

/// All operands of a sum go back in one exchange.
static Gradients summed(AllReduceOp op, TensorBuilder &e, ValueRange dy) {
  SmallVector<Value> seeds;
  for (auto [result, seed] : llvm::zip_equal(op.getResults(), dy))
    seeds.push_back(seed ? seed : e.splat(0, tensorOf(result)));
  Operation *back = e.builder.clone(*op);
  back->setOperands(seeds);
  return SmallVector<Value>(back->getResults());
}

static Gradients reduced(AllReduceOp op, TensorBuilder &e, ValueRange dy) {
  StringRef combiner = combinerOf(op.getComputation());
  bool isPlain = op->getOperandTypes() == op->getResultTypes() &&
                 llvm::all_of(op.getOperands(), hasGradient);
  if (combiner == AddOp::getOperationName() && isPlain)
    return summed(op, e, dy);
  SmallVector<Value> gradients;
  for (auto [operand, result, seed] :
       llvm::zip_equal(op.getOperands(), op.getResults(), dy)) {
    gradients.push_back(
        seed && hasGradient(operand)
            ? reducedBy(op, e, operand, result, combined(e, op, seed), combiner)
            : Value());
    if (seed && hasGradient(operand) && !gradients.back())
      return failure();
  }
  return gradients;
}

/// Builds a gradient of each operand that has one; those left over are indices.
/// Failure where there is none to build.
static Gradients
forEach(Operation *op, ValueRange dy,
        llvm::function_ref<Value(Value operand, Value dy)> build) {
  SmallVector<Value> gradients(op->getNumOperands());
  for (auto [i, seed] : llvm::enumerate(dy))
    if (seed && hasGradient(op->getOperand(i))) {
      gradients[i] = build(op->getOperand(i), seed);
      if (!gradients[i])
        return failure();
    }
  return gradients;
}

static Gradients gathered(AllGatherOp op, TensorBuilder &e, ValueRange dy) {
  NamedAttribute dimension = e.builder.getNamedAttr(
      "scatter_dimension", op->getAttr("all_gather_dim"));
  return forEach(op, dy, [&](Value operand, Value seed) {
    return together(e, ReduceScatterOp::getOperationName(), op, seed,
                    operand.getType(), dimension, AddOp::getOperationName());
  });
}

static Gradients reducedAndScattered(ReduceScatterOp op, TensorBuilder &e,
                                     ValueRange dy) {
  StringRef combiner = combinerOf(op.getComputation());
  NamedAttribute dimension = e.builder.getNamedAttr(
      "all_gather_dim", op->getAttr("scatter_dimension"));
  return forEach(op, dy, [&](Value operand, Value seed) {
    Type whole = tensorOf(operand).clone(tensorOf(seed).getElementType());
    return reducedApart(op, e, operand,
                        together(e, AllGatherOp::getOperationName(), op, seed,
                                 whole, dimension),
                        combiner);
  });
}

/// What was split is joined, and what was joined is split.
static Gradients exchanged(AllToAllOp op, TensorBuilder &e, ValueRange dy) {
  Builder &b = e.builder;
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("split_dimension", op->getAttr("concat_dimension")),
      b.getNamedAttr("concat_dimension", op->getAttr("split_dimension")),
      b.getNamedAttr("split_count", op->getAttr("split_count"))};
  return forEach(op, dy, [&](Value operand, Value seed) {
    return together(e, AllToAllOp::getOperationName(), op, seed,
                    operand.getType(), attributes);
  });
}

/// Back from the targets to the sources.
static Gradients permuted(CollectivePermuteOp op, TensorBuilder &e,
                          ValueRange dy) {
  auto pairs = llvm::to_vector(op.getSourceTargetPairs().getValues<int64_t>());
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    std::swap(pairs[i], pairs[i + 1]);
  NamedAttribute back = e.builder.getNamedAttr(
      "source_target_pairs",
      DenseIntElementsAttr::get(op.getSourceTargetPairs().getType(),
                                ArrayRef<int64_t>(pairs)));
  return forEach(op, dy, [&](Value operand, Value seed) {
    return together(e, CollectivePermuteOp::getOperationName(), op, seed,
                    operand.getType(), back);
  });
}

/// The operands of the gradient of something with a root, which may be an
/// operand: the last one.
static SmallVector<Value> withRoot(Operation *op, bool hasRoot, Value seed) {
  SmallVector<Value> operands = {seed};
  if (hasRoot)
    operands.push_back(op->getOperands().back());
  return operands;
}

/// The root gets the sum of what all have.
static Gradients broadcast(CollectiveBroadcastOp op, TensorBuilder &e,
                           ValueRange dy) {
  return forEach(op, dy, [&](Value operand, Value seed) {
    return together(e, CollectiveReduceOp::getOperationName(), op,
                    withRoot(op, op.getHasDynamicRoot(), seed),
                    operand.getType(), {}, AddOp::getOperationName());
  });
}

/// All get what the root has.
static Gradients reducedToOne(CollectiveReduceOp op, TensorBuilder &e,
                              ValueRange dy) {
  StringRef combiner = combinerOf(op.getComputation());
  return forEach(op, dy, [&](Value operand, Value seed) {
    return reducedApart(op, e, operand,
                        together(e, CollectiveBroadcastOp::getOperationName(),
                                 op, withRoot(op, op.getHasDynamicRoot(), seed),
                                 seed.getType()),
                        combiner);
  });
}

void attachDistribution(MLIRContext *context) {
  attach<AllReduceOp, reduced>(context);
  attach<AllGatherOp, gathered>(context);
  attach<ReduceScatterOp, reducedAndScattered>(context);
  attach<AllToAllOp, exchanged>(context);
  attach<CollectivePermuteOp, permuted>(context);
  attach<CollectiveBroadcastOp, broadcast>(context);
  attach<CollectiveReduceOp, reducedToOne>(context);
}

} // namespace sinter::gradient
