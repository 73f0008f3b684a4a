//===- TileConvolution.cpp - AMX convolutions -----------------------------===//

#include "backend/cpu/kernels/amx/TileConvolution.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether groups have as many outputs as inputs, and their size divides, or is
/// a multiple of, blocks of 32 and of 64.
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
         (shape.hasDynamicArea() || shape.outputPixels() > 0) &&
         shape.taps() > 0;
}

/// Whether each result reads one pixel inside the image.
static bool readsOnePixel(const ConvolutionShape &shape) {
  if (shape.taps() != 1 || shape.padTop != 0 || shape.padLeft != 0)
    return false;
  if (shape.hasDynamicArea())
    return shape.padBottom <= 0 && shape.padRight <= 0;
  return (shape.outputHeight - 1) * shape.strideHeight < shape.inputHeight &&
         (shape.outputWidth - 1) * shape.strideWidth < shape.inputWidth;
}

/// Whether each result, which reads one pixel, reads the one at its own
/// position.
static bool readsOwnPixel(const ConvolutionShape &shape) {
  return shape.strideHeight == 1 && shape.strideWidth == 1 &&
         shape.outputWidth == shape.inputWidth;
}

/// Whether all pixels of an image are one row.
static bool readsPixels(const ConvolutionShape &shape,
                        const TileTermsOf &parts) {
  if (!readsOnePixel(shape))
    return false;
  return !parts.operand ||
         (readsOwnPixel(shape) && !parts.operand->hasBorder());
}

TileConvolution::TileConvolution(const ConvolutionShape &shape,
                                 const Target &target,
                                 const TileArithmetic &arithmetic,
                                 const TileTermsOf &parts, bool countsImages)
    : shape(shape), arithmetic(arithmetic), parts(parts),
      countsImages(countsImages), isPointwise(readsPixels(shape, parts)),
      tileRows(shape.hasDynamicArea() ? mostTileRows : tileRowsFor(tiledRow())),
      rowTiles(shape.hasDynamicArea() ? 1
                                      : llvm::divideCeil(tiledRow(), tileRows)),
      dynamic(shape.hasDynamicArea() ? std::optional(dynamicTasksFor(target))
                                     : std::nullopt),
      cut(dynamic ? TileTasks() : cutFor(target)),
      cutUnits(cut.isShared ? productOf(1).cutPositionsFor(
                                  stagedUnits() * unitPositions(),
                                  unitPositions(), target) /
                                  unitPositions()
                            : 0),
      product(productOf(allPositions(),
                        cut.isShared ? cutUnits * unitPositions() : 0)) {
  assert(supports(shape, target));
  assert((!countsImages || shape.batch == 1) && "the shape is that of one");
  if (dynamic && this->parts.operand)
    setArea(*this->parts.operand, shape.inputHeight, shape.inputWidth);
  if (dynamic && this->parts.result)
    setArea(*this->parts.result, shape.outputHeight, shape.outputWidth);
}

void TileConvolution::setArea(TileTerms &of, Dim height, Dim width) const {
  of.width = width;
  if (dynamic)
    of.dynamicRows = {height, width};
  else
    of.rows = (height * width).value();
}

/// How many rows the last tile has beyond \p rows.
static int64_t rowsBeyond(int64_t rows) {
  return llvm::divideCeil(rows, tileRowsFor(rows)) * tileRowsFor(rows) - rows;
}

/// How far windows reach beyond the \p input elements of a dimension.
static int64_t placesBeyond(Dim input, Dim output, int64_t stride,
                            int64_t window, int64_t dilation, int64_t before) {
  const Dim last = (output - 1) * stride + (window - 1) * dilation - before;
  return std::max<int64_t>(0, (last - (input - 1)).value());
}

TileBorder TileConvolution::operandBorder() const {
  const int64_t top = std::max<int64_t>(0, shape.padTop),
                left = std::max<int64_t>(0, shape.padLeft);
  if (dynamic)
    return {top, left, std::max<int64_t>(0, shape.padBottom),
            std::max<int64_t>(0, shape.padRight)};
  return {top, left,
          placesBeyond(shape.inputHeight, shape.outputHeight,
                       shape.strideHeight, shape.kernelHeight,
                       shape.dilationHeight, shape.padTop),
          placesBeyond(shape.inputWidth, shape.outputWidth, shape.strideWidth,
                       shape.kernelWidth, shape.dilationWidth, shape.padLeft)};
}

std::optional<TileTerms> TileConvolution::operandTerms() const {
  if (arithmetic.isOfBytes() || arithmetic.lhsTerms != TileTerms::parts)
    return std::nullopt;
  TileTerms of;
  of.images = shape.batch;
  setArea(of, shape.inputHeight, shape.inputWidth);
  of.columns = shape.inputChannels;
  of.areBlocked = true;
  of.border = operandBorder();
  // The pixels of a row, or all, with any border that other users need.
  if (dynamic) {
    of.beyond = (mostTileRows - 1) * shape.strideWidth;
    return of;
  }
  of.beyond = rowsBeyond(shape.outputWidth.value()) * shape.strideWidth;
  if (isPointwise)
    of.beyond = std::max(of.beyond, rowsBeyond(shape.outputPixels().value()));
  return of;
}

TileTermsGain TileConvolution::gainBy(const TileTerms &operand,
                                      const Target &target) const {
  constexpr int64_t pixelsOfDynamic = sideOfChoice * sideOfChoice;
  // Of dynamic sizes nobody knows how many rows the tiles of a row have.
  if (dynamic && readsOnePixel(shape) &&
      !(readsOwnPixel(shape) && !operand.hasBorder()))
    return {-1, 0};
  if (dynamic)
    return {product.stageSeconds(pixelsOfDynamic, target),
            product.sharedStageSeconds(pixelsOfDynamic, target)};
  const TileConvolution other(shape, target, arithmetic, {operand, {}});
  return {seconds(target) - other.seconds(target),
          product.sharedStageSeconds(shape.batch * shape.inputPixels().value(),
                                     target)};
}

std::optional<TileTerms> TileConvolution::resultTerms() const {
  TileTerms of;
  of.images = shape.batch;
  setArea(of, shape.outputHeight, shape.outputWidth);
  of.columns = shape.outputChannels;
  of.areBlocked = true;
  if (dynamic)
    return of;
  of.tileRows = tileRows;
  of.unitRows = isPointwise ? tileRows : shape.outputWidth.value();
  return of;
}

int64_t TileConvolution::stagedUnits() const {
  return isPointwise ? shape.outputPixels().value()
                     : inputRowsOf(shape.outputHeight.value());
}

int64_t TileConvolution::cutTasks() const {
  return cut.isShared ? shape.batch * llvm::divideCeil(stagedUnits(), cutUnits)
                      : 0;
}

int64_t TileConvolution::allTiles() const {
  return isPointwise ? rowTiles : rowTiles * shape.outputHeight.value();
}

int64_t TileConvolution::inputRowsOf(int64_t outputRows) const {
  return (outputRows - 1) * shape.strideHeight +
         (shape.kernelHeight - 1) * shape.dilationHeight + 1;
}

int64_t TileConvolution::rowPositions() const {
  return (shape.outputWidth.value() - 1) * shape.strideWidth +
         (shape.kernelWidth - 1) * shape.dilationWidth + 1;
}

int64_t TileConvolution::positionsOf(int64_t units) const {
  if (isPointwise)
    return std::min(units * unitTiles(), rowTiles) * tileRows;
  // The last tile of a row reads beyond its end.
  const int64_t beyond = rowTiles * tileRows - shape.outputWidth.value();
  return inputRowsOf(units) * rowPositions() + beyond * shape.strideWidth;
}

int64_t TileConvolution::allPositions() const {
  if (dynamic)
    return dynamic->positions();
  return positionsOf(cut.isShared ? cut.units.length : cut.units.sizeOf(0));
}

TileProduct TileConvolution::productOf(int64_t positions,
                                       int64_t cutPositions) const {
  TileProductShape of;
  of.n = shape.outputChannels;
  of.k = shape.inputChannels;
  of.group = shape.groups > 1 ? shape.inputChannels / shape.groups : 0;
  of.tapRows = shape.kernelHeight;
  of.tapColumns = shape.kernelWidth;
  // Where widths are dynamic, tasks say it.
  of.tapRowStep =
      shape.hasDynamicArea() ? 0 : shape.dilationHeight * rowPositions();
  of.tapColumnStep = shape.dilationWidth;
  of.rowStep = isPointwise ? 1 : shape.strideWidth;
  of.tileRows = tileRows;
  of.positions = positions;
  of.cutPositions = cutPositions;
  of.hasZeroPoint = shape.countsDistances();
  of.fillsColumns = true;
  return TileProduct(of, arithmetic);
}

TileTasks TileConvolution::cutFor(const Target &target) const {
  const TileProduct whole = productOf(1);
  const int64_t units = llvm::divideCeil(allTiles(), unitTiles());
  const auto weights = double(whole.packedBytes());
  TileTasks::Costs costs;
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
  return TileTasks::choose(shape.batch, units, whole.panels(), costs);
}

DynamicImageTasks TileConvolution::dynamicTasksFor(const Target &target) const {
  // For a small image: the time to read weights, and some products.
  constexpr int64_t fewTiles = 4;
  const TileProduct whole = productOf(1);
  return DynamicImageTasks::choose(
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

/// The region of an image that a task computes: some rows, or some columns of
/// these. Pixels of a pointwise convolution count as one row.
struct TileConvolution::Part {
  Value batch;
  Value firstRow, rows, firstColumn, columns;
  Value rowTiles, tileRows; ///< Tiles of each row; results of a tile.
  Value firstPanel, endPanel;
};

void TileConvolution::build(OpBuilder &builder, Location location, Value task,
                            Value input, Value weights, Value output,
                            Value scratch, const BlockedEpilogue &epilogue,
                            Value zero) const {
  VectorBuilder code(builder, location);
  if (dynamic) {
    Value ofImage = dynamic->tasks(code);
    const DynamicImageTasks::Task own =
        dynamic->task(code, code.rem(task, ofImage));
    Value height = dynamic->tileRows(code);
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

/// In a split operand: the position of the first pixel, or of the padding
/// before it.
Value TileConvolution::originInTerms(VectorBuilder &code) const {
  if (isPointwise)
    return code.index(0);
  Value above = code.mul(parts.operand->rowPositions(code), shape.padTop);
  return code.sub(parts.operand->firstPosition(code),
                  code.add(above, shape.padLeft));
}

/// The pixels, or those of the rows, among \p count from \p first on; if there
/// are none, other ones.
TileConvolution::PixelRange
TileConvolution::pixelsOf(VectorBuilder &code, Value first, Value count) const {
  if (isPointwise)
    return {first, code.add(first, count)};
  Value begin = code.sub(first, code.index(shape.padTop));
  Value firstRow = code.min(code.max(begin, code.index(0)),
                            code.sub(code.index(shape.inputHeight), 1));
  Value endRow = code.min(
      code.max(code.add(begin, count), code.add(firstRow, code.index(1))),
      code.index(shape.inputHeight));
  return {code.mul(firstRow, shape.inputWidth),
          code.mul(endRow, shape.inputWidth)};
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
  if (dynamic && !isPointwise) {
    image.firstColumn = code.mul(part.firstColumn, shape.strideWidth);
    image.rowPositions =
        code.add(code.mul(code.sub(part.columns, 1), shape.strideWidth),
                 (shape.kernelWidth - 1) * shape.dilationWidth + 1);
  }
  if (parts.operand)
    image.rowPositions = parts.operand->rowPositions(code);
  // The range that the task reads, in pixels or rows, and its first position:
  // fixed where they were staged before.
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
  Value endPosition = code.add(firstPosition, code.mul(staged, ofUnit));
  PixelRange pixels;
  if (parts.operand) {
    pixels = pixelsOf(code, firstStaged, staged);
    firstPosition = code.add(firstPosition, originInTerms(code));
    if (dynamic && !isPointwise)
      firstPosition = code.add(firstPosition, image.firstColumn);
  }
  // Further tiles of a task have nothing left to prefetch.
  constexpr int64_t fetchingTiles = 16;
  const TileProduct::Task what{
      .staged = parts.operand ? parts.operand->imageIn(code, input, batch)
                              : stagedOf(code, scratch, batch),
      .weights = code.flatten(weights),
      .tiles = code.mul(part.rows, part.rowTiles),
      .firstPanel = part.firstPanel,
      .endPanel = part.endPanel,
      .mostTiles =
          dynamic ? std::min(dynamic->mostTiles(), fetchingTiles)
                  : std::min(cut.units.sizeOf(0) * unitTiles(), allTiles()),
      .areEven = !dynamic && (isPointwise ? allTiles() : rowTiles) % 2 == 0,
      .zero = shape.countsDistances() ? image.zero.as(ElementType::I32, 16)
                                      : Value(),
      .firstPosition = parts.operand ? pixels.first : firstPosition,
      .endPosition = parts.operand ? pixels.end : endPosition,
      .parts = parts.operand ? &*parts.operand : nullptr,
      .tapRowStep = (dynamic || parts.operand) && !isPointwise
                        ? code.mul(image.rowPositions, shape.dilationHeight)
                        : Value(),
      .tileRows = dynamic ? NumberAtStart([this](VectorBuilder &atStart) {
        return dynamic->tileRows(atStart);
      })
                          : NumberAtStart()};
  auto source = [&](Value carried, TileProduct::Put put) {
    return stage(code, image, firstStaged, staged, firstPosition, carried, put);
  };
  auto placeTile = [&](Value tile) -> TilePlace {
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
  auto numbers = [&] {
    return valuesOf(code, image, firstStaged, firstPosition);
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
  Value start = parts.result ? parts.result->imageIn(code, output, batch).start
                             : code.index(0);
  product.build(code, what, source, numbers, placeTile,
                {code.flatten(output), offsetOf, finish,
                 parts.result ? &*parts.result : nullptr, start,
                 /*areInRows=*/!isPointwise});
}
