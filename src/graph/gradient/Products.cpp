// Gradients of matmuls and convolutions: each operand's is a product of the
// result's gradient with the other operand.

#include "graph/gradient/Gradient.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

/// \p dy and \p other with one element type: the product of narrow floats may
/// have a wider type. If \p dy was widened, its narrow operand serves as well.
static std::pair<Value, Value> matched(TensorBuilder &e, Value dy,
                                       Value other) {
  Type element = tensorOf(other).getElementType();
  if (tensorOf(dy).getElementType() == element)
    return {dy, other};
  if (auto widened = dy.getDefiningOp<ConvertOp>())
    if (tensorOf(widened.getOperand()).getElementType() == element)
      return {widened.getOperand(), other};
  return {dy, e.convert(other, tensorOf(dy).getElementType())};
}

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

/// The gradient by \p wanted: the matmul of the result's gradient and \p other
/// over the other's free dimensions, which start at \p freeStart in the result.
static Value productGradient(TensorBuilder &e, Value dy,
                             const ProductSide &wanted,
                             const ProductSide &other, int64_t freeStart) {
  MLIRContext *context = e.builder.getContext();
  SmallVector<int64_t> otherFree = other.free(), wantedFree = wanted.free();
  int64_t batches = wanted.batching.size();
  SmallVector<int64_t> leading =
      llvm::to_vector(llvm::seq<int64_t>(0, batches));
  SmallVector<int64_t> summed = llvm::to_vector(llvm::seq<int64_t>(
      freeStart, freeStart + static_cast<int64_t>(otherFree.size())));
  auto numbers = DotDimensionNumbersAttr::get(context, leading, other.batching,
                                              summed, otherFree);
  // The result: batches, the free dimensions of `wanted`, the other's
  // contracted dimensions in their order there.
  SmallVector<int64_t> origin(wanted.batching);
  llvm::append_range(origin, wantedFree);
  SmallVector<std::pair<int64_t, int64_t>> contracted;
  for (auto [mine, theirs] :
       llvm::zip_equal(wanted.contracting, other.contracting))
    contracted.push_back({theirs, mine});
  llvm::sort(contracted);
  for (auto [theirs, mine] : contracted)
    origin.push_back(mine);
  SmallVector<int64_t> shape, order(origin.size());
  for (auto [place, dimension] : llvm::enumerate(origin)) {
    shape.push_back(tensorOf(wanted.value).getShape()[dimension]);
    order[dimension] = place;
  }
  auto [seed, factor] = matched(e, dy, other.value);
  auto type = RankedTensorType::get(shape, tensorOf(factor).getElementType());
  Value product = e.make<DotGeneralOp>(type, seed, conjugate(e, factor),
                                       numbers, ArrayAttr());
  product = e.convert(product, tensorOf(wanted.value).getElementType());
  return llvm::is_sorted(order) ? product : e.transpose(product, order);
}

static Gradients multiplied(DotGeneralOp op, TensorBuilder &e, ValueRange dy) {
  bool isOfComplex = isComplex(op.getLhs()) && isComplex(op.getRhs());
  if (!isOfComplex &&
      (!isDifferentiable(op.getLhs()) || !isDifferentiable(op.getRhs())))
    return failure();
  ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  int64_t batches = lhs.batching.size(), lhsFree = lhs.free().size();
  return list({productGradient(e, dy[0], lhs, rhs, batches + lhsFree),
               productGradient(e, dy[0], rhs, lhs, batches)});
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//

/// Splits dimension \p from into \p count equal groups and moves the group
/// index to the outside of dimension \p to.
static Value moveGroups(TensorBuilder &e, Value value, int64_t from, int64_t to,
                        int64_t count) {
  SmallVector<int64_t> shape(tensorOf(value).getShape());
  SmallVector<int64_t> split(shape);
  split[from] /= count;
  split.insert(split.begin() + from, count);
  // The position of the groups, then of every dimension, in the split tensor.
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (i == to)
      order.push_back(from);
    order.push_back(i < from ? i : i + 1);
  }
  SmallVector<int64_t> joined(shape);
  joined[from] /= count;
  joined[to] *= count;
  return e.reshape(e.transpose(e.reshape(value, split), order), joined);
}

static Value convolve(TensorBuilder &e, Value lhs, Value rhs,
                      RankedTensorType result, ArrayRef<WindowDimension> window,
                      ConvDimensionNumbersAttr numbers, int64_t featureGroups,
                      int64_t batchGroups) {
  SmallVector<int64_t> strides, lhsDilations, rhsDilations, padding;
  for (const WindowDimension &each : window) {
    strides.push_back(each.stride);
    lhsDilations.push_back(each.baseDilation);
    rhsDilations.push_back(each.windowDilation);
    padding.append({each.paddingLow, each.paddingHigh});
  }
  Builder &b = e.builder;
  auto paddingType = RankedTensorType::get(
      {static_cast<int64_t>(window.size()), 2}, b.getI64Type());
  return e.make<ConvolutionOp>(
      result, lhs, rhs, b.getDenseI64ArrayAttr(strides),
      DenseIntElementsAttr::get(paddingType, ArrayRef<int64_t>(padding)),
      b.getDenseI64ArrayAttr(lhsDilations),
      b.getDenseI64ArrayAttr(rhsDilations), DenseBoolArrayAttr(), numbers,
      b.getI64IntegerAttr(featureGroups), b.getI64IntegerAttr(batchGroups),
      ArrayAttr());
}

/// The extent of \p count elements that are \p dilation apart.
static int64_t dilated(int64_t count, int64_t dilation) {
  return count == 0 ? 0 : (count - 1) * dilation + 1;
}

namespace {
/// Builds the gradients of a convolution.
class ConvolutionGradients {
public:
  ConvolutionGradients(ConvolutionOp op, TensorBuilder &e, Value dy)
      : op(op), e(e), dy(dy), numbers(op.getDimensionNumbers()),
        window(op.getWindow()), groups(op.getFeatureGroupCount()),
        batchGroups(op.getBatchGroupCount()) {
    for (auto [i, each] : llvm::enumerate(window)) {
      int64_t dimension = numbers.getKernelSpatialDimensions()[i];
      if (each.reversed)
        flipped.push_back(dimension);
    }
  }

  /// A convolution of dy, dilated by the stride, with the reversed kernel, its
  /// input and output features exchanged.
  Value byOperand() {
    auto [seed, kernel] = matched(e, dy, conjugate(e, op.getRhs()));
    int64_t in = numbers.getKernelInputFeatureDimension(),
            out = numbers.getKernelOutputFeatureDimension();
    int64_t parts = std::max(groups, batchGroups);
    if (parts > 1)
      kernel = moveGroups(e, kernel, out, in, parts);
    SmallVector<int64_t> turned;
    for (auto [i, each] : llvm::enumerate(window))
      if (!each.reversed)
        turned.push_back(numbers.getKernelSpatialDimensions()[i]);
    if (!turned.empty())
      kernel = e.make<ReverseOp>(kernel, turned);
    ConvolutionWindow back;
    for (auto [i, each] : llvm::enumerate(window)) {
      WindowDimension next;
      next.stride = each.baseDilation;
      next.baseDilation = each.stride;
      next.windowDilation = each.windowDilation;
      auto [operand, kernelSpan, result] = spans(i);
      next.paddingLow = kernelSpan - 1 - each.paddingLow;
      next.paddingHigh = operand + kernelSpan - 1 - result - next.paddingLow;
      back.push_back(next);
    }
    auto swapped = ConvDimensionNumbersAttr::get(
        op.getContext(), numbers.getOutputBatchDimension(),
        numbers.getOutputFeatureDimension(),
        numbers.getOutputSpatialDimensions(), out, in,
        numbers.getKernelSpatialDimensions(), numbers.getInputBatchDimension(),
        numbers.getInputFeatureDimension(),
        numbers.getInputSpatialDimensions());
    int64_t batch = numbers.getInputBatchDimension(),
            feature = numbers.getInputFeatureDimension();
    SmallVector<int64_t> shape(tensorOf(op.getLhs()).getShape());
    shape[batch] /= batchGroups;
    shape[feature] *= batchGroups;
    Value gradient = convolve(e, seed, kernel, tensorOf(seed).clone(shape),
                              back, swapped, parts, 1);
    gradient = e.convert(gradient, tensorOf(op.getLhs()).getElementType());
    return batchGroups > 1
               ? moveGroups(e, gradient, feature, batch, batchGroups)
               : gradient;
  }

  /// A convolution of the operand with dy: sums over batches, and features take
  /// the role of batches.
  Value byKernel() {
    ConvolutionWindow back;
    for (auto [i, each] : llvm::enumerate(window)) {
      WindowDimension next;
      next.stride = each.windowDilation;
      next.baseDilation = each.baseDilation;
      next.windowDilation = each.stride;
      auto [operand, kernelSpan, result] = spans(i);
      next.paddingLow = each.paddingLow;
      next.paddingHigh = result + kernelSpan - 1 - operand - each.paddingLow;
      back.push_back(next);
    }
    auto swapped = ConvDimensionNumbersAttr::get(
        op.getContext(), numbers.getInputFeatureDimension(),
        numbers.getInputBatchDimension(), numbers.getInputSpatialDimensions(),
        numbers.getOutputBatchDimension(), numbers.getOutputFeatureDimension(),
        numbers.getOutputSpatialDimensions(),
        numbers.getKernelInputFeatureDimension(),
        numbers.getKernelOutputFeatureDimension(),
        numbers.getKernelSpatialDimensions());
    auto [seed, operand] = matched(e, dy, conjugate(e, op.getLhs()));
    auto type = tensorOf(op.getRhs()).clone(tensorOf(seed).getElementType());
    Value gradient =
        convolve(e, operand, seed, type, back, swapped, batchGroups, groups);
    gradient = e.convert(gradient, tensorOf(op.getRhs()).getElementType());
    return flipped.empty() ? gradient : e.make<ReverseOp>(gradient, flipped);
  }

private:
  struct Spans {
    int64_t operand, kernel, result;
  };
  /// The extents of operand, kernel and result along spatial dimension \p i.
  Spans spans(size_t i) {
    const WindowDimension &each = window[i];
    return {
        dilated(tensorOf(op.getLhs())
                    .getShape()[numbers.getInputSpatialDimensions()[i]],
                each.baseDilation),
        dilated(tensorOf(op.getRhs())
                    .getShape()[numbers.getKernelSpatialDimensions()[i]],
                each.windowDilation),
        dilated(
            tensorOf(dy).getShape()[numbers.getOutputSpatialDimensions()[i]],
            each.stride)};
  }

  ConvolutionOp op;
  TensorBuilder &e;
  Value dy;
  ConvDimensionNumbersAttr numbers;
  ConvolutionWindow window;
  int64_t groups, batchGroups;
  /// Spatial dimensions along which the kernel is reversed.
  SmallVector<int64_t> flipped;
};
} // namespace

static Gradients convolved(ConvolutionOp op, TensorBuilder &e, ValueRange dy) {
  if (!hasGradient(op.getLhs()) || !hasGradient(op.getRhs()))
    return failure();
  // The result is empty, or zeros.
  auto isEmpty = [](Value each) {
    return llvm::is_contained(tensorOf(each).getShape(), 0);
  };
  if (isEmpty(op.getLhs()) || isEmpty(op.getRhs()) || isEmpty(dy[0]))
    return list({Value(), Value()});
  ConvolutionGradients gradients(op, e, dy[0]);
  Value lhs = gradients.byOperand();
  return list({lhs, gradients.byKernel()});
}

void attachProducts(MLIRContext *context) {
  attach<DotGeneralOp, multiplied>(context);
  attach<ConvolutionOp, convolved>(context);
}

} // namespace sinter::gradient
