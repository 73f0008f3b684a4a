// MaxUnpool and Col2Im: scatter the elements of windows.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

/// An attribute with one entry per spatial dimension.
static std::optional<Ints> perDimension(NodeContext &node, StringRef name,
                                        int64_t count, int64_t otherwise) {
  Ints list = node.getInts(name, Ints(count, otherwise));
  if (static_cast<int64_t>(list.size()) != count)
    return node.fail("attribute '" + name + "' has not " + Twine(count) +
                     " elements");
  for (int64_t each : list)
    if (each < 0 || each > (int64_t(1) << 31))
      return node.fail("attribute '" + name + "' is out of range");
  return list;
}

/// (size - 1) * stride + window - padding, for every spatial dimension.
static std::optional<Ints> unpooledShape(NodeContext &node, Value x) {
  int64_t spatial = node.rank(x) - 2;
  auto window = perDimension(node, "kernel_shape", spatial, 1);
  auto strides = perDimension(node, "strides", spatial, 1);
  auto pads = perDimension(node, "pads", 2 * spatial, 0);
  if (!window || !strides || !pads)
    return std::nullopt;
  Ints shape(node.shape(x));
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t &size = shape[i + 2], scaled;
    if (llvm::MulOverflow(size - 1, (*strides)[i], scaled))
      return node.fail("the result is too large");
    size = scaled + (*window)[i] - (*pads)[i] - (*pads)[i + spatial];
    if (size < 0)
      return node.fail("the padding is larger than the result");
  }
  return shape;
}

/// Scatters elements to their indices in the flattened result; if a larger
/// shape is given, the ends are filled with zeros.
static LogicalResult importMaxUnpool(NodeContext &node) {
  Value x = node.operand(0), indices = node.operand(1);
  if (!x || !indices)
    return failure();
  if (!node.isStatic(x) || node.rank(x) < 3)
    return node.unsupported("an input of this rank or of unknown size");
  auto shape = unpooledShape(node, x);
  if (!shape)
    return failure();
  int64_t count = 1;
  for (int64_t size : *shape)
    if (llvm::MulOverflow(count, size, count))
      return node.fail("the result is too large");
  Dim all = node.product(node.dims(x));
  Value positions =
      node.reshape(node.cast(indices, node.i64()), ArrayRef<Dim>({all, 1}));
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      node.context(), {}, {0}, {}, {}, {0}, 1);
  Value zeros = node.broadcastInDim(node.scalar(node.element(x), 0),
                                    ArrayRef(Dim(count)), {});
  Value result = node.reshape(scatter(node, zeros, positions,
                                      node.reshape(x, ArrayRef(all)), numbers,
                                      Combine::Replace),
                              ArrayRef<int64_t>(*shape));
  if (!node.has(2))
    return node.result(result);
  auto wanted = node.integersFrom(2, "output_shape");
  if (!wanted)
    return failure();
  if (wanted->size() != shape->size())
    return node.fail("output_shape has not one element a dimension");
  Ints high;
  for (auto [want, have] : llvm::zip_equal(*wanted, *shape))
    high.push_back(want - have);
  return node.result(node.pad(result, 0, Ints(high.size(), 0), high));
}

namespace {
/// Col2Im's window over an image.
struct ImageBlocks {
  Ints image, block, dilations, strides, low, high;
  /// The number of blocks along each dimension, and the number of their
  /// elements.
  Ints counts;
  int64_t total = 1, elements = 1;
  /// The image's size.
  int64_t pixels = 1;
};
} // namespace

static std::optional<ImageBlocks> readBlocks(NodeContext &node) {
  auto image = node.integersFrom(1, "image_shape");
  auto block = node.integersFrom(2, "block_shape");
  if (!image || !block)
    return std::nullopt;
  int64_t spatial = image->size();
  auto dilations = perDimension(node, "dilations", spatial, 1);
  auto strides = perDimension(node, "strides", spatial, 1);
  auto pads = perDimension(node, "pads", 2 * spatial, 0);
  if (!dilations || !strides || !pads)
    return std::nullopt;
  if (block->size() != image->size())
    return node.fail("image_shape and block_shape differ in length");
  ImageBlocks blocks{*image,
                     *block,
                     *dilations,
                     *strides,
                     Ints(ArrayRef(*pads).take_front(spatial)),
                     Ints(ArrayRef(*pads).drop_front(spatial)),
                     {}};
  for (int64_t i = 0; i < spatial; ++i) {
    auto sound = [](int64_t x) { return x >= 1 && x <= (1 << 20); };
    if (!sound(blocks.image[i]) || !sound(blocks.block[i]) ||
        !sound(blocks.dilations[i]) || !sound(blocks.strides[i]))
      return node.fail("a size is out of range");
    int64_t room = blocks.image[i] + blocks.low[i] + blocks.high[i] -
                   blocks.dilations[i] * (blocks.block[i] - 1) - 1;
    if (room < 0)
      return node.fail("a block is larger than the image");
    blocks.counts.push_back(room / blocks.strides[i] + 1);
    if (llvm::MulOverflow(blocks.total, blocks.counts[i], blocks.total) ||
        llvm::MulOverflow(blocks.elements, blocks.block[i], blocks.elements) ||
        llvm::MulOverflow(blocks.pixels, blocks.image[i], blocks.pixels))
      return node.fail("the image is too large");
  }
  if (blocks.total > (1 << 26) / blocks.elements)
    return node.unsupported("an image of this size");
  return blocks;
}

/// The index of element \p element of block \p number in the flattened image;
/// the image's size if it lies in the padding, which is dropped.
static int64_t flatIndex(const ImageBlocks &blocks, int64_t element,
                         int64_t number) {
  int64_t position = 0, scale = 1;
  for (size_t i = blocks.image.size(); i-- > 0;) {
    int64_t at = number % blocks.counts[i] * blocks.strides[i] +
                 element % blocks.block[i] * blocks.dilations[i] -
                 blocks.low[i];
    number /= blocks.counts[i];
    element /= blocks.block[i];
    if (at < 0 || at >= blocks.image[i])
      return blocks.pixels;
    position += at * scale;
    scale *= blocks.image[i];
  }
  return position;
}

/// Accumulates the blocks, the last dimension, into images; [N, C * block,
/// blocks].
static LogicalResult importCol2Im(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto blocks = readBlocks(node);
  if (!blocks)
    return failure();
  if (!node.isStatic(x) || node.rank(x) != 3)
    return node.unsupported("an input of this rank or of unknown size");
  int64_t batch = node.size(x, 0);
  int64_t channels = node.size(x, 1) / blocks->elements;
  if (node.size(x, 1) != channels * blocks->elements ||
      node.size(x, 2) != blocks->total)
    return node.fail("the input's shape is not that of the image's blocks");
  std::vector<int64_t> positions;
  for (int64_t element = 0; element < blocks->elements; ++element)
    for (int64_t number = 0; number < blocks->total; ++number)
      positions.push_back(flatIndex(*blocks, element, number));
  int64_t count = positions.size();
  Value zeros = node.broadcastInDim(node.scalar(node.element(x), 0),
                                    Dims{batch, channels, blocks->pixels}, {});
  auto dimensions = stablehlo::ScatterDimensionNumbersAttr::get(
      node.context(), /*updateWindowDims=*/{0, 1}, /*insertedWindowDims=*/{2},
      {}, {}, /*scatterDimsToOperandDims=*/{2}, /*indexVectorDim=*/1);
  Value sum =
      scatter(node, zeros, integers(node, positions, {count, 1}),
              node.reshape(x, ArrayRef<int64_t>{batch, channels, count}),
              dimensions, Combine::Add);
  Ints shape{batch, channels};
  shape.append(blocks->image);
  return node.result(node.reshape(sum, ArrayRef<int64_t>(shape)));
}

llvm::ArrayRef<Operator> unpoolingOperators() {
  static const Operator table[] = {
      {"Col2Im", "", 18, importCol2Im, 3, 3},
      {"MaxUnpool", "", 9, importMaxUnpool, 2, 3},
  };
  return table;
}

} // namespace sinter::onnx
