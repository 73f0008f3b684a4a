// Gemm, MatMul, MatMulInteger.

#include "formats/onnx/ops/Products.h"

#include "formats/onnx/Operators.h"
#include "graph/stablehlo/Sums.h"

using namespace mlir;

namespace sinter::onnx {

Type sumElement(NodeContext &node, Value value) {
  Type element = node.element(value);
  return stablehlo::isNarrowFloat(element) ? node.f32() : element;
}

Value dotGeneral(NodeContext &node, Value lhs, Value rhs,
                 ArrayRef<int64_t> lhsBatching, ArrayRef<int64_t> rhsBatching,
                 ArrayRef<int64_t> lhsContracting,
                 ArrayRef<int64_t> rhsContracting, Type element) {
  if (!lhs || !rhs)
    return {};
  Ints shape;
  for (int64_t i : lhsBatching)
    shape.push_back(node.shape(lhs)[i]);
  for (const stablehlo::ProductSide &side :
       {stablehlo::ProductSide{lhs, lhsBatching, lhsContracting},
        stablehlo::ProductSide{rhs, rhsBatching, rhsContracting}})
    for (int64_t i : side.free())
      shape.push_back(node.shape(side.value)[i]);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      node.context(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  return node.typed<stablehlo::DotGeneralOp>(
      node.tensorType(shape, element ? element : node.element(lhs)), lhs, rhs,
      numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
}

/// The sizes that two lists of batch dimensions, aligned at the end, broadcast
/// to. Unknown sizes that may differ are taken to be equal.
static std::optional<Dims> joinBatch(NodeContext &node, Value lhs, Value rhs) {
  int64_t rank = std::max(node.rank(lhs), node.rank(rhs));
  Dims joined;
  for (int64_t i = 0; i < rank - 2; ++i) {
    int64_t left = i - (rank - node.rank(lhs)),
            right = i - (rank - node.rank(rhs));
    int64_t leftSize = left < 0 ? 1 : node.shape(lhs)[left];
    int64_t rightSize = right < 0 ? 1 : node.shape(rhs)[right];
    bool takeRight =
        leftSize == 1 || (ShapedType::isDynamic(leftSize) &&
                          !ShapedType::isDynamic(rightSize) && rightSize != 1);
    if (leftSize != rightSize && leftSize != 1 && rightSize != 1 &&
        !ShapedType::isDynamic(leftSize) && !ShapedType::isDynamic(rightSize))
      return node.fail("the operands' batch dimensions do not broadcast");
    joined.push_back(takeRight ? (right < 0 ? Dim(1) : node.dim(rhs, right))
                               : node.dim(lhs, left));
  }
  return joined;
}

/// \p value with the batch dimensions \p batch before its last two.
static Value broadcastBatch(NodeContext &node, Value value,
                            ArrayRef<Dim> batch) {
  int64_t rank = batch.size() + 2, own = node.rank(value);
  bool same = own == rank;
  for (int64_t i = 0; same && i < rank - 2; ++i)
    same = node.shape(value)[i] == batch[i].size;
  if (same)
    return value;
  Dims sizes(batch);
  sizes.push_back(node.dim(value, own - 2));
  sizes.push_back(node.dim(value, own - 1));
  return node.broadcastInDim(
      value, sizes, llvm::to_vector(llvm::seq<int64_t>(rank - own, rank)));
}

Value matmul(NodeContext &node, Value lhs, Value rhs) {
  if (!lhs || !rhs)
    return {};
  int64_t left = node.rank(lhs), right = node.rank(rhs);
  if (left == 0 || right == 0)
    return node.fail("an operand is a scalar");
  int64_t inner = node.shape(lhs)[left - 1],
          other = node.shape(rhs)[std::max<int64_t>(right - 2, 0)];
  if (!ShapedType::isDynamic(inner) && !ShapedType::isDynamic(other) &&
      inner != other)
    return node.fail("the operands' inner dimensions are " + Twine(inner) +
                     " and " + Twine(other));
  // One matrix or vector on the right: no batching.
  if (right <= 2)
    return dotGeneral(node, lhs, rhs, {}, {}, {left - 1}, {0});
  if (left == 1)
    return dotGeneral(node, rhs, lhs, {}, {}, {right - 2}, {0});
  auto batch = joinBatch(node, lhs, rhs);
  if (!batch)
    return {};
  int64_t rank = batch->size() + 2;
  Ints batching = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  return dotGeneral(node, broadcastBatch(node, lhs, *batch),
                    broadcastBatch(node, rhs, *batch), batching, batching,
                    {rank - 1}, {rank - 2});
}

static LogicalResult importMatMul(NodeContext &node) {
  return node.result(matmul(node, node.operand(0), node.operand(1)));
}

/// An i32 product of integers from which their zero points are taken: one
/// number, one a row of the left, one a column of the right operand.
static LogicalResult importMatMulInteger(NodeContext &node) {
  Type i32 = node.builder().getI32Type();
  auto centred = [&](int64_t input, bool rows) {
    Value wide = node.cast(node.operand(input), i32);
    if (!node.has(input + 2))
      return wide;
    Value zero = node.cast(node.operand(input + 2), i32);
    if (rows && zero && node.rank(zero) == 1 && node.shape(zero)[0] != 1)
      zero = node.unsqueeze(zero, {1});
    return node.binary<stablehlo::SubtractOp>(wide, zero);
  };
  Value lhs = centred(0, true), rhs = centred(1, false);
  return node.result(matmul(node, lhs, rhs));
}

/// alpha * A' * B' + beta * C, rounded once.
static LogicalResult importGemm(NodeContext &node) {
  Value lhs = node.operand(0), rhs = node.operand(1);
  if (node.rank(lhs) != 2 || node.rank(rhs) != 2)
    return node.fail("A or B is not a matrix");
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  const bool adds = node.has(2) && beta != 0;
  Type element = node.element(lhs);
  Value result = dotGeneral(
      node, lhs, rhs, {}, {}, {node.getBool("transA", false) ? 0 : 1},
      {node.getBool("transB", false) ? 1 : 0},
      adds || alpha != 1 ? sumElement(node, lhs) : element);
  auto scaled = [&](Value value, double factor) {
    return factor == 1 || !value
               ? value
               : node.binary<stablehlo::MulOp>(
                     value, node.scalar(node.element(value), factor));
  };
  result = scaled(result, alpha);
  if (adds && result)
    result = node.binary<stablehlo::AddOp>(
        result, scaled(node.cast(node.operand(2), node.element(result)), beta));
  return node.result(result ? node.cast(result, element) : result);
}

llvm::ArrayRef<Operator> productOperators() {
  static const Operator table[] = {
      {"Gemm", "", 1, importGemm, 2, 3},
      {"MatMul", "", 1, importMatMul, 2, 2},
      {"MatMulInteger", "", 10, importMatMulInteger, 2, 4, false, true},
  };
  return table;
}

} // namespace sinter::onnx
