//===- TileConvolution.cpp - convolutions on matrix units -----------------===//

#include "backend/cpu/kernels/TileConvolution.h"

#include "backend/cpu/kernels/TileMatMul.h"
#include "backend/cpu/kernels/ZeroPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Channels of a block of activations.
static constexpr int64_t lanes = 16;

/// Whether groups have as many outputs as inputs, and fill blocks of 32 and of
/// 64 evenly or are filled by them.
static bool haveEvenGroups(const ConvolutionShape &shape) {
  const int64_t inputs = shape.inputChannels / shape.groups;
  return shape.inputChannels == shape.outputChannels &&
         (inputs <= 64 ? llvm::isPowerOf2_64(uint64_t(inputs))
                       : inputs % 64 == 0);
}

bool TileConvolution::supports(const ConvolutionShape &shape,
                               const Target &target) {
  return target.hasMatrixUnits && target.f32Lanes == lanes &&
         (shape.groups == 1 || haveEvenGroups(shape)) &&
         !shape.hasPlanarInput &&
         (shape.hasOpenArea() || shape.outputPixels() > 0) && shape.taps() > 0;
}

/// Whether each result reads one pixel, which is there.
static bool readsOnePixel(const ConvolutionShape &shape) {
  if (shape.taps() != 1 || shape.padTop != 0 || shape.padLeft != 0)
    return false;
  if (shape.hasOpenArea())
    return shape.padBottom <= 0 && shape.padRight <= 0;
  return (shape.outputHeight - 1) * shape.strideHeight < shape.inputHeight &&
         (shape.outputWidth - 1) * shape.strideWidth < shape.inputWidth;
}

/// What is cut into tiles of one height.
static int64_t rowOf(const ConvolutionShape &shape) {
  return readsOnePixel(shape) ? shape.outputPixels() : shape.outputWidth;
}

TileConvolution::TileConvolution(const ConvolutionShape &shape,
                                 const Target &target,
                                 const TileArithmetic &arithmetic,
                                 const TilePartsOf &parts, bool countsImages)
    : shape(shape), arithmetic(arithmetic), parts(parts),
      countsImages(countsImages), isPointwise(readsOnePixel(shape)),
      tileRows(shape.hasOpenArea() ? mostTileRows : tileRowsFor(rowOf(shape))),
      rowTiles(shape.hasOpenArea() ? 1
                                   : llvm::divideCeil(rowOf(shape), tileRows)),
      open(shape.hasOpenArea() ? std::optional(openCutFor(target))
                               : std::nullopt),
      cut(open ? TileCut() : cutFor(target)),
      cutUnits(cut.isShared ? productOf(1).cutPositionsFor(
                                  stagedUnits() * unitPositions(),
                                  unitPositions(), target) /
                                  unitPositions()
                            : 0),
      product(productOf(open ? open->positions()
                             : positionsOf(findsPixels() ? cut.units.length
                                                         : cut.units.sizeOf(0)),
                        cut.isShared ? cutUnits * unitPositions() : 0)) {
  assert(supports(shape, target));
  assert((!countsImages || shape.batch == 1) && "the shape is that of one");
}

/// Where each result reads one pixel: whether that is the one in its place.
static bool readsOwnPixel(const ConvolutionShape &shape) {
  return shape.strideHeight == 1 && shape.strideWidth == 1 &&
         shape.outputWidth == shape.inputWidth;
}

std::optional<TileParts> TileConvolution::operandParts() const {
  if (open || countsImages || arithmetic.isOfBytes() ||
      arithmetic.lhsParts != TileParts::parts || !isPointwise ||
      !readsOwnPixel(shape) || shape.outputHeight != shape.inputHeight)
    return std::nullopt;
  TileParts of;
  of.images = shape.batch;
  of.rows = shape.inputPixels();
  of.columns = shape.inputChannels;
  of.areBlocked = true;
  return of;
}

std::optional<TileParts> TileConvolution::resultParts() const {
  if (open || countsImages)
    return std::nullopt;
  TileParts of;
  of.images = shape.batch;
  of.rows = shape.outputPixels();
  of.columns = shape.outputChannels;
  of.tileRows = tileRows;
  of.unitRows = isPointwise ? tileRows : shape.outputWidth;
  of.areBlocked = true;
  return of;
}

int64_t TileConvolution::stagedUnits() const {
  return isPointwise ? shape.outputPixels() : inputRowsOf(shape.outputHeight);
}

int64_t TileConvolution::cutTasks() const {
  return cut.isShared ? shape.batch * llvm::divideCeil(stagedUnits(), cutUnits)
                      : 0;
}

int64_t TileConvolution::allTiles() const {
  return isPointwise ? rowTiles : rowTiles * shape.outputHeight;
}

int64_t TileConvolution::inputRowsOf(int64_t outputRows) const {
  return (outputRows - 1) * shape.strideHeight +
         (shape.kernelHeight - 1) * shape.dilationHeight + 1;
}

int64_t TileConvolution::rowPositions() const {
  return (shape.outputWidth - 1) * shape.strideWidth +
         (shape.kernelWidth - 1) * shape.dilationWidth + 1;
}

int64_t TileConvolution::positionsOf(int64_t units) const {
  if (isPointwise)
    return std::min(units * unitTiles(), rowTiles) * tileRows;
  // The last tile of a row reads beyond its end.
  const int64_t beyond = rowTiles * tileRows - shape.outputWidth;
  return inputRowsOf(units) * rowPositions() + beyond * shape.strideWidth;
}

TileProduct TileConvolution::productOf(int64_t positions,
                                       int64_t cutPositions) const {
  TileProductShape of;
  of.n = shape.outputChannels;
  of.k = shape.inputChannels;
  of.group = shape.groups > 1 ? shape.inputChannels / shape.groups : 0;
  of.tapRows = shape.kernelHeight;
  of.tapColumns = shape.kernelWidth;
  // Where widths are open, tasks say it.
  of.tapRowStep =
      shape.hasOpenArea() ? 0 : shape.dilationHeight * rowPositions();
  of.tapColumnStep = shape.dilationWidth;
  of.rowStep = isPointwise ? 1 : shape.strideWidth;
  of.tileRows = tileRows;
  of.positions = positions;
  of.cutPositions = cutPositions;
  of.hasZeroPoint = shape.countsDistances();
  of.fillsColumns = true;
  return TileProduct(of, arithmetic);
}

TileCut TileConvolution::cutFor(const Target &target) const {
  const TileProduct whole = productOf(1);
  const int64_t units = llvm::divideCeil(allTiles(), unitTiles());
  const auto weights = double(whole.packedBytes());
  TileCut::Costs costs;
  costs.stage = [&](int64_t count) {
    return parts.operand ? 0 : whole.stageSeconds(positionsOf(count), target);
  };
  // That all images have room there nobody knows.
  costs.shared = countsImages
                     ? std::numeric_limits<double>::infinity()
                     : whole.sharedStageSeconds(positionsOf(units), target);
  costs.weights =
      weights / (weights <= double(target.l2Bytes) / 2 ? target.rates.cache
                                                       : target.rates.memory);
  costs.products = whole.productSeconds(allTiles(), target);
  const int64_t budget = target.l2Bytes / 2;
  costs.mostUnits = 1;
  while (costs.mostUnits < units &&
         whole.stagedBytes(positionsOf(costs.mostUnits + 1)) <= budget)
    ++costs.mostUnits;
  return TileCut::choose(shape.batch, units, whole.panels(), costs);
}

OpenImageCut TileConvolution::openCutFor(const Target &target) const {
  // Of a small image: what it takes to read weights, and some products.
  constexpr int64_t fewTiles = 4;
  const TileProduct whole = productOf(1);
  return OpenImageCut::choose(
      shape, isPointwise, target.l2Bytes / 2 / whole.stagedBytes(1),
      whole.panels(),
      double(whole.packedBytes()) / target.rates.memory +
          whole.productSeconds(fewTiles, target));
}

void TileConvolution::pack(const void *weights, void *packed) const {
  const int64_t taps = shape.taps();
  product.pack(weights, shape.inputChannels / shape.groups * taps, taps, 1,
               packed);
}

double TileConvolution::seconds(const Target &target) const {
  return double(shape.batch) *
         (product.productSeconds(allTiles(), target) + cut.stageSeconds);
}

/// An image in its buffer, or some columns of its results.
struct TileConvolution::Image {
  Value flat, start, pixels;
  ZeroPoint zero;
  // Of windows: the column that the first position of a row has, counted from
  // where the padding begins, and the positions of a row.
  Value firstColumn, rowPositions;
};

/// The first lanes of a vector; the others are zero.
static Value firstOf(VectorBuilder &code, Value vector, int64_t valid) {
  SmallVector<bool> bits(lanes, false);
  std::fill_n(bits.begin(), valid, true);
  OpBuilder &b = code.builder;
  Value mask = b.create<arith::ConstantOp>(
      code.loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits));
  return b.create<arith::SelectOp>(
      code.loc, mask, vector, code.zero(cast<VectorType>(vector.getType())));
}

/// Where 16 channels of a pixel are, the first 16 of a block of k or others.
Value TileConvolution::offsetOf(VectorBuilder &code, const Image &image,
                                Value block, int64_t half, Value pixel) const {
  Value plane =
      code.add(code.mul(block, arithmetic.blockElements() / lanes), half);
  return code.add(
      image.start,
      code.mul(code.add(code.mul(plane, image.pixels), pixel), lanes));
}

/// Channels [block, ...) of a pixel, those from \p channels on as zeros; of
/// one that \p isThere, or else what lies outside of an image.
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

/// Goes over blocks of channels with how many of each are there.
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

/// Of a result that reads one pixel: that.
Value TileConvolution::pixelOf(VectorBuilder &code, Value result) const {
  if (readsOwnPixel(shape))
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

/// Of what windows read: the pixel of a position of a row, which is counted
/// from where the padding begins.
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

/// The numbers that stagePixels or stageRows bring from \p first on to
/// \p position, counted from the first one.
TileProduct::Numbers TileConvolution::numbersOf(VectorBuilder &code,
                                                const Image &image,
                                                Value position, Value first,
                                                Value block) const {
  Value width = image.rowPositions;
  const Pixel pixel =
      isPointwise
          ? Pixel{pixelOf(code, code.add(first, position)), code.boolean(true)}
          : paddedPixel(code, image, code.add(first, code.div(position, width)),
                        code.rem(position, width));
  Value channels = code.sub(code.index(shape.inputChannels),
                            code.mul(block, arithmetic.blockElements()));
  return {image.flat, offsetOf(code, image, block, 0, pixel.number),
          code.mul(image.pixels, lanes),
          code.select(pixel.isThere, channels, code.index(0))};
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
          open || isPointwise ? Value() : code.index(rowPositions())};
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

/// What a task has: of an image, of which the results of some rows are all in
/// those or in some columns, or pixels where each result reads one, which count
/// as one row.
struct TileConvolution::Part {
  Value batch;
  Value firstRow, rows, firstColumn, columns;
  Value rowTiles, tileRows; ///< Of each row; results of a tile.
  Value firstPanel, endPanel;
};

void TileConvolution::build(OpBuilder &builder, Location location, Value task,
                            Value input, Value weights, Value output,
                            Value scratch, const BlockedEpilogue &epilogue,
                            Value zero) const {
  VectorBuilder code(builder, location);
  if (open) {
    Value ofImage = open->tasks(code);
    const OpenImageCut::Task own = open->task(code, code.rem(task, ofImage));
    Value height = open->tileRows(code);
    return code.when(own.isAny, [&] {
      Value rowTiles = code.div(
          code.add(own.columns, code.sub(height, code.index(1))), height);
      buildPart(code,
                {code.div(task, ofImage), own.firstRow, own.rows,
                 own.firstColumn, own.columns, rowTiles, height, own.firstPanel,
                 own.endPanel},
                input, weights, output, scratch, epilogue, zero);
    });
  }
  Value batch = code.div(task, cut.tasks()), rest = code.rem(task, cut.tasks());
  Value unit = code.div(rest, cut.panels.count),
        chunk = code.rem(rest, cut.panels.count);
  Value firstUnit = cut.units.start(code, unit),
        endUnit = cut.units.start(code, code.add(unit, 1));
  Part part{batch,
            firstUnit,
            code.sub(endUnit, firstUnit),
            code.index(0),
            code.index(shape.outputWidth),
            code.index(rowTiles),
            code.index(tileRows),
            cut.panels.start(code, chunk),
            cut.panels.start(code, code.add(chunk, 1))};
  if (isPointwise) {
    Value firstTile = code.mul(firstUnit, unitTiles()),
          endTile =
              code.min(code.mul(endUnit, unitTiles()), code.index(allTiles()));
    part.firstRow = code.index(0);
    part.rows = code.index(1);
    part.firstColumn = code.mul(firstTile, tileRows);
    part.columns = code.sub(
        code.min(code.mul(endTile, tileRows), code.index(shape.outputPixels())),
        part.firstColumn);
    part.rowTiles = code.sub(endTile, firstTile);
  }
  buildPart(code, part, input, weights, output, scratch, epilogue, zero);
}

void TileConvolution::buildPart(VectorBuilder &code, const Part &part,
                                Value input, Value weights, Value output,
                                Value scratch, const BlockedEpilogue &epilogue,
                                Value zero) const {
  const int64_t outputBlocks = llvm::divideCeil(shape.outputChannels, lanes);
  Value batch = part.batch;
  Image image = imageOf(code, input, batch, zero);
  Value outputPixels =
      code.mul(code.index(shape.outputHeight), shape.outputWidth);
  if (open && !isPointwise) {
    image.firstColumn = code.mul(part.firstColumn, shape.strideWidth);
    image.rowPositions =
        code.add(code.mul(code.sub(part.columns, 1), shape.strideWidth),
                 (shape.kernelWidth - 1) * shape.dilationWidth + 1);
  }
  // What the task reads, in pixels or rows, and where the first one is: all
  // have their position where they were brought together before.
  Value firstStaged = isPointwise ? part.firstColumn
                                  : code.mul(part.firstRow, shape.strideHeight);
  Value staged =
      isPointwise
          ? part.columns
          : code.add(code.mul(code.sub(part.rows, 1), shape.strideHeight),
                     (shape.kernelHeight - 1) * shape.dilationHeight + 1);
  Value ofUnit = isPointwise ? code.index(1) : image.rowPositions;
  Value firstPosition =
      findsPixels() ? code.mul(firstStaged, ofUnit) : code.index(0);
  // More tiles of a task than those fetch nothing that is new.
  constexpr int64_t fetchingTiles = 16;
  const TileProduct::Task what{
      .staged = parts.operand ? parts.operand->imageIn(code, input, batch)
                              : stagedOf(code, scratch, batch),
      .weights = code.flatten(weights),
      .tiles = code.mul(part.rows, part.rowTiles),
      .firstPanel = part.firstPanel,
      .endPanel = part.endPanel,
      .mostTiles =
          open ? std::min(open->mostTiles(), fetchingTiles)
               : std::min(cut.units.sizeOf(0) * unitTiles(), allTiles()),
      .areEven = !open && (isPointwise ? allTiles() : rowTiles) % 2 == 0,
      .zero = shape.countsDistances() ? image.zero.as(ElementType::I32, 16)
                                      : Value(),
      .firstPosition = firstPosition,
      .endPosition = code.add(firstPosition, code.mul(staged, ofUnit)),
      .parts = parts.operand ? &*parts.operand : nullptr,
      .tapRowStep = open && !isPointwise
                        ? code.mul(image.rowPositions, shape.dilationHeight)
                        : Value(),
      .tileRows = open ? NumberAtStart([this](VectorBuilder &atStart) {
        return open->tileRows(atStart);
      })
                       : NumberAtStart()};
  auto source = [&](Value carried, TileProduct::Put put) {
    return stage(code, image, firstStaged, staged, firstPosition, carried, put);
  };
  auto placeOf = [&](Value tile) -> TilePlace {
    if (isPointwise) {
      Value position = code.mul(tile, part.tileRows);
      return {code.add(firstPosition, position),
              code.min(part.tileRows, code.sub(part.columns, position)),
              code.add(part.firstColumn, position)};
    }
    Value row = code.div(tile, part.rowTiles);
    Value column = code.mul(code.rem(tile, part.rowTiles), part.tileRows);
    Value position = code.add(
        code.mul(row, code.mul(image.rowPositions, shape.strideHeight)),
        code.mul(column, shape.strideWidth));
    Value ofRow =
        code.mul(code.add(part.firstRow, row), code.index(shape.outputWidth));
    return {code.add(firstPosition, position),
            code.min(part.tileRows, code.sub(part.columns, column)),
            code.add(ofRow, code.add(part.firstColumn, column))};
  };
  auto numbersAt = [&](Value position, Value block) {
    return numbersOf(code, image, code.sub(position, firstPosition),
                     firstStaged, block);
  };
  auto planeOf = [&](Value column) {
    return code.add(code.mul(batch, outputBlocks), code.div(column, lanes));
  };
  auto offsetOf = [&](Value pixel, Value column) {
    return code.mul(code.add(code.mul(planeOf(column), outputPixels), pixel),
                    lanes);
  };
  auto finish = [&](Value pixel, Value column, Value offset, Value sums) {
    if (!epilogue)
      return sums;
    BlockedPosition position;
    position.batch = batch;
    position.block = code.div(column, lanes);
    position.pixel = pixel;
    position.offset = offset;
    return epilogue(code.builder, code.loc, sums, position);
  };
  Value start = parts.result ? code.mul(batch, parts.result->imageBytes())
                             : code.index(0);
  product.build(code, what, source, numbersAt, placeOf,
                {code.flatten(output), offsetOf, finish,
                 parts.result ? &*parts.result : nullptr, start});
}
