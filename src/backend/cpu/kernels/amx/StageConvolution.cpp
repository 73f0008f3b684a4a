//===- StageConvolution.cpp - stage pixels for AMX ------------------------===//

#include "backend/cpu/kernels/amx/TileConvolution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// \p vector with all lanes from \p valid on set to zero.
static Value firstOf(VectorBuilder &code, Value vector, int64_t valid) {
  auto type = cast<VectorType>(vector.getType());
  SmallVector<bool> bits(size_t(type.getNumElements()), false);
  std::fill_n(bits.begin(), valid, true);
  OpBuilder &b = code.builder;
  Value mask = b.create<arith::ConstantOp>(
      code.loc, DenseElementsAttr::get(type.clone(b.getI1Type()), bits));
  return b.create<arith::SelectOp>(code.loc, mask, vector, code.zero(type));
}

/// The offset of 16 channels of a pixel, in half \p half of a block of k.
Value TileConvolution::offsetOf(VectorBuilder &code, const Image &image,
                                Value block, int64_t half, Value pixel) const {
  Value plane =
      code.add(code.mul(block, arithmetic.blockElements() / lanes), half);
  return code.add(
      image.start,
      code.mul(code.add(code.mul(plane, image.pixels), pixel), lanes));
}

/// A block of channels of a pixel, with zeros from \p channels on. If the pixel
/// is not \p isThere, the padding value.
SmallVector<Value> TileConvolution::load(VectorBuilder &code,
                                         const Image &image, Value block,
                                         Value pixel, int64_t channels,
                                         Value isThere) const {
  OpBuilder &b = code.builder;
  const int64_t elements = arithmetic.blockElements();
  auto type = VectorType::get(
      {lanes}, arithmetic.isOfBytes() ? Type(b.getI8Type()) : b.getF32Type());
  Value outside =
      arithmetic.isOfBytes() ? image.zero.elements(lanes) : code.zero(type);
  SmallVector<Value> vectors;
  for (int64_t at = 0; at < elements; at += lanes) {
    const int64_t valid = std::min(lanes, channels - at);
    if (valid <= 0) {
      vectors.push_back(code.zero(type));
      continue;
    }
    Value offset = offsetOf(code, image, block, at / lanes, pixel);
    vectors.push_back(
        isThere ? code.loadIf(isThere, image.flat, offset, type, outside)
                : code.load(image.flat, offset, type));
    if (valid < lanes)
      vectors.back() = firstOf(code, vectors.back(), valid);
  }
  if (!arithmetic.isOfBytes())
    return vectors;
  Value joined = code.zero(VectorType::get({elements}, b.getI8Type()));
  for (auto [i, each] : llvm::enumerate(vectors))
    joined = b.create<vector::InsertStridedSliceOp>(
        code.loc, each, joined, ArrayRef<int64_t>{int64_t(i) * lanes},
        ArrayRef<int64_t>{1});
  return {joined};
}

/// Loops over blocks of channels with the channel count of each.
Value TileConvolution::forBlocks(
    VectorBuilder &code, Value carried,
    llvm::function_ref<Value(Value block, int64_t channels, Value carried)>
        body) const {
  const int64_t elements = arithmetic.blockElements();
  const int64_t whole = shape.inputChannels / elements,
                rest = shape.inputChannels % elements;
  if (whole > 0)
    carried = code.loop(code.index(0), code.index(whole), 1, carried,
                        [&](Value block, ValueRange inner) {
                          return IndexBuilder::Carried{
                              body(block, elements, inner[0])};
                        })[0];
  return rest > 0 ? body(code.index(whole), rest, carried) : carried;
}

/// The pixel that a result of a pointwise convolution reads.
Value TileConvolution::pixelOf(VectorBuilder &code, Value result) const {
  if (shape.strideHeight == 1 && shape.strideWidth == 1 &&
      shape.outputWidth == shape.inputWidth)
    return result;
  return code.add(
      code.mul(code.div(result, shape.outputWidth),
               code.mul(code.index(shape.inputWidth), shape.strideHeight)),
      code.mul(code.rem(result, shape.outputWidth), shape.strideWidth));
}

Value TileConvolution::stagePixels(VectorBuilder &code, const Image &image,
                                   Value first, Value count,
                                   Value firstPosition, Value carried,
                                   TileProduct::Put put) const {
  return forBlocks(
      code, carried, [&](Value block, int64_t channels, Value ofBlocks) {
        return code.loop(
            code.index(0), count, 1, ofBlocks, [&](Value i, ValueRange inner) {
              Value pixel = pixelOf(code, code.add(first, i));
              return IndexBuilder::Carried{
                  put(code.add(firstPosition, i), block,
                      load(code, image, block, pixel, channels), inner[0])};
            })[0];
      });
}

/// The pixel at a position of a row, counted from the start of the padding.
TileConvolution::Pixel TileConvolution::paddedPixel(VectorBuilder &code,
                                                    const Image &image,
                                                    Value row,
                                                    Value position) const {
  Value inputRow = code.sub(row, shape.padTop),
        inputColumn =
            code.sub(code.add(position, image.firstColumn), shape.padLeft);
  return {code.add(code.mul(inputRow, shape.inputWidth), inputColumn),
          code.both(code.inRange(inputRow, shape.inputHeight),
                    code.inRange(inputColumn, shape.inputWidth))};
}

Value TileConvolution::stageRows(VectorBuilder &code, const Image &image,
                                 Value first, Value count, Value firstPosition,
                                 Value carried, TileProduct::Put put) const {
  Value width = image.rowPositions;
  auto row = [&](Value block, int64_t channels, Value i, Value ofRows) {
    Value start = code.add(firstPosition, code.mul(i, width));
    return code.loop(
        code.index(0), width, 1, ofRows, [&](Value column, ValueRange inner) {
          const Pixel pixel =
              paddedPixel(code, image, code.add(first, i), column);
          return IndexBuilder::Carried{put(
              code.add(start, column), block,
              load(code, image, block, pixel.number, channels, pixel.isThere),
              inner[0])};
        })[0];
  };
  return forBlocks(
      code, carried, [&](Value block, int64_t channels, Value ofBlocks) {
        return code.loop(
            code.index(0), count, 1, ofBlocks, [&](Value i, ValueRange inner) {
              return IndexBuilder::Carried{row(block, channels, i, inner[0])};
            })[0];
      });
}

/// The values that stagePixels or stageRows stage: those from \p first on are
/// at \p firstPosition and after it.
TileVectorValues TileConvolution::valuesOf(VectorBuilder &code,
                                           const Image &image, Value first,
                                           Value firstPosition) const {
  Value none = code.index(0), one = code.index(1);
  TileVectorImage of;
  of.memory = image.flat;
  of.start = image.start;
  of.imageRows = code.index(shape.inputHeight);
  of.imageColumns = code.index(shape.inputWidth);
  if (isPointwise) {
    of.shift = code.sub(first, firstPosition);
    of.width = code.index(shape.outputWidth);
    of.row = of.column = none;
    of.rowStride = code.index(shape.strideHeight);
    of.columnStride = code.index(shape.strideWidth);
  } else {
    of.shift = code.sub(none, firstPosition);
    of.width = image.rowPositions;
    of.row = code.sub(first, shape.padTop);
    of.column = code.sub(image.firstColumn, shape.padLeft);
    of.rowStride = of.columnStride = one;
  }
  of.ofPixel = code.index(lanes);
  of.ofHalf = code.mul(image.pixels, lanes);
  of.ofBlock = code.mul(of.ofHalf, arithmetic.blockElements() / lanes);
  of.depth = code.index(shape.inputChannels);
  return of.numbers();
}

Value TileConvolution::stage(VectorBuilder &code, const Image &image,
                             Value first, Value count, Value firstPosition,
                             Value carried, TileProduct::Put put) const {
  return isPointwise ? stagePixels(code, image, first, count, firstPosition,
                                   carried, put)
                     : stageRows(code, image, first, count, firstPosition,
                                 carried, put);
}

TileConvolution::Image TileConvolution::imageOf(VectorBuilder &code,
                                                Value input, Value batch,
                                                Value zero) const {
  const int64_t blocks = llvm::divideCeil(shape.inputChannels, lanes);
  Value pixels = code.mul(code.index(shape.inputHeight), shape.inputWidth);
  return {code.flatten(input),
          code.mul(batch, code.mul(pixels, blocks * lanes)),
          pixels,
          ZeroPoint(code, arithmetic.lhs, shape, zero),
          code.index(0),
          dynamic || isPointwise ? Value() : code.index(rowPositions())};
}

TileProduct::Staged TileConvolution::stagedOf(VectorBuilder &code,
                                              Value scratch,
                                              Value batch) const {
  return {code.flatten(scratch), cut.isShared
                                     ? code.mul(batch, product.scratchBytes())
                                     : code.index(0)};
}

void TileConvolution::buildCut(OpBuilder &builder, Location location,
                               Value task, Value input, Value scratch,
                               Value zero) const {
  VectorBuilder code(builder, location);
  const int64_t ofImage = llvm::divideCeil(stagedUnits(), cutUnits);
  Value batch = code.div(task, ofImage), number = code.rem(task, ofImage);
  const Image image = imageOf(code, input, batch, zero);
  Value first = code.mul(number, cutUnits);
  Value count = code.min(code.index(cutUnits),
                         code.sub(code.index(stagedUnits()), first));
  product.buildCut(code, stagedOf(code, scratch, batch), number,
                   [&](Value carried, TileProduct::Put put) {
                     return stage(code, image, first, count,
                                  code.mul(first, unitPositions()), carried,
                                  put);
                   });
}
