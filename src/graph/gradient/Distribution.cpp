// Gradients of collective operations. The scalar that is differentiated is the
// sum over all processes; each process gets the gradient by its own operands,
// and all of them run the same collectives in the backward pass.

#include "graph/Collectives.h"
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
  if (name == CollectiveBroadcastOp::getOperationName() ||
      name == CollectiveReduceOp::getOperationName())
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

/// The sum (product) of \p value over the processes of a group of \p like.
static Value combined(TensorBuilder &e, Operation *like, Value value,
                      StringRef combiner = AddOp::getOperationName()) {
  return together(e, AllReduceOp::getOperationName(), like, value,
                  value.getType(), {}, combiner);
}

std::optional<int64_t> groupSizeOf(Operation *op) {
  Result<Groups> groups = groupsOf(op);
  if (!groups || groups->ids.empty() ||
      (groups->grouping != Grouping::CrossReplica &&
       groups->grouping != Grouping::FlattenedIds))
    return std::nullopt;
  for (const std::vector<int64_t> &row : groups->ids)
    if (row.size() != groups->ids.front().size() || llvm::is_contained(row, -1))
      return std::nullopt;
  return static_cast<int64_t>(groups->ids.front().size());
}

/// The index of a process in its group of \p size, by a reduce_scatter like
/// \p op of the indices: the sum has each of them times the process count.
static Value indexInGroup(ReduceScatterOp op, TensorBuilder &e, int64_t size) {
  Type integer = e.integerType(64);
  Value places = e.make<IotaOp>(RankedTensorType::get({size}, integer), 0);
  Value sum = together(e, ReduceScatterOp::getOperationName(), op, places,
                       RankedTensorType::get({1}, integer),
                       e.builder.getNamedAttr("scatter_dimension",
                                              e.builder.getI64IntegerAttr(0)),
                       AddOp::getOperationName());
  return e.div(e.reshape(sum, {}), static_cast<double>(size));
}

/// The operands \p operand of \p op of all processes of a group, stacked along
/// a new first dimension; for a reduce_scatter only the slice that this process
/// gets.
static Value gatheredOperands(Operation *op, TensorBuilder &e, Value operand,
                              int64_t size) {
  auto type = tensorOf(operand);
  SmallVector<int64_t> one = {1}, all = {size};
  llvm::append_range(one, type.getShape());
  llvm::append_range(all, type.getShape());
  Value parts = together(
      e, AllGatherOp::getOperationName(), op, e.reshape(operand, one),
      type.clone(all),
      e.builder.getNamedAttr("all_gather_dim", e.builder.getI64IntegerAttr(0)));
  auto scatter = dyn_cast<ReduceScatterOp>(op);
  if (!scatter)
    return parts;
  const size_t dimension = scatter.getScatterDimension() + 1;
  all[dimension] /= size;
  SmallVector<Value> starts(all.size(), e.scalar(0, e.integerType(64)));
  starts[dimension] = e.mul(indexInGroup(scatter, e, size),
                            static_cast<double>(all[dimension]));
  return e.make<DynamicSliceOp>(parts, starts, all);
}

/// The operands of the gradient of an operation with a root. The root may be an
/// operand: the last one.
static SmallVector<Value> withRoot(Operation *op, bool hasRoot, Value seed) {
  SmallVector<Value> operands = {seed};
  if (hasRoot)
    operands.push_back(op->getOperands().back());
  return operands;
}

/// \p value in the processes that get a result of \p op, else zeros.
static Value atRoot(CollectiveReduceOp op, TensorBuilder &e, Value value) {
  auto count = RankedTensorType::get({}, e.integerType(64));
  Value counted =
      together(e, CollectiveReduceOp::getOperationName(), op,
               withRoot(op, op.getHasDynamicRoot(), e.splat(1, count)), count,
               {}, AddOp::getOperationName());
  Value isHere = e.compare(ComparisonDirection::GT, counted, 0);
  return e.select(e.broadcast(isHere, {}, tensorOf(value).getShape()), value,
                  e.splat(0, tensorOf(value)));
}

/// For any body: each process gathers the operands of its group and combines
/// them itself, as in the specification, and gradients go back through that.
static Gradients throughGather(Operation *op, Region &computation,
                               TensorBuilder &e, ValueRange dy) {
  const std::optional<int64_t> size = groupSizeOf(op);
  if (!size)
    return failure();
  SmallVector<Value> results;
  for (auto [i, result] : llvm::enumerate(op->getResults())) {
    results.push_back(result);
    if (!dy[i])
      continue;
    Value parts = gatheredOperands(op, e, op->getOperand(i), *size);
    ArrayRef<int64_t> shape = tensorOf(parts).getShape();
    SmallVector<Value> rows;
    for (int64_t row = 0; row < *size; ++row) {
      SmallVector<int64_t> starts(shape.size(), 0), limits(shape),
          strides(shape.size(), 1);
      starts[0] = row;
      limits[0] = row + 1;
      rows.push_back(e.reshape(e.make<SliceOp>(parts, starts, limits, strides),
                               shape.drop_front()));
    }
    auto combined = combinedInOrder(e, computation.front(), rows);
    if (failed(combined))
      return failure();
    auto toOne = dyn_cast<CollectiveReduceOp>(op);
    results.back() = toOne ? atRoot(toOne, e, *combined) : *combined;
  }
  return backpropagateKnown(e.builder, results, dy, sourcesOf(op));
}

/// Whether there is a gradient by \p operand without a gather of all processes'
/// operands.
static bool isKnown(StringRef combiner, Value operand) {
  return combiner == AddOp::getOperationName() ||
         combiner == MulOp::getOperationName() ||
         ((combiner == MaxOp::getOperationName() ||
           combiner == MinOp::getOperationName()) &&
          isDifferentiable(operand));
}

/// Whether isKnown() holds for all operands of \p op that have gradients.
static bool areKnown(Operation *op, StringRef combiner, ValueRange dy) {
  return llvm::all_of(llvm::enumerate(dy), [&](const auto &each) {
    Value operand = op->getOperand(each.index());
    return !each.value() || !hasGradient(operand) || isKnown(combiner, operand);
  });
}

/// The gradient by \p operand, which all processes reduce to \p result; \p sum
/// is the sum of their gradients by the result. Maxima (minima) share it
/// equally; factors get it times the other factors. Only where isKnown().
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
  if (combiner != MulOp::getOperationName()) {
    Value isBest = e.compare(ComparisonDirection::EQ, x, result);
    Value sharers =
        combined(e, op, e.convert(isBest, tensorOf(result).getElementType()));
    return where(isBest, e.div(sum, sharers));
  }
  Value isZero = e.compare(ComparisonDirection::EQ, x, 0);
  Value count = e.convert(isZero, e.integerType(64));
  Value others = e.sub(combined(e, op, count), count);
  Value factor = e.select(isZero, e.splat(1, tensorOf(x)), x);
  Value product = combined(e, op, factor, MulOp::getOperationName());
  return where(e.compare(ComparisonDirection::EQ, others, 0),
               e.mul(sum, conjugate(e, e.div(product, factor))));
}

/// The same where not every process has the whole result, which maxima and
/// minima need.
static Value reducedApart(Operation *op, TensorBuilder &e, Value operand,
                          Value sum, StringRef combiner) {
  Value whole = sum;
  if (combiner == MaxOp::getOperationName() ||
      combiner == MinOp::getOperationName())
    whole = combined(e, op, e.convert(operand, tensorOf(sum).getElementType()),
                     combiner);
  return reducedBy(op, e, operand, whole, sum, combiner);
}

/// The gradients of all operands of a sum take one collective.
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
  if (!areKnown(op, combiner, dy))
    return throughGather(op, op.getComputation(), e, dy);
  SmallVector<Value> gradients;
  for (auto [operand, result, seed] :
       llvm::zip_equal(op.getOperands(), op.getResults(), dy))
    gradients.push_back(
        seed && hasGradient(operand)
            ? reducedBy(op, e, operand, result, combined(e, op, seed), combiner)
            : Value());
  return gradients;
}

/// Builds the gradient of each operand that has one; the others are indices.
static Gradients
forEach(Operation *op, ValueRange dy,
        llvm::function_ref<Value(Value operand, Value dy)> build) {
  SmallVector<Value> gradients(op->getNumOperands());
  for (auto [i, seed] : llvm::enumerate(dy))
    if (seed && hasGradient(op->getOperand(i)))
      gradients[i] = build(op->getOperand(i), seed);
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
  if (!areKnown(op, combiner, dy))
    return throughGather(op, op.getComputation(), e, dy);
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

/// The inverse: concatenates what was split, and splits what was concatenated.
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

/// The root gets the sum over all processes.
static Gradients broadcast(CollectiveBroadcastOp op, TensorBuilder &e,
                           ValueRange dy) {
  return forEach(op, dy, [&](Value operand, Value seed) {
    return together(e, CollectiveReduceOp::getOperationName(), op,
                    withRoot(op, op.getHasDynamicRoot(), seed),
                    operand.getType(), {}, AddOp::getOperationName());
  });
}

/// All processes get the root's gradient.
static Gradients reducedToOne(CollectiveReduceOp op, TensorBuilder &e,
                              ValueRange dy) {
  StringRef combiner = combinerOf(op.getComputation());
  if (!areKnown(op, combiner, dy))
    return throughGather(op, op.getComputation(), e, dy);
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
