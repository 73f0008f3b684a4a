#include "graph/Broadcast.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static bool isEmptyTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isEmpty(type);
}

//===----------------------------------------------------------------------===//
// Empty results
//===----------------------------------------------------------------------===//

static Value emptyConstant(RankedTensorType type, Location location,
                           OpBuilder &builder) {
  return builder.create<ConstantOp>(
      location, type, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
}

/// Whether \p value is an empty tensor of static shape, which is a constant
/// whatever computes it.
static bool isKnownEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && isEmpty(type) &&
         isa<IntegerType, FloatType, ComplexType>(type.getElementType());
}
static Values emptyResults(Operation *op, OpBuilder &builder) {
  if (op->getNumResults() == 0 || isa<ConstantOp>(op) ||
      !llvm::all_of(op->getResults(), isKnownEmpty) || !isMemoryEffectFree(op))
    return {};
  Values results;
  for (Type type : op->getResultTypes())
    results.push_back(
        emptyConstant(cast<RankedTensorType>(type), op->getLoc(), builder));
  return results;
}

//===----------------------------------------------------------------------===//
// Empty operands
//===----------------------------------------------------------------------===//

static Value updateNothing(DynamicUpdateSliceOp op, OpBuilder &) {
  return isEmptyTensor(op.getUpdate()) ? Value(op.getOperand()) : Value();
}

static Values scatterNothing(ScatterOp op, OpBuilder &) {
  return !op.getUpdates().empty() &&
                 llvm::all_of(op.getUpdates(), isEmptyTensor)
             ? Values(op.getInputs())
             : Values();
}

/// Without a selected element, every result is the initial value.
static Value selectFromNothing(SelectAndScatterOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getResult());
  Value init = op.getInitValue();
  if (!isEmptyTensor(op.getSource()) || isEmpty(type) ||
      tensorOf(init).getRank() != 0 ||
      tensorOf(init).getElementType() != type.getElementType())
    return {};
  return broadcastTo(builder, op.getLoc(), type, init, {}, op.getOperand());
}

static Values reduceEmpty(ReduceOp op, OpBuilder &builder) {
  if (op.getInputs().empty() || !isEmptyTensor(op.getInputs()[0]))
    return {};
  const Value input = op.getInputs()[0];
  SizeSources sizes;
  for (int64_t i = 0; i < tensorOf(input).getRank(); ++i)
    if (!llvm::is_contained(op.getDimensions(), i))
      sizes.push_back({input, i});
  return repeatedInResults(op, op.getInitValues(), sizes, builder);
}

/// A matmul or convolution without terms is zero.
static Value sumOfNothing(Operation *op, const SizeSources &sizes,
                          OpBuilder &builder) {
  auto type = tensorOf(op->getResult(0));
  if (!isa<FloatType, IntegerType>(type.getElementType()))
    return {};
  auto scalar = type.clone(ArrayRef<int64_t>());
  Value zero = makeSplat(builder, op->getLoc(), scalar, 0);
  return broadcastScalar(builder, op->getLoc(), type, zero, sizes);
}

static Value dotNothing(DotGeneralOp op, OpBuilder &builder) {
  const ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  auto isNothing = [&](int64_t dimension) {
    return tensorOf(op.getLhs()).getDimSize(dimension) == 0;
  };
  if (!llvm::any_of(lhs.contracting, isNothing))
    return {};
  SizeSources sizes;
  for (int64_t dimension : lhs.batching)
    sizes.push_back({op.getLhs(), dimension});
  for (const ProductSide &side : {lhs, rhs})
    for (int64_t dimension : side.free())
      sizes.push_back({side.value, dimension});
  return sumOfNothing(op, sizes, builder);
}

/// A convolution of images without features.
static Value convolutionNothing(ConvolutionOp op, OpBuilder &builder) {
  auto type = tensorOf(op.getLhs());
  const int64_t feature = op.getDimensionNumbers().getInputFeatureDimension();
  return type.getDimSize(feature) == 0 && tensorOf(op).hasStaticShape()
             ? sumOfNothing(op, {}, builder)
             : Value();
}

//===----------------------------------------------------------------------===//
// Index vectors of length 0
//===----------------------------------------------------------------------===//

/// Whether the collapsed dimensions of a gather have slices of size 1. A file
/// may have an empty slice there, which never runs.
static bool collapsesUnits(GatherOp op) {
  return llvm::all_of(
      op.getDimensionNumbers().getCollapsedSliceDims(),
      [&](int64_t dimension) { return op.getSliceSizes()[dimension] == 1; });
}

/// Index vectors of length 0 all mean index 0.
static Value gatherFirst(GatherOp op, OpBuilder &builder) {
  auto numbers = op.getDimensionNumbers();
  auto indices = tensorOf(op.getStartIndices());
  auto type = tensorOf(op);
  const int64_t vectorDim = numbers.getIndexVectorDim();
  if (vectorDim >= indices.getRank() || indices.getDimSize(vectorDim) != 0 ||
      !numbers.getOperandBatchingDims().empty() || !type.hasStaticShape() ||
      isEmpty(type) || !collapsesUnits(op) ||
      isa<quant::QuantizedType>(type.getElementType()) ||
      !llvm::is_sorted(numbers.getOffsetDims()))
    return {};
  const int64_t rank = tensorOf(op.getOperand()).getRank();
  SmallVector<int64_t> offsets, starts(rank, 0), strides(rank, 1);
  for (int64_t dimension : numbers.getOffsetDims())
    offsets.push_back(type.getDimSize(dimension));
  Value slice = builder.create<SliceOp>(op.getLoc(), op.getOperand(), starts,
                                        op.getSliceSizes(), strides);
  Value kept = builder.create<ReshapeOp>(
      op.getLoc(), RankedTensorType::get(offsets, type.getElementType()),
      slice);
  return builder.create<BroadcastInDimOp>(op.getLoc(), type, kept,
                                          numbers.getOffsetDims());
}

RuleTable emptyRules() {
  static const std::vector<RewriteRule> rules = {
      rule<Operation *, emptyResults>("empty-result",
                                      "op(...) : 0 elements -> constant"),
      rule<DynamicUpdateSliceOp, updateNothing>(
          "dynamic-update-nothing",
          "dynamic_update_slice(x, u : 0 elements, i) -> x"),
      rule<ScatterOp, scatterNothing>("scatter-nothing",
                                      "scatter(x, i, u : 0 elements) -> x"),
      rule<SelectAndScatterOp, selectFromNothing>(
          "select-and-scatter-nothing",
          "select_and_scatter(x, y : 0 elements, init) -> broadcast(init)"),
      rule<ReduceOp, reduceEmpty>("reduce-empty",
                                  "reduce(x : 0x3, init) -> broadcast(init)"),
      rule<DotGeneralOp, dotNothing>("dot-nothing", "x : 2x0 * y : 0x3 -> 0"),
      rule<ConvolutionOp, convolutionNothing>(
          "convolution-nothing", "convolution(x : 1x0x8x8, k) -> 0"),
      rule<GatherOp, gatherFirst>("gather-first",
                                  "gather(x, i : 4x0) -> broadcast(slice(x))"),
  };
  return {"Empty tensors", rules};
}

} // namespace sinter
