//===- Winograd.cpp - generator of Winograd 3x3 convolutions --------------===//

#include "backend/cpu/kernels/conv/Winograd.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/kernels/conv/ZeroPoint.h"
#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Tiles of \p rows rows, down and along an image.
static std::pair<int64_t, int64_t> tilesOfImage(const WindowShape &image,
                                                int64_t rows) {
  const WindowShape shape = image.nominal();
  return {
      ceilDivide(shape.outputHeight, rows).value(),
      ceilDivide(shape.outputWidth, WinogradArithmetic::outputColumns).value()};
}
static int64_t tileCount(const ConvolutionShape &shape, int64_t rows) {
  const auto [down, along] = tilesOfImage(shape, rows);
  return shape.batch * down * along;
}

ArrayRef<Winograd::Form> Winograd::forms() {
  static constexpr Form all[] = {{"winograd", 4}, {"winograd-2x4", 2}};
  return all;
}

const Winograd::Form *Winograd::formOf(StringRef kernel) {
  const auto *found = llvm::find_if(
      forms(), [&](const Form &each) { return each.kernel == kernel; });
  return found == forms().end() ? nullptr : found;
}

bool Winograd::supports(const ConvolutionShape &shape) {
  return shape.kernelHeight == 3 && shape.kernelWidth == 3 &&
         shape.strideHeight == 1 && shape.strideWidth == 1 &&
         shape.dilationHeight == 1 && shape.dilationWidth == 1 &&
         shape.groups == 1 && !shape.hasPlanarInput && shape.padTop >= 0 &&
         shape.padLeft >= 0;
}

Winograd::Sizes Winograd::sizesOf(const ConvolutionShape &shape,
                                  const WinogradArithmetic &arithmetic) {
  const Arithmetic &products = arithmetic.products;
  const int64_t elements = arithmetic.elements();
  return {tileCount(shape, arithmetic.outputRows),
          elements * (shape.inputChannels * products.lhsBytes() +
                      shape.outputChannels * products.sumBytes()),
          elements * shape.inputChannels * shape.outputChannels *
              products.rhsBytes()};
}

Winograd::Winograd(const ConvolutionShape &shape, const Target &target,
                   std::optional<Dim> images,
                   const WinogradArithmetic &arithmetic)
    : arithmetic(arithmetic), shape(shape), lanes(target.f32Lanes),
      inputBlocks(llvm::divideCeil(shape.inputChannels, lanes)),
      outputBlocks(llvm::divideCeil(shape.outputChannels, lanes)),
      tilesDown(tilesOfImage(shape, tileRows()).first),
      tilesAlong(tilesOfImage(shape, tileRows()).second), images(images),
      isDynamic(shape.hasDynamicArea()),
      masksLoads(target.masksLoads(8 * arithmetic.given.lhsBytes())),
      tiles(tileCount(shape, tileRows())) {
  assert((!images || shape.batch == 1) && "the shape is that of one image");
  assert((!isDynamic || images) && "an image is counted in units");
  const Sizes sizes = sizesOf(shape, arithmetic);
  const bool weightsStay = sizes.weightBytes <= target.l2Bytes * 5 / 4;
  const bool tilesStay = tiles * sizes.tileBytes <= target.l2Bytes;
  isFused = weightsStay && !tilesStay;
  slots = tiles;
  panelVectors = chooseTileVectors(target, slots, outputBlocks);
  if (isFused) {
    // As many full register tiles as fit half of the cache.
    int64_t rows = maxTileRows(target, panelVectors);
    int64_t room = target.l2Bytes / 2 / (sizes.tileBytes * rows);
    slots = std::max<int64_t>(room, 1) * rows;
    // Tasks of one size, and an even number of them, spread better over
    // threads.
    if (!isDynamic) {
      slots = std::min(slots, tiles);
      int64_t groups = llvm::alignTo(llvm::divideCeil(tiles, slots), 2);
      slots = llvm::divideCeil(tiles, groups);
    }
  } else {
    // Data from one stage should still be in a cache in the next, so a round
    // need not have all tiles.
    const int64_t most =
        std::max(16 * target.l2Bytes / sizes.tileBytes, leastTilesInRound);
    slots = isDynamic ? maxTileRows(target, panelVectors)
                      : llvm::divideCeil(tiles, llvm::divideCeil(tiles, most));
    roundUnits = std::max<int64_t>(1, most / slots);
  }
  bands = llvm::divideCeil(tiles, slots);
  panels = llvm::divideCeil(outputBlocks, panelVectors);
  rowTiles = Partition::of(slots, maxTileRows(target, panelVectors));
}

int64_t Winograd::tasks(int64_t stage) const {
  if (isFused)
    return images ? 1 : bands;
  switch (stage) {
  case 0:
    return inputBlocks * (isDynamic ? 1 : slots);
  case 1:
    return arithmetic.elements() * panels * rowTiles.count;
  default:
    return outputBlocks * (isDynamic ? 1 : slots);
  }
}

std::vector<TaskExtent> Winograd::unitsOfImage() const {
  if (!isDynamic)
    return {{{bands}, 1}};
  const std::vector<Dim> size{shape.outputHeight, shape.outputWidth};
  const std::vector<int64_t> tile{tileRows(), tileColumns};
  if (isFused)
    return {{size, 2 * slots, tile}, {{2}, 1}};
  return {{size, slots, tile}};
}

double Winograd::flops(int64_t stage) const {
  const double count = isDynamic ? double(slots)
                       : images  ? double(tiles) / double(bands)
                                 : double(tiles);
  double multiply = 2.0 * double(arithmetic.elements()) * count *
                    double(shape.inputChannels) * double(shape.outputChannels);
  double input = double(arithmetic.inputOperations()) * count *
                 double(shape.inputChannels);
  double output = double(arithmetic.outputOperations()) * count *
                  double(shape.outputChannels);
  if (isFused)
    return input + multiply + output;
  return stage == 0 ? input : stage == 1 ? multiply : output;
}

int64_t Winograd::workspaceElements() const {
  return arithmetic.elements() * (inputPlane() + outputPlane());
}

VectorType Winograd::sumType(VectorBuilder &code) const {
  return arithmetic.products.sumType(code.builder.getContext(), lanes);
}

Value Winograd::loadChannels(VectorBuilder &code, const Work &work,
                             Value offset) const {
  return code.bitsAs(
      code.loadSplat(work.buffers.workspace, offset, sumType(code)),
      arithmetic.products.lhsType(code.builder.getContext(), lanes));
}

/// A tile's image and its position in the image.
struct Winograd::Tile {
  Value image, row, column;
};

static Value tilesOf(VectorBuilder &code, Dim size, int64_t tile) {
  return code.div(code.add(code.index(size), tile - 1), tile);
}
Value Winograd::tilesAlongIn(VectorBuilder &code) const {
  return tilesOf(code, shape.outputWidth, tileColumns);
}
Value Winograd::tilesIn(VectorBuilder &code) const {
  if (!isDynamic)
    return code.index(tiles);
  return code.mul(tilesOf(code, shape.outputHeight, tileRows()),
                  tilesAlongIn(code));
}
Value Winograd::bandsIn(VectorBuilder &code) const {
  if (!isDynamic)
    return code.index(bands);
  const int64_t block = isFused ? 2 * slots : slots;
  Value blocks = code.div(code.add(tilesIn(code), block - 1), block);
  return isFused ? code.mul(blocks, 2) : blocks;
}

Winograd::Tile Winograd::locate(VectorBuilder &code, const Work &work,
                                Value tile) const {
  if (work.image)
    return {work.image, code.div(tile, tilesAlongIn(code)),
            code.rem(tile, tilesAlongIn(code))};
  Value inImage = code.rem(tile, tilesDown * tilesAlong);
  return {code.div(tile, tilesDown * tilesAlong), code.div(inImage, tilesAlong),
          code.rem(inImage, tilesAlong)};
}

/// Computes B^T d B of one tile and one block of channels.
void Winograd::transformInput(VectorBuilder &code, const Work &work, Value tile,
                              Value slot, Value block) const {
  const Buffers &buffers = work.buffers;
  Tile place = locate(code, work, tile);
  Value row =
      code.sub(code.mul(place.row, tileRows()), code.index(shape.padTop));
  Value column =
      code.sub(code.mul(place.column, tileColumns), code.index(shape.padLeft));
  Value plane = code.add(code.mul(place.image, inputBlocks), block);
  Value pixel = code.add(code.mul(plane, shape.inputPixels(code)),
                         code.add(code.mul(row, shape.inputWidth), column));
  Value base = code.mul(pixel, lanes);
  Value target =
      code.add(work.workspace,
               code.mul(code.add(code.mul(block, slots), slot), blockSteps()));
  auto allThere = [&](Value first, int64_t count, Dim size) {
    return code.both(code.inRange(first, size),
                     code.inRange(code.add(first, count - 1), size));
  };
  Value isInterior =
      code.both(allThere(row, windowRows(), shape.inputHeight),
                allThere(column, windowColumns, shape.inputWidth));
  Value rowStride = code.mul(code.index(shape.inputWidth), lanes);
  Value pixels = code.addressOf(buffers.input, base);
  if (code.knownTruth(isInterior) != true) {
    Value copy = copyBorder(code, work, row, column, base, isInterior);
    rowStride =
        code.select(isInterior, rowStride, code.index(windowColumns * lanes));
    pixels =
        code.select(isInterior, pixels, code.addressOf(copy, code.index(0)));
  }

  const Arithmetic &given = arithmetic.given, &products = arithmetic.products;
  MLIRContext *context = code.builder.getContext();
  auto type = VectorType::get({lanes}, storedType(given.lhs, context)),
       stored = VectorType::get({blockSteps()}, sumType(code).getElementType());
  SmallVector<SmallVector<Value>> half; // [column][row of B^T d]
  for (int64_t j = 0; j < windowColumns; ++j) {
    SmallVector<Value> d;
    for (int64_t i = 0; i < windowRows(); ++i)
      d.push_back(converted(
          code,
          code.loadAt(pixels, code.add(code.mul(rowStride, i), j * lanes),
                      type),
          given.lhs, products.lhs));
    half.push_back(arithmetic.transformInputs(code, d));
  }
  for (int64_t i = 0; i < windowRows(); ++i) {
    SmallVector<Value> d;
    for (const SmallVector<Value> &column : half)
      d.push_back(column[size_t(i)]);
    for (auto [j, result] :
         llvm::enumerate(arithmetic.transformInputs(code, d)))
      code.store(
          code.bitsAs(result, stored), buffers.workspace,
          code.add(target, (i * windowColumns + int64_t(j)) * inputPlane()));
  }
}

/// Copies a tile that is not in the interior, with padding. Its first pixel is
/// (\p row, \p column), at \p base of the input.
Value Winograd::copyBorder(VectorBuilder &code, const Work &work, Value row,
                           Value column, Value base, Value isInterior) const {
  const ElementType element = arithmetic.given.lhs;
  auto type =
      VectorType::get({lanes}, storedType(element, code.builder.getContext()));
  auto scratch = [&](int64_t vectors) {
    return createScratch(
        code.builder, code.loc,
        MemRefType::get({vectors * lanes}, type.getElementType()));
  };
  Value copy = scratch(arithmetic.elements());
  auto emit = [&] {
    Value outside, outsideInMemory;
    if (shape.countsDistances())
      outside =
          ZeroPoint(code, element, shape, work.buffers.zero).elements(lanes);
    if (!masksLoads) {
      outsideInMemory = scratch(1);
      code.store(outside ? outside : code.zero(type), outsideInMemory,
                 code.index(0));
    }
    SmallVector<Value> isThere;
    for (int64_t j = 0; j < windowColumns; ++j)
      isThere.push_back(code.inRange(code.add(column, j), shape.inputWidth));
    code.loop(code.index(0), code.index(windowRows()), 1, [&](Value i) {
      Value rowIsThere = code.inRange(code.add(row, i), shape.inputHeight);
      Value first = code.add(
          base, code.mul(code.mul(i, code.index(shape.inputWidth)), lanes));
      for (int64_t j = 0; j < windowColumns; ++j) {
        Value condition = code.both(rowIsThere, isThere[j]);
        Value at = code.add(first, j * lanes);
        Value pixel =
            outsideInMemory
                ? code.loadEither(condition, work.buffers.input, at, type,
                                  outsideInMemory)
                : code.loadIf(condition, work.buffers.input, at, type, outside);
        code.store(pixel, copy,
                   code.add(code.mul(i, windowColumns * lanes), j * lanes));
      }
    });
  };
  code.when(isInterior, [] {}, emit);
  return copy;
}

void Winograd::multiply(VectorBuilder &code, const Work &work, Value element,
                        Value panel, Value rowTile) const {
  auto emit = [&](int64_t vectors) {
    Value firstSlot = rowTiles.start(code, rowTile);
    rowTiles.dispatch(code, rowTile, [&](int64_t rows) {
      multiplyTile(code, work, element, panel, firstSlot, rows, vectors);
    });
  };
  dispatchPanel(code, panel, panels, panelVectors, outputBlocks, emit);
}

/// With small register tiles a single row matters.
bool Winograd::cutsEvenly() const {
  return rowTiles.size * panelVectors < 2 * DynamicRowTiles::busySums;
}

/// Also multiplies stale data beyond the last tile, whose results are unused.
void Winograd::multiplyDynamic(VectorBuilder &code, const Work &work,
                               Value element, Value panel, Value firstSlot,
                               Value count) const {
  Value left = code.sub(count, firstSlot);
  const int64_t most = rowTiles.size;
  SmallVector<int64_t> sizes = {most};
  const SmallVector<int64_t> fewer =
      cutsEvenly() ? SmallVector<int64_t>{most - 1, most / 2, most * 2 / 7}
                   : SmallVector<int64_t>{most * 5 / 6, most * 2 / 3, most / 2,
                                          most / 3};
  for (int64_t size : fewer)
    if (size > 0 && size < sizes.back())
      sizes.push_back(size);
  std::ranges::reverse(sizes);
  auto emit = [&](int64_t vectors) {
    code.dispatch(left, sizes, [&](size_t number) {
      multiplyTile(code, work, element, panel, firstSlot, sizes[number],
                   vectors);
    });
  };
  dispatchPanel(code, panel, panels, panelVectors, outputBlocks, emit);
}

/// Multiplies some tiles by a panel of output channels, for one element of the
/// tile.
void Winograd::multiplyTile(VectorBuilder &code, const Work &work,
                            Value element, Value panel, Value firstSlot,
                            int64_t rows, int64_t vectors) const {
  const Buffers &buffers = work.buffers;
  const Arithmetic &products = arithmetic.products;
  RegisterTile tile(rows, vectors, products, lanes);
  const int64_t width = vectors * vectorWeights();
  // With few rows per register tile, weights are read at memory speed: hardware
  // prefetching is best at that, without software prefetches two pages ahead.
  const bool areFew =
      !cutsEvenly() && rows * vectors <= DynamicRowTiles::busySums;
  const int64_t aheadBytes =
      areFew ? weightPrefetchBytes / 8 : weightPrefetchBytes;
  Value weights = code.add(
      code.mul(element, weightPlane()),
      code.mul(panel, panelVectors * products.steps(shape.inputChannels) *
                          vectorWeights()));
  Value source =
      code.add(work.workspace, code.add(code.mul(element, inputPlane()),
                                        code.mul(firstSlot, blockSteps())));
  auto block = [&](Value i, int64_t steps, ValueRange carried) {
    Value weightBase = code.add(weights, code.mul(i, blockSteps() * width));
    Value sourceBase = code.add(source, code.mul(i, slots * blockSteps()));
    return code.loop(
        code.index(0), code.index(steps), 1, carried,
        [&](Value step, ValueRange carried) {
          SmallVector<Value> sums(carried);
          Value at = code.add(weightBase, code.mul(step, width));
          SmallVector<Value> b;
          for (int64_t v = 0; v < vectors; ++v) {
            const int64_t first = v * vectorWeights();
            Value row = code.add(at, first);
            b.push_back(loadWeights(code, work, row));
            if (!isFused && beginsLine(first, arithmetic.given.rhsBytes()))
              code.prefetch(
                  buffers.weights,
                  code.add(row, aheadBytes / arithmetic.given.rhsBytes()));
          }
          Value a = code.add(sourceBase, step);
          tile.step(code, sums, b, [&](int64_t row) {
            return loadChannels(code, work, code.add(a, row * blockSteps()));
          });
          return sums;
        });
  };
  const int64_t whole = shape.inputChannels / lanes;
  SmallVector<Value> sums =
      code.loop(code.index(0), code.index(whole), 1, tile.zeros(code),
                [&](Value i, ValueRange carried) {
                  return block(i, blockSteps(), carried);
                });
  if (int64_t rest = shape.inputChannels % lanes)
    sums = block(code.index(whole), products.steps(rest), sums);

  Value target = code.add(
      code.mul(element, outputPlane()),
      code.mul(code.add(code.mul(panel, panelVectors * slots), firstSlot),
               lanes));
  target = code.add(code.add(work.workspace, target),
                    arithmetic.elements() * inputPlane());
  for (int64_t v = 0; v < vectors; ++v)
    for (int64_t row = 0; row < rows; ++row)
      code.store(sums[row * vectors + v], buffers.workspace,
                 code.add(target, (v * slots + row) * lanes));
}

/// Computes A^T m A of one tile and one block of channels, and applies the
/// epilogue.
void Winograd::transformOutput(VectorBuilder &code, const Work &work,
                               Value tile, Value slot, Value block,
                               const BlockedEpilogue &epilogue) const {
  const Buffers &buffers = work.buffers;
  Value source =
      code.add(work.workspace,
               code.add(code.mul(code.add(code.mul(block, slots), slot), lanes),
                        arithmetic.elements() * inputPlane()));
  SmallVector<SmallVector<Value>> half; // [column][row of A^T m]
  for (int64_t j = 0; j < windowColumns; ++j) {
    SmallVector<Value> m;
    for (int64_t i = 0; i < windowRows(); ++i)
      m.push_back(
          code.load(buffers.workspace,
                    code.add(source, (i * windowColumns + j) * outputPlane()),
                    sumType(code)));
    half.push_back(arithmetic.transformProducts(code, m));
  }

  Tile place = locate(code, work, tile);
  BlockedPosition position;
  position.batch = place.image;
  position.block = block;
  Value row = code.mul(place.row, tileRows());
  Value column = code.mul(place.column, tileColumns);
  Value plane = code.add(code.mul(place.image, outputBlocks), block);
  Value planeBase = code.mul(plane, code.mul(shape.outputPixels(code), lanes));
  Value firstPixel = code.add(code.mul(row, shape.outputWidth), column);
  // Only tiles at the end reach beyond the output.
  bool fits = !isDynamic && shape.outputHeight % tileRows() == 0 &&
              shape.outputWidth % tileColumns == 0;
  auto store = [&](Value result, Value i, Value j) {
    auto emit = [&] {
      position.pixel =
          code.add(firstPixel, code.add(code.mul(i, shape.outputWidth), j));
      position.offset = code.add(planeBase, code.mul(position.pixel, lanes));
      if (epilogue)
        result = epilogue(code.builder, code.loc, result, position);
      code.store(result, buffers.output, position.offset);
    };
    if (fits)
      return emit();
    code.when(code.both(code.inRange(code.add(row, i), shape.outputHeight),
                        code.inRange(code.add(column, j), shape.outputWidth)),
              emit);
  };
  Value startsFrom = initialSums(code, work, block);
  SmallVector<Value> all;
  for (int64_t i = 0; i < tileRows(); ++i) {
    SmallVector<Value> m;
    for (const SmallVector<Value> &column : half)
      m.push_back(column[size_t(i)]);
    SmallVector<Value> results = arithmetic.transformProducts(code, m);
    for (int64_t j = 0; j < tileColumns; ++j) {
      results[j] = arithmetic.unscaled(code, results[j], i, j);
      if (startsFrom)
        results[j] = code.addVectors(results[j], startsFrom);
    }
    for (int64_t j = 0; j < tileColumns && !isDynamic && !epilogue.isLong; ++j)
      store(results[j], code.index(i), code.index(j));
    llvm::append_range(all, results);
  }
  auto storeRows = [&] {
    forRows(code, all, tileColumns, [&](Value i, ValueRange results) {
      for (int64_t j = 0; j < tileColumns; ++j)
        store(results[j], i, code.index(j));
    });
  };
  if (epilogue.isLong)
    return storeRows();
  if (!isDynamic)
    return;
  // Where sizes are not known, most tiles do not reach beyond it either.
  Value isWhole = code.both(
      code.inRange(code.add(row, tileRows() - 1), shape.outputHeight),
      code.inRange(code.add(column, tileColumns - 1), shape.outputWidth));
  code.when(
      isWhole,
      [&] {
        fits = true;
        for (auto [i, result] : llvm::enumerate(all))
          store(result, code.index(int64_t(i) / tileColumns),
                code.index(int64_t(i) % tileColumns));
        fits = false;
      },
      storeRows);
}

void Winograd::buildFused(VectorBuilder &code, Value task, Work work,
                          const BlockedEpilogue &epilogue) const {
  Value zero = code.index(0);
  Value band = task;
  if (images) {
    work.image = code.div(task, bandsIn(code));
    band = code.rem(task, bandsIn(code));
  }
  DynamicRowTiles::Tile unit;
  if (isDynamic) {
    // In whole register tiles, evenly distributed over threads.
    Value rowsOfTiles =
        code.div(code.add(tilesIn(code), rowTiles.size - 1), rowTiles.size);
    auto start = [&](Value number) {
      return code.min(
          code.mul(code.div(code.mul(number, rowsOfTiles), bandsIn(code)),
                   rowTiles.size),
          tilesIn(code));
    };
    unit.first = start(band);
    unit.rows = code.sub(start(code.add(band, 1)), unit.first);
  } else {
    unit.first = code.mul(band, slots);
    unit.rows =
        code.min(code.index(slots), code.sub(tilesIn(code), unit.first));
  }
  auto forAll = [&](int64_t blocks, int64_t stage) {
    code.loop(zero, code.index(blocks), 1, [&](Value block) {
      code.loop(zero, unit.rows, 1, [&](Value slot) {
        transform(stage, code, work, code.add(unit.first, slot), slot, block,
                  epilogue);
      });
    });
  };
  forAll(inputBlocks, 0);
  code.loop(zero, code.index(arithmetic.elements()), 1, [&](Value element) {
    code.loop(zero, code.index(panels), 1, [&](Value panel) {
      if (isDynamic)
        return code.loop(zero, unit.rows, rowTiles.size, [&](Value firstSlot) {
          multiplyDynamic(code, work, element, panel, firstSlot, unit.rows);
        });
      code.loop(zero, code.index(rowTiles.count), 1, [&](Value rowTile) {
        multiply(code, work, element, panel, rowTile);
      });
    });
  });
  forAll(outputBlocks, 2);
}

/// The first stage, or the last.
void Winograd::transform(int64_t stage, VectorBuilder &code, const Work &work,
                         Value tile, Value slot, Value block,
                         const BlockedEpilogue &epilogue) const {
  if (stage == 0)
    transformInput(code, work, tile, slot, block);
  else
    transformOutput(code, work, tile, slot, block, epilogue);
}

void Winograd::buildUnits(int64_t stage, VectorBuilder &code, Work work,
                          Value inRound, Value first, Value count,
                          const BlockedEpilogue &epilogue) const {
  auto setUnit = [&](Value unit) {
    work.workspace = code.mul(unit, workspaceElements());
    return code.add(first, unit);
  };
  // The tiles of a unit in its image, where that is dynamic.
  auto tilesOf = [&](Value unit) -> DynamicRowTiles::Tile {
    Value number = code.rem(unit, bandsIn(code));
    if (cutsEvenly())
      return DynamicRowTiles(slots, panelVectors)
          .nearlyWhole(code, tilesIn(code), number);
    Value first = code.mul(number, slots);
    return {first, code.min(code.index(slots), code.sub(tilesIn(code), first))};
  };
  if (stage == 1) {
    // All units use the weights before the next ones are read.
    Value rest = code.div(inRound, rowTiles.count);
    Value product = code.div(rest, count);
    Value unit = setUnit(code.rem(rest, count));
    Value element = code.div(product, panels),
          panel = code.rem(product, panels);
    if (isDynamic)
      return multiplyDynamic(code, work, element, panel, code.index(0),
                             tilesOf(unit).rows);
    return multiply(code, work, element, panel,
                    code.rem(inRound, rowTiles.count));
  }
  Value unit = setUnit(code.div(inRound, tasks(stage)));
  Value inUnit = code.rem(inRound, tasks(stage));
  work.image = code.div(unit, bandsIn(code));
  if (isDynamic) {
    const DynamicRowTiles::Tile tiles = tilesOf(unit);
    return code.loop(code.index(0), tiles.rows, 1, [&](Value slot) {
      transform(stage, code, work, code.add(tiles.first, slot), slot, inUnit,
                epilogue);
    });
  }
  Value firstTile = code.mul(code.rem(unit, bandsIn(code)), slots);
  Value slot = code.rem(inUnit, slots), block = code.div(inUnit, slots);
  transformOfRound(stage, code, work, code.add(firstTile, slot), slot, block,
                   epilogue);
}

/// The last round may have fewer tiles. It also multiplies stale data of the
/// previous round, whose results are unused.
void Winograd::transformOfRound(int64_t stage, VectorBuilder &code,
                                const Work &work, Value tile, Value slot,
                                Value block,
                                const BlockedEpilogue &epilogue) const {
  auto emit = [&] {
    transform(stage, code, work, tile, slot, block, epilogue);
  };
  if (bands * slots == tiles)
    emit();
  else
    code.when(code.inRange(tile, tiles), emit);
}

void Winograd::build(int64_t stage, OpBuilder &builder, Location location,
                     Value task, const Buffers &given,
                     const BlockedEpilogue &epilogue) const {
  VectorBuilder code(builder, location);
  auto flat = [&](Value memref) {
    return memref ? code.flatten(memref) : Value();
  };
  const Work work = {{flat(given.input), flat(given.weights),
                      flat(given.workspace), flat(given.output),
                      flat(given.zero)},
                     Value(),
                     code.index(0)};
  if (isFused)
    return buildFused(code, task, work, epilogue);
  if (images) {
    const int64_t ofRound = roundUnits * tasks(stage);
    Value first = code.mul(code.div(task, ofRound), roundUnits);
    Value all = code.mul(code.index(*images), bandsIn(code));
    return buildUnits(stage, code, work, code.rem(task, ofRound), first,
                      code.min(code.index(roundUnits), code.sub(all, first)),
                      epilogue);
  }
  Value inRound = bands == 1 ? task : code.rem(task, tasks(stage));
  if (stage == 1) {
    Value perElement = code.rem(inRound, panels * rowTiles.count);
    return multiply(code, work, code.div(inRound, panels * rowTiles.count),
                    code.div(perElement, rowTiles.count),
                    code.rem(perElement, rowTiles.count));
  }
  Value slot = code.rem(inRound, slots);
  Value block = code.div(inRound, slots);
  Value tile = slot;
  if (bands > 1)
    tile = code.add(code.mul(code.div(task, tasks(stage)), slots), slot);
  transformOfRound(stage, code, work, tile, slot, block, epilogue);
}
