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
    shape.push_back(builder.size(lhs, i));
  for (const stablehlo::ProductSide &side :
       {stablehlo::ProductSide{lhs, lhsBatching, lhsContracting},
        stablehlo::ProductSide{rhs, rhsBatching, rhsContracting}})
    for (int64_t i : side.free())
      shape.push_back(builder.size(side.value, i));
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.context(), lhsBatching, rhsBatching, lhsContracting,
      rhsContracting);
  return builder.typed<stablehlo::DotGeneralOp>(
      builder.tensorType(shape, element ? element : builder.element(lhs)), lhs,
      rhs, numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
}

namespace {
/// A batch dimension of a matmul, and which operands have that size already.
struct BatchDim {
  Dim size;
  bool isLeft, isRight;
};
} // namespace

/// The size that two sizes broadcast to; \p areSame: they are known to be
/// equal.
static std::optional<BatchDim> commonBatchDim(GraphBuilder &builder,
                                              const Dim &left, const Dim &right,
                                              bool areSame) {
  if (areSame || (left.isStatic() && left.size == right.size))
    return BatchDim{left, true, true};
  if (left.size == 1)
    return BatchDim{right, false, true};
  if (right.size == 1)
    return BatchDim{left, true, false};
  if (left.isStatic() && right.isStatic())
    return builder.fail("the operands' batch dimensions do not broadcast");
  if (left.isStatic())
    return BatchDim{left, true, false};
  if (right.isStatic())
    return BatchDim{right, false, true};
  // Either may be 1 at run time.
  Value isOne = builder.compare(left.extent, builder.integers({1}),
                                stablehlo::ComparisonDirection::EQ);
  Value common =
      builder.op<stablehlo::SelectOp>(isOne, right.extent, left.extent);
  return BatchDim{Dim(ShapedType::kDynamic, common), false, false};
}

/// \p value with the batch dimensions \p batch before its last two.
static Value broadcastBatch(GraphBuilder &builder, Value value,
                            ArrayRef<Dim> batch) {
  const auto rank = static_cast<int64_t>(batch.size()) + 2;
  const int64_t own = builder.rank(value);
  Dims sizes(batch);
  sizes.push_back(builder.dim(value, own - 2));
  sizes.push_back(builder.dim(value, own - 1));
  return builder.broadcastInDim(
      value, sizes, llvm::to_vector(llvm::seq<int64_t>(rank - own, rank)));
}

/// Batched matmul; the batch dimensions are aligned at the end and broadcast.
static Value batchMatmul(GraphBuilder &builder, Value lhs, Value rhs) {
  const int64_t rank = std::max(builder.rank(lhs), builder.rank(rhs));
  const int64_t left = builder.rank(lhs) - rank,
                right = builder.rank(rhs) - rank;
  Dims batch;
  bool isLeft = left == 0, isRight = right == 0;
  for (int64_t i = 0; i < rank - 2; ++i) {
    const bool hasLeft = i + left >= 0, hasRight = i + right >= 0;
    auto common = commonBatchDim(
        builder, hasLeft ? builder.dim(lhs, i + left) : Dim(1),
        hasRight ? builder.dim(rhs, i + right) : Dim(1),
        hasLeft && hasRight &&
            builder.known().sameSize(lhs, i + left, rhs, i + right));
    if (!common)
      return {};
    batch.push_back(common->size);
    isLeft &= common->isLeft;
    isRight &= common->isRight;
  }
  if (!isLeft)
    lhs = broadcastBatch(builder, lhs, batch);
  if (!isRight)
    rhs = broadcastBatch(builder, rhs, batch);
  const Ints batching = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return dotGeneral(builder, lhs, rhs, batching, batching, {rank - 1},
                    {rank - 2});
}

Value matmul(GraphBuilder &builder, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  int64_t left = builder.rank(lhs), right = builder.rank(rhs);
  if (left == 0 || right == 0)
    return builder.fail("an operand is a scalar");
  int64_t inner = builder.size(lhs, left - 1),
          other = builder.size(rhs, std::max<int64_t>(right - 2, 0));
  if (!ShapedType::isDynamic(inner) && !ShapedType::isDynamic(other) &&
      inner != other)
    return builder.fail("the operands' inner dimensions are " + Twine(inner) +
                        " and " + Twine(other));
  // One matrix or vector on the right: no batching.
  if (right <= 2)
    return dotGeneral(builder, lhs, rhs, {}, {}, {left - 1}, {0});
  if (left == 1)
    return dotGeneral(builder, rhs, lhs, {}, {}, {right - 2}, {0});
  return batchMatmul(builder, lhs, rhs);
}

} // namespace sinter::formats
