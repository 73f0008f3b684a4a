//===- Convolution.cpp - generator of direct convolutions -----------------===//

#include "backend/cpu/kernels/Convolution.h"

#include "backend/cpu/kernels/OpenRowTiles.h"
#include "backend/cpu/kernels/ZeroPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <array>
#include <cstring>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

double ConvolutionShape::flops() const {
  const int64_t inputsOfGroup = inputChannels / groups;
  return 2.0 * batch * outputChannels * outputPixels() * inputsOfGroup * taps();
}

int64_t ConvolutionShape::groupsToMerge(int64_t lanes) const {
  for (int64_t count = 1; count < groups; ++count)
    if (groups % count == 0 && inputChannels / groups * count % lanes == 0 &&
        outputChannels / groups * count % lanes == 0)
      return count;
  return groups;
}

/// Whether it multiplies every pixel by the same matrix.
static bool isPointwise(const ConvolutionShape &shape) {
  return shape.kernelHeight == 1 && shape.kernelWidth == 1 &&
         shape.strideHeight == 1 && shape.strideWidth == 1 &&
         shape.padTop == 0 && shape.padLeft == 0 &&
         shape.outputHeight == shape.inputHeight &&
         shape.outputWidth == shape.inputWidth;
}

/// Merges groups; and one that multiplies every pixel by the same matrix sees
/// no rows.
static ConvolutionShape simplify(ConvolutionShape shape, int64_t lanes) {
  shape.groups /= shape.groupsToMerge(lanes);
  if (isPointwise(shape) && !shape.hasOpenArea()) {
    shape.inputWidth *= shape.inputHeight;
    shape.outputWidth = shape.inputWidth;
    shape.inputHeight = shape.outputHeight = 1;
  }
  return shape;
}

Convolution::Convolution(const ConvolutionShape &given, const Target &target,
                         const Arithmetic &arithmetic)
    : arithmetic(arithmetic), shape(simplify(given, arithmetic.lanes(target))),
      mergedGroups(given.groups / shape.groups),
      lanes(arithmetic.lanes(target)),
      groupInputs(shape.inputChannels / shape.groups),
      groupOutputs(shape.outputChannels / shape.groups) {
  assert((arithmetic.kGroup == 1 || multiplied() != arithmetic ||
          (!shape.hasPlanarInput && lanes % arithmetic.kGroup == 0)) &&
         "groups are channels of a block");
  assert((multiplied() == arithmetic ||
          takesGroups(shape, lanes, arithmetic.kGroup)) &&
         "floats beyond the last channel are not multiplied by 0");
  assert((!shape.countsDistances() ||
          (isByte(arithmetic.rhs) &&
           arithmetic.accumulator == ElementType::I32)) &&
         "zero points are of bytes");
  groupVectors = llvm::divideCeil(groupOutputs, lanes);
  const WindowShape nominal = shape.nominal();
  hasFewRegisters = target.vectorRegisters <= 16;
  isOpenPointwise = shape.hasOpenArea() && isPointwise(shape);
  const int64_t nominalRow =
      isOpenPointwise ? nominal.outputPixels() : nominal.outputWidth;
  panelVectors = chooseTileVectors(target, nominalRow, groupVectors);
  groupPanels = llvm::divideCeil(groupVectors, panelVectors);
  // Words of weights stay in registers beside what becomes of them.
  const int64_t mostColumns =
      multiplied() == arithmetic
          ? maxTileRows(target, panelVectors)
          : std::max<int64_t>(1,
                              (target.vectorRegisters - 1) / panelVectors - 2);
  columnTiles = shape.hasOpenWidth() || isOpenPointwise
                    ? Partition{mostColumns, 1, mostColumns, 0}
                    : Partition::of(shape.outputWidth, mostColumns);
  unitIsTile =
      isOpenPointwise || (!shape.hasOpenArea() && shape.outputHeight == 1 &&
                          shape.isInterior(0, shape.outputWidth));
  // Which task it is takes divisions, as long as some tens of steps.
  constexpr int64_t enoughSteps = 512;
  if (isOpenPointwise)
    openUnitTiles = llvm::divideCeil(enoughSteps, reduction());
  order = TaskOrder::choose(
      target, shape.groups,
      isOpenPointwise ? llvm::divideCeil(nominalRow, openUnitPixels())
      : unitIsTile    ? columnTiles.count
                      : nominal.outputHeight,
      groupPanels, groupInputs * nominal.inputPixels() * arithmetic.lhsBytes(),
      reduction() * panelVectors * vectorElements() * arithmetic.rhsBytes());
  // One code serves layers of few and of many weights.
  streamsWeights = shape.hasOpenArea() || weightBytes() > target.l2Bytes / 2;
}

std::vector<TaskPart> Convolution::taskParts() const {
  TaskPart units{{order.units}, 1};
  if (isOpenPointwise)
    units = {{shape.outputHeight, shape.outputWidth}, openUnitPixels()};
  else if (shape.hasOpenHeight())
    units = {{shape.outputHeight}, 1};
  return {{{order.outer}, 1}, units, {{order.panels}, 1}};
}

int64_t Convolution::reduction() const {
  return arithmetic.steps(groupInputs) * shape.taps();
}

int64_t Convolution::weightBytes() const {
  return shape.groups * groupVectors * vectorElements() * reduction() *
         arithmetic.rhsBytes();
}

int64_t Convolution::packedElements() const {
  const int64_t bytes = shape.countsDistances()
                            ? initialSumsAt() + shape.groups * groupVectors *
                                                    lanes *
                                                    arithmetic.sumBytes()
                            : weightBytes();
  return bytes / arithmetic.rhsBytes();
}

Convolution::WeightOrder Convolution::weightOrder() const {
  return {shape.groups,  mergedGroups,         groupInputs,
          groupOutputs,  groupVectors * lanes, panelVectors * lanes,
          blockInputs(), shape.taps()};
}

void Convolution::forEachWeight(
    llvm::function_ref<void(std::optional<int64_t>)> emit) const {
  const int64_t taps = shape.taps();
  const int64_t givenInputs = groupInputs / mergedGroups;
  const int64_t givenOutputs = groupOutputs / mergedGroups;
  // Nothing is between channels of a group that were in different groups
  // before, or where there are none.
  auto place = [&](int64_t group, int64_t k, int64_t c,
                   int64_t tap) -> std::optional<int64_t> {
    if (k >= groupOutputs || c >= groupInputs)
      return std::nullopt;
    if (mergedGroups > 1) {
      if (k / givenOutputs != c / givenInputs)
        return std::nullopt;
      c %= givenInputs;
    }
    int64_t row = (group * groupOutputs + k) * givenInputs + c;
    return row * taps + tap;
  };
  const int64_t blockSize = blockInputs();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t first = 0; first < groupVectors; first += panelVectors) {
      int64_t begin = first * lanes;
      int64_t end = std::min(first + panelVectors, groupVectors) * lanes;
      for (int64_t block = 0; block < groupInputs; block += blockSize) {
        int64_t blockEnd = std::min(block + blockSize, groupInputs);
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t c = block; c < blockEnd; c += arithmetic.kGroup)
            for (int64_t k = begin; k < end; ++k)
              for (int64_t i = 0; i < arithmetic.kGroup; ++i)
                emit(place(group, k, c + i, tap));
      }
    }
}

template <typename T> void Convolution::packAs(const char *from, T *to) const {
  forEachWeight([&](std::optional<int64_t> place) {
    T value = 0;
    if (place)
      std::memcpy(&value, from + *place * int64_t(sizeof(T)), sizeof(T));
    *to++ = value;
  });
}

/// Of fewer than eight bits, which are given a byte each.
void Convolution::packBits(const char *from, char *to) const {
  const auto bits = int64_t(bitWidth(arithmetic.rhs));
  std::memset(to, 0, size_t(weightBytes()));
  int64_t count = 0;
  forEachWeight([&](std::optional<int64_t> place) {
    const int64_t bit = count++ * bits;
    if (place)
      to[bit / 8] |=
          static_cast<char>((from[*place] & ((1 << bits) - 1)) << (bit % 8));
  });
}

/// What a zero point of 1 would add to each output, taken off.
void Convolution::packInitialSums(const int8_t *weights, int32_t *to) const {
  const int64_t products = groupInputs / mergedGroups * shape.taps();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t k = 0; k < groupVectors * lanes; ++k) {
      int64_t sum = 0;
      for (int64_t i = 0; k < groupOutputs && i < products; ++i) {
        const int8_t weight =
            weights[(group * groupOutputs + k) * products + i];
        sum += arithmetic.rhs == ElementType::I8 ? weight : uint8_t(weight);
      }
      // Wraps as the sums of the products do.
      *to++ = static_cast<int32_t>(-sum);
    }
}

void Convolution::pack(const void *weights, void *packed) const {
  const auto *from = static_cast<const char *>(weights);
  if (shape.countsDistances()) {
    auto *to = static_cast<char *>(packed);
    std::memset(to + weightBytes(), 0, initialSumsAt() - weightBytes());
    packInitialSums(reinterpret_cast<const int8_t *>(from),
                    reinterpret_cast<int32_t *>(to + initialSumsAt()));
  }
  if (bitWidth(arithmetic.rhs) < 8)
    return packBits(from, static_cast<char *>(packed));
  // Only the bits move.
  switch (arithmetic.rhsBytes()) {
  case 1:
    return packAs(from, static_cast<uint8_t *>(packed));
  case 2:
    return packAs(from, static_cast<uint16_t *>(packed));
  case 4:
    return packAs(from, static_cast<uint32_t *>(packed));
  default:
    return packAs(from, static_cast<uint64_t *>(packed));
  }
}

/// The buffers, flat, and which part of the output a task computes.
struct Convolution::Operands {
  Value input, weights, output;
  const BlockedEpilogue *epilogue;
  /// The zero point as a left factor and as sums, if there is one.
  Value zero, zeroSum;
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
                        const BlockedEpilogue &epilogue, Value zero) const {
  VectorBuilder code(builder, location);
  TaskOrder::Task place = decode(code, task);
  Value group = code.rem(place.outer, shape.groups);

  Operands operands{};
  operands.input = code.flatten(input);
  operands.weights = code.flatten(weights);
  operands.output = code.flatten(output);
  operands.epilogue = &epilogue;
  if (shape.countsDistances()) {
    const ZeroPoint number(code, arithmetic.lhs, shape, zero);
    operands.zero = number.elements(lanes * arithmetic.kGroup);
    operands.zeroSum = number.as(arithmetic.accumulator, lanes);
  }
  operands.batch = code.div(place.outer, shape.groups);
  Value imagePixels = shape.inputPixels(code);
  const int64_t storedInputs = shape.hasPlanarInput
                                   ? shape.inputChannels
                                   : llvm::alignTo(shape.inputChannels, lanes);
  operands.inputBase = code.add(
      code.mul(operands.batch, code.mul(imagePixels, code.own(storedInputs))),
      code.mul(group, code.mul(imagePixels, code.own(groupInputs))));
  operands.panelBase = code.add(
      code.mul(group, code.own(groupVectors * vectorElements() * reduction())),
      code.mul(place.panel,
               code.own(panelVectors * vectorElements() * reduction())));
  operands.firstBlock = code.add(code.mul(group, code.own(groupVectors)),
                                 code.mul(place.panel, panelVectors));
  operands.unit = place.unit;

  operands.outputRow = unitIsTile ? code.index(0) : place.unit;
  // Of a product over all pixels there is one row, and one tap.
  operands.taps = isOpenPointwise
                      ? RowTaps{code.index(0), code.index(0), code.index(1)}
                      : RowTaps::of(code, shape, operands.outputRow);

  auto emitPanel = [&](int64_t vectors) {
    operands.vectors = vectors;
    buildUnit(code, operands);
  };
  dispatchPanel(code, place.panel, groupPanels, panelVectors, groupVectors,
                emitPanel);
}

Value Convolution::openUnits(VectorBuilder &code) const {
  if (!isOpenPointwise)
    return code.own(shape.outputHeight);
  const Value size = code.own(openUnitPixels());
  return code.div(
      code.add(shape.outputPixels(code), code.sub(size, code.index(1))), size);
}

TaskOrder::Task Convolution::decode(VectorBuilder &code, Value task) const {
  if (!shape.hasOpenArea())
    return order.decode(code, task);
  Value units = openUnits(code);
  Value ofGroup = code.mul(units, code.own(groupPanels));
  TaskOrder::Task place = order.decode(code, code.rem(task, ofGroup), units);
  place.outer = code.div(task, ofGroup);
  return place;
}

void Convolution::buildUnit(VectorBuilder &code, Operands &operands) const {
  auto emit = [&](const ColumnTile &tile) { buildTile(code, operands, tile); };
  if (isOpenPointwise) {
    const Value pixels = shape.outputPixels(code);
    const Value first = code.mul(operands.unit, code.own(openUnitPixels()));
    const Value end =
        code.min(pixels, code.add(first, code.own(openUnitPixels())));
    code.loop(first, end, columnTiles.size, [&](Value start) {
      forOpenTileAt(code, pixels, start,
                    OpenTiles::of(columnTiles.size, {7}, 1), emit);
    });
    return;
  }
  if (shape.hasOpenWidth()) {
    // Each tile reads the panel of weights, as fast as the second-level cache
    // gives it, and has sums enough or waits for them.
    const int64_t least = std::max(std::min<int64_t>(7, columnTiles.size / 2),
                                   OpenRowTiles::busySums / operands.vectors);
    // Where registers are few, tiles are small, and one less counts; and code
    // for edges has none for all sums.
    const std::array<int64_t, 4> parts =
        hasFewRegisters ? std::array<int64_t, 4>{12, 10, 7, 3}
                        : std::array<int64_t, 4>{10, 7, 5, 3};
    OpenTiles tiles = OpenTiles::of(columnTiles.size, parts, least);
    if (hasFewRegisters)
      tiles.leastInner = least;
    return forEachOpenTile(code, shape, tiles, emit);
  }
  if (!unitIsTile)
    return forEachTile(code, shape, columnTiles, emit);
  buildClosedTile(code, operands);
}

/// Where some tiles share a panel of weights, each fetches its part of the next
/// one: see MatMul::fetchesNext.
bool Convolution::fetchesNext() const {
  return !shape.hasOpenArea() && groupPanels > 1 && order.chunk > 1 &&
         tilesOfPanel() >= leastFetchingTiles;
}

int64_t Convolution::tilesOfPanel() const {
  return order.chunk * (unitIsTile ? 1 : columnTiles.count);
}

/// Sums over blocks of channels, rows and columns of the kernel, channels of a
/// block: the order in which the weights lie.
class Convolution::Reduction {
public:
  Reduction(const Convolution &of, VectorBuilder &code, Operands &operands,
            const ColumnTile &tile)
      : of(of), shape(of.shape), code(code), operands(operands), tile(tile),
        multiplied(of.multiplied()),
        registers(tile.columns, operands.vectors, multiplied, of.lanes),
        pixelSize(shape.hasPlanarInput ? 1 : of.lanes),
        stepWeights(operands.vectors * of.vectorElements()),
        firstInputColumn(code.sub(code.mul(tile.firstColumn, shape.strideWidth),
                                  code.index(shape.padLeft))),
        blockChannels(shape.hasOpenArea()
                          ? of.blockInputs()
                          : std::min(of.blockInputs(), of.groupInputs)),
        blocks(of.groupInputs / blockChannels),
        rest(of.groupInputs % blockChannels) {}

  SmallVector<Value> run();

private:
  SmallVector<Value>
  forEachBlock(ValueRange sums,
               llvm::function_ref<SmallVector<Value>(Value block, Value steps,
                                                     ValueRange carried)>
                   body);
  void fetchNext(Value weights, Value steps);
  SmallVector<Value> loadWeights(Value weights);
  SmallVector<Value> initialSums();
  SmallVector<Value> rowsOutside(ValueRange sums, Value begin, Value end);
  /// Elements of an image's block of channels.
  Value planeSize() const {
    return code.mul(shape.inputPixels(code), pixelSize);
  }
  Value planeAt(Value block) const;
  Value weightsAt(Value block) const;
  using Reach = ColumnTile::Reach;
  /// Where tap \p s of a column of the tile is.
  Reach reach(int64_t column, int64_t s) const {
    return tile.reach(shape, column, s);
  }
  bool reachesAlike(int64_t s, int64_t other) const;
  /// Where the tile reads what a tap multiplies: from \p first on; columns of
  /// which `pixels` are set, from there.
  struct Pixels {
    Value first;
    SmallVector<Value> ofColumn;
  };
  void step(SmallVector<Value> &sums, Value weights, const Pixels &pixels,
            Value channel, int64_t s);
  SmallVector<Value> tap(ValueRange carried, Value steps, Value weights,
                         const Pixels &pixels, int64_t s);
  SmallVector<Value> tapAtEdge(ValueRange carried, Value steps, Value weights,
                               Value input, Value plane, Value s, int64_t first,
                               int64_t end);
  SmallVector<Value> kernelRow(ValueRange carried, Value steps, Value weights,
                               Value input, Value plane);
  SmallVector<Value> block(ValueRange carried, Value steps, Value plane,
                           Value weights);

  const Convolution &of;
  const ConvolutionShape &shape;
  VectorBuilder &code;
  Operands &operands;
  const ColumnTile &tile;
  const Arithmetic multiplied;
  RegisterTile registers;
  const int64_t pixelSize;
  const int64_t stepWeights; ///< Elements that a step takes of the panel.
  Value firstInputColumn;
  /// Of the inputs: channels of a block (or of as many blocks as a group has),
  /// such, channels that are left.
  const int64_t blockChannels, blocks, rest;
};

/// What is fetched of the next panel in each row of the kernel, as the part of
/// this tile.
void Convolution::Reduction::fetchNext(Value weights, Value steps) {
  const int64_t lineElements = cacheLineBytes / of.arithmetic.rhsBytes();
  const int64_t panelStep = of.panelVectors * of.vectorElements();
  const int64_t lines = llvm::divideCeil(
      *code.constantOf(steps) * shape.kernelWidth * panelStep, lineElements);
  const int64_t share = llvm::divideCeil(lines, of.tilesOfPanel());
  Value part = code.rem(operands.unit, of.order.chunk);
  if (!of.unitIsTile)
    part = code.add(code.mul(part, of.columnTiles.count),
                    code.min(code.div(tile.firstColumn, of.columnTiles.size),
                             code.index(of.columnTiles.count - 1)));
  Value first =
      code.add(code.add(weights, code.mul(part, share * lineElements)),
               of.reduction() * panelStep);
  for (int64_t i = 0; i < share; ++i)
    code.prefetch(operands.weights, code.add(first, i * lineElements));
}

/// Whether two taps are inside the input for the same columns.
bool Convolution::Reduction::reachesAlike(int64_t s, int64_t other) const {
  for (int64_t column = 0; column < tile.columns; ++column)
    if (reach(column, s) != reach(column, other))
      return false;
  return true;
}

/// Those of one step.
SmallVector<Value> Convolution::Reduction::loadWeights(Value weights) {
  VectorType type = of.arithmetic.rhsType(code.builder.getContext(), of.lanes);
  const bool fetches = of.streamsWeights && !of.fetchesNext();
  SmallVector<Value> loaded;
  for (int64_t v = 0; v < operands.vectors; ++v) {
    const int64_t element = v * of.vectorElements();
    Value at = code.add(weights, element);
    loaded.push_back(code.load(operands.weights, at, type));
    const bool beginsLine =
        element * of.arithmetic.rhsBytes() % cacheLineBytes == 0;
    if (fetches && beginsLine)
      code.prefetch(
          operands.weights,
          code.add(at, weightPrefetchBytes / of.arithmetic.rhsBytes()));
  }
  return loaded;
}

/// One group of channels, from \p channel on, for one tap, which reaches the
/// columns that tap \p s does. What lies outside is the zero point.
void Convolution::Reduction::step(SmallVector<Value> &sums, Value weights,
                                  const Pixels &pixels, Value channel,
                                  int64_t s) {
  auto multiply = [&](ArrayRef<Value> columns, Value channel) {
    registers.step(code, sums, columns, [&](int64_t column) {
      if (reach(column, s) == Reach::Outside)
        return operands.zero;
      Value at = pixels.ofColumn.empty() ? Value() : pixels.ofColumn[column];
      at = at ? code.add(at, channel)
              : code.add(code.add(pixels.first, channel),
                         column * shape.strideWidth * pixelSize);
      return multiplied.loadSplat(code, operands.input, at, of.lanes,
                                  multiplied.kGroup);
    });
  };
  const SmallVector<Value> loaded = loadWeights(weights);
  if (multiplied == of.arithmetic)
    return multiply(loaded, channel);
  // One after the other, or registers would not hold them.
  for (int64_t i = 0; i < of.arithmetic.kGroup; ++i) {
    SmallVector<Value> columns;
    for (Value words : loaded)
      columns.push_back(of.arithmetic.widened(code, words, i));
    // Those of a group of several blocks lie an image apart.
    Value place = code.add(channel, i % pixelSize);
    if (const int64_t plane = i / pixelSize)
      place = code.add(place, code.mul(code.index(plane), planeSize()));
    multiply(columns, place);
  }
}

/// All channels of a block, for one tap.
SmallVector<Value> Convolution::Reduction::tap(ValueRange carried, Value steps,
                                               Value weights,
                                               const Pixels &pixels,
                                               int64_t s) {
  SmallVector<Value> sums(carried);
  if (code.constantOf(steps) == 1) {
    step(sums, weights, pixels, code.index(0), s);
    return sums;
  }
  // What a turn of the loop costs is hidden by so many multiply-adds; and by
  // waiting for sums where there are few.
  constexpr int64_t enough = 10;
  const auto size = static_cast<int64_t>(sums.size());
  const int64_t known = code.constantOf(steps).value_or(1);
  const int64_t unrolled =
      size >= OpenRowTiles::busySums && size < enough && known % 2 == 0 ? 2 : 1;
  return code.loop(
      code.index(0), steps, unrolled, sums, [&](Value c, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < unrolled; ++i) {
          Value channel = code.add(c, i);
          step(next, code.add(weights, code.mul(channel, stepWeights)), pixels,
               code.mul(channel, of.arithmetic.kGroup), s);
        }
        return next;
      });
}

/// Tap \p s, one of [first, end), of a tile that may be at an edge. A column of
/// which it is outside of the input reads something that is there, and has its
/// sums back behind that: what would be zeros may not be added to them, which
/// could be -0, or be multiplied by an infinity.
SmallVector<Value> Convolution::Reduction::tapAtEdge(ValueRange carried,
                                                     Value steps, Value weights,
                                                     Value input, Value plane,
                                                     Value s, int64_t first,
                                                     int64_t end) {
  Pixels pixels{input, SmallVector<Value>(tile.columns)};
  SmallVector<Value> isInside(tile.columns);
  for (int64_t column = 0; column < tile.columns; ++column)
    for (int64_t each = first; each < end; ++each)
      if (reach(column, each) == Reach::Unknown) {
        isInside[column] = tile.isInside(code, shape, column, s);
        Value at = code.add(input, column * shape.strideWidth * pixelSize);
        pixels.ofColumn[column] = code.select(isInside[column], at, plane);
        break;
      }
  SmallVector<Value> sums = tap(carried, steps, weights, pixels, first);
  for (auto [i, sum] : llvm::enumerate(sums))
    if (Value condition = isInside[i / operands.vectors])
      sum = code.select(condition, sum, carried[i]);
  return sums;
}

/// All taps of a row of the kernel. Neighbouring taps that reach the same
/// columns share a loop. (Straight-line code would tempt LLVM to keep pixels
/// that several taps read in registers, of which none are free.) So do all of a
/// tile of which that is not known, where each is a loop itself: it takes
/// little to find out then.
SmallVector<Value> Convolution::Reduction::kernelRow(ValueRange carried,
                                                     Value steps, Value weights,
                                                     Value input, Value plane) {
  const int64_t tapStep = shape.dilationWidth * pixelSize;
  Value weightStep = code.mul(steps, stepWeights);
  const bool isOpen = !tile.isInterior && !tile.edgeColumn;
  SmallVector<Value> sums(carried);
  int64_t next = 0;
  for (int64_t first = 0; first < shape.kernelWidth; first = next) {
    next = first + 1;
    while (
        next < shape.kernelWidth &&
        ((isOpen && code.constantOf(steps) != 1) || reachesAlike(first, next)))
      ++next;
    auto emitTap = [&](Value s, ValueRange carried) {
      Value from = code.add(weights, code.mul(s, weightStep));
      Value at = code.add(input, code.mul(s, tapStep));
      return isOpen ? tapAtEdge(carried, steps, from, at, plane, s, first, next)
                    : tap(carried, steps, from, {at, {}}, first);
    };
    sums = next == first + 1 ? emitTap(code.index(first), sums)
                             : code.loop(code.index(first), code.index(next), 1,
                                         sums, emitTap);
  }
  return sums;
}

/// All rows of the kernel, for one block of channels.
SmallVector<Value> Convolution::Reduction::block(ValueRange carried,
                                                 Value steps, Value plane,
                                                 Value weights) {
  auto row = [&](Value r, ValueRange carried) {
    Value inputRow =
        code.add(operands.taps.inputRow, code.mul(r, shape.dilationHeight));
    Value pixel =
        code.add(code.mul(inputRow, shape.inputWidth), firstInputColumn);
    Value rowWeights = code.add(
        weights, code.mul(r, code.mul(steps, shape.kernelWidth * stepWeights)));
    if (of.fetchesNext())
      fetchNext(rowWeights, steps);
    return kernelRow(carried, steps, rowWeights,
                     code.add(plane, code.mul(pixel, pixelSize)), plane);
  };
  if (shape.kernelHeight == 1 && shape.padTop <= 0 &&
      getConstantIntValue(operands.taps.end) == 1)
    return row(code.index(0), carried);
  return code.loop(operands.taps.first, operands.taps.end, 1, carried, row);
}

Value Convolution::Reduction::planeAt(Value block) const {
  const int64_t planes = llvm::divideCeil(blockChannels, pixelSize);
  return code.add(operands.inputBase,
                  code.mul(block, code.mul(planeSize(), planes)));
}

Value Convolution::Reduction::weightsAt(Value block) const {
  return code.add(operands.panelBase,
                  code.mul(block, of.arithmetic.steps(blockChannels) *
                                      shape.taps() * stepWeights));
}

/// What rows [begin, end) of the kernel, which are outside of the input, add to
/// the sums of any column: as if the zero point stood there.
SmallVector<Value> Convolution::Reduction::rowsOutside(ValueRange sums,
                                                       Value begin, Value end) {
  const RegisterTile one(1, operands.vectors, of.arithmetic, of.lanes);
  return forEachBlock(sums, [&](Value block, Value steps, ValueRange carried) {
    Value rowSteps = code.mul(steps, shape.kernelWidth);
    Value first = code.add(weightsAt(block),
                           code.mul(begin, code.mul(rowSteps, stepWeights)));
    Value count = code.mul(code.sub(end, begin), rowSteps);
    return code.loop(
        code.index(0), count, 1, carried, [&](Value i, ValueRange carried) {
          SmallVector<Value> next(carried);
          one.step(code, next,
                   loadWeights(code.add(first, code.mul(i, stepWeights))),
                   [&](int64_t) { return operands.zero; });
          return next;
        });
  });
}

/// Zeros; with a zero point what it would add for all taps, taken off, so that
/// the sums are those of distances from it.
SmallVector<Value> Convolution::Reduction::initialSums() {
  if (!shape.countsDistances())
    return registers.zeros(code);
  OpBuilder &b = code.builder;
  const int64_t bytes = of.arithmetic.sumBytes() * of.lanes;
  SmallVector<Value> ofOutputs;
  for (int64_t v = 0; v < operands.vectors; ++v) {
    Value at = code.add(code.mul(code.add(operands.firstBlock, v), bytes),
                        of.initialSumsAt());
    auto type = VectorType::get({bytes}, b.getI8Type());
    Value ofOne = b.create<vector::BitCastOp>(
        code.loc, of.arithmetic.sumType(b.getContext(), of.lanes),
        code.load(operands.weights, at, type));
    ofOutputs.push_back(
        b.create<arith::MulIOp>(code.loc, ofOne, operands.zeroSum));
  }
  const RowTaps &taps = operands.taps;
  if (getConstantIntValue(taps.first) != 0)
    ofOutputs = rowsOutside(ofOutputs, code.index(0), taps.first);
  if (getConstantIntValue(taps.end) != shape.kernelHeight)
    ofOutputs =
        rowsOutside(ofOutputs, taps.end, code.index(shape.kernelHeight));
  SmallVector<Value> sums;
  for (int64_t column = 0; column < tile.columns; ++column)
    llvm::append_range(sums, ofOutputs);
  return sums;
}

/// Goes on with \p sums from block to block. Of images of open size all blocks
/// are in one loop, whatever the number of channels, so that layers can share
/// the code.
SmallVector<Value> Convolution::Reduction::forEachBlock(
    ValueRange sums,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  const int64_t steps = of.arithmetic.steps(blockChannels);
  if (shape.hasOpenArea() && steps > 1)
    return code.loop(
        code.index(0), code.own(blocks + (rest != 0)), 1, sums,
        [&](Value block, ValueRange carried) {
          Value left = code.sub(code.own(of.arithmetic.steps(of.groupInputs)),
                                code.mul(block, steps));
          return body(block, code.min(left, code.index(steps)), carried);
        });
  SmallVector<Value> result =
      code.loop(code.index(0), code.index(blocks), 1, sums,
                [&](Value block, ValueRange carried) {
                  return body(block, code.index(steps), carried);
                });
  if (rest)
    result =
        body(code.index(blocks), code.index(of.arithmetic.steps(rest)), result);
  return result;
}

SmallVector<Value> Convolution::Reduction::run() {
  return forEachBlock(initialSums(),
                      [&](Value i, Value steps, ValueRange carried) {
                        return block(carried, steps, planeAt(i), weightsAt(i));
                      });
}

/// Stores results of a tile from column \p firstColumn on.
class Convolution::Finish {
public:
  Finish(const Convolution &of, VectorBuilder &code, const Operands &operands,
         Value firstColumn)
      : code(code), operands(operands), lanes(of.lanes),
        outputPixels(of.shape.outputPixels(code)),
        outputBlocks(code.own(of.shape.groups * of.groupVectors)),
        firstPixel(code.add(code.mul(operands.outputRow, of.shape.outputWidth),
                            firstColumn)) {}

  /// That of vector \p v of the panel.
  void store(Value result, int64_t v, Value column) {
    BlockedPosition position;
    position.batch = operands.batch;
    position.block = code.add(operands.firstBlock, v);
    Value plane =
        code.add(code.mul(operands.batch, outputBlocks), position.block);
    Value planeBase = code.mul(plane, code.mul(outputPixels, lanes));
    position.pixel = code.add(firstPixel, column);
    position.offset = code.add(planeBase, code.mul(position.pixel, lanes));
    if (*operands.epilogue)
      result = (*operands.epilogue)(code.builder, code.loc, result, position);
    code.store(result, operands.output, position.offset);
  }

  /// Those of all of the panel.
  void storeColumn(Value column, ValueRange results) {
    for (auto [v, result] : llvm::enumerate(results))
      store(result, int64_t(v), column);
  }

private:
  VectorBuilder &code;
  const Operands &operands;
  int64_t lanes;
  Value outputPixels, outputBlocks, firstPixel;
};

void Convolution::buildTile(VectorBuilder &code, Operands &operands,
                            const ColumnTile &tile) const {
  SmallVector<Value> sums = Reduction(*this, code, operands, tile).run();
  Finish finish(*this, code, operands, tile.firstColumn);
  if (operands.epilogue->isLong)
    return forRows(code, sums, operands.vectors,
                   [&](Value column, ValueRange results) {
                     finish.storeColumn(column, results);
                   });
  for (int64_t v = 0; v < operands.vectors; ++v)
    for (int64_t column = 0; column < tile.columns; ++column)
      finish.store(sums[column * operands.vectors + v], v, code.index(column));
}

/// Where an epilogue is long, both widths of a tile share its code.
void Convolution::buildClosedTile(VectorBuilder &code,
                                  Operands &operands) const {
  Value first = columnTiles.start(code, operands.unit);
  auto tileOf = [&](int64_t columns) {
    return ColumnTile{first, columns, /*isInterior=*/true, {}};
  };
  if (columnTiles.longer == 0 || !operands.epilogue->isLong)
    return columnTiles.dispatch(code, operands.unit, [&](int64_t columns) {
      buildTile(code, operands, tileOf(columns));
    });
  const WaitingRows waiting(
      code, arithmetic.sumType(code.builder.getContext(), lanes),
      columnTiles.sizeOf(0), operands.vectors);
  columnTiles.dispatch(code, operands.unit, [&](int64_t columns) {
    waiting.keep(code, code.index(0),
                 Reduction(*this, code, operands, tileOf(columns)).run());
  });
  Value columns = code.select(
      code.less(operands.unit, code.index(columnTiles.longer)),
      code.index(columnTiles.size + 1), code.index(columnTiles.size));
  Finish finish(*this, code, operands, first);
  waiting.forEach(code, columns, [&](Value column, ValueRange results) {
    finish.storeColumn(column, results);
  });
}
