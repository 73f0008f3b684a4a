//===- Convolution.cpp - generator of direct convolutions -----------------===//

#include "backend/cpu/kernels/Convolution.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

double ConvolutionShape::flops() const {
  const int64_t inputsOfGroup = inputChannels / groups;
  return 2.0 * batch * outputChannels * outputPixels() * inputsOfGroup * taps();
}

/// The fewest groups that together have whole blocks of channels.
static int64_t groupsToMerge(const ConvolutionShape &shape, int64_t lanes) {
  for (int64_t count = 1; count < shape.groups; ++count)
    if (shape.groups % count == 0 &&
        shape.inputChannels / shape.groups * count % lanes == 0 &&
        shape.outputChannels / shape.groups * count % lanes == 0)
      return count;
  return shape.groups;
}

/// Merges groups; and one that multiplies every pixel by the same matrix sees
/// no rows.
static ConvolutionShape simplify(ConvolutionShape shape, int64_t lanes) {
  shape.groups /= groupsToMerge(shape, lanes);
  bool isPointwise = shape.kernelHeight == 1 && shape.kernelWidth == 1 &&
                     shape.strideHeight == 1 && shape.strideWidth == 1 &&
                     shape.padTop == 0 && shape.padLeft == 0 &&
                     shape.outputHeight == shape.inputHeight &&
                     shape.outputWidth == shape.inputWidth;
  if (isPointwise) {
    shape.inputWidth *= shape.inputHeight;
    shape.outputWidth = shape.inputWidth;
    shape.inputHeight = shape.outputHeight = 1;
  }
  return shape;
}

Convolution::Convolution(const ConvolutionShape &given, const Target &target)
    : shape(simplify(given, target.f32Lanes)),
      mergedGroups(given.groups / shape.groups), lanes(target.f32Lanes),
      groupInputs(shape.inputChannels / shape.groups),
      groupOutputs(shape.outputChannels / shape.groups) {
  groupVectors = llvm::divideCeil(groupOutputs, lanes);
  panelVectors = chooseTileVectors(target, shape.outputWidth, groupVectors);
  groupPanels = llvm::divideCeil(groupVectors, panelVectors);
  columnTiles =
      Partition::of(shape.outputWidth, maxTileRows(target, panelVectors));
  unitIsTile =
      shape.outputHeight == 1 && shape.isInterior(0, shape.outputWidth);
  order = TaskOrder::choose(
      target, shape.batch * shape.groups,
      unitIsTile ? columnTiles.count : shape.outputHeight, groupPanels,
      groupInputs * shape.inputHeight * shape.inputWidth * 4,
      reduction() * panelVectors * lanes * 4);
  streamsWeights = packedElements() * 4 > target.l2Bytes / 2;
}

int64_t Convolution::reduction() const { return groupInputs * shape.taps(); }

int64_t Convolution::packedElements() const {
  return shape.groups * groupVectors * lanes * reduction();
}

Convolution::WeightOrder Convolution::weightOrder() const {
  return {shape.groups,
          mergedGroups,
          groupInputs,
          groupOutputs,
          groupVectors * lanes,
          panelVectors * lanes,
          shape.hasPlanarInput ? 1 : lanes,
          shape.taps()};
}

void Convolution::pack(const void *weights, float *packed) const {
  const auto *from = static_cast<const char *>(weights);
  const int64_t taps = shape.taps();
  const int64_t givenInputs = groupInputs / mergedGroups;
  const int64_t givenOutputs = groupOutputs / mergedGroups;
  // The weight between channels of a group, zero where they were in different
  // groups before.
  auto weight = [&](int64_t group, int64_t k, int64_t c, int64_t tap) {
    float value = 0;
    if (k >= groupOutputs)
      return value;
    if (mergedGroups > 1) {
      if (k / givenOutputs != c / givenInputs)
        return value;
      c %= givenInputs;
    }
    int64_t row = (group * groupOutputs + k) * givenInputs + c;
    std::memcpy(&value, from + (row * taps + tap) * sizeof(float),
                sizeof(float));
    return value;
  };
  const int64_t blockSize = shape.hasPlanarInput ? 1 : lanes;
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t first = 0; first < groupVectors; first += panelVectors) {
      int64_t begin = first * lanes;
      int64_t end = std::min(first + panelVectors, groupVectors) * lanes;
      for (int64_t block = 0; block < groupInputs; block += blockSize) {
        int64_t blockEnd = std::min(block + blockSize, groupInputs);
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t c = block; c < blockEnd; ++c)
            for (int64_t k = begin; k < end; ++k)
              *packed++ = weight(group, k, c, tap);
      }
    }
}

/// The buffers, flat, and which part of the output a task computes.
struct Convolution::Operands {
  Value input, weights, output;
  const BlockedEpilogue *epilogue;
  VectorType type;
  Value batch;
  Value inputBase;  ///< Of the first channel of the group, in this image.
  Value panelBase;  ///< Of the panel's weights.
  Value firstBlock; ///< The panel's first block of output channels.
  int64_t vectors;  ///< How many the panel has.
  Value unit;
  Value outputRow;
  RowTaps taps;
};

void Convolution::build(OpBuilder &builder, Location location, Value task,
                        Value input, Value weights, Value output,
                        const BlockedEpilogue &epilogue) const {
  Emitter emitter(builder, location);
  TaskOrder::Task place = order.decode(emitter, task);
  Value group = emitter.rem(place.outer, shape.groups);

  Operands operands{};
  operands.input = emitter.flatten(input);
  operands.weights = emitter.flatten(weights);
  operands.output = emitter.flatten(output);
  operands.epilogue = &epilogue;
  operands.type = VectorType::get({lanes}, builder.getF32Type());
  operands.batch = emitter.div(place.outer, shape.groups);
  const int64_t imagePixels = shape.inputPixels();
  const int64_t storedInputs = shape.hasPlanarInput
                                   ? shape.inputChannels
                                   : llvm::alignTo(shape.inputChannels, lanes);
  operands.inputBase =
      emitter.add(emitter.mul(operands.batch, storedInputs * imagePixels),
                  emitter.mul(group, groupInputs * imagePixels));
  operands.panelBase =
      emitter.add(emitter.mul(group, groupVectors * lanes * reduction()),
                  emitter.mul(place.panel, panelVectors * lanes * reduction()));
  operands.firstBlock = emitter.add(emitter.mul(group, groupVectors),
                                    emitter.mul(place.panel, panelVectors));
  operands.unit = place.unit;

  operands.outputRow = unitIsTile ? emitter.index(0) : place.unit;
  operands.taps = RowTaps::of(emitter, shape, operands.outputRow);

  auto emitPanel = [&](int64_t vectors) {
    operands.vectors = vectors;
    buildUnit(emitter, operands);
  };
  int64_t lastVectors = groupVectors - (groupPanels - 1) * panelVectors;
  if (lastVectors == panelVectors || groupPanels == 1)
    return emitPanel(lastVectors);
  emitter.branch(
      emitter.less(place.panel, emitter.index(groupPanels - 1)),
      [&] { emitPanel(panelVectors); }, [&] { emitPanel(lastVectors); });
}

void Convolution::buildUnit(Emitter &emitter, Operands &operands) const {
  if (!unitIsTile)
    return forEachTile(
        emitter, shape, columnTiles,
        [&](const ColumnTile &tile) { buildTile(emitter, operands, tile); });
  Value firstColumn = columnTiles.start(emitter, operands.unit);
  columnTiles.dispatch(emitter, operands.unit, [&](int64_t columns) {
    buildTile(emitter, operands,
              {firstColumn, columns, /*isInterior=*/true, /*edgeColumn=*/0});
  });
}

void Convolution::buildTile(Emitter &emitter, Operands &operands,
                            const ColumnTile &tile) const {
  const int64_t columns = tile.columns;
  SmallVector<Value> sums = reduce(emitter, operands, tile);
  const int64_t outputPixels = shape.outputPixels();
  const int64_t outputBlocks = shape.groups * groupVectors;
  Value firstPixel = emitter.add(
      emitter.mul(operands.outputRow, shape.outputWidth), tile.firstColumn);
  for (int64_t v = 0; v < operands.vectors; ++v) {
    BlockedPosition position;
    position.batch = operands.batch;
    position.block = emitter.add(operands.firstBlock, v);
    Value plane =
        emitter.add(emitter.mul(operands.batch, outputBlocks), position.block);
    Value planeBase = emitter.mul(plane, outputPixels * lanes);
    for (int64_t column = 0; column < columns; ++column) {
      position.pixel = emitter.add(firstPixel, column);
      position.offset =
          emitter.add(planeBase, emitter.mul(position.pixel, lanes));
      Value result = sums[column * operands.vectors + v];
      if (*operands.epilogue)
        result = (*operands.epilogue)(emitter.builder, emitter.loc, result,
                                      position);
      emitter.store(result, operands.output, position.offset);
    }
  }
}

/// Sums over blocks of channels, rows and columns of the kernel, channels of a
/// block: the order in which the weights lie.
SmallVector<Value> Convolution::reduce(Emitter &emitter, Operands &operands,
                                       const ColumnTile &tile) const {
  RegisterTile registers(tile.columns, operands.vectors, operands.type);
  const int64_t pixelSize = shape.hasPlanarInput ? 1 : lanes;
  const int64_t planeSize = shape.inputPixels() * pixelSize;
  const int64_t weightRow = operands.vectors * lanes;
  Value firstInputColumn =
      emitter.sub(emitter.mul(tile.firstColumn, shape.strideWidth),
                  emitter.index(shape.padLeft));

  // What is fetched of the next panel in each row of the kernel, as the part of
  // this tile: see MatMul::reduce.
  const int64_t tilesOfUnit = unitIsTile ? 1 : columnTiles.count;
  const int64_t tiles = order.chunk * tilesOfUnit;
  const bool fetchesNext =
      groupPanels > 1 && order.chunk > 1 && tiles >= leastFetchingTiles;
  constexpr int64_t lineElements = cacheLineBytes / 4;
  auto fetchNext = [&](Value weights, int64_t channels) {
    const int64_t lines = llvm::divideCeil(
        channels * shape.kernelWidth * panelVectors * lanes, lineElements);
    const int64_t share = llvm::divideCeil(lines, tiles);
    Value part = emitter.rem(operands.unit, order.chunk);
    if (!unitIsTile)
      part = emitter.add(
          emitter.mul(part, tilesOfUnit),
          emitter.min(emitter.div(tile.firstColumn, columnTiles.size),
                      emitter.index(tilesOfUnit - 1)));
    Value first = emitter.add(
        emitter.add(weights, emitter.mul(part, share * lineElements)),
        reduction() * panelVectors * lanes);
    for (int64_t i = 0; i < share; ++i)
      emitter.prefetch(operands.weights, emitter.add(first, i * lineElements));
  };

  // The columns of the tile for which tap s is inside the input.
  auto meetsInput = [&](int64_t column, int64_t s) {
    return tile.isInterior || shape.hasInputColumn(tile.edgeColumn + column, s);
  };
  auto step = [&](SmallVector<Value> &sums, Value weights, Value input,
                  llvm::function_ref<bool(int64_t)> includes) {
    SmallVector<Value> b;
    for (int64_t v = 0; v < operands.vectors; ++v) {
      Value at = emitter.add(weights, v * lanes);
      b.push_back(emitter.load(operands.weights, at, operands.type));
      if (streamsWeights && !fetchesNext)
        emitter.prefetch(operands.weights,
                         emitter.add(at, weightPrefetchDistance));
    }
    registers.step(emitter, sums, b, [&](int64_t column) {
      if (!includes(column))
        return Value();
      Value at = emitter.add(input, column * shape.strideWidth * pixelSize);
      return emitter.loadSplat(operands.input, at, operands.type);
    });
  };
  // All channels of a block, for one tap.
  auto tap = [&](ValueRange carried, int64_t channels, Value weights,
                 Value input, llvm::function_ref<bool(int64_t)> includes) {
    SmallVector<Value> sums(carried);
    if (channels == 1) {
      step(sums, weights, input, includes);
      return sums;
    }
    return emitter.loop(emitter.index(0), emitter.index(channels), 1, sums,
                        [&](Value c, ValueRange carried) {
                          SmallVector<Value> next(carried);
                          step(next,
                               emitter.add(weights, emitter.mul(c, weightRow)),
                               emitter.add(input, c), includes);
                          return next;
                        });
  };
  // All taps of a row of the kernel. Neighbouring taps that reach the same
  // columns share a loop. (Straight-line code would tempt LLVM to keep pixels
  // that several taps read in registers, of which none are free.)
  auto kernelRow = [&](ValueRange carried, int64_t channels, Value weights,
                       Value input) {
    const int64_t tapStep = shape.dilationWidth * pixelSize;
    const int64_t weightStep = channels * weightRow;
    auto reaches = [&](int64_t s, int64_t other) {
      for (int64_t column = 0; column < tile.columns; ++column)
        if (meetsInput(column, s) != meetsInput(column, other))
          return false;
      return true;
    };
    SmallVector<Value> sums(carried);
    int64_t next = 0;
    for (int64_t first = 0; first < shape.kernelWidth; first = next) {
      next = first + 1;
      while (next < shape.kernelWidth && reaches(first, next))
        ++next;
      auto includes = [&](int64_t column) { return meetsInput(column, first); };
      auto emitTap = [&](Value s, ValueRange carried) {
        return tap(carried, channels,
                   emitter.add(weights, emitter.mul(s, weightStep)),
                   emitter.add(input, emitter.mul(s, tapStep)), includes);
      };
      sums = next == first + 1
                 ? emitTap(emitter.index(first), sums)
                 : emitter.loop(emitter.index(first), emitter.index(next), 1,
                                sums, emitTap);
    }
    return sums;
  };
  // All rows of the kernel, for one block of channels.
  auto block = [&](ValueRange carried, int64_t channels, Value plane,
                   Value weights) {
    auto row = [&](Value r, ValueRange carried) {
      Value inputRow = emitter.add(operands.taps.inputRow,
                                   emitter.mul(r, shape.dilationHeight));
      Value pixel = emitter.add(emitter.mul(inputRow, shape.inputWidth),
                                firstInputColumn);
      Value rowWeights = emitter.add(
          weights, emitter.mul(r, shape.kernelWidth * channels * weightRow));
      if (fetchesNext)
        fetchNext(rowWeights, channels);
      return kernelRow(carried, channels, rowWeights,
                       emitter.add(plane, emitter.mul(pixel, pixelSize)));
    };
    if (shape.kernelHeight == 1 && shape.padTop <= 0 &&
        getConstantIntValue(operands.taps.end) == 1)
      return row(emitter.index(0), carried);
    return emitter.loop(operands.taps.first, operands.taps.end, 1, carried,
                        row);
  };

  const int64_t blockChannels = std::min(pixelSize, groupInputs);
  const int64_t blocks = groupInputs / blockChannels;
  const int64_t rest = groupInputs % blockChannels;
  const int64_t blockWeights = blockChannels * shape.taps() * weightRow;
  auto planeAt = [&](Value i) {
    return emitter.add(operands.inputBase, emitter.mul(i, planeSize));
  };
  auto weightsAt = [&](Value i) {
    return emitter.add(operands.panelBase, emitter.mul(i, blockWeights));
  };
  SmallVector<Value> sums = emitter.loop(
      emitter.index(0), emitter.index(blocks), 1, registers.zeros(emitter),
      [&](Value i, ValueRange carried) {
        return block(carried, blockChannels, planeAt(i), weightsAt(i));
      });
  if (rest) {
    Value last = emitter.index(blocks);
    sums = block(sums, rest, planeAt(last), weightsAt(last));
  }
  return sums;
}
