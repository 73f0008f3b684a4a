// Convolutions and matmuls.

#include "formats/import/MatMul.h"
#include "formats/onnx/write/QuantizedProducts.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

namespace {
/// A convolution in ONNX's layout: [N, C, spatial...] with a kernel [O, I /
/// groups, spatial...].
struct Convolution {
  const char *node = "Conv";
  /// The kernel's dimensions are those of kernelShape in another order.
  Name x, kernel;
  Ints kernelOrder;
  /// The node's inputs between them.
  Names between;
  /// The node's inputs after them: a bias, or zero points.
  Names others;
  /// A scalar: the padding value of x.
  Name zero;
  Ints xShape, kernelShape;
  stablehlo::ConvolutionWindow window;
  int64_t groups = 1;
  /// The element type of the node's output.
  Type element;
};
} // namespace

static Ints permuted(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  Ints result;
  for (int64_t from : permutation)
    result.push_back(shape[from]);
  return result;
}

static Ints channelsFirst(int64_t first, int64_t second,
                          ArrayRef<int64_t> spatial) {
  Ints result = {first, second};
  result.append(spatial.begin(), spatial.end());
  return result;
}

/// Moves batch groups to feature groups: [g * n, c, ...] to [n, g * c, ...].
static bool mergeBatchGroups(NodeWriter &e, Convolution &c, int64_t groups) {
  if (groups == 1)
    return true;
  if (c.groups != 1 || ShapedType::isDynamic(c.xShape[1]))
    return false;
  // Dynamic sizes are those of x; the node may infer one.
  const bool isKnown = !llvm::any_of(ArrayRef<int64_t>(c.xShape).drop_front(),
                                     ShapedType::isDynamic);
  const Name shape = isKnown ? Name() : e.make("Shape", {c.x});
  auto reshape = [&](const Name &x, Ints leading, int64_t from) {
    const int64_t rank = c.xShape.size();
    if (isKnown) {
      leading.append(c.xShape.begin() + from, c.xShape.end());
      return e.reshape(x, leading);
    }
    for (int64_t &size : leading)
      if (ShapedType::isDynamic(size))
        size = -1;
    const Name rest = e.slice(shape, {0}, {from}, {rank}, {1});
    return e.make("Reshape", {x, e.make("Concat", {e.integers(leading), rest},
                                        {{"axis", 0}})});
  };
  int64_t images = c.xShape[0];
  if (!ShapedType::isDynamic(images))
    images /= groups;
  Ints order = identity(c.xShape.size() + 1);
  std::swap(order[0], order[1]);
  c.x = e.transpose(reshape(c.x, {groups, images}, 1), order);
  c.x = reshape(c.x, {images, groups * c.xShape[1]}, 2);
  c.xShape[0] = images;
  c.xShape[1] *= groups;
  c.groups = groups;
  return true;
}

/// ConvTranspose's kernel is [I, O / groups, spatial...] and reversed.
static Name transposedKernel(NodeWriter &e, const Convolution &c) {
  Ints reversedDims;
  for (auto [i, each] : llvm::enumerate(c.window))
    if (!each.reversed && each.size > 1)
      reversedDims.push_back(i + 2);
  Ints order = identity(c.kernelShape.size());
  std::swap(order[0], order[1]);
  if (c.groups == 1)
    return e.reverse(e.transpose(c.kernel, permuted(c.kernelOrder, order)),
                     reversedDims);
  Name kernel = e.reverse(e.transpose(c.kernel, c.kernelOrder), reversedDims);
  if (c.kernelShape[0] == c.groups && c.kernelShape[1] == 1)
    return kernel;
  Ints split = {c.groups, c.kernelShape[0] / c.groups};
  split.append(c.kernelShape.begin() + 1, c.kernelShape.end());
  Ints splitOrder = identity(split.size());
  std::swap(splitOrder[1], splitOrder[2]);
  Ints merged = permuted(c.kernelShape, order);
  merged[0] = c.kernelShape[1] * c.groups;
  merged[1] = c.kernelShape[0] / c.groups;
  return e.reshape(e.transpose(e.reshape(kernel, split), splitOrder), merged);
}

/// A convolution of a dilated operand is a transposed one: its padding crops
/// the full result to what the window reaches.
static std::optional<Name> writeTransposed(NodeWriter &e,
                                           const Convolution &c) {
  Ints kernel, strides, dilations, low, high, outputPadding;
  for (const auto &each : c.window) {
    int64_t reach = (each.size - 1) * each.windowDilation;
    int64_t before = reach - each.paddingLow, after = reach - each.paddingHigh;
    int64_t extra = std::max<int64_t>(-after, 0);
    if (each.stride != 1 || before < 0 ||
        (extra > 0 &&
         extra >= std::max(each.baseDilation, each.windowDilation)))
      return std::nullopt;
    kernel.push_back(each.size);
    strides.push_back(each.baseDilation);
    dilations.push_back(each.windowDilation);
    low.push_back(before);
    high.push_back(after + extra);
    outputPadding.push_back(extra);
  }
  low.append(high);
  Names inputs = {c.x, transposedKernel(e, c)};
  llvm::append_range(inputs, c.others);
  return e.make("ConvTranspose", inputs,
                {{"kernel_shape", kernel},
                 {"strides", strides},
                 {"dilations", dilations},
                 {"pads", low},
                 {"output_padding", outputPadding},
                 {"group", c.groups}});
}

static Name writePlain(NodeWriter &e, Convolution c) {
  Ints zeros(c.xShape.size(), 0), low(zeros), high(zeros), interior(zeros);
  Ints kernel, strides, dilations, padsLow, padsHigh, reversedDims;
  bool padsApart = false;
  for (auto [i, each] : llvm::enumerate(c.window)) {
    interior[i + 2] = each.baseDilation - 1;
    low[i + 2] = each.paddingLow;
    high[i + 2] = each.paddingHigh;
    padsApart |= each.paddingLow < 0 || each.paddingHigh < 0;
    if (each.reversed && each.size != 1)
      reversedDims.push_back(i + 2);
    kernel.push_back(each.size);
    strides.push_back(each.stride);
    dilations.push_back(each.windowDilation);
  }
  c.x = e.dilate(c.x, c.zero, c.xShape, interior);
  if (padsApart) {
    c.x = e.pad(c.x, c.zero, low, high);
    low = high = zeros;
  }
  Ints pads(low.begin() + 2, low.end());
  pads.append(high.begin() + 2, high.end());
  Names inputs = {c.x};
  llvm::append_range(inputs, c.between);
  inputs.push_back(
      e.reverse(e.transpose(c.kernel, c.kernelOrder), reversedDims));
  llvm::append_range(inputs, c.others);
  NodeAttributes attributes = {{"strides", strides},
                               {"dilations", dilations},
                               {"pads", pads},
                               {"group", c.groups}};
  // Without kernel_shape a node takes that of its kernel.
  if (!ShapedType::isDynamicShape(kernel))
    attributes.insert(attributes.begin(), {"kernel_shape", kernel});
  return e.make(c.node, inputs, attributes);
}

namespace {
/// 8-bit integers and their zero point.
struct Bytes {
  Value value;
  int64_t zero = 0;
};
} // namespace

/// The value of a splat constant.
static std::optional<int64_t> splatInteger(Value value) {
  if (auto broadcast = value.getDefiningOp<stablehlo::BroadcastInDimOp>())
    value = broadcast.getOperand();
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor || tensor->size() == 0)
    return std::nullopt;
  for (int64_t i = 1; i < tensor->size(); ++i)
    if (tensor->toInteger(i) != tensor->toInteger(0))
      return std::nullopt;
  return tensor->toInteger(0);
}

/// Matches convert(bytes) - zero, or bytes.
static std::optional<Bytes> bytesOf(Value value) {
  auto isByte = [](Value each) { return elementOf(each).isInteger(8); };
  Bytes bytes{value};
  if (auto shifted = value.getDefiningOp<stablehlo::SubtractOp>()) {
    // An 8-bit difference could wrap.
    std::optional<int64_t> zero = splatInteger(shifted.getRhs());
    if (!zero || isByte(value))
      return std::nullopt;
    bytes = {shifted.getLhs(), *zero};
  }
  if (auto cast = bytes.value.getDefiningOp<stablehlo::ConvertOp>();
      cast && isByte(cast.getOperand()))
    bytes.value = cast.getOperand();
  if (!isByte(bytes.value))
    return std::nullopt;
  const int64_t least = elementOf(bytes.value).isUnsignedInteger() ? 0 : -128;
  if (bytes.zero < least || bytes.zero > least + 255)
    return std::nullopt;
  return bytes;
}

/// \p bytes as u8, which ONNX Runtime requires for convolutions.
static std::pair<Name, Name> asUnsigned(NodeWriter &e, const Bytes &bytes) {
  Type element = elementOf(bytes.value);
  Builder builder(element.getContext());
  Type ui8 = builder.getIntegerType(8, /*isSigned=*/false);
  Name x = e.operand(bytes.value);
  if (element.isUnsignedInteger())
    return {x, e.scalar(ui8, bytes.zero)};
  Type i32 = builder.getI32Type();
  Name moved = e.make("Add", {e.cast(x, element, i32), e.scalar(i32, 128)});
  return {e.cast(moved, i32, ui8), e.scalar(ui8, bytes.zero + 128)};
}

/// Sets operands and operator by element type: floats unchanged; 8-bit integers
/// if i32 accumulators are as good as the result's type; other integers in f32
/// if it holds the accumulators exactly. ONNX Runtime has no f64 convolution.
static LogicalResult setOperands(NodeWriter &e, stablehlo::ConvolutionOp op,
                                 Convolution &c) {
  if (auto inputs = quantizedInputs(e, op)) {
    c.node = inputs->hasScales ? "QLinearConv" : "ConvInteger";
    c.element = inputs->element;
    c.x = e.operand(op.getLhs());
    c.kernel = e.operand(op.getRhs());
    c.between = inputs->between;
    c.others = inputs->others;
    c.zero = inputs->zero;
    return success();
  }
  auto integer = dyn_cast<IntegerType>(elementOf(op.getResult()));
  auto compute = formats::typeOfProducts(op);
  const bool areIntegers = integer &&
                           isa<IntegerType>(elementOf(op.getLhs())) &&
                           isa<IntegerType>(elementOf(op.getRhs()));
  if (!compute && !areIntegers)
    return e.unsupported("of these element types");
  if (!integer) {
    c.element = *compute;
    // bf16 convolutions exist since version 22.
    if (c.element.isBF16())
      e.need(22);
  } else {
    const std::optional<double> products = productsPerSum(op);
    std::optional<Bytes> x = bytesOf(op.getLhs()), w = bytesOf(op.getRhs());
    if (x && w &&
        (integer.getWidth() <= 32 || (products && *products < 1 << 15))) {
      c.node = "ConvInteger";
      c.element = IntegerType::get(op.getContext(), 32);
      auto [lhs, lhsZero] = asUnsigned(e, *x);
      auto [rhs, rhsZero] = asUnsigned(e, *w);
      c.x = lhs;
      c.kernel = rhs;
      c.zero = lhsZero;
      c.others = {lhsZero, rhsZero};
      return success();
    }
    if (!products || !holds(Float32Type::get(op.getContext()),
                            formats::accumulatorRange(op)))
      return e.unsupported("of integers whose sums f32 does not hold, and "
                           "which are not of 8 bits");
    c.element = Float32Type::get(op.getContext());
  }
  c.x = e.cast(e.operand(op.getLhs()), elementOf(op.getLhs()), c.element);
  c.kernel = e.cast(e.operand(op.getRhs()), elementOf(op.getRhs()), c.element);
  c.zero = e.scalar(c.element, 0);
  c.others = {e.bias};
  return success();
}

static LogicalResult writeConvolution(NodeWriter &e,
                                      stablehlo::ConvolutionOp op) {
  Convolution c;
  if (failed(setOperands(e, op, c)))
    return failure();
  auto numbers = op.getDimensionNumbers();
  Ints xOrder = channelsFirst(numbers.getInputBatchDimension(),
                              numbers.getInputFeatureDimension(),
                              numbers.getInputSpatialDimensions());
  c.kernelOrder = channelsFirst(numbers.getKernelOutputFeatureDimension(),
                                numbers.getKernelInputFeatureDimension(),
                                numbers.getKernelSpatialDimensions());
  Ints resultOrder = channelsFirst(numbers.getOutputBatchDimension(),
                                   numbers.getOutputFeatureDimension(),
                                   numbers.getOutputSpatialDimensions());
  c.x = e.transpose(c.x, xOrder);
  c.xShape = permuted(tensorOf(op.getLhs()).getShape(), xOrder);
  c.kernelShape = permuted(tensorOf(op.getRhs()).getShape(), c.kernelOrder);
  c.window = op.getWindow();
  c.groups = op.getFeatureGroupCount();
  const bool isDilated = llvm::any_of(
      c.window, [](const auto &each) { return each.baseDilation > 1; });
  if (ShapedType::isDynamicShape(c.kernelShape) &&
      (isDilated || c.window.empty()))
    return e.unsupported("with a kernel of unknown size");
  if (!mergeBatchGroups(e, c, op.getBatchGroupCount()))
    return e.unsupported("with groups of images of unknown number");
  // ONNX requires a spatial dimension.
  bool isFlat = c.window.empty();
  if (isFlat) {
    c.window.emplace_back();
    c.x = e.unsqueeze(c.x, {2});
    c.kernel = e.unsqueeze(e.transpose(c.kernel, c.kernelOrder), {2});
    c.kernelOrder = identity(3);
    c.xShape.push_back(1);
    c.kernelShape.push_back(1);
  }
  // A computed kernel would be reversed in each run.
  const bool isComputed = !e.isInitializer(c.kernel);
  std::optional<Name> done;
  if (isa<FloatType>(c.element) &&
      llvm::any_of(c.window, [&](const stablehlo::WindowDimension &each) {
        return each.baseDilation > 1 ||
               (isComputed && each.reversed && each.size > 1);
      }))
    done = writeTransposed(e, c);
  if (!done)
    done = writePlain(e, c);
  if (isFlat)
    done = e.squeeze(*done, {2});
  Name result = e.transpose(*done, inverse(resultOrder));
  Type element = elementOf(op.getResult());
  if (isa<quant::QuantizedType>(element))
    return e.alias(result);
  if (isa<IntegerType>(element) && isa<FloatType>(c.element)) {
    // Accumulators wrap from i32 to narrower types, as required.
    Type i32 = IntegerType::get(op.getContext(), 32);
    result = e.cast(result, c.element, i32);
    c.element = i32;
  }
  return e.alias(e.cast(result, c.element, element));
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// The equation of Einsum: a letter for each axis. Nothing if there are not
/// enough letters.
static std::optional<std::string> equationOf(stablehlo::DotGeneralOp op) {
  const Axes axes = *axesOf(op);
  if (axes.axes.size() > 52)
    return std::nullopt;
  auto lettersOf = [](const TensorAxes &tensor) {
    std::string letters;
    for (const AxisList &list : tensor)
      letters.push_back(static_cast<char>(
          list.front() < 26 ? 'a' + list.front() : 'A' + list.front() - 26));
    return letters;
  };
  return lettersOf(axes.operands[0]) + "," + lettersOf(axes.operands[1]) +
         "->" + lettersOf(axes.results[0]);
}

static LogicalResult writeDotGeneral(NodeWriter &e,
                                     stablehlo::DotGeneralOp op) {
  if (auto quantized = quantizedInputs(e, op)) {
    const auto [left, right] = formats::matMulOperands(op);
    Names inputs = {e.operand(left)};
    llvm::append_range(inputs, quantized->between);
    inputs.push_back(e.operand(right));
    llvm::append_range(inputs, quantized->others);
    return e.result(quantized->hasScales ? "QLinearMatMul" : "MatMulInteger",
                    inputs);
  }
  auto compute = formats::typeOfProducts(op);
  Type element = elementOf(op.getResult());
  bool isWide = element.isInteger(32) || element.isInteger(64);
  if (!compute && isWide && elementOf(op.getLhs()) == element &&
      elementOf(op.getRhs()) == element)
    compute = element;
  if (!compute)
    return e.unsupported("of these element types");
  auto numbers = op.getDotDimensionNumbers();
  auto lhsBatch = numbers.getLhsBatchingDimensions();
  auto rhsBatch = numbers.getRhsBatchingDimensions();
  auto lhsContracting = numbers.getLhsContractingDimensions();
  auto rhsContracting = numbers.getRhsContractingDimensions();
  int64_t lhsRank = tensorOf(op.getLhs()).getRank();
  int64_t rhsRank = tensorOf(op.getRhs()).getRank();
  int64_t batch = lhsBatch.size();
  Ints leading = identity(batch);
  bool batchLeads =
      llvm::equal(lhsBatch, leading) && llvm::equal(rhsBatch, leading);
  bool oneContracted = lhsContracting.size() == 1;
  const auto [left, right] =
      formats::isMatMul(op) ? formats::matMulOperands(op)
                            : std::pair<Value, Value>(op.getLhs(), op.getRhs());
  Name lhs = e.cast(e.operand(left), elementOf(left), *compute);
  Name rhs = e.cast(e.operand(right), elementOf(right), *compute);
  auto finish = [&](const Name &product) {
    return e.alias(e.cast(product, *compute, elementOf(op.getResult())));
  };

  bool isGemm = batch == 0 && oneContracted && lhsRank == 2 && rhsRank == 2;
  if (isGemm && !e.bias.empty())
    return finish(e.make("Gemm", {lhs, rhs, e.bias},
                         {{"transA", lhsContracting[0] == 0},
                          {"transB", rhsContracting[0] == 1}}));
  if (formats::isMatMul(op))
    return finish(e.make("MatMul", {lhs, rhs}));
  if (isGemm && isa<FloatType>(*compute))
    return finish(e.make("Gemm", {lhs, rhs},
                         {{"transA", lhsContracting[0] == 0},
                          {"transB", rhsContracting[0] == 1}}));
  // [batch..., m, k] by [batch..., n, k] and so on: transposed matrices.
  if (batchLeads && oneContracted && lhsRank == batch + 2 &&
      rhsRank == batch + 2) {
    Ints swapped = identity(batch + 2);
    std::swap(swapped[batch], swapped[batch + 1]);
    if (lhsContracting[0] == batch)
      lhs = e.transpose(lhs, swapped);
    if (rhsContracting[0] == batch + 1)
      rhs = e.transpose(rhs, swapped);
    return finish(e.make("MatMul", {lhs, rhs}));
  }
  auto equation = equationOf(op);
  if (!equation)
    return e.unsupported("of so many dimensions");
  return finish(e.make("Einsum", {lhs, rhs}, {{"equation", *equation}}));
}

WriterRules productRules() {
  static const WriterRule rules[] = {writerRule<writeConvolution>(),
                                     writerRule<writeDotGeneral>()};
  return rules;
}

} // namespace sinter::onnx
