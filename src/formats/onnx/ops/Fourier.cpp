// Discrete Fourier transforms, as matmuls with a matrix of sines and cosines.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

namespace {
struct Transform {
  /// A dimension before the last, which holds real and imaginary part.
  int64_t axis = 0;
  /// The signal is truncated or zero-padded to this length.
  int64_t length = 0;
  bool inverse = false, onesided = false;

  int64_t bins() const { return onesided ? length / 2 + 1 : length; }
  /// Whether the input is half the spectrum of a real signal.
  bool givesReal() const { return inverse && onesided; }
  /// Input and output sizes along the axis.
  int64_t rows() const { return givesReal() ? bins() : length; }
  int64_t columns() const { return givesReal() ? length : bins(); }
  /// The multiplicity of bin \p row in the sum: 2 if it also represents its
  /// mirror image.
  int64_t multiplicityOf(int64_t row) const {
    return givesReal() && row != 0 && 2 * row != length ? 2 : 1;
  }
};
} // namespace

/// \p function of 2 pi j k / length, for j < \p rows, times the multiplicity of
/// row j; divided by the length for the inverse.
static Value waves(NodeContext &node, const Transform &transform, int64_t rows,
                   Type element, double (*function)(double)) {
  int64_t columns = transform.columns(), length = transform.length;
  std::vector<double> values(rows * columns);
  double scale = transform.inverse ? 1.0 / length : 1.0;
  for (int64_t j = 0; j < rows; ++j)
    for (int64_t k = 0; k < columns; ++k)
      values[j * columns + k] =
          scale * static_cast<double>(transform.multiplicityOf(j)) *
          function(2 * llvm::numbers::pi * (j * k % length) / length);
  return numbers(node, element, values, {rows, columns});
}

/// Matmul of \p x, along \p axis, with a matrix.
static Value matmulAlong(NodeContext &node, Value x, int64_t axis,
                         Value matrix) {
  if (!x || !matrix)
    return {};
  int64_t rank = node.rank(x);
  Ints shape, permutation;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis)
      shape.push_back(node.size(x, i));
    permutation.push_back(i < axis ? i : (i == axis ? rank - 1 : i - 1));
  }
  shape.push_back(node.size(matrix, 1));
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(node.context(), {}, {},
                                                         {axis}, {0});
  Value product = node.typed<stablehlo::DotGeneralOp>(
      node.tensorType(shape, node.element(x)), x, matrix, numbers, ArrayAttr(),
      stablehlo::DotAlgorithmAttr());
  return node.transpose(product, permutation);
}

/// With C and S the cosines and sines, (a + ib)(C - iS) forwards and (a + ib)(C
/// + iS) / length backwards, of which a real signal needs only the real part.
static Value apply(NodeContext &node, Value x, const Transform &transform) {
  int64_t last = node.rank(x) - 1, components = node.size(x, last);
  int64_t rows = node.size(x, transform.axis);
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(components))
    return node.unknown("the signal's length or last dimension is unknown");
  if (components != 1 && components != 2)
    return node.fail("the last dimension is not 1 or 2");
  if (transform.length < 1 || transform.length > (1 << 16))
    return node.unsupported("a transform of this length");
  if (rows > transform.rows()) {
    rows = transform.rows();
    x = node.sliceAxis(x, transform.axis, 0, rows);
  }
  if (rows * transform.columns() > (1 << 24))
    return node.unsupported("a transform of this length");
  if (transform.givesReal() && components != 2)
    return node.fail("a transform that is inverse and onesided takes complex "
                     "numbers");
  Type element = node.element(x);
  Value cosines = waves(node, transform, rows, element, std::cos);
  Value sines = waves(node, transform, rows, element, std::sin);
  if (transform.inverse)
    sines = node.op<stablehlo::NegOp>(sines);
  auto times = [&](Value part, Value matrix) {
    return matmulAlong(node, part, transform.axis, matrix);
  };
  Value a = node.squeeze(node.sliceAxis(x, last, 0, 1), {last});
  Value real = times(a, cosines);
  Value imaginary = node.op<stablehlo::NegOp>(times(a, sines));
  if (components == 2) {
    Value b = node.squeeze(node.sliceAxis(x, last, 1, 2), {last});
    real = node.op<stablehlo::AddOp>(real, times(b, sines));
    if (transform.givesReal())
      return node.unsqueeze(real, {last});
    imaginary = node.op<stablehlo::AddOp>(imaginary, times(b, cosines));
  }
  return node.concatenate(
      {node.unsqueeze(real, {last}), node.unsqueeze(imaginary, {last})}, last);
}

static LogicalResult importDft(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  int64_t rank = node.rank(x);
  if (rank < 2)
    return node.fail("the input has fewer than two dimensions");
  int64_t given = node.getInt("axis", 1);
  if (node.version() >= 20) {
    auto known = node.has(2) ? node.integersFrom(2, "axis") : Ints{-2};
    if (!known)
      return failure();
    if (known->size() != 1)
      return node.fail("axis is not one number");
    given = known->front();
  }
  auto axis = node.axis(given, rank);
  if (!axis)
    return failure();
  if (*axis == rank - 1)
    return node.fail("axis is the last dimension");
  Transform transform{*axis, node.size(x, *axis),
                      node.getBool("inverse", false),
                      node.getBool("onesided", false)};
  if (transform.givesReal() && !ShapedType::isDynamic(transform.length))
    transform.length = std::max<int64_t>(2 * (transform.length - 1), 1);
  if (node.has(1)) {
    auto length = node.integersFrom(1, "dft_length");
    if (!length)
      return failure();
    if (length->size() != 1)
      return node.fail("dft_length is not one number");
    transform.length = length->front();
  }
  return node.result(apply(node, x, transform));
}

/// Half the spectrum of real signals along the last dimension, of even lengths,
/// or the signals of it: ONNX Runtime's Rfft and Irfft.
template <bool isInverse>
static LogicalResult importRealTransform(NodeContext &node) {
  Value x = node.operand(0);
  if (node.getInt("normalized", 0) != 0 || node.getInt("onesided", 1) != 1)
    return node.fail("the transform is normalized or not onesided");
  if (node.getInt("signal_ndim", 1) != 1)
    return node.unsupported("signals of several dimensions");
  if (!x || node.rank(x) < (isInverse ? 2 : 1))
    return node.fail("the input has too few dimensions");
  const int64_t axis = node.rank(x) - (isInverse ? 2 : 1);
  const int64_t size = node.size(x, axis);
  if (ShapedType::isDynamic(size))
    return node.unknown("the signal's length is unknown");
  const Transform transform{axis, isInverse ? 2 * (size - 1) : size, isInverse,
                            true};
  if (isInverse) {
    Value real = apply(node, x, transform);
    return node.result(real ? node.squeeze(real, {axis + 1}) : real);
  }
  return node.result(apply(node, node.unsqueeze(x, {axis + 1}), transform));
}

/// The known scalar of an optional input, or \p otherwise.
static std::optional<int64_t> knownInput(NodeContext &node, int64_t input,
                                         StringRef name, int64_t otherwise) {
  if (!node.has(input))
    return otherwise;
  auto list = node.integersFrom(input, name);
  if (!list)
    return std::nullopt;
  if (list->size() != 1)
    return node.fail(name + " is not one number");
  return list->front();
}

/// Transforms each frame of the signal, multiplied by the window.
static LogicalResult importStft(NodeContext &node) {
  Value signal = node.operand(0);
  if (!signal)
    return failure();
  if (node.rank(signal) == 2)
    signal = node.unsqueeze(signal, {2});
  Value window = node.operand(2);
  if (node.rank(signal) != 3 || (window && node.rank(window) != 1))
    return node.fail("the signal has not three dimensions, or the window not "
                     "one");
  int64_t total = node.size(signal, 1);
  auto step = knownInput(node, 1, "frame_step", 0);
  auto length = knownInput(node, 3, "frame_length",
                           window ? node.size(window, 0) : total);
  if (!step || !length)
    return failure();
  if (ShapedType::isDynamic(total) || ShapedType::isDynamic(*length))
    return node.unknown("the signal's or the frames' length is unknown");
  if (*step < 1 || *length < 1 || *length > total)
    return node.fail("frame_step or frame_length is out of range");
  int64_t frames = (total - *length) / *step + 1;
  if (frames > (1 << 26) / *length)
    return node.unsupported("this many frames");
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < frames; ++i)
    for (int64_t j = 0; j < *length; ++j)
      indices.push_back(i * *step + j);
  Value framed = node.op<nn::TakeOp>(
      signal, integers(node, indices, {frames, *length}), uint64_t(1));
  if (window)
    framed = node.binary<stablehlo::MulOp>(
        framed, node.alongDimension(window, framed, 2));
  if (!framed)
    return failure();
  Transform transform{2, *length, false, node.getBool("onesided", true)};
  return node.result(apply(node, framed, transform));
}

llvm::ArrayRef<Operator> fourierOperators() {
  static const Operator table[] = {
      {"DFT", "", 17, importDft, 1, 3},
      {"Irfft", runtimeDomain, 1, importRealTransform<true>, 1, 1, false, true},
      {"Rfft", runtimeDomain, 1, importRealTransform<false>, 1, 1, false, true},
      {"STFT", "", 17, importStft, 2, 4},
  };
  return table;
}

} // namespace sinter::onnx
