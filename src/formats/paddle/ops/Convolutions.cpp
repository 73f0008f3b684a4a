// Convolutions, plain and transposed.

#include "formats/import/Convolutions.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/import/Slices.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;

namespace sinter::paddle {

/// Checks that input [N, C, spatial...] and filter have the same rank, and that
/// the filter's shape is static.
static bool checkOperands(OperatorContext &op, Value input, Value filter) {
  if (!input || !filter)
    op.fail("Input or Filter is missing");
  else if (op.rank(input) < 3 || op.rank(filter) != op.rank(input))
    op.fail("Input has not three dimensions or more, or Filter has another "
            "number of them");
  else if (!op.isStatic(filter))
    op.unknown("the filter's shape is known only at run time");
  else if (op.getInt("groups", 1) < 1)
    op.fail("groups is not positive");
  return !op.failed();
}

/// Sets the result in the layout of the operator's input, plus the bias if
/// there is one.
static LogicalResult finish(OperatorContext &op, Value result, bool isLast) {
  if (Value bias = result ? op.optional("Bias") : Value())
    result =
        op.op<stablehlo::AddOp>(result, op.alongDimension(bias, result, 1));
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Output", result);
}

static LogicalResult importConvolution(OperatorContext &op) {
  Value input = op.operand("Input"), filter = op.operand("Filter");
  if (!checkOperands(op, input, filter))
    return failure();
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    input = channelsFirst(op, input);
  auto window = readWindow(op, input, op.shape(filter).drop_front(2));
  if (!window)
    return failure();
  input = padDynamic(op, input, *window, op.scalar(op.element(input), 0));
  formats::ConvolutionForm form;
  form.strides = window->strides;
  form.low = window->low;
  form.high = window->high;
  form.lhsDilation.assign(window->size.size(), 1);
  form.rhsDilation = window->dilations;
  form.groups = op.getInt("groups", 1);
  return finish(
      op, buildConvolution(op, input, filter, form, op.element(input)), isLast);
}

namespace {
/// The size of a transposed convolution's result beyond the minimum.
struct Extra {
  /// Elements at the end of each spatial dimension.
  Ints more;
  /// The sizes of the result if given; else empty.
  Ints sizes;
};
} // namespace

/// Fails for an \p asked size of dimension \p i that this input cannot have.
static void checkOutputSize(OperatorContext &op, Value input,
                            const Window &window, size_t i, int64_t asked) {
  const int64_t size = op.size(input, i + 2);
  if (ShapedType::isDynamic(size))
    return;
  const int64_t least = (size - 1) * window.strides[i] - window.low[i] -
                        window.high[i] +
                        window.dilations[i] * (window.size[i] - 1) + 1;
  if (asked < least || asked >= least + window.strides[i])
    op.fail("output_size is " + Twine(asked) + " where it can be " +
            Twine(least) + " to " + Twine(least + window.strides[i] - 1));
}

/// Reads output_padding, or output_size: then the result is computed at its
/// maximum size and sliced.
static std::optional<Extra> readExtra(OperatorContext &op, Value input,
                                      const Window &window) {
  const size_t count = window.size.size();
  Extra extra;
  extra.more = op.getInts("output_padding", Ints(count, 0));
  if (extra.more.empty())
    extra.more.assign(count, 0);
  auto sizes =
      op.integersFrom({"OutputSizeTensor", "OutputSize"}, "output_size");
  if (!sizes)
    return std::nullopt;
  if (extra.more.size() != count || (!sizes->empty() && sizes->size() != count))
    return op.fail("output_padding or output_size has not one element a "
                   "spatial dimension");
  for (size_t i = 0; i < count; ++i) {
    if (extra.more[i] < 0 ||
        (extra.more[i] > 0 &&
         extra.more[i] >= std::max(window.strides[i], window.dilations[i])))
      return op.fail("output_padding is negative or not less than stride and "
                     "dilation");
    if (sizes->empty())
      continue;
    checkOutputSize(op, input, window, i, (*sizes)[i]);
    extra.more[i] = window.strides[i] - 1;
  }
  extra.sizes = std::move(*sizes);
  return extra;
}

/// \p result without the dynamic padding of a window.
static Value slicePadding(OperatorContext &op, Value result,
                          const Window &window) {
  formats::SizeArithmetic a(op);
  formats::Slicer slicer(op, result);
  for (size_t i = 0; i < window.size.size(); ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const Dim end = a.subtract(op.dim(result, axis), window.dynamicHigh[i]);
    slicer.along(axis, {{}, op.extents({window.dynamicLow[i]}), 0},
                 {{}, end.extent, 0}, 1);
  }
  return slicer.finish();
}

/// A convolution over the input with stride - 1 zeros between its elements,
/// with the reversed filter; the weight constant stays unchanged.
static LogicalResult importTransposed(OperatorContext &op) {
  Value input = op.operand("Input"), filter = op.operand("Filter");
  if (!checkOperands(op, input, filter))
    return failure();
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    input = channelsFirst(op, input);
  auto window = readWindow(op, input, op.shape(filter).drop_front(2));
  auto extra = window ? readExtra(op, input, *window) : std::nullopt;
  if (!extra || op.failed())
    return failure();
  formats::ConvolutionForm form;
  for (size_t i = 0; i < window->size.size(); ++i) {
    const int64_t reach = (window->size[i] - 1) * window->dilations[i];
    form.low.push_back(reach - window->low[i]);
    form.high.push_back(reach - window->high[i] + extra->more[i]);
  }
  form.strides.assign(window->size.size(), 1);
  form.lhsDilation = window->strides;
  form.rhsDilation = window->dilations;
  form.reversed = true;
  form.groups = op.getInt("groups", 1);
  Value kernel = transposedKernel(op, filter, form);
  Value result =
      kernel ? buildConvolution(op, input, kernel, form, op.element(input))
             : Value();
  if (result && window->isDynamic())
    result = slicePadding(op, result, *window);
  for (auto [i, size] : llvm::enumerate(extra->sizes))
    if (result && op.size(result, i + 2) != size)
      result = op.sliceAxis(result, static_cast<int64_t>(i) + 2, 0, size);
  return finish(op, result, isLast);
}

OperatorReaders convolutionReaders() {
  static const OperatorReader table[] = {
      {"conv2d", importConvolution},
      {"conv2d_transpose", importTransposed},
      {"conv3d", importConvolution},
      {"conv3d_transpose", importTransposed},
      {"depthwise_conv2d", importConvolution},
      {"depthwise_conv2d_transpose", importTransposed},
  };
  return table;
}

} // namespace sinter::paddle
