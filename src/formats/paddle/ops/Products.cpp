// Products of matrices.

#include "formats/import/Products.h"
#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

/// \p value with its last two dimensions exchanged; a vector stays.
static Value transposedMatrix(OperatorContext &op, Value value) {
  const int64_t rank = op.rank(value);
  if (!value || rank < 2)
    return value;
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 1], order[rank - 2]);
  return op.transpose(value, order);
}

static LogicalResult importMatmul(OperatorContext &op, StringRef left,
                                  StringRef right) {
  Value x = op.operand("X"), y = op.operand("Y");
  if (op.getBool(left, false))
    x = transposedMatrix(op, x);
  if (op.getBool(right, false))
    y = transposedMatrix(op, y);
  Value product = matmul(op, x, y);
  const double alpha = op.getFloat("alpha", 1);
  if (product && alpha != 1)
    product = op.binary<stablehlo::MulOp>(product, op.one(product, alpha));
  return op.result("Out", product);
}
static LogicalResult importMatmulV1(OperatorContext &op) {
  return importMatmul(op, "transpose_X", "transpose_Y");
}
static LogicalResult importMatmulV2(OperatorContext &op) {
  return importMatmul(op, "trans_x", "trans_y");
}

OperatorReaders productReaders() {
  static const OperatorReader table[] = {
      {"matmul", importMatmulV1},
      {"matmul_v2", importMatmulV2},
  };
  return table;
}

} // namespace sinter::paddle
