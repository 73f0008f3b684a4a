#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/RegionOnElements.h"
#include "passes/RuleTables.h"
#include <numeric>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static bool isPlain(Type element) {
  return isa<IntegerType, FloatType>(element);
}

/// The start indices of a dynamic slice, if they are constant, clamped so that
/// it lies inside.
static std::optional<SmallVector<int64_t>>
constantStarts(ValueRange scalars, RankedTensorType whole,
               ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> starts;
  if (!whole.hasStaticShape())
    return std::nullopt;
  for (auto [index, scalar] : llvm::enumerate(scalars)) {
    std::optional<Tensor> start = constantValue(scalar);
    if (!start || start->size() != 1)
      return std::nullopt;
    int64_t last = whole.getDimSize(index) - sizes[index];
    // An unsigned index with the sign bit set is larger than any dimension.
    bool isHuge =
        classOf(start->type()) == ElementClass::UInt && start->toInteger(0) < 0;
    starts.push_back(
        isHuge ? last : std::clamp<int64_t>(start->toInteger(0), 0, last));
  }
  return starts;
}

static SmallVector<int64_t> sum(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result;
  for (auto [x, y] : llvm::zip_equal(a, b))
    result.push_back(x + y);
  return result;
}

//===----------------------------------------------------------------------===//
// dynamic_slice, dynamic_update_slice
//===----------------------------------------------------------------------===//

/// A slice of everything starts at 0, whatever its operands.
static Value dynamicSliceFull(DynamicSliceOp op, OpBuilder &) {
  auto type = tensorOf(op.getOperand());
  return type.hasStaticShape() && type == op.getType() ? Value(op.getOperand())
                                                       : Value();
}
static Value dynamicSliceConstant(DynamicSliceOp op, OpBuilder &builder) {
  auto starts = constantStarts(op.getStartIndices(), tensorOf(op.getOperand()),
                               op.getSliceSizes());
  if (!starts)
    return {};
  return builder.create<SliceOp>(op.getLoc(), op.getType(), op.getOperand(),
                                 *starts, sum(*starts, op.getSliceSizes()),
                                 SmallVector<int64_t>(starts->size(), 1));
}
/// A slice of equal elements, at any index.
template <typename Op> static Value sliceOfRepeated(Op op, OpBuilder &builder) {
  auto type = tensorOf(op);
  if (!type.hasStaticShape())
    return {};
  if (auto constant = op.getOperand().template getDefiningOp<ConstantOp>()) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat || splat.getElementType() != type.getElementType())
      return {};
    return builder.create<ConstantOp>(op.getLoc(), type,
                                      splat.resizeSplat(type));
  }
  auto broadcast = op.getOperand().template getDefiningOp<BroadcastInDimOp>();
  if (!broadcast || tensorOf(broadcast.getOperand()).getRank() != 0)
    return {};
  return builder.create<BroadcastInDimOp>(
      op.getLoc(), type, broadcast.getOperand(), ArrayRef<int64_t>());
}
/// A slice of an update at the same index.
static Value dynamicSliceUpdate(DynamicSliceOp op, OpBuilder &) {
  auto update = op.getOperand().getDefiningOp<DynamicUpdateSliceOp>();
  if (!update || update.getUpdate().getType() != op.getType() ||
      !llvm::equal(update.getStartIndices(), op.getStartIndices()))
    return {};
  return update.getUpdate();
}
static Value updateFull(DynamicUpdateSliceOp op, OpBuilder &) {
  auto type = tensorOf(op.getUpdate());
  return type.hasStaticShape() && type == tensorOf(op.getOperand())
             ? Value(op.getUpdate())
             : Value();
}
/// An update at the same index overwrites the one before.
static Value updateUpdate(DynamicUpdateSliceOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<DynamicUpdateSliceOp>();
  if (!inner || inner.getUpdate().getType() != op.getUpdate().getType() ||
      !llvm::equal(inner.getStartIndices(), op.getStartIndices()))
    return {};
  return builder.create<DynamicUpdateSliceOp>(
      op.getLoc(), op.getType(), inner.getOperand(), op.getUpdate(),
      op.getStartIndices());
}

//===----------------------------------------------------------------------===//
// gather, scatter
//===----------------------------------------------------------------------===//

/// The index vectors of a gather, clamped so that each slice lies inside, one
/// row of operand indices for each index vector; nothing if they are not
/// constant.
static std::optional<SmallVector<SmallVector<int64_t>>>
constantRows(GatherOp op) {
  constexpr int64_t mostRows = 4096;
  auto numbers = op.getDimensionNumbers();
  auto whole = tensorOf(op.getOperand());
  std::optional<Tensor> indices = constantValue(op.getStartIndices());
  // A file may have an empty collapsed slice, which never runs.
  auto isUnit = [&](int64_t dimension) {
    return op.getSliceSizes()[dimension] == 1;
  };
  if (!indices || !whole.hasStaticShape() ||
      !numbers.getOperandBatchingDims().empty() ||
      !llvm::all_of(numbers.getCollapsedSliceDims(), isUnit) ||
      classOf(indices->type()) == ElementClass::UInt)
    return std::nullopt;
  int64_t vectorDim = numbers.getIndexVectorDim();
  int64_t length = vectorDim < indices->rank() ? indices->dim(vectorDim) : 1;
  // The components of an index vector are contiguous.
  if (length == 0 || vectorDim + 1 < indices->rank() ||
      indices->size() / length > mostRows)
    return std::nullopt;
  SmallVector<SmallVector<int64_t>> rows;
  for (int64_t at = 0; at < indices->size(); at += length) {
    SmallVector<int64_t> row(whole.getRank(), 0);
    for (int64_t i = 0; i < length; ++i) {
      int64_t dimension = numbers.getStartIndexMap()[i];
      row[dimension] = std::clamp<int64_t>(indices->toInteger(at + i), 0,
                                           whole.getDimSize(dimension) -
                                               op.getSliceSizes()[dimension]);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// The only dimension that the offset dimensions of a gather leave out (it is
/// collapsed), if they are the others in order.
static bool keepsOffsets(GatherOp op) {
  return llvm::is_sorted(op.getDimensionNumbers().getOffsetDims());
}

/// A gather of one index vector is a slice.
static Value gatherOne(GatherOp op, OpBuilder &builder) {
  auto rows = constantRows(op);
  if (!rows || rows->size() != 1 || !tensorOf(op).hasStaticShape() ||
      !keepsOffsets(op))
    return {};
  const SmallVector<int64_t> &start = rows->front();
  Value slice = builder.create<SliceOp>(op.getLoc(), op.getOperand(), start,
                                        sum(start, op.getSliceSizes()),
                                        SmallVector<int64_t>(start.size(), 1));
  return builder.create<ReshapeOp>(op.getLoc(), op.getType(), slice);
}

/// A gather of indices along one dimension with a constant step, in order, is a
/// slice with a stride.
static Value gatherSteps(GatherOp op, OpBuilder &builder) {
  auto numbers = op.getDimensionNumbers();
  auto rows = constantRows(op);
  auto result = tensorOf(op);
  auto whole = tensorOf(op.getOperand());
  if (!rows || rows->size() < 2 || numbers.getStartIndexMap().size() != 1 ||
      !result.hasStaticShape() || !keepsOffsets(op))
    return {};
  int64_t axis = numbers.getStartIndexMap()[0];
  if (!llvm::equal(numbers.getCollapsedSliceDims(), ArrayRef<int64_t>(axis)))
    return {};
  for (int64_t i = 0; i < whole.getRank(); ++i)
    if (i != axis && op.getSliceSizes()[i] != whole.getDimSize(i))
      return {};
  int64_t step = (*rows)[1][axis] - (*rows)[0][axis];
  for (size_t i = 1; i < rows->size(); ++i)
    if ((*rows)[i][axis] - (*rows)[i - 1][axis] != step || step < 1)
      return {};
  // The rows must be at the position of the axis: the offset dimensions before
  // it are those of the dimensions before the axis.
  SmallVector<int64_t> expected;
  int64_t batchRank = result.getRank() - numbers.getOffsetDims().size();
  for (int64_t i = 0; i < whole.getRank() - 1; ++i)
    expected.push_back(i < axis ? i : i + batchRank);
  if (!llvm::equal(numbers.getOffsetDims(), expected))
    return {};
  SmallVector<int64_t> starts(whole.getRank(), 0), limits(whole.getShape()),
      strides(whole.getRank(), 1);
  starts[axis] = rows->front()[axis];
  limits[axis] = rows->back()[axis] + 1;
  strides[axis] = step;
  Value slice = builder.create<SliceOp>(op.getLoc(), op.getOperand(), starts,
                                        limits, strides);
  return builder.create<ReshapeOp>(op.getLoc(), result, slice);
}

/// Whether the only index vector of \p op is 0.
static bool namesFirst(ScatterOp op) {
  auto indices = tensorOf(op.getScatterIndices());
  const int64_t vectorDim = op.getScatterDimensionNumbers().getIndexVectorDim();
  if (!indices.hasStaticShape())
    return false;
  int64_t vectors = 1;
  for (int64_t i = 0; i < indices.getRank(); ++i)
    if (i != vectorDim && indices.getDimSize(i) != 1)
      vectors = 0;
  if (vectors == 0)
    return false;
  if (indices.getNumElements() == 0)
    return true;
  std::optional<APInt> first = integerSplat(op.getScatterIndices());
  return first && first->isZero();
}

/// One update of everything: applies the region to each element and its update.
static Values scatterFull(ScatterOp op, OpBuilder &builder) {
  auto numbers = op.getScatterDimensionNumbers();
  if (op.getInputs().empty() || !numbers.getInputBatchingDims().empty() ||
      !namesFirst(op) || !appliesToElements(op.getUpdateComputation()))
    return {};
  auto type = tensorOf(op.getInputs()[0]);
  auto update = tensorOf(op.getUpdates()[0]);
  if (!type.hasStaticShape() || !update.hasStaticShape() || isEmpty(type) ||
      type.getNumElements() != update.getNumElements() ||
      llvm::any_of(op->getOperands(), [](Value value) {
        return isa<quant::QuantizedType>(tensorOf(value).getElementType());
      }))
    return {};
  // All other dimensions have size 1: the update's window has the operand's
  // layout.
  Values arguments(op.getInputs());
  for (Value each : op.getUpdates())
    arguments.push_back(builder.create<ReshapeOp>(
        op.getLoc(), type.clone(tensorOf(each).getElementType()), each));
  Values results = applyToElements(op.getUpdateComputation(), arguments,
                                   builder, op.getLoc());
  for (auto [value, to] : llvm::zip_equal(results, op->getResultTypes()))
    if (value.getType() != to)
      value = builder.create<ConvertOp>(op.getLoc(), to, value);
  return results;
}

//===----------------------------------------------------------------------===//
// iota
//===----------------------------------------------------------------------===//

static Value iotaUnit(IotaOp op, OpBuilder &builder) {
  auto type = tensorOf(op);
  if (!type.hasStaticShape() || type.getDimSize(op.getIotaDimension()) != 1 ||
      !isPlain(type.getElementType()))
    return {};
  return makeSplat(builder, op.getLoc(), type, 0);
}

static Value iotaBroadcast(IotaOp op, OpBuilder &builder) {
  auto type = tensorOf(op);
  int64_t dimension = op.getIotaDimension();
  if (type.getRank() < 2 || !type.hasStaticShape())
    return {};
  auto line = RankedTensorType::get({type.getDimSize(dimension)},
                                    type.getElementType());
  Value counted = builder.create<IotaOp>(op.getLoc(), line, 0);
  return builder.create<BroadcastInDimOp>(op.getLoc(), type, counted,
                                          ArrayRef<int64_t>(dimension));
}

RuleTable indexingRules() {
  static const std::vector<RewriteRule> rules = {
      rule<DynamicSliceOp, dynamicSliceFull>(
          "dynamic-slice-full", "dynamic_slice(x, i) of all of x -> x"),
      rule<DynamicSliceOp, dynamicSliceConstant>(
          "dynamic-slice-to-slice", "dynamic_slice(x, [2]) -> slice(x)"),
      rule<DynamicSliceOp, sliceOfRepeated<DynamicSliceOp>>(
          "dynamic-slice-splat",
          "dynamic_slice(broadcast(scalar), i) -> broadcast(scalar)"),
      rule<DynamicSliceOp, dynamicSliceUpdate>(
          "dynamic-slice-update",
          "dynamic_slice(dynamic_update_slice(x, u, i), i) -> u"),
      rule<DynamicUpdateSliceOp, updateFull>(
          "dynamic-update-full",
          "dynamic_update_slice(x, u, i) of all of x -> u"),
      rule<DynamicUpdateSliceOp, updateUpdate>(
          "dynamic-update-again",
          "dynamic_update_slice(dynamic_update_slice(x, u, i), v, i) -> "
          "dynamic_update_slice(x, v, i)"),
      rule<GatherOp, sliceOfRepeated<GatherOp>>(
          "gather-splat", "gather(broadcast(scalar), i) -> broadcast(scalar)"),
      form(rule<GatherOp, gatherOne>("gather-to-slice",
                                     "gather(x, [3]) -> slice(x)")),
      form(rule<GatherOp, gatherSteps>(
          "gather-steps", "gather(x, [1, 3, 5]) -> slice(x, 1:6:2)")),
      rule<ScatterOp, scatterFull>(
          "scatter-full",
          "scatter(x, [0], u) of all of x {return op(x, u)} -> op(x, u)"),
      rule<IotaOp, iotaUnit>("iota-unit", "iota of size 1 -> 0"),
      rule<IotaOp, iotaBroadcast>("iota-broadcast",
                                  "iota : 2x3 -> broadcast_in_dim(iota : 3)"),
  };
  return {"Positions known only at run time, gather, scatter, iota", rules};
}

} // namespace sinter
