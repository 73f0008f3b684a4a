// Matmuls.

#include "formats/import/Products.h"
#include "formats/import/Einsum.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Results.h"

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

/// \p value times a scalar; itself for 1.
static Value times(OperatorContext &op, Value value, double factor) {
  return factor == 1 || !value
             ? value
             : op.binary<stablehlo::MulOp>(value, op.one(value, factor));
}

static LogicalResult importMatmul(OperatorContext &op, StringRef left,
                                  StringRef right) {
  Value x = op.operand("X"), y = op.operand("Y");
  if (op.getBool(left, false))
    x = transposedMatrix(op, x);
  if (op.getBool(right, false))
    y = transposedMatrix(op, y);
  Value product = times(op, matmul(op, x, y), op.getFloat("alpha", 1));
  return op.result("Out", asDeclared(op, "Out", product));
}
static LogicalResult importMatmulV1(OperatorContext &op) {
  return importMatmul(op, "transpose_X", "transpose_Y");
}
static LogicalResult importMatmulV2(OperatorContext &op) {
  return importMatmul(op, "trans_x", "trans_y");
}

/// The first \p columns dimensions of \p value as one, and the others as one.
static Value flattened(OperatorContext &op, Value value, int64_t columns) {
  if (!value)
    return {};
  if (columns < 1 || columns > op.rank(value))
    return op.fail("a number of dimensions that are rows is out of range");
  Dims sizes = op.dims(value);
  return op.rank(value) == 2 && columns == 1
             ? value
             : op.reshape(
                   value,
                   Dims{op.product(ArrayRef<Dim>(sizes).take_front(columns)),
                        op.product(ArrayRef<Dim>(sizes).drop_front(columns))});
}

/// The rows of \p x times the matrix \p y, reshaped to the original dimensions
/// of the rows of x and the columns of y.
static Value matmulRows(OperatorContext &op, Value x, Value y, int64_t xColumns,
                        int64_t yColumns) {
  Value left = flattened(op, x, xColumns), right = flattened(op, y, yColumns);
  Value product = left && right ? matmul(op, left, right) : Value();
  if (!product || (op.rank(x) == 2 && op.rank(y) == 2))
    return product;
  Dims sizes;
  for (int64_t i = 0; i < xColumns; ++i)
    sizes.push_back(op.dim(x, i));
  for (int64_t i = yColumns; i < op.rank(y); ++i)
    sizes.push_back(op.dim(y, i));
  return op.reshape(product, ArrayRef<Dim>(sizes));
}

static LogicalResult importMul(OperatorContext &op) {
  return op.result("Out", matmulRows(op, op.operand("X"), op.operand("Y"),
                                     op.getInt("x_num_col_dims", 1),
                                     op.getInt("y_num_col_dims", 1)));
}

/// The fusion of mul and elementwise_add by Paddle's passes. With
/// padding_weights the matrix has four unused rows and columns.
static LogicalResult importFc(OperatorContext &op) {
  Value x = op.operand("Input"), weight = op.operand("W");
  if (!x || !weight)
    return failure();
  if (op.rank(weight) != 2)
    return op.fail("W is not a matrix");
  if (op.getBool("padding_weights", false)) {
    for (int64_t axis : {0, 1}) {
      const int64_t size = op.size(weight, axis);
      if (ShapedType::isDynamic(size) || size < 4)
        return op.fail("W is too small to be padded by four");
      weight = op.sliceAxis(weight, axis, 0, size - 4);
    }
  }
  int64_t columns = op.getInt("in_num_col_dims", 1);
  if (columns < 0)
    columns += op.rank(x);
  Value result = matmulRows(op, x, weight, columns, 1);
  if (Value bias = op.optional("Bias"))
    result = op.binary<stablehlo::AddOp>(
        result, op.rank(bias) == 2 ? op.squeeze(bias, {0}) : bias);
  const std::string activation = op.getString("activation_type", "");
  if (activation == "relu")
    result = op.op<nn::ReluOp>(result);
  else if (!activation.empty())
    return op.unsupported("attribute 'activation_type' is '" + activation +
                          "'");
  return op.result("Out", result);
}

static LogicalResult importMv(OperatorContext &op) {
  return op.result("Out", matmul(op, op.operand("X"), op.operand("Vec")));
}
static LogicalResult importBmm(OperatorContext &op) {
  return op.result("Out", matmul(op, op.operand("X"), op.operand("Y")));
}

/// The dot product along the last dimension.
static LogicalResult importDot(OperatorContext &op) {
  Value product = op.binary<stablehlo::MulOp>(op.operand("X"), op.operand("Y"));
  if (!product)
    return failure();
  const int64_t rank = op.rank(product);
  if (rank < 1)
    return op.fail("X is a scalar");
  return op.result("Out", asDeclared(op, "Out",
                                     op.reduce<stablehlo::AddOp>(
                                         product, {rank - 1}, 0, false)));
}

/// beta * Input + alpha * X * Y.
static LogicalResult importAddmm(OperatorContext &op) {
  Value product = times(op, matmul(op, op.operand("X"), op.operand("Y")),
                        op.getFloat("Alpha", op.getFloat("alpha", 1)));
  Value input = times(op, op.operand("Input"),
                      op.getFloat("Beta", op.getFloat("beta", 1)));
  return op.result("Out", op.binary<stablehlo::AddOp>(input, product));
}

static LogicalResult importEinsum(OperatorContext &op) {
  Value product =
      einsum(op, op.getString("equation", ""), op.operands("Operands"));
  return op.result("Out", asDeclared(op, "Out", product));
}

OperatorReaders productReaders() {
  static const OperatorReader table[] = {
      {"addmm", importAddmm},
      {"bmm", importBmm},
      {"dot", importDot},
      {"einsum", importEinsum},
      {"fc", importFc},
      {"matmul", importMatmulV1},
      {"matmul_v2", importMatmulV2},
      {"mul", importMul},
      {"mv", importMv},
  };
  return table;
}

} // namespace sinter::paddle
