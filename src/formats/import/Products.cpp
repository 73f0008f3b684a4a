#include "formats/import/Products.h"

#include "graph/stablehlo/Sums.h"

using namespace mlir;

namespace sinter::formats {

Type sumElement(GraphBuilder &builder, Value value) {
  Type element = builder.element(value);
  return stablehlo::isNarrowFloat(element) ? builder.f32() : element;
}

Value dotGeneral(GraphBuilder &builder, Value lhs, Value rhs,
                 ArrayRef<int64_t> lhsBatching, ArrayRef<int64_t> rhsBatching,
                 ArrayRef<int64_t> lhsContracting,
                 ArrayRef<int64_t> rhsContracting, Type element) {
  if (!lhs || !rhs)
    return {};
  Ints shape;
  for (int64_t i : lhsBatching)
    shape.push_back(builder.shape(lhs)[i]);
  for (const stablehlo::ProductSide &side :
       {stablehlo::ProductSide{lhs, lhsBatching, lhsContracting},
        stablehlo::ProductSide{rhs, rhsBatching, rhsContracting}})
    for (int64_t i : side.free())
      shape.push_back(builder.shape(side.value)[i]);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.context(), lhsBatching, rhsBatching, lhsContracting,
      rhsContracting);
  return builder.typed<stablehlo::DotGeneralOp>(
      builder.tensorType(shape, element ? element : builder.element(lhs)), lhs,
      rhs, numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
}

/// The sizes that two lists of batch dimensions, aligned at the end, broadcast
/// to. Unknown sizes that may differ are taken to be equal.
static std::optional<Dims> joinBatch(GraphBuilder &builder, Value lhs,
                                     Value rhs) {
  int64_t rank = std::max(builder.rank(lhs), builder.rank(rhs));
  Dims joined;
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t left = i - (rank - builder.rank(lhs)),
            right = i - (rank - builder.rank(rhs));
    int64_t leftSize = left < 0 ? 1 : builder.shape(lhs)[left];
    int64_t rightSize = right < 0 ? 1 : builder.shape(rhs)[right];
    bool takeRight =
        leftSize == 1 || (ShapedType::isDynamic(leftSize) &&
                          !ShapedType::isDynamic(rightSize) && rightSize != 1);
    if (leftSize != rightSize && leftSize != 1 && rightSize != 1 &&
        !ShapedType::isDynamic(leftSize) && !ShapedType::isDynamic(rightSize))
      return builder.fail("the operands' batch dimensions do not broadcast");
    joined.push_back(takeRight ? (right < 0 ? Dim(1) : builder.dim(rhs, right))
                               : builder.dim(lhs, left));
  }
  return joined;
}

/// \p value with the batch dimensions \p batch before its last two.
static Value broadcastBatch(GraphBuilder &builder, Value value,
                            ArrayRef<Dim> batch) {
  int64_t rank = batch.size() + 2, own = builder.rank(value);
  bool same = own == rank;
  for (int64_t i = 0; same && i < rank - 2; ++i)
    same = builder.shape(value)[i] == batch[i].size;
  if (same)
    return value;
  Dims sizes(batch);
  sizes.push_back(builder.dim(value, own - 2));
  sizes.push_back(builder.dim(value, own - 1));
  return builder.broadcastInDim(
      value, sizes, llvm::to_vector(llvm::seq<int64_t>(rank - own, rank)));
}

Value matmul(GraphBuilder &builder, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  int64_t left = builder.rank(lhs), right = builder.rank(rhs);
  if (left == 0 || right == 0)
    return builder.fail("an operand is a scalar");
  int64_t inner = builder.shape(lhs)[left - 1],
          other = builder.shape(rhs)[std::max<int64_t>(right - 2, 0)];
  if (!ShapedType::isDynamic(inner) && !ShapedType::isDynamic(other) &&
      inner != other)
    return builder.fail("the operands' inner dimensions are " + Twine(inner) +
                        " and " + Twine(other));
  // One matrix or vector on the right: no batching.
  if (right <= 2)
    return dotGeneral(builder, lhs, rhs, {}, {}, {left - 1}, {0});
  if (left == 1)
    return dotGeneral(builder, rhs, lhs, {}, {}, {right - 2}, {0});
  auto batch = joinBatch(builder, lhs, rhs);
  if (!batch)
    return {};
  int64_t rank = batch->size() + 2;
  Ints batching = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return dotGeneral(builder, broadcastBatch(builder, lhs, *batch),
                    broadcastBatch(builder, rhs, *batch), batching, batching,
                    {rank - 1}, {rank - 2});
}

} // namespace sinter::formats
