// Gemm, MatMul, MatMulInteger.

#include "formats/onnx/ops/Products.h"

#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult importMatMul(NodeContext &node) {
  return node.result(matmul(node, node.operand(0), node.operand(1)));
}

/// An i32 matmul of integers minus their zero points: scalars, one per row of
/// the left or one per column of the right operand.
static LogicalResult importMatMulInteger(NodeContext &node) {
  Type i32 = node.builder().getI32Type();
  auto centred = [&](int64_t input, bool rows) {
    Value wide = node.cast(node.operand(input), i32);
    if (!node.has(input + 2))
      return wide;
    Value zero = node.cast(node.operand(input + 2), i32);
    if (rows && zero && node.rank(zero) == 1 && node.size(zero, 0) != 1)
      zero = node.unsqueeze(zero, {1});
    return node.binary<stablehlo::SubtractOp>(wide, zero);
  };
  Value lhs = centred(0, true), rhs = centred(1, false);
  return node.result(matmul(node, lhs, rhs));
}

Value gemm(NodeContext &node, bool isRounded) {
  Value lhs = node.operand(0), rhs = node.operand(1);
  if (node.rank(lhs) != 2 || node.rank(rhs) != 2)
    return node.fail("A or B is not a matrix");
  double alpha = node.getFloat("alpha", 1), beta = node.getFloat("beta", 1);
  const bool adds = node.has(2) && beta != 0;
  Type element = node.element(lhs);
  Value result = dotGeneral(
      node, lhs, rhs, {}, {}, {node.getBool("transA", false) ? 0 : 1},
      {node.getBool("transB", false) ? 1 : 0},
      adds || alpha != 1 || !isRounded ? sumElement(node, lhs) : element);
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
  return result && isRounded ? node.cast(result, element) : result;
}

static LogicalResult importGemm(NodeContext &node) {
  return node.result(gemm(node, /*isRounded=*/true));
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
