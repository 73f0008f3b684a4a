// Padding of windows, and pools.

#include "formats/import/Windows.h"

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "graph/nn/TensorBuilder.h"
#include "runtime/OptionNames.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::formats {

Value channelsFirst(GraphBuilder &builder, Value x) {
  const int64_t rank = builder.rank(x);
  if (!x || rank < 3)
    return x;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return builder.transpose(x, order);
}

Value channelsLast(GraphBuilder &builder, Value x) {
  const int64_t rank = builder.rank(x);
  if (!x || rank < 3)
    return x;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return builder.transpose(x, order);
}

bool areExtents(ArrayRef<int64_t> list, int64_t least) {
  return llvm::all_of(list, [&](int64_t each) {
    return each >= least && each < largestExtent;
  });
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

std::optional<WindowPadding> padSame(GraphBuilder &builder, const Dim &size,
                                     int64_t stride, int64_t reach,
                                     bool upper) {
  auto split = [&](int64_t total) {
    int64_t low = upper ? total / 2 : total - total / 2;
    return WindowPadding{low, total - low, 0};
  };
  if (size.isStatic()) {
    int64_t windowCount = llvm::divideCeil(size.size, stride);
    return split(
        std::max<int64_t>((windowCount - 1) * stride + reach - size.size, 0));
  }
  if (stride == 1)
    return split(reach - 1);
  if (!builder.expandsUnknown())
    return builder.unknown("padding to the same size needs the size of the "
                           "input; give it with " +
                           optionText("shape"));
  SizeArithmetic a(builder);
  Dim windowCount = a.divide(a.add(size, stride - 1), stride);
  Dim last = a.multiply(a.subtract(windowCount, 1), stride);
  Dim total = a.max(a.subtract(a.add(last, reach), size), 0);
  Dim half = a.divide(total, 2), rest = a.subtract(total, half);
  return upper ? WindowPadding{half, rest, 0} : WindowPadding{rest, half, 0};
}

bool roundUp(GraphBuilder &builder, const Dim &size, int64_t stride,
             int64_t reach, bool mayStartOutside, WindowPadding &padding) {
  if (stride == 1)
    return true;
  if (size.isStatic()) {
    int64_t low = padding.low.size,
            padded = size.size + low + padding.high.size;
    // A position that lacks less than a stride of its elements counts.
    if (padded + stride <= reach)
      return true;
    int64_t windowCount =
        llvm::divideCeil(std::max<int64_t>(padded - reach, 0), stride) + 1;
    if (!mayStartOutside && (windowCount - 1) * stride >= size.size + low)
      --windowCount;
    if (windowCount == 0)
      return true;
    int64_t extra =
        std::max<int64_t>((windowCount - 1) * stride + reach - padded, 0);
    padding.ceil = extra;
    padding.high = padding.high.size + extra;
    return true;
  }
  // If every window that begins before the end of the padding also overlaps the
  // input, no position is left out: rounding up adds as much padding as the
  // last position lacks.
  if (padding.low.isStatic() && padding.high.isStatic() &&
      (mayStartOutside || padding.high.size + stride <= reach)) {
    padding.ceil = stride - 1;
    padding.high = padding.high.size + stride - 1;
    return true;
  }
  if (!builder.expandsUnknown()) {
    builder.unknown("ceil_mode needs the size of the input; give it with " +
                    optionText("shape"));
    return false;
  }
  SizeArithmetic a(builder);
  Dim begun = a.add(size, padding.low), padded = a.add(begun, padding.high);
  // One less than the number of window positions.
  Dim steps =
      a.divide(a.add(a.max(a.subtract(padded, reach), 0), stride - 1), stride);
  if (!mayStartOutside)
    steps = a.subtract(steps, a.isAtLeast(a.multiply(steps, stride), begun));
  padding.ceil = a.multiply(
      a.max(a.subtract(a.add(a.multiply(steps, stride), reach), padded), 0),
      a.isAtLeast(a.add(padded, stride - 1), reach));
  padding.high = a.add(padding.high, padding.ceil);
  return true;
}

Value padDynamic(GraphBuilder &builder, Value operand, const Window &window,
                 Value filler) {
  if (!window.isDynamic() || !operand)
    return operand;
  Dims low(2, Dim(0)), high(2, Dim(0));
  llvm::append_range(low, window.dynamicLow);
  llvm::append_range(high, window.dynamicHigh);
  Ints shape(builder.shape(operand).take_front(2));
  shape.resize(low.size(), ShapedType::kDynamic);
  return builder.typed<stablehlo::DynamicPadOp>(
      builder.tensorType(shape, builder.element(operand)), operand, filler,
      builder.extents(low), builder.extents(high),
      builder.integers(Ints(low.size(), 0)));
}

void setPadding(Window &window, ArrayRef<WindowPadding> paddings) {
  const bool isKnown = llvm::all_of(paddings, [](const WindowPadding &each) {
    return each.low.isStatic() && each.high.isStatic();
  });
  for (const WindowPadding &each : paddings) {
    window.low.push_back(isKnown ? each.low.size : 0);
    window.high.push_back(isKnown ? each.high.size : 0);
    window.ceilPadding.push_back(isKnown ? each.ceil.size : 0);
    if (isKnown)
      continue;
    window.dynamicLow.push_back(each.low);
    window.dynamicHigh.push_back(each.high);
    window.dynamicCeil.push_back(each.ceil);
  }
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// The lowest value of the element type.
static Value lowest(GraphBuilder &builder, Value like) {
  Type element = builder.element(like);
  return nn::TensorBuilder(builder.builder(), builder.location())
      .lowest(element);
}

Value maxPool(GraphBuilder &builder, Value input, const Window &window) {
  if (window.isDynamic())
    input = padDynamic(builder, input, window, lowest(builder, input));
  return builder.op<nn::MaxPoolOp>(input, window.size, window.strides,
                                   window.dilations, window.low, window.high);
}

/// The sum over each window, divided by the sum over as many ones as count.
static Value averageDynamic(GraphBuilder &builder, Value input,
                            const Window &window, bool countsPadding) {
  nn::TensorBuilder emit(builder.builder(), builder.location());
  Value wide = widened(builder, input);
  Value zero = builder.scalar(builder.element(wide), 0);
  Window apart = window;
  Value counted = emit.splatLike(1, wide);
  if (countsPadding) {
    // Padding that rounds up never counts.
    for (auto [high, ceil] :
         llvm::zip_equal(apart.dynamicHigh, window.dynamicCeil)) {
      Values extents = {builder.extents(ArrayRef<Dim>(high)),
                        builder.extents(ArrayRef<Dim>(ceil))};
      high = Dim(ShapedType::kDynamic,
                 builder.op<stablehlo::SubtractOp>(extents[0], extents[1]));
    }
    counted = padDynamic(builder, counted, apart,
                         builder.scalar(builder.element(wide), 1));
    apart.dynamicLow.assign(window.dynamicLow.size(), Dim(0));
    apart.dynamicHigh = window.dynamicCeil;
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
  Value padded = padDynamic(builder, wide, window, zero);
  counted = padDynamic(builder, counted, apart, zero);
  return builder.failed() ? Value()
                          : builder.cast(emit.div(sum(padded), sum(counted)),
                                         builder.element(input));
}

Value averagePool(GraphBuilder &builder, Value input, const Window &window,
                  bool countsPadding) {
  if (window.isDynamic())
    return averageDynamic(builder, input, window, countsPadding);
  return builder.op<nn::AveragePoolOp>(
      input, window.size, window.strides, window.dilations, window.low,
      window.high, countsPadding, ArrayRef<int64_t>(window.ceilPadding));
}

Value averageAlong(GraphBuilder &builder, Value input, ArrayRef<int64_t> axes) {
  Value wide = widened(builder, input);
  Value sum = builder.reduce<stablehlo::AddOp>(wide, axes, 0, true);
  Value count = builder.countAlong(input, axes, builder.element(wide));
  Value mean = builder.binary<stablehlo::DivOp>(sum, count);
  return mean ? builder.cast(mean, builder.element(input)) : Value();
}

} // namespace sinter::formats
