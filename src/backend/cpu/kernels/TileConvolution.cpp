//===- TileConvolution.cpp - convolutions on matrix units -----------------===//

#include "backend/cpu/kernels/TileConvolution.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

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

/// Where each result reads one pixel: whether that is the one in its place.
static bool readsOwnPixel(const ConvolutionShape &shape) {
  return shape.strideHeight == 1 && shape.strideWidth == 1 &&
         shape.outputWidth == shape.inputWidth;
}

/// Whether all pixels of an image are one row.
static bool readsPixels(const ConvolutionShape &shape,
                        const TilePartsOf &parts) {
  if (!readsOnePixel(shape))
    return false;
  return !parts.operand ||
         (readsOwnPixel(shape) && !parts.operand->hasBorder());
}

TileConvolution::TileConvolution(const ConvolutionShape &shape,
                                 const Target &target,
                                 const TileArithmetic &arithmetic,
                                 const TilePartsOf &parts, bool countsImages)
    : shape(shape), arithmetic(arithmetic), parts(parts),
      countsImages(countsImages), isPointwise(readsPixels(shape, parts)),
      tileRows(shape.hasOpenArea() ? mostTileRows : tileRowsFor(tiledRow())),
      rowTiles(shape.hasOpenArea() ? 1
                                   : llvm::divideCeil(tiledRow(), tileRows)),
      open(shape.hasOpenArea() ? std::optional(openCutFor(target))
                               : std::nullopt),
      cut(open ? TileCut() : cutFor(target)),
      cutUnits(cut.isShared ? productOf(1).cutPositionsFor(
                                  stagedUnits() * unitPositions(),
                                  unitPositions(), target) /
                                  unitPositions()
                            : 0),
      product(productOf(allPositions(),
                        cut.isShared ? cutUnits * unitPositions() : 0)) {
  assert(supports(shape, target));
  assert((!countsImages || shape.batch == 1) && "the shape is that of one");
  if (open && this->parts.operand)
    setArea(*this->parts.operand, shape.inputHeight, shape.inputWidth);
  if (open && this->parts.result)
    setArea(*this->parts.result, shape.outputHeight, shape.outputWidth);
}

void TileConvolution::setArea(TileParts &of, int64_t height,
                              int64_t width) const {
  of.width = width;
  if (open)
    of.openRows = {height, width};
  else
    of.rows = height * width;
}

/// How many rows the last tile has beyond so many.
static int64_t rowsBeyond(int64_t rows) {
  return llvm::divideCeil(rows, tileRowsFor(rows)) * tileRowsFor(rows) - rows;
}

/// What windows read beyond \p input places of a dimension.
static int64_t placesBeyond(int64_t input, int64_t output, int64_t stride,
                            int64_t window, int64_t dilation, int64_t before) {
  const int64_t last = (output - 1) * stride + (window - 1) * dilation - before;
  return std::max<int64_t>(0, last - (input - 1));
}

TileBorder TileConvolution::operandBorder() const {
  const int64_t top = std::max<int64_t>(0, shape.padTop),
                left = std::max<int64_t>(0, shape.padLeft);
  if (open)
    return {top, left, std::max<int64_t>(0, shape.padBottom),
            std::max<int64_t>(0, shape.padRight)};
  return {top, left,
          placesBeyond(shape.inputHeight, shape.outputHeight,
                       shape.strideHeight, shape.kernelHeight,
                       shape.dilationHeight, shape.padTop),
          placesBeyond(shape.inputWidth, shape.outputWidth, shape.strideWidth,
                       shape.kernelWidth, shape.dilationWidth, shape.padLeft)};
}

std::optional<TileParts> TileConvolution::operandParts() const {
  if (arithmetic.isOfBytes() || arithmetic.lhsParts != TileParts::parts)
    return std::nullopt;
  TileParts of;
  of.images = shape.batch;
  setArea(of, shape.inputHeight, shape.inputWidth);
  of.columns = shape.inputChannels;
  of.areBlocked = true;
  of.border = operandBorder();
  // Of a row of pixels, or of all, whatever others need around them.
  if (open) {
    of.beyond = (mostTileRows - 1) * shape.strideWidth;
    return of;
  }
  of.beyond = rowsBeyond(shape.outputWidth) * shape.strideWidth;
  if (isPointwise)
    of.beyond = std::max(of.beyond, rowsBeyond(shape.outputPixels()));
  return of;
}

TilePartsGain TileConvolution::gainBy(const TileParts &operand,
                                      const Target &target) const {
  constexpr int64_t pixelsOfOpen = sideOfChoice * sideOfChoice;
  // Of open sizes nobody knows how many rows the tiles of a row have.
  if (open && readsOnePixel(shape) &&
      !(readsOwnPixel(shape) && !operand.hasBorder()))
    return {-1, 0};
  if (open)
    return {product.stageSeconds(pixelsOfOpen, target),
            product.sharedStageSeconds(pixelsOfOpen, target)};
  const TileConvolution other(shape, target, arithmetic, {operand, {}});
  return {
      seconds(target) - other.seconds(target),
      product.sharedStageSeconds(shape.batch * shape.inputPixels(), target)};
}

std::optional<TileParts> TileConvolution::resultParts() const {
  TileParts of;
  of.images = shape.batch;
  setArea(of, shape.outputHeight, shape.outputWidth);
  of.columns = shape.outputChannels;
  of.areBlocked = true;
  if (open)
    return of;
  of.tileRows = tileRows;
  of.unitRows = isPointwise ? tileRows : shape.outputWidth;
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

int64_t TileConvolution::allPositions() const {
  if (open)
    return open->positions();
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

/// In what is in parts: the position of the first pixel, or of what windows
/// read before it.
Value TileConvolution::originInParts(VectorBuilder &code) const {
  if (isPointwise)
    return code.index(0);
  Value above = code.mul(parts.operand->rowPositions(code), shape.padTop);
  return code.sub(parts.operand->firstPosition(code),
                  code.add(above, shape.padLeft));
}

/// The pixels, or those of the rows, that are among \p count from \p first on;
/// where there are none, others.
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
  if (open && !isPointwise) {
    image.firstColumn = code.mul(part.firstColumn, shape.strideWidth);
    image.rowPositions =
        code.add(code.mul(code.sub(part.columns, 1), shape.strideWidth),
                 (shape.kernelWidth - 1) * shape.dilationWidth + 1);
  }
  if (parts.operand)
    image.rowPositions = parts.operand->rowPositions(code);
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
  Value endPosition = code.add(firstPosition, code.mul(staged, ofUnit));
  PixelRange pixels;
  if (parts.operand) {
    pixels = pixelsOf(code, firstStaged, staged);
    firstPosition = code.add(firstPosition, originInParts(code));
    if (open && !isPointwise)
      firstPosition = code.add(firstPosition, image.firstColumn);
  }
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
      .firstPosition = parts.operand ? pixels.first : firstPosition,
      .endPosition = parts.operand ? pixels.end : endPosition,
      .parts = parts.operand ? &*parts.operand : nullptr,
      .tapRowStep = (open || parts.operand) && !isPointwise
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
  auto numbers = [&] {
    return numbersOf(code, image, firstStaged, firstPosition);
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
  product.build(code, what, source, numbers, placeOf,
                {code.flatten(output), offsetOf, finish,
                 parts.result ? &*parts.result : nullptr, start,
                 /*areInRows=*/!isPointwise});
}
