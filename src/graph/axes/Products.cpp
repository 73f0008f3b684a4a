// Axes of matmuls, convolutions and attention.

#include "graph/axes/Axes.h"

#include "graph/Constants.h"
#include "graph/chlo/ChloOps.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Einsum.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {

//===----------------------------------------------------------------------===//
// dot_general and related operations
//===----------------------------------------------------------------------===//

static Axes multiplied(DotGeneralOp op) {
  Builder builder(op);
  ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  int64_t place = 0;
  for (auto [left, right] : llvm::zip_equal(lhs.batching, rhs.batching))
    builder.keep({operand(0, left), operand(1, right), result(place++)});
  for (int64_t dimension : lhs.free())
    builder.keep({operand(0, dimension), result(place++)});
  for (int64_t dimension : rhs.free())
    builder.keep({operand(1, dimension), result(place++)});
  for (auto [left, right] : llvm::zip_equal(lhs.contracting, rhs.contracting))
    builder.reduce({operand(0, left), operand(1, right)});
  return builder.take();
}

/// Contracts the left operand's last dimension with the right one's first.
static Axes multipliedMatrices(DotOp op) {
  Builder builder(op);
  const int64_t left = builder.rankOf(0), right = builder.rankOf(1);
  if (left == 0 || right == 0)
    return elementwise(op);
  for (int64_t i = 0; i + 1 < left; ++i)
    builder.keep({operand(0, i), result(i)});
  for (int64_t i = 1; i < right; ++i)
    builder.keep({operand(1, i), result(left - 2 + i)});
  builder.reduce({operand(0, left - 1), operand(1, 0)});
  return builder.take();
}

/// Each letter of an einsum is an axis of the operands and the result that have
/// it.
static Axes ofLetters(Operation *op, StringRef config) {
  Builder builder(op);
  std::optional<Einsum> einsum =
      parseEinsum(config, ranksOf(op->getOperands()));
  if (!einsum)
    return builder.take();
  std::string letters = einsum->result;
  for (const std::string &labels : einsum->operands)
    for (char label : labels)
      if (!StringRef(letters).contains(label))
        letters.push_back(label);
  for (char letter : letters) {
    SmallVector<Place> places;
    for (auto [i, labels] : llvm::enumerate(einsum->operands))
      for (auto [dimension, label] : llvm::enumerate(labels))
        if (label == letter)
          places.push_back(operand(i, dimension));
    size_t place = einsum->result.find(letter);
    if (place != std::string::npos)
      places.push_back(result(place));
    builder.add(place == std::string::npos ? AxisKind::Reduced : AxisKind::Kept,
                places);
  }
  return builder.take();
}
static Axes ofEinsum(EinsumOp op) {
  return ofLetters(op, op.getEinsumConfig());
}
static Axes ofUnaryEinsum(UnaryEinsumOp op) {
  return ofLetters(op, op.getEinsumConfig());
}

/// As dot_general; the ragged dimension depends on the groups.
static Axes ragged(chlo::RaggedDotOp op) {
  Builder builder(op);
  auto numbers = op.getRaggedDotDimensionNumbers();
  const int64_t ragged = numbers.getLhsRaggedDimensions().front();
  const ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  SmallVector<int64_t> prefix = op.getGroupPrefix();
  // group_sizes may have its last dimension only.
  if (builder.rankOf(2) == 1)
    prefix.clear();
  auto add = [&](AxisKind kind, int64_t dimension, ArrayRef<Place> others) {
    SmallVector<Place> places = {operand(0, dimension)};
    llvm::append_range(places, others);
    if (const auto *found = llvm::find(prefix, dimension);
        found != prefix.end())
      places.push_back(operand(2, found - prefix.begin()));
    builder.add(dimension == ragged ? AxisKind::Mixed : kind, places);
  };
  int64_t place = llvm::is_contained(lhs.contracting, ragged) ? 1 : 0;
  for (auto [left, right] : llvm::zip_equal(lhs.batching, rhs.batching))
    add(AxisKind::Kept, left, {operand(1, right), result(place++)});
  for (int64_t dimension : lhs.free())
    add(AxisKind::Kept, dimension, {result(place++)});
  for (int64_t dimension : rhs.free())
    if (!llvm::is_contained(numbers.getRhsGroupDimensions(), dimension))
      builder.keep({operand(1, dimension), result(place++)});
  for (auto [left, right] : llvm::zip_equal(lhs.contracting, rhs.contracting))
    add(AxisKind::Reduced, left, {operand(1, right)});
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Features in \p groups; the spatial dimensions are windowed.
template <typename Op>
static Axes convolved(Op op, const ConvolutionWindow &window) {
  Builder builder(op);
  auto numbers = op.getDimensionNumbers();
  const int64_t featureGroups = op.getFeatureGroupCount(),
                batchGroups = op.getBatchGroupCount();
  Place batch = operand(0, numbers.getInputBatchDimension()),
        input = operand(0, numbers.getInputFeatureDimension()),
        kernelIn = operand(1, numbers.getKernelInputFeatureDimension()),
        kernelOut = operand(1, numbers.getKernelOutputFeatureDimension()),
        newBatch = result(numbers.getOutputBatchDimension()),
        output = result(numbers.getOutputFeatureDimension());
  // The size of a dimension split into \p count, or that of another.
  auto part = [&](Place place, int64_t count, Place other) {
    int64_t size = builder.sizeAt(place);
    return ShapedType::isDynamic(size) ? builder.sizeAt(other) : size / count;
  };
  // Each group of the kernel's output features belongs to a group of the
  // operand's features or batches.
  if (featureGroups > 1)
    builder.add(AxisKind::Kept, {input, kernelOut, output}, featureGroups);
  if (batchGroups > 1)
    builder.add(AxisKind::Kept, {batch, kernelOut, output}, batchGroups);
  const int64_t groups = featureGroups * batchGroups;
  builder.add(AxisKind::Kept, {batch, newBatch},
              part(batch, batchGroups, newBatch));
  builder.add(AxisKind::Kept, {kernelOut, output},
              ShapedType::isDynamic(builder.sizeAt(kernelOut))
                  ? part(output, groups, kernelOut)
                  : part(kernelOut, groups, output));
  builder.add(AxisKind::Reduced, {kernelIn, input},
              part(input, featureGroups, kernelIn));
  for (auto [i, each] : llvm::enumerate(window)) {
    Place from = operand(0, numbers.getInputSpatialDimensions()[i]),
          to = result(numbers.getOutputSpatialDimensions()[i]);
    builder.add(AxisKind::Resized, {from, to},
                windowedSize(builder.sizeAt(from), each)
                    .value_or(ShapedType::kDynamic));
  }
  return builder.take();
}

static Axes ofConvolution(ConvolutionOp op) {
  return convolved(op, op.getWindow());
}
/// The padding is an operand.
static Axes ofDynamicConvolution(DynamicConvOp op) {
  ConvolutionWindow windows = op.getWindow();
  std::optional<Tensor> padding = constantTensor(op.getPadding());
  const bool isKnown =
      padding && padding->size() == 2 * static_cast<int64_t>(windows.size());
  for (auto [i, window] : llvm::enumerate(windows)) {
    if (!isKnown)
      window.size = ShapedType::kDynamic;
    window.paddingLow = isKnown ? padding->toInteger(2 * i) : 0;
    window.paddingHigh = isKnown ? padding->toInteger(2 * i + 1) : 0;
  }
  return convolved(op, windows);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Adds the mask's dimension \p dimension to \p query unless it is broadcast.
/// Returns the kind of the axis: Mixed if the mask's size is dynamic.
static AxisKind addMask(const Builder &builder, nn::AttentionOp op,
                        int64_t dimension, SmallVectorImpl<Place> &query) {
  Place mask = operand(3, dimension);
  if (!op.getMask() || builder.sizeAt(mask) == 1)
    return AxisKind::Kept;
  if (ShapedType::isDynamic(builder.sizeAt(mask)))
    return AxisKind::Mixed;
  query.push_back(mask);
  return AxisKind::Kept;
}

/// The query's heads fall into groups, one for each of the key's.
static void addHeads(Builder &builder, nn::AttentionOp op, int64_t dimension) {
  const int64_t many = builder.sizeAt(operand(0, dimension)),
                few = builder.sizeAt(operand(1, dimension));
  SmallVector<Place> query = {operand(0, dimension), result(dimension)};
  SmallVector<Place> key = {operand(1, dimension), operand(2, dimension)};
  const AxisKind kind = addMask(builder, op, dimension, query);
  if (ShapedType::isDynamic(many) || ShapedType::isDynamic(few) || few == 0 ||
      kind != AxisKind::Kept) {
    builder.mix(query);
    builder.mix(key);
    return;
  }
  SmallVector<Place> all = query;
  llvm::append_range(all, key);
  builder.add(AxisKind::Kept, all, few);
  if (many != few)
    builder.add(AxisKind::Kept, query, many / few);
}

static Axes attended(nn::AttentionOp op) {
  Builder builder(op);
  const int64_t rank = builder.resultRank(), row = rank - 2, column = rank - 1;
  for (int64_t i = 0; i < row; ++i)
    addHeads(builder, op, i);
  SmallVector<Place> queries = {operand(0, row), result(row)},
                     keys = {operand(1, row), operand(2, row)};
  const AxisKind rows = addMask(builder, op, row, queries);
  if (op.getMask())
    keys.push_back(operand(3, column));
  // A row attends to those before it.
  builder.add(op.getCausal() ? AxisKind::Mixed : rows, queries);
  builder.add(op.getCausal() ? AxisKind::Mixed : AxisKind::Reduced, keys);
  builder.reduce({operand(0, column), operand(1, column)});
  builder.keep({operand(2, column), result(column)});
  return builder.take();
}

void attachProducts(MLIRContext *c) {
  attach<DotGeneralOp, multiplied>(c);
  attach<DotOp, multipliedMatrices>(c);
  attach<EinsumOp, ofEinsum>(c);
  attach<UnaryEinsumOp, ofUnaryEinsum>(c);
  attach<chlo::RaggedDotOp, ragged>(c);
  attach<ConvolutionOp, ofConvolution>(c);
  attach<DynamicConvOp, ofDynamicConvolution>(c);
  attach<nn::AttentionOp, attended>(c);
}

} // namespace sinter::axes
