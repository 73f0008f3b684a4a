//===- Convolution.cpp - convolution, dynamic_conv ------------------------===//
//
// Operands are first brought into one order of dimensions, lhs [batch, feature,
// spatial...] and kernel [output, input, spatial...]. Then, for each image and
// group, the windows become the columns of a matrix ("im2col"; Chellapilla et
// al., "High Performance Convolutional Neural Networks for Document
// Processing", 2006), by which the kernel, a matrix as well, is multiplied.
//
//===----------------------------------------------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Products.h"
#include "interpreter/Strided.h"

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// A convolution with the dimensions in the order above.
struct Geometry {
  stablehlo::ConvolutionWindow window;
  Shape inputSizes;  ///< Spatial.
  Shape outputSizes; ///< Spatial.
  Shape windowSizes;
  int64_t groupInputs = 0;  ///< Input features of a result.
  int64_t groupOutputs = 0; ///< Features of the result in a group.

  int64_t inputSize() const { return elementCount(inputSizes).value_or(0); }
  int64_t outputSize() const { return elementCount(outputSizes).value_or(0); }
  int64_t windowSize() const { return elementCount(windowSizes).value_or(0); }
};

/// For each position in the window and each output index along one dimension,
/// the index of the input element; -1 where there is none.
class VisibleIndices {
public:
  VisibleIndices(const stablehlo::WindowDimension &window, int64_t inputSize,
                 int64_t outputSize)
      : outputs(outputSize) {
    indices.reserve(window.size * outputSize);
    for (int64_t position = 0; position < window.size; ++position)
      for (int64_t output = 0; output < outputSize; ++output) {
        const int64_t dilated = output * window.stride - window.paddingLow +
                                position * window.windowDilation;
        const int64_t at = dilated / window.baseDilation;
        const bool isThere = dilated >= 0 &&
                             dilated % window.baseDilation == 0 &&
                             at < inputSize;
        indices.push_back(isThere ? at : -1);
      }
  }
  int64_t at(int64_t position, int64_t output) const {
    return indices[position * outputs + output];
  }

private:
  int64_t outputs;
  std::vector<int64_t> indices;
};

/// Multiplies groups of images, for a chunk of the results at a time.
template <typename T> class GroupProduct {
public:
  explicit GroupProduct(const Geometry &geometry)
      : geometry(geometry), depth(geometry.groupInputs * geometry.windowSize()),
        piece(std::clamp<int64_t>(
            bufferElements / std::max<int64_t>(depth, 1), 16,
            std::max<int64_t>(geometry.outputSize(), 16))) {
    for (size_t d = 0; d < geometry.window.size(); ++d)
      visible.emplace_back(geometry.window[d], geometry.inputSizes[d],
                           geometry.outputSizes[d]);
  }

  /// Calls `body()` for each chunk; run() then computes that chunk.
  template <typename Body> void forEachPiece(Body body) {
    for (begin = 0; begin < geometry.outputSize(); begin += piece) {
      count = std::min(piece, geometry.outputSize() - begin);
      findOffsets();
      body();
    }
  }

  /// Convolves \p image [groupInputs, spatial...] with \p kernel [groupOutputs,
  /// groupInputs, window...] into \p out [groupOutputs, spatial...].
  void run(const T *image, const T *kernel, T *out) {
    fillColumns(image);
    sums.assign(geometry.groupOutputs * count, T());
    addProduct<T>(geometry.groupOutputs, depth, count, kernel, columns.data(),
                  sums.data());
    for (int64_t o = 0; o < geometry.groupOutputs; ++o)
      std::copy_n(sums.data() + o * count, count,
                  out + o * geometry.outputSize() + begin);
  }

private:
  /// The matrix of columns is made in chunks of about this many elements.
  static constexpr int64_t bufferElements = int64_t(1) << 21;

  /// columns[(input, window position), i] = the element of the image under that
  /// window position for result begin + i; zero in the padding and between
  /// dilated elements.
  void fillColumns(const T *image) {
    columns.resize(depth * count);
    const int64_t windowSize = geometry.windowSize();
    for (int64_t c = 0; c < geometry.groupInputs; ++c) {
      const T *channel = image + c * geometry.inputSize();
      for (int64_t w = 0; w < windowSize; ++w) {
        T *row = columns.data() + (c * windowSize + w) * count;
        const int64_t *from = offsets.data() + w * count;
        for (int64_t i = 0; i < count; ++i)
          row[i] = from[i] >= 0 ? channel[from[i]] : T();
      }
    }
  }

  /// The offset in the image for each window position of each result of the
  /// chunk; -1 where there is no element.
  void findOffsets() {
    const size_t rank = geometry.window.size();
    offsets.assign(geometry.windowSize() * count, 0);
    std::vector<int64_t> first(rank);
    int64_t rest = begin;
    for (size_t d = rank; d-- > 0; rest /= geometry.outputSizes[d])
      first[d] = rest % geometry.outputSizes[d];
    IndexCounter position(geometry.windowSizes);
    for (int64_t w = 0; w < geometry.windowSize(); ++w, position.next()) {
      IndexCounter index(geometry.outputSizes, first);
      int64_t *row = offsets.data() + w * count;
      for (int64_t i = 0; i < count; ++i, index.next())
        for (size_t d = 0; d < rank && row[i] >= 0; ++d) {
          const int64_t at = visible[d].at(position[d], index[d]);
          row[i] = at < 0 ? -1 : row[i] * geometry.inputSizes[d] + at;
        }
    }
  }

  const Geometry &geometry;
  int64_t depth, piece;
  int64_t begin = 0, count = 0; ///< Of the current chunk.
  std::vector<VisibleIndices> visible;
  std::vector<int64_t> offsets;
  std::vector<T> columns, sums;
};

} // namespace

static SmallVector<int64_t> order(int64_t first, int64_t second,
                                  ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> dimensions = {first, second};
  llvm::append_range(dimensions, spatial);
  return dimensions;
}

/// The kernel as [output, input, spatial...], with the reversed dimensions
/// flipped.
static Tensor orderedKernel(stablehlo::ConvDimensionNumbersAttr numbers,
                            const Tensor &kernel,
                            const stablehlo::ConvolutionWindow &window) {
  Tensor ordered =
      transposed(kernel, order(numbers.getKernelOutputFeatureDimension(),
                               numbers.getKernelInputFeatureDimension(),
                               numbers.getKernelSpatialDimensions()));
  Layout from = rowMajor(ordered.shape());
  bool isReversed = false;
  for (size_t i = 0; i < window.size(); ++i) {
    if (!window[i].reversed)
      continue;
    isReversed = true;
    from.offset += (ordered.dim(i + 2) - 1) * from.strides[i + 2];
    from.strides[i + 2] *= -1;
  }
  if (!isReversed)
    return ordered;
  Tensor result(ordered.type(), ordered.shape());
  copyBox(byteSize(ordered.type()), ordered.shape(), result.mutableBytes(),
          rowMajor(ordered.shape()), ordered.data(), from);
  return result;
}

/// The result [batch, output, spatial...] of ordered operands. Either number of
/// groups may be more than one: feature groups split the features of lhs and
/// the outputs of the kernel, batch groups the batch of lhs and the outputs.
template <typename T>
static std::vector<T> convolve(const Geometry &geometry, const Tensor &lhs,
                               const Tensor &kernel, int64_t featureGroups,
                               int64_t batchGroups) {
  const int64_t batch = lhs.dim(0) / batchGroups, features = lhs.dim(1);
  const int64_t outputs = kernel.dim(0), groups = featureGroups * batchGroups;
  const std::vector<T> images = toAccumulators<T>(lhs);
  const std::vector<T> weights = toAccumulators<T>(kernel);
  const int64_t kernelSize =
      geometry.groupOutputs * geometry.groupInputs * geometry.windowSize();
  std::vector<T> result(batch * outputs * geometry.outputSize());
  GroupProduct<T> product(geometry);
  product.forEachPiece([&] {
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t image = batchGroups > 1 ? g * batch + n : n;
        const int64_t firstFeature =
            featureGroups > 1 ? g * geometry.groupInputs : 0;
        product.run(images.data() + (image * features + firstFeature) *
                                        geometry.inputSize(),
                    weights.data() + g * kernelSize,
                    result.data() + (n * outputs + g * geometry.groupOutputs) *
                                        geometry.outputSize());
      }
  });
  return result;
}

/// Moves [batch, feature, spatial...] to the result's own order.
static Tensor toResultOrder(const Tensor &ordered,
                            ArrayRef<int64_t> dimensions) {
  std::vector<int64_t> permutation(dimensions.size());
  for (size_t i = 0; i < dimensions.size(); ++i)
    permutation[dimensions[i]] = static_cast<int64_t>(i);
  return transposed(ordered, permutation);
}

/// Evaluates convolution and dynamic_conv.
template <typename Op>
static Result<Tensors> evaluateWith(Op op, const Call &call,
                                    stablehlo::ConvolutionWindow window) {
  auto numbers = op.getDimensionNumbers();
  const auto featureGroups = static_cast<int64_t>(op.getFeatureGroupCount());
  const auto batchGroups = static_cast<int64_t>(op.getBatchGroupCount());
  const Tensor lhs =
      transposed(call[0], order(numbers.getInputBatchDimension(),
                                numbers.getInputFeatureDimension(),
                                numbers.getInputSpatialDimensions()));
  Geometry geometry;
  geometry.window = std::move(window);
  const Tensor kernel = orderedKernel(numbers, call[1], geometry.window);
  if (lhs.dim(0) % batchGroups || lhs.dim(1) % featureGroups ||
      kernel.dim(0) % (featureGroups * batchGroups) ||
      lhs.dim(1) / featureGroups != kernel.dim(1))
    return invalidModel("the operands' batch or features do not fit the kernel "
                        "and the groups");
  geometry.groupInputs = kernel.dim(1);
  geometry.groupOutputs = kernel.dim(0) / (featureGroups * batchGroups);

  Shape shape = {lhs.dim(0) / batchGroups, kernel.dim(0)};
  for (size_t i = 0; i < geometry.window.size(); ++i) {
    stablehlo::WindowDimension &window = geometry.window[i];
    window.size = kernel.dim(i + 2);
    std::optional<int64_t> size =
        stablehlo::windowedSize(lhs.dim(i + 2), window);
    if (!size)
      return invalidModel("the window of spatial dimension " +
                          std::to_string(i) + " makes no sense");
    const int64_t table[] = {window.size, *size};
    if (Result<void> ok = checkSize(ElementType::I64, table); !ok)
      return ok.takeError();
    geometry.inputSizes.push_back(lhs.dim(i + 2));
    geometry.windowSizes.push_back(window.size);
    geometry.outputSizes.push_back(*size);
    shape.push_back(*size);
  }
  const auto dimensions = order(numbers.getOutputBatchDimension(),
                                numbers.getOutputFeatureDimension(),
                                numbers.getOutputSpatialDimensions());
  Result<Tensors> ordered =
      produce(call.resultElement(), shape, [&](Tensor &result) {
        if (result.size() == 0)
          return;
        dispatchAccumulator(result.type(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          fromAccumulators<T>(
              convolve<T>(geometry, lhs, kernel, featureGroups, batchGroups),
              result);
        });
      });
  if (!ordered)
    return ordered;
  return single(toResultOrder(ordered->front(), dimensions));
}

static Result<Tensors> evaluateConvolution(const Call &call) {
  auto op = call.as<stablehlo::ConvolutionOp>();
  return evaluateWith(op, call, op.getWindow());
}

/// The padding is the third operand, [spatial, 2].
static Result<Tensors> evaluateDynamicConv(const Call &call) {
  auto op = call.as<stablehlo::DynamicConvOp>();
  stablehlo::ConvolutionWindow window = op.getWindow();
  const std::vector<int64_t> padding = integers(call[2]);
  if (padding.size() != 2 * window.size())
    return invalidModel("the padding is not two numbers a spatial dimension");
  for (size_t i = 0; i < window.size(); ++i) {
    window[i].paddingLow = padding[2 * i];
    window[i].paddingHigh = padding[2 * i + 1];
  }
  return evaluateWith(op, call, std::move(window));
}

void registerConvolution(Registry &registry) {
  registry.add<stablehlo::ConvolutionOp>(evaluateConvolution);
  registry.add<stablehlo::DynamicConvOp>(evaluateDynamicConv);
}

} // namespace sinter::interpreter
