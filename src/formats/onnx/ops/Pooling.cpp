// Pools over windows and over whole images.

#include "formats/onnx/ops/Pooling.h"

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Window.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;

namespace sinter::onnx {

/// What no element is less than.
static Value lowest(NodeContext &node, Value like) {
  Type element = node.element(like);
  return nn::TensorBuilder(node.builder(), node.location()).lowest(element);
}

static LogicalResult importMaxPool(NodeContext &node) {
  Value input = node.operand(0);
  auto window = readWindow(node, input);
  if (!window)
    return failure();
  if (window->isOpen() && node.wants(1))
    return node.unknown("places in an image whose padding is known only when "
                        "run");
  if (window->isOpen())
    input = padOpen(node, input, *window, lowest(node, input));
  Value result =
      node.op<nn::MaxPoolOp>(input, window->size, window->strides,
                             window->dilations, window->low, window->high);
  Value indices;
  if (node.wants(1))
    indices = node.op<nn::MaxPoolIndicesOp>(
        input, window->size, window->strides, window->dilations, window->low,
        window->high, node.getBool("storage_order", false));
  return node.results({result, indices});
}

/// The sum over each window, divided by the sum over as many ones as count.
static Value averageOpen(NodeContext &node, Value input, const Window &window,
                         bool countsPadding) {
  nn::TensorBuilder emit(node.builder(), node.location());
  Value wide = widened(node, input);
  Value zero = node.scalar(node.element(wide), 0);
  Window apart = window;
  Value counted = emit.splatLike(1, wide);
  if (countsPadding) {
    // What rounds up never counts.
    for (auto [high, ceil] : llvm::zip_equal(apart.openHigh, window.openCeil)) {
      Values extents = {node.extents(ArrayRef<Dim>(high)),
                        node.extents(ArrayRef<Dim>(ceil))};
      high = Dim(ShapedType::kDynamic,
                 node.op<stablehlo::SubtractOp>(extents[0], extents[1]));
    }
    counted = padOpen(node, counted, apart, node.scalar(node.element(wide), 1));
    apart.openLow.assign(window.openLow.size(), Dim(0));
    apart.openHigh = window.openCeil;
  }
  SmallVector<stablehlo::WindowDimension> dimensions(2);
  for (size_t i = 0; i < window.size.size(); ++i) {
    stablehlo::WindowDimension &dimension = dimensions.emplace_back();
    dimension.size = window.size[i];
    dimension.stride = window.strides[i];
    dimension.windowDilation = window.dilations[i];
  }
  auto sum = [&](Value padded) {
    return emit.reduceWindow<stablehlo::AddOp>(padded, zero, dimensions);
  };
  Value padded = padOpen(node, wide, window, zero);
  counted = padOpen(node, counted, apart, zero);
  return node.failed() ? Value()
                       : node.cast(emit.div(sum(padded), sum(counted)),
                                   node.element(input));
}

Value averagePool(NodeContext &node, Value input) {
  auto window = readWindow(node, input);
  if (!window)
    return {};
  const bool countsPadding = node.getBool("count_include_pad", false);
  if (window->isOpen())
    return averageOpen(node, input, *window, countsPadding);
  return node.op<nn::AveragePoolOp>(
      input, window->size, window->strides, window->dilations, window->low,
      window->high, countsPadding, ArrayRef<int64_t>(window->ceilPadding));
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
  if (window->isOpen())
    input = padOpen(node, input, *window, node.scalar(node.element(input), 0));
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
  if (!axes)
    return {};
  Value wide = widened(node, input);
  Value sum = node.reduce<stablehlo::AddOp>(wide, *axes, 0, true);
  Value count = node.countAlong(input, *axes, node.element(wide));
  Value mean = node.binary<stablehlo::DivOp>(sum, count);
  return mean ? node.cast(mean, node.element(input)) : Value();
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
