// Conv, ConvTranspose, ConvInteger.

#include "formats/import/Convolutions.h"
#include "formats/import/Products.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Window.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::onnx {

static Value convolveTo(NodeContext &node, Value input, Value kernel,
                        const Window &window, int64_t groups, Type element) {
  if (input && window.isDynamic())
    input =
        padDynamic(node, input, window, node.scalar(node.element(input), 0));
  formats::ConvolutionForm form;
  form.strides = window.strides;
  form.low = window.low;
  form.high = window.high;
  form.lhsDilation.assign(window.size.size(), 1);
  form.rhsDilation = window.dilations;
  form.groups = groups;
  return buildConvolution(node, input, kernel, form, element);
}

Value convolve(NodeContext &node, Value input, Value kernel,
               const Window &window, int64_t groups) {
  return input ? convolveTo(node, input, kernel, window, groups,
                            node.element(input))
               : Value();
}

/// The result type of the convolution of \p input before a bias, so that the
/// sum is rounded once.
static Type accumulatorElement(NodeContext &node, Value input,
                               int64_t bias = 2) {
  return node.has(bias) ? sumElement(node, input) : node.element(input);
}

/// \p sums, a convolution, plus the bias in input \p input, if it is there.
static Value biased(NodeContext &node, Value sums, int64_t input = 2) {
  if (!node.has(input) || !sums)
    return sums;
  Value bias = node.operand(input);
  if (node.rank(bias) != 1)
    return node.fail("the bias is not a vector");
  Value wide = node.cast(bias, node.element(sums));
  return node.op<stablehlo::AddOp>(sums, node.alongDimension(wide, sums, 1));
}

/// Checks that input and weight have the same rank, at least 3, and that the
/// group is positive.
static bool checkOperands(NodeContext &node, Value input, Value weight) {
  if (node.rank(input) < 3 || node.rank(weight) != node.rank(input))
    node.fail("the input is not [N, C, spatial...] or the weight has another "
              "rank");
  else if (node.getInt("group", 1) < 1)
    node.fail("group is not positive");
  return !node.failed();
}

Value convolution(NodeContext &node, Value input, Value weight, Type element) {
  if (!checkOperands(node, input, weight))
    return {};
  auto window = readWindow(node, input, node.shape(weight).drop_front(2));
  if (!window)
    return {};
  return biased(node, convolveTo(node, input, weight, *window,
                                 node.getInt("group", 1), element));
}

static LogicalResult importConv(NodeContext &node) {
  Value input = node.operand(0);
  Value sums = convolution(node, input, node.operand(1),
                           accumulatorElement(node, input));
  return node.result(sums ? node.cast(sums, node.element(input)) : sums);
}

/// Like Conv, of integers minus their zero points.
static LogicalResult importConvInteger(NodeContext &node) {
  Value input = node.operand(0), weight = node.operand(1);
  if (!checkOperands(node, input, weight))
    return failure();
  auto window = readWindow(node, input, node.shape(weight).drop_front(2));
  if (!window)
    return failure();
  Type i32 = node.builder().getI32Type();
  auto centred = [&](Value value, int64_t zeroPoint, int64_t dimension) {
    Value wide = node.cast(value, i32);
    if (!node.has(zeroPoint))
      return wide;
    Value zero = node.cast(node.operand(zeroPoint), i32);
    if (node.rank(zero) == 1 && node.size(zero, 0) == 1)
      zero = node.reshape(zero, ArrayRef<int64_t>());
    if (zero && node.rank(zero) == 1)
      zero = node.alongDimension(zero, wide, dimension);
    return node.binary<stablehlo::SubtractOp>(wide, zero);
  };
  return node.result(convolve(node, centred(input, 2, 1), centred(weight, 3, 0),
                              *window, node.getInt("group", 1)));
}

namespace {

/// The attributes of ConvTranspose for the size of its result: one entry per
/// spatial dimension, two for pads.
struct TransposedSizes {
  Ints pads, outputPadding;
  /// Empty without output_shape.
  Ints outputShape;
  bool isUpper, isSame;
};

} // namespace

/// Whether the node is ONNX Runtime's, whose input 2 is its pads, and input 3
/// the bias.
static bool hasPadsInput(NodeContext &node) {
  return node.opType() == "ConvTransposeWithDynamicPads";
}

/// Attribute pads, or an input of that name; zeros by default.
static Ints padsOf(NodeContext &node, int64_t spatial) {
  if (!hasPadsInput(node) || !node.has(2))
    return node.getInts("pads", Ints(2 * spatial, 0));
  if (auto known = node.knownIntegers(node.operand(2)))
    return *known;
  node.unknown("the pads are known only at run time");
  return {};
}

/// The attributes pads, output_padding, output_shape and auto_pad; checked so
/// that computations with them and sizes below 2^31 do not overflow.
static std::optional<TransposedSizes> readTransposedSizes(NodeContext &node,
                                                          int64_t spatial) {
  TransposedSizes read;
  read.pads = padsOf(node, spatial);
  read.outputPadding = node.getInts("output_padding", Ints(spatial, 0));
  read.outputShape = node.getInts("output_shape");
  const std::string automatic = node.getString("auto_pad", "NOTSET");
  if (node.failed())
    return std::nullopt;
  const auto count = static_cast<size_t>(spatial);
  // Some models include the batch and channels.
  if (read.outputShape.size() == count + 2)
    read.outputShape.erase(read.outputShape.begin(),
                           read.outputShape.begin() + 2);
  if (read.pads.size() != 2 * count || read.outputPadding.size() != count ||
      (!read.outputShape.empty() && read.outputShape.size() != count))
    return node.fail(
        "pads, output_padding or output_shape has the wrong length");
  if (!areExtents(read.pads, 1 - largestExtent) ||
      !areExtents(read.outputPadding, 0) || !areExtents(read.outputShape, 0))
    return node.fail("pads, output_padding or output_shape is negative or too "
                     "large");
  if (automatic == "VALID")
    read.pads.assign(2 * spatial, 0);
  read.isUpper = automatic == "SAME_UPPER";
  read.isSame = read.isUpper || automatic == "SAME_LOWER";
  return read;
}

/// Computes how much of the full result is cropped at both ends of each
/// dimension.
static bool readCrops(NodeContext &node, Value input, const Window &window,
                      Ints &low, Ints &high) {
  const int64_t spatial = window.size.size();
  const auto given = readTransposedSizes(node, spatial);
  if (!given)
    return false;
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t size = node.size(input, i + 2);
    int64_t begin = given->pads[i], end = given->pads[i + spatial];
    const int64_t more = given->outputPadding[i];
    if (size >= largestExtent) {
      node.fail("the input is too large");
      return false;
    }
    if (given->isSame || !given->outputShape.empty()) {
      if (ShapedType::isDynamic(size)) {
        node.unknown("output_shape and auto_pad need the size of the "
                     "input; give it with " +
                     optionText("shape"));
        return false;
      }
      int64_t wanted = given->outputShape.empty() ? size * window.strides[i]
                                                  : given->outputShape[i];
      int64_t total = window.strides[i] * (size - 1) + more +
                      (window.size[i] - 1) * window.dilations[i] + 1 - wanted;
      // If the full result is too small, zeros are added at the end.
      begin = total < 0 ? 0 : given->isUpper ? total / 2 : total - total / 2;
      end = total - begin;
    }
    low.push_back(begin);
    high.push_back(end - more);
  }
  return true;
}

/// The same if the amounts depend on dynamic dimensions: returns the input with
/// stride - 1 zeros between its elements and padded so that the convolution
/// needs no padding.
static Value padTransposed(NodeContext &node, Value input, Value weight,
                           const Window &window) {
  const int64_t spatial = window.size.size();
  const auto given = readTransposedSizes(node, spatial);
  if (!given)
    return {};
  formats::SizeArithmetic a(node);
  Dims low(2, Dim(0)), high(2, Dim(0)), between(2, Dim(0));
  for (int64_t i = 0; i < spatial; ++i) {
    Dim size = node.dim(input, i + 2);
    Dim reach =
        a.multiply(a.subtract(node.dim(weight, i + 2), 1), window.dilations[i]);
    Dim begin = given->pads[i], end = given->pads[i + spatial];
    const int64_t more = given->outputPadding[i];
    if (given->isSame || !given->outputShape.empty()) {
      Dim wanted = given->outputShape.empty()
                       ? a.multiply(size, window.strides[i])
                       : Dim(given->outputShape[i]);
      Dim whole = a.add(a.multiply(a.subtract(size, 1), window.strides[i]),
                        a.add(reach, more + 1));
      Dim total = a.subtract(whole, wanted), cut = a.max(total, 0);
      Dim half = a.divide(cut, 2);
      begin = given->isUpper ? half : a.subtract(cut, half);
      end = a.subtract(total, begin);
    }
    low.push_back(a.subtract(reach, begin));
    high.push_back(a.add(a.subtract(reach, end), more));
    between.push_back(window.strides[i] - 1);
  }
  Ints shape(node.shape(input).take_front(2));
  shape.resize(low.size(), ShapedType::kDynamic);
  return node.typed<stablehlo::DynamicPadOp>(
      node.tensorType(shape, node.element(input)), input,
      node.scalar(node.element(input), 0), node.extents(low),
      node.extents(high), node.extents(between));
}

/// A convolution over the input with stride - 1 zeros between its elements,
/// with the reversed kernel; the weight constant stays unchanged.
static LogicalResult importConvTranspose(NodeContext &node) {
  const int64_t bias = hasPadsInput(node) ? 3 : 2;
  Value input = node.operand(0), weight = node.operand(1);
  if (!checkOperands(node, input, weight))
    return failure();
  if (!node.isStatic(weight) && !node.expandsUnknown())
    return node.unknown("the weight's shape is known only at run time");
  auto window = readWindowSizes(node, node.rank(input) - 2,
                                node.shape(weight).drop_front(2));
  formats::ConvolutionForm form;
  Ints low, high;
  const bool isDynamic = !node.isStatic(input) || !node.isStatic(weight);
  if (window && node.expandsUnknown() && isDynamic) {
    input = padTransposed(node, input, weight, *window);
    form.low.assign(window->size.size(), 0);
    form.high = form.lhsDilation = form.low;
    std::fill(form.lhsDilation.begin(), form.lhsDilation.end(), 1);
  } else if (!window || !readCrops(node, input, *window, low, high))
    return failure();
  for (size_t i = 0; i < low.size(); ++i) {
    int64_t reach = (window->size[i] - 1) * window->dilations[i];
    form.low.push_back(reach - low[i]);
    form.high.push_back(reach - high[i]);
  }
  form.strides.assign(window->size.size(), 1);
  if (form.lhsDilation.empty())
    form.lhsDilation = window->strides;
  form.rhsDilation = window->dilations;
  form.reversed = true;
  form.groups = node.getInt("group", 1);
  Value kernel = transposedKernel(node, weight, form);
  Value sums = input && kernel
                   ? buildConvolution(node, input, kernel, form,
                                      accumulatorElement(node, input, bias))
                   : Value();
  sums = biased(node, sums, bias);
  return node.result(sums ? node.cast(sums, node.element(input)) : sums);
}

llvm::ArrayRef<Operator> convolutionOperators() {
  static const Operator table[] = {
      {"Conv", "", 1, importConv, 2, 3},
      {"ConvInteger", "", 10, importConvInteger, 2, 4, false, true},
      {"ConvTranspose", "", 1, importConvTranspose, 2, 3},
      {"ConvTransposeWithDynamicPads", runtimeDomain, 1, importConvTranspose, 2,
       4, false, true},
  };
  return table;
}

} // namespace sinter::onnx
