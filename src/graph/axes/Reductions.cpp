// Axes of reductions and windowed operations.

#include "graph/axes/Axes.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {

static Axes reduced(ReduceOp op) {
  Builder builder(op);
  int64_t place = 0;
  for (int64_t i = 0; i < builder.rankOf(0); ++i) {
    const bool isGone = llvm::is_contained(op.getDimensions(), i);
    SmallVector<Place> places;
    for (unsigned each = 0; each < op.getInputs().size(); ++each) {
      places.push_back(operand(each, i));
      if (!isGone)
        places.push_back(result(each, place));
    }
    builder.add(isGone ? AxisKind::Reduced : AxisKind::Kept, places);
    place += !isGone;
  }
  return builder.take();
}

/// Whether each window is a single element.
static bool isTrivial(const WindowDimension &window) {
  return window.size == 1 && window.stride == 1 && window.baseDilation == 1 &&
         window.paddingLow == 0 && window.paddingHigh == 0;
}

static Axes windowed(ReduceWindowOp op) {
  Builder builder(op);
  for (auto [i, window] : llvm::enumerate(op.getWindow())) {
    SmallVector<Place> places;
    for (unsigned each = 0; each < op.getInputs().size(); ++each)
      places.append({operand(each, i), result(each, i)});
    if (isTrivial(window))
      builder.keep(places);
    else
      builder.add(AxisKind::Resized, places,
                  windowedSize(builder.sizeAt(places[0]), window)
                      .value_or(ShapedType::kDynamic));
  }
  return builder.take();
}

static Axes scatteredToChosen(SelectAndScatterOp op) {
  Builder builder(op);
  for (auto [i, window] : llvm::enumerate(op.getWindow())) {
    auto dimension = static_cast<int64_t>(i);
    if (isTrivial(window))
      builder.keep(
          {operand(0, dimension), operand(1, dimension), result(dimension)});
    else
      builder.mix({operand(0, dimension), result(dimension)});
  }
  return builder.take();
}

/// Keeps batches and channels.
template <typename Op> static Axes pooled(Op op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    builder.add(i < 2 ? AxisKind::Kept : AxisKind::Resized,
                {operand(0, i), result(i)},
                builder.sizeAt(i < 2 ? operand(0, i) : result(i)));
  return builder.take();
}
/// The indices number all elements of the tensor.
static Axes pooledIndices(nn::MaxPoolIndicesOp op) {
  Axes axes = pooled(op);
  for (Axis &axis : axes.axes)
    if (axis.kind == AxisKind::Kept)
      axis.kind = AxisKind::Mixed;
  return axes;
}

//===----------------------------------------------------------------------===//
// Batch norms
//===----------------------------------------------------------------------===//

/// The feature dimension of tensors is that of the vectors; the others are of
/// the kind \p others.
template <typename Op> static Axes ofFeatures(Op op, AxisKind others) {
  Builder builder(op);
  const int64_t rank = builder.rankOf(0), feature = op.getFeatureIndex();
  for (int64_t i = 0; i < rank; ++i) {
    SmallVector<Place> places = builder.everywhere(i, rank);
    if (i == feature && rank != 1)
      llvm::append_range(places, builder.everywhere(0, 1));
    builder.add(i == feature ? AxisKind::Kept : others, places);
  }
  return builder.take();
}
static Axes normalized(BatchNormInferenceOp op) {
  return ofFeatures(op, AxisKind::Kept);
}
static Axes normalizedInTraining(BatchNormTrainingOp op) {
  return ofFeatures(op, AxisKind::Mixed);
}
static Axes normGradient(BatchNormGradOp op) {
  return ofFeatures(op, AxisKind::Mixed);
}
static Axes statistics(nn::MeanVarNormOp op) {
  return ofFeatures(op, AxisKind::Reduced);
}

//===----------------------------------------------------------------------===//
// Other orders of dimensions
//===----------------------------------------------------------------------===//

static NewOrder reorderReduce(ReduceOp op, ArrayRef<int64_t> order) {
  SmallVector<int64_t> dimensions, kept;
  for (auto [place, from] : llvm::enumerate(order))
    (llvm::is_contained(op.getDimensions(), from) ? dimensions : kept)
        .push_back(llvm::is_contained(op.getDimensions(), from)
                       ? static_cast<int64_t>(place)
                       : from);
  // The result numbers only the remaining dimensions.
  NewOrder result(std::in_place);
  for (int64_t from : kept)
    result->push_back(
        from < 0 ? from
                 : from - llvm::count_if(
                              op.getDimensions(),
                              [&](int64_t each) { return each < from; }));
  op.setDimensions(dimensions);
  return result;
}

/// Whether the elements of each window keep the order that they are combined
/// in, or may be combined in any.
static bool keepsJoining(ReduceWindowOp op, ArrayRef<int64_t> order) {
  if (joinsInAnyOrder(op.getBody()))
    return true;
  SmallVector<int64_t> joined;
  for (int64_t from : order)
    if (from >= 0 && op.getWindowDimensions()[from] != 1)
      joined.push_back(from);
  return llvm::is_sorted(joined);
}

static NewOrder reorderWindow(ReduceWindowOp op, ArrayRef<int64_t> order) {
  if (!keepsJoining(op, order))
    return std::nullopt;
  op.setWindowDimensions(inOrder<int64_t>(op.getWindowDimensions(), order, 1));
  if (auto list = op.getWindowStrides())
    op.setWindowStrides(inOrder<int64_t>(*list, order, 1));
  if (auto list = op.getBaseDilations())
    op.setBaseDilations(inOrder<int64_t>(*list, order, 1));
  if (auto list = op.getWindowDilations())
    op.setWindowDilations(inOrder<int64_t>(*list, order, 1));
  if (auto padding = op.getPadding()) {
    auto numbers = llvm::to_vector(padding->getValues<int64_t>());
    SmallVector<int64_t> moved;
    for (int64_t from : order)
      for (int64_t side : {0, 1})
        moved.push_back(from < 0 ? 0 : numbers[2 * from + side]);
    auto type = RankedTensorType::get(
        {static_cast<int64_t>(order.size()), 2},
        cast<ShapedType>(padding->getType()).getElementType());
    op.setPaddingAttr(
        DenseIntElementsAttr::get(type, ArrayRef<int64_t>(moved)));
  }
  return llvm::to_vector(order);
}

static NewOrder reorderNorm(BatchNormInferenceOp op, ArrayRef<int64_t> order) {
  op.setFeatureIndex(placeIn(order, op.getFeatureIndex()));
  return llvm::to_vector(order);
}

void attachReductions(MLIRContext *c) {
  attach<ReduceOp, reduced, reorderReduce>(c);
  attach<ReduceWindowOp, windowed, reorderWindow>(c);
  attach<SelectAndScatterOp, scatteredToChosen>(c);
  attach<nn::MaxPoolOp, pooled<nn::MaxPoolOp>>(c);
  attach<nn::AveragePoolOp, pooled<nn::AveragePoolOp>>(c);
  attach<nn::LpPoolOp, pooled<nn::LpPoolOp>>(c);
  attach<nn::MaxPoolIndicesOp, pooledIndices>(c);
  attach<BatchNormInferenceOp, normalized, reorderNorm>(c);
  attach<BatchNormTrainingOp, normalizedInTraining>(c);
  attach<BatchNormGradOp, normGradient>(c);
  attach<nn::MeanVarNormOp, statistics>(c);
}

} // namespace sinter::axes
