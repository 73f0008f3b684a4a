// Window and global pooling.

#include "formats/onnx/ops/Pooling.h"

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Window.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult importMaxPool(NodeContext &node) {
  Value input = node.operand(0);
  auto window = readWindow(node, input);
  if (!window)
    return failure();
  if (window->isDynamic() && node.wants(1))
    return node.unknown("indices into an image whose padding is known only "
                        "at run time");
  Value result = maxPool(node, input, *window);
  Value indices;
  if (node.wants(1))
    indices = node.op<nn::MaxPoolIndicesOp>(
        input, window->size, window->strides, window->dilations, window->low,
        window->high, node.getBool("storage_order", false));
  return node.results({result, indices});
}

Value averagePool(NodeContext &node, Value input) {
  auto window = readWindow(node, input);
  if (!window)
    return {};
  const bool countsPadding = node.getBool("count_include_pad", false);
  return averagePool(node, input, *window, countsPadding);
}

static LogicalResult importAveragePool(NodeContext &node) {
  return node.result(averagePool(node, node.operand(0)));
}

/// The exponent, an integer except in the oldest versions.
static int64_t exponent(NodeContext &node) {
  if (node.version() < 2)
    return static_cast<int64_t>(node.getFloat("p", 2));
  return node.getInt("p", 2);
}

static LogicalResult importLpPool(NodeContext &node) {
  Value input = node.operand(0);
  auto window = readWindow(node, input);
  if (!window)
    return failure();
  if (window->isDynamic())
    input =
        padDynamic(node, input, *window, node.scalar(node.element(input), 0));
  return node.result(node.op<nn::LpPoolOp>(
      input, window->size, window->strides, window->dilations, window->low,
      window->high, static_cast<uint64_t>(exponent(node))));
}

/// The spatial dimensions; fails for less than [N, C, one dimension].
static std::optional<Ints> spatialAxes(NodeContext &node, Value input) {
  if (node.rank(input) < 3)
    return node.fail("the input is not [N, C, spatial...]");
  return Ints(llvm::to_vector(llvm::seq<int64_t>(2, node.rank(input))));
}

Value globalAveragePool(NodeContext &node, Value input) {
  auto axes = spatialAxes(node, input);
  return axes ? averageAlong(node, input, *axes) : Value();
}

static LogicalResult importGlobalAveragePool(NodeContext &node) {
  return node.result(globalAveragePool(node, node.operand(0)));
}

static LogicalResult importGlobalMaxPool(NodeContext &node) {
  Value input = node.operand(0);
  auto axes = spatialAxes(node, input);
  if (!axes)
    return failure();
  return node.result(node.reduce<stablehlo::MaxOp>(
      input, *axes, -std::numeric_limits<double>::infinity(), true));
}

static LogicalResult importGlobalLpPool(NodeContext &node) {
  Value input = node.operand(0);
  auto axes = spatialAxes(node, input);
  int64_t p = exponent(node);
  if (!axes)
    return failure();
  if (p < 1)
    return node.fail("p is not positive");
  Value size = node.unary<stablehlo::AbsOp>(widened(node, input));
  if (!size)
    return failure();
  Type wide = node.element(size);
  Value sum = node.reduce<stablehlo::AddOp>(
      node.binary<stablehlo::PowOp>(size, node.scalar(wide, p)), *axes, 0,
      true);
  Value norm =
      p == 2 ? node.unary<stablehlo::SqrtOp>(sum)
             : node.binary<stablehlo::PowOp>(sum, node.scalar(wide, 1.0 / p));
  return node.result(node.cast(norm, node.element(input)));
}

llvm::ArrayRef<Operator> poolingOperators() {
  static const Operator table[] = {
      {"AveragePool", "", 1, importAveragePool, 1, 1},
      {"GlobalAveragePool", "", 1, importGlobalAveragePool, 1, 1},
      {"GlobalLpPool", "", 1, importGlobalLpPool, 1, 1},
      {"GlobalMaxPool", "", 1, importGlobalMaxPool, 1, 1},
      {"LpPool", "", 1, importLpPool, 1, 1},
      {"MaxPool", "", 1, importMaxPool, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
