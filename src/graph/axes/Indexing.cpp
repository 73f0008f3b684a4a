// Axes of operations that read or write at computed indices.

#include "graph/axes/Axes.h"

#include "graph/chlo/ChloOps.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/NnTrees.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {

/// Whether two dimensions have the same static size.
static bool areAsLarge(const Builder &builder, Place lhs, Place rhs) {
  int64_t size = builder.sizeAt(lhs);
  return !ShapedType::isDynamic(size) && size == builder.sizeAt(rhs);
}

/// The dimensions below \p rank that are not in \p lists, in order.
static SmallVector<int64_t>
dimensionsWithout(int64_t rank,
                  std::initializer_list<ArrayRef<int64_t>> lists) {
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i)
    if (llvm::none_of(lists, [&](ArrayRef<int64_t> list) {
          return llvm::is_contained(list, i);
        }))
      others.push_back(i);
  return others;
}

//===----------------------------------------------------------------------===//
// gather and scatter
//===----------------------------------------------------------------------===//

/// Operand 0 is gathered from, operand 1 holds the indices.
template <typename Op> static Axes gathered(Op op) {
  Builder builder(op);
  auto numbers = op.getDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getOperandBatchingDims(),
                    offsets = numbers.getOffsetDims();
  // A slice as large as the operand must start at 0.
  SmallVector<int64_t> sliced = dimensionsWithout(
      builder.rankOf(0), {batching, numbers.getCollapsedSliceDims()});
  for (auto [from, to] : llvm::zip_equal(sliced, offsets)) {
    bool isWhole = areAsLarge(builder, operand(0, from), result(to));
    builder.add(isWhole ? AxisKind::Kept : AxisKind::Resized,
                {operand(0, from), result(to)}, builder.sizeAt(result(to)));
  }
  SmallVector<int64_t> places =
      dimensionsWithout(builder.resultRank(), {offsets});
  SmallVector<int64_t> indices =
      dimensionsWithout(builder.rankOf(1), {numbers.getIndexVectorDim()});
  for (auto [index, place] : llvm::zip_equal(indices, places)) {
    SmallVector<Place> all = {operand(1, index), result(place)};
    const auto *batch =
        llvm::find(numbers.getStartIndicesBatchingDims(), index);
    if (size_t i = batch - numbers.getStartIndicesBatchingDims().begin();
        i < batching.size())
      all.push_back(operand(0, batching[i]));
    builder.keep(all);
  }
  return builder.take();
}

/// Several inputs, and their updates, have the same axes.
static Axes scattered(ScatterOp op) {
  Builder builder(op);
  auto numbers = op.getScatterDimensionNumbers();
  const unsigned count = op.getInputs().size();
  auto everyInput = [&](int64_t dimension) {
    SmallVector<Place> places;
    for (unsigned i = 0; i < count; ++i)
      places.append({operand(i, dimension), result(i, dimension)});
    return places;
  };
  auto everyUpdate = [&](int64_t dimension) {
    SmallVector<Place> places;
    for (unsigned i = 0; i < count; ++i)
      places.push_back(operand(count + 1 + i, dimension));
    return places;
  };
  const int64_t rank = builder.rankOf(0);
  ArrayRef<int64_t> batching = numbers.getInputBatchingDims();
  auto window =
      dimensionsWithout(rank, {batching, numbers.getInsertedWindowDims()});
  for (int64_t dimension : numbers.getInsertedWindowDims())
    builder.mix(everyInput(dimension));
  for (auto [dimension, update] :
       llvm::zip_equal(window, numbers.getUpdateWindowDims())) {
    SmallVector<Place> places = everyInput(dimension);
    bool isWhole = areAsLarge(builder, places[0], everyUpdate(update)[0]);
    if (isWhole)
      places.append(everyUpdate(update));
    builder.add(isWhole ? AxisKind::Kept : AxisKind::Mixed, places);
  }
  auto indices =
      dimensionsWithout(builder.rankOf(count), {numbers.getIndexVectorDim()});
  auto updates = dimensionsWithout(builder.rankOf(count + 1),
                                   {numbers.getUpdateWindowDims()});
  for (auto [index, update] : llvm::zip_equal(indices, updates)) {
    SmallVector<Place> places = everyUpdate(update);
    places.push_back(operand(count, index));
    const auto *batch =
        llvm::find(numbers.getScatterIndicesBatchingDims(), index);
    size_t i = batch - numbers.getScatterIndicesBatchingDims().begin();
    if (i < batching.size())
      places.append(everyInput(batching[i]));
    builder.add(i < batching.size() ? AxisKind::Kept : AxisKind::Mixed, places);
  }
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Slices along one dimension
//===----------------------------------------------------------------------===//

/// The indices' dimensions replace the dimension \p axis; the first \p batches
/// of them are the operand's.
static Axes taken(Operation *op, int64_t axis, int64_t batches) {
  Builder builder(op);
  const int64_t added = builder.rankOf(1) - batches;
  for (int64_t i = 0; i < builder.rankOf(0); ++i) {
    if (i < batches)
      builder.keep({operand(0, i), operand(1, i), result(i)});
    else if (i != axis)
      builder.keep({operand(0, i), result(i < axis ? i : i + added - 1)});
  }
  for (int64_t i = 0; i < added; ++i)
    builder.keep({operand(1, batches + i), result(axis + i)});
  return builder.take();
}
static Axes takenSlices(nn::TakeOp op) { return taken(op, op.getAxis(), 0); }
static Axes selectedIndices(TorchIndexSelectOp op) {
  return taken(op, op.getDim(), op.getBatchDims());
}

/// The indices have the result's shape, and lie within the operand's.
static Axes takenAlong(nn::TakeAlongOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    if (i == static_cast<int64_t>(op.getAxis()))
      builder.keep({operand(1, i), result(i)});
    else if (areAsLarge(builder, operand(0, i), operand(1, i)))
      builder.keep({operand(0, i), operand(1, i), result(i)});
    else
      builder.mix({operand(1, i), result(i)});
  return builder.take();
}

static Axes oneHot(nn::OneHotOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.rankOf(0); ++i)
    builder.keep({operand(0, i),
                  result(i < static_cast<int64_t>(op.getAxis()) ? i : i + 1)});
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Indices along one dimension
//===----------------------------------------------------------------------===//

template <typename Op> static Axes extreme(Op op) {
  Builder builder(op);
  const int64_t axis = op.getAxis();
  for (int64_t i = 0; i < builder.rankOf(0); ++i)
    if (i != axis)
      builder.keep({operand(0, i),
                    result(i > axis && !op.getKeepDimension() ? i - 1 : i)});
  return builder.take();
}

static Axes greatest(Operation *op, int64_t axis) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.rankOf(0); ++i)
    builder.add(i == axis ? AxisKind::Resized : AxisKind::Kept,
                {operand(0, i), result(0, i), result(1, i)},
                builder.sizeAt(i == axis ? result(i) : operand(0, i)));
  return builder.take();
}
static Axes topOfAxis(nn::TopKOp op) { return greatest(op, op.getAxis()); }
static Axes topOfRow(chlo::TopKOp op) {
  return greatest(op, tensorOf(op.getOperand()).getRank() - 1);
}

static Axes sorted(SortOp op) {
  Builder builder(op);
  int64_t rank = builder.resultRank(), dimension = op.getDimension();
  builder.alike(rank, AxisKind::Mixed, [&](int64_t i) {
    return i == (dimension < 0 ? dimension + rank : dimension);
  });
  return builder.take();
}

/// Each row by itself; any feature may decide.
static Axes rowsThroughTrees(nn::TreeEnsembleOp op) {
  Builder builder(op);
  builder.keep({operand(0, 0), result(0)});
  return builder.take();
}

/// Operations that use only the element count.
static Axes sizesOnly(Operation *op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.rankOf(0); ++i)
    builder.reduce({operand(0, i)});
  return builder.take();
}

void attachIndexing(MLIRContext *c) {
  attach<GatherOp, gathered<GatherOp>>(c);
  attach<DynamicGatherOp, gathered<DynamicGatherOp>>(c);
  attach<ScatterOp, scattered>(c);
  attach<nn::TakeOp, takenSlices>(c);
  attach<nn::TakeAlongOp, takenAlong>(c);
  attach<TorchIndexSelectOp, selectedIndices>(c);
  attach<nn::OneHotOp, oneHot>(c);
  attach<nn::ArgMaxOp, extreme<nn::ArgMaxOp>>(c);
  attach<nn::ArgMinOp, extreme<nn::ArgMinOp>>(c);
  attach<nn::TopKOp, topOfAxis>(c);
  attach<chlo::TopKOp, topOfRow>(c);
  attach<SortOp, sorted>(c);
  attach<nn::TreeEnsembleOp, rowsThroughTrees>(c);
  attach<nn::ShapeOp, sizesOnly>(c);
  attach<GetDimensionSizeOp, sizesOnly>(c);
}

} // namespace sinter::axes
