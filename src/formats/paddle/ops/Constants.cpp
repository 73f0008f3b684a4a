// Constants, ranges, casts.

#include "formats/import/Building.h"
#include "formats/import/Filling.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Listed.h"
#include "graph/nn/NnDropout.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

static Value integerScalar(OperatorContext &op, Type element, int64_t number) {
  return op.cast(op.constant(Tensor::of<int64_t>(ElementType::I64, Shape(),
                                                 std::vector<int64_t>{number})),
                 element);
}

/// Attribute `value` as a scalar; str_value, which holds it exactly, wins.
static Value readValue(OperatorContext &op, Type element) {
  const std::string text = op.getString("str_value", "");
  if (op.failed() || !element)
    return {};
  if (text.empty()) {
    const AttributeValue *value = op.attribute("value");
    if (const auto *whole = value ? std::get_if<int64_t>(value) : nullptr)
      return integerScalar(op, element, *whole);
    return op.scalar(element, op.getFloat("value", 0));
  }
  int64_t whole;
  if (!StringRef(text).getAsInteger(10, whole))
    return integerScalar(op, element, whole);
  double number;
  if (!llvm::to_float(text, number))
    return op.fail("attribute 'str_value' is '" + text + "', no number");
  return op.scalar(element, number);
}

/// A tensor of one element as a scalar.
static Value single(OperatorContext &op, Value value) {
  return value ? op.reshape(value, ArrayRef<int64_t>()) : Value();
}

//===----------------------------------------------------------------------===//
// Fills
//===----------------------------------------------------------------------===//

static LogicalResult importFillConstant(OperatorContext &op) {
  Type element = op.elementType("dtype", 5);
  Value filler = op.has("ValueTensor")
                     ? op.cast(single(op, op.operand("ValueTensor")), element)
                     : readValue(op, element);
  Value shape = op.integersValue({"ShapeTensor", "ShapeTensorList"}, "shape");
  if (!filler || !shape)
    return failure();
  if (op.rank(shape) != 1 || !op.isStatic(shape))
    return op.unknown("the number of dimensions is unknown");
  return op.result("Out", filled(op, filler, shape));
}

/// One dimension of the shape is one of Input.
static LogicalResult importFillBatchSizeLike(OperatorContext &op) {
  Value like = op.operand("Input");
  Type element = op.elementType("dtype", 5);
  Ints shape = op.getInts("shape");
  if (!like || !element || op.failed())
    return failure();
  auto from = op.axis(op.getInt("input_dim_idx", 0), op.rank(like));
  auto to = op.axis(op.getInt("output_dim_idx", 0), shape.size());
  Value filler = readValue(op, element);
  if (!from || !to || !filler)
    return failure();
  Dims sizes(shape.begin(), shape.end());
  sizes[*to] = op.dim(like, *from);
  for (const Dim &each : sizes)
    if (each.isStatic() && each.size < 0)
      return op.fail("attribute 'shape' has a negative size");
  return op.result("Out", op.broadcastInDim(filler, sizes, {}));
}

static LogicalResult fillLike(OperatorContext &op, double otherwise) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  Type element =
      op.getInt("dtype", -1) < 0 ? op.element(x) : op.elementType("dtype", -1);
  Value filler = op.hasAttribute("value") ? readValue(op, element)
                                          : op.scalar(element, otherwise);
  return op.result("Out", op.broadcastInDim(filler, op.dims(x), {}));
}
static LogicalResult importFillAnyLike(OperatorContext &op) {
  return fillLike(op, 0);
}

//===----------------------------------------------------------------------===//
// Ranges and lists
//===----------------------------------------------------------------------===//

static LogicalResult importAssignValue(OperatorContext &op) {
  Type element = op.elementType("dtype", 5);
  return op.result("Out", listedValues(op, element));
}

static LogicalResult importRange(OperatorContext &op) {
  Value start = single(op, op.operand("Start")),
        end = single(op, op.operand("End")),
        step = single(op, op.operand("Step"));
  if (!start || !end || !step)
    return failure();
  Type element = op.element(start);
  return op.result(
      "Out", range(op, start, op.cast(end, element), op.cast(step, element)));
}

/// Num values from Start to Stop, both inclusive.
static LogicalResult importLinspace(OperatorContext &op) {
  Type element = op.elementType("dtype", 5);
  auto count = op.knownIntegers(op.operand("Num"));
  Type f64 = op.builder().getF64Type();
  Value start = op.cast(single(op, op.operand("Start")), f64),
        stop = op.cast(single(op, op.operand("Stop")), f64);
  if (!element || !start || !stop)
    return failure();
  if (!count)
    return op.unknown("the number of elements is known only at run time");
  if (count->size() != 1 || count->front() < 1 || count->front() > (1 << 24))
    return op.fail("Num is out of range");
  SmallVector<double> fractions;
  const int64_t last = count->front() - 1;
  for (int64_t i = 0; i <= last; ++i)
    fractions.push_back(
        last == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(last));
  Value steps = numbers(op, f64, fractions, {last + 1});
  Value result = op.binary<stablehlo::AddOp>(
      start, op.binary<stablehlo::MulOp>(
                 op.op<stablehlo::SubtractOp>(stop, start), steps));
  return op.result("Out", op.cast(result, element));
}

static LogicalResult importEye(OperatorContext &op) {
  Type element = op.elementType("dtype", 5);
  const int64_t rows = op.getInt("num_rows", 0);
  int64_t columns = op.getInt("num_columns", -1);
  columns = columns < 0 ? rows : columns;
  if (!element || op.failed())
    return failure();
  if (rows < 0 || rows > formats::longestTable ||
      columns > formats::longestTable)
    return op.fail("num_rows or num_columns is out of range");
  Dims sizes{rows, columns};
  return op.result("Out", op.cast(op.compare(iota(op, sizes, 0, op.i64()),
                                             iota(op, sizes, 1, op.i64()),
                                             ComparisonDirection::EQ),
                                  element));
}

//===----------------------------------------------------------------------===//
// Casts and copies
//===----------------------------------------------------------------------===//

static LogicalResult importAssign(OperatorContext &op) {
  const Bound &given = op.bound("X");
  if (given.kind == Bound::Array)
    return op.boundResult("Out", given);
  return op.result("Out", op.operand("X"));
}

static LogicalResult importCast(OperatorContext &op) {
  Type element = op.elementType("out_dtype", 5);
  return op.result("Out", op.cast(op.operand("X"), element));
}

/// At inference the operand itself if training scales the elements that it
/// keeps, else the operand times the fraction that training keeps, which
/// cancels the scale of nn.dropout in training.
static LogicalResult importDropout(OperatorContext &op) {
  Value x = op.operand("X");
  const std::string how =
      op.getString("dropout_implementation", "downgrade_in_infer");
  if (!x || op.failed())
    return failure();
  if (!op.getBool("is_test", false))
    return op.unsupported("it draws random numbers, as in training; export the "
                          "program for inference");
  Value ratio = op.numberFrom("P", "dropout_prob", 0.5, op.element(x));
  if (!ratio)
    return failure();
  Value kept = x;
  if (auto known = op.knownScalar(ratio); known && *known > 0 && *known <= 1)
    kept = op.op<nn::DropoutOp>(x, MaybeValue{},
                                op.builder().getF64FloatAttr(*known));
  if (how == "upscale_in_train")
    return op.result("Out", kept);
  if (how != "downgrade_in_infer")
    return op.fail("attribute 'dropout_implementation' is '" + how + "'");
  Value part = op.binary<stablehlo::SubtractOp>(op.one(x, 1), ratio);
  return op.result("Out", op.binary<stablehlo::MulOp>(kept, part));
}

OperatorReaders constantReaders() {
  static const OperatorReader table[] = {
      {"assign", importAssign},
      {"assign_value", importAssignValue},
      {"cast", importCast},
      {"dropout", importDropout},
      {"eye", importEye},
      {"fill_any_like", importFillAnyLike},
      {"fill_constant", importFillConstant},
      {"fill_constant_batch_size_like", importFillBatchSizeLike},
      {"fill_zeros_like", importFillAnyLike},
      {"fill_zeros_like2", importFillAnyLike},
      {"linspace", importLinspace},
      {"memcpy", importAssign},
      {"memcpy_d2h", importAssign},
      {"memcpy_h2d", importAssign},
      {"range", importRange},
      {"share_data", importAssign},
  };
  return table;
}

} // namespace sinter::paddle
