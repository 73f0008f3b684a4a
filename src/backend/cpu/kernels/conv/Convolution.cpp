//===- Convolution.cpp - generator of direct convolutions -----------------===//

#include "backend/cpu/kernels/conv/Convolution.h"

#include "backend/cpu/kernels/conv/ZeroPoint.h"
#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

double ConvolutionShape::flops() const {
  const int64_t inputsOfGroup = inputChannels / groups;
  return 2.0 * batch * outputChannels * outputPixels().value() * inputsOfGroup *
         taps();
}

int64_t ConvolutionShape::groupsToMerge(int64_t lanes) const {
  for (int64_t count = 1; count < groups; ++count)
    if (groups % count == 0 && inputChannels / groups * count % lanes == 0 &&
        outputChannels / groups * count % lanes == 0)
      return count;
  return groups;
}

/// Whether it is a matmul over pixels.
static bool isPointwise(const ConvolutionShape &shape) {
  return shape.kernelHeight == 1 && shape.kernelWidth == 1 &&
         shape.strideHeight == 1 && shape.strideWidth == 1 &&
         shape.padTop == 0 && shape.padLeft == 0 &&
         shape.outputHeight == shape.inputHeight &&
         shape.outputWidth == shape.inputWidth;
}

/// Merges groups, and treats all pixels of a pointwise convolution as one row.
static ConvolutionShape simplify(ConvolutionShape shape, int64_t lanes) {
  shape.groups /= shape.groupsToMerge(lanes);
  if (isPointwise(shape) && !shape.hasDynamicArea()) {
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
  tilesAreSmall = hasFewRegisters(target);
  isDynamicPointwise = shape.hasDynamicArea() && isPointwise(shape);
  const int64_t nominalRow =
      (isDynamicPointwise ? nominal.outputPixels() : nominal.outputWidth)
          .value();
  // At one multiply-add per cycle, widening two vectors of weights per row
  // element is not hidden; with wider tiles it is.
  const bool widensDearly = arithmetic.widensRhs() && target.multiplyAdds == 1;
  panelVectors =
      chooseTileVectors(target, nominalRow, groupVectors, /*most=*/4,
                        widensDearly ? broadTileVectors : pairTileVectors);
  groupPanels = llvm::divideCeil(groupVectors, panelVectors);
  // Packed weights stay in registers in addition to the widened ones.
  int64_t mostColumns =
      multiplied() == arithmetic
          ? mostRowsOf(arithmetic, target, panelVectors)
          : std::max<int64_t>(1,
                              (target.vectorRegisters - 1) / panelVectors - 2);
  columnTiles = shape.hasDynamicWidth() || isDynamicPointwise
                    ? Partition{mostColumns, 1, mostColumns, 0}
                    : Partition::of(shape.outputWidth.value(), mostColumns);
  unitIsTile = isDynamicPointwise ||
               (!shape.hasDynamicArea() && shape.outputHeight == 1 &&
                shape.isInterior(0, shape.outputWidth.value()));
  // Decoding a task takes divisions, as long as some tens of steps.
  constexpr int64_t enoughSteps = 512;
  if (isDynamicPointwise)
    dynamicUnitTiles = llvm::divideCeil(enoughSteps, reduction());
  order = TaskOrder::choose(
      target, shape.groups,
      isDynamicPointwise ? llvm::divideCeil(nominalRow, dynamicUnitPixels())
      : unitIsTile       ? columnTiles.count
                         : nominal.outputHeight.value(),
      groupPanels,
      groupInputs * nominal.inputPixels().value() * arithmetic.lhsBytes(),
      reduction() * panelVectors * vectorElements() * arithmetic.rhsBytes());
  // The same code serves layers of few and of many weights.
  streamsWeights = shape.hasDynamicArea() || weightBytes() > target.l2Bytes / 2;
}

std::vector<TaskExtent> Convolution::taskExtents() const {
  TaskExtent units{{order.units}, 1};
  if (isDynamicPointwise)
    units = {{shape.outputHeight, shape.outputWidth}, dynamicUnitPixels()};
  else if (shape.hasDynamicHeight())
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
  // A pointwise convolution has one row and one tap.
  operands.taps = isDynamicPointwise
                      ? RowTaps{code.index(0), code.index(0), code.index(1)}
                      : RowTaps::of(code, shape, operands.outputRow);

  auto emitPanel = [&](int64_t vectors) {
    operands.vectors = vectors;
    buildUnit(code, operands);
  };
  dispatchPanel(code, place.panel, groupPanels, panelVectors, groupVectors,
                emitPanel);
}

Value Convolution::dynamicUnits(VectorBuilder &code) const {
  if (!isDynamicPointwise)
    return code.own(shape.outputHeight);
  const Value size = code.own(dynamicUnitPixels());
  return code.div(
      code.add(shape.outputPixels(code), code.sub(size, code.index(1))), size);
}

TaskOrder::Task Convolution::decode(VectorBuilder &code, Value task) const {
  if (!shape.hasDynamicArea())
    return order.decode(code, task);
  Value units = dynamicUnits(code);
  Value ofGroup = code.mul(units, code.own(groupPanels));
  TaskOrder::Task place = order.decode(code, code.rem(task, ofGroup), units);
  place.outer = code.div(task, ofGroup);
  return place;
}

void Convolution::buildUnit(VectorBuilder &code, Operands &operands) const {
  auto emit = [&](const ColumnTile &tile) { buildTile(code, operands, tile); };
  if (isDynamicPointwise) {
    const Value pixels = shape.outputPixels(code);
    const Value first = code.mul(operands.unit, code.own(dynamicUnitPixels()));
    const Value end =
        code.min(pixels, code.add(first, code.own(dynamicUnitPixels())));
    code.loop(first, end, columnTiles.size, [&](Value start) {
      forDynamicTileAt(code, pixels, start,
                       DynamicTiles::of(columnTiles.size, {7}, 1), emit);
    });
    return;
  }
  if (shape.hasDynamicWidth()) {
    // Each tile reads the panel of weights from the second-level cache, and
    // needs enough accumulators to hide that.
    const int64_t least =
        std::max(std::min<int64_t>(7, columnTiles.size / 2),
                 DynamicRowTiles::busySums / operands.vectors);
    // With few registers, tiles are small, and each column counts; and code for
    // edges cannot keep all accumulators in registers.
    constexpr int64_t partsOfSmall[] = {12, 10, 7, 3},
                      partsOfLarge[] = {12, 11, 9, 7, 5};
    DynamicTiles tiles =
        DynamicTiles::of(columnTiles.size,
                         tilesAreSmall ? ArrayRef<int64_t>(partsOfSmall)
                                       : ArrayRef<int64_t>(partsOfLarge),
                         least);
    if (tilesAreSmall)
      tiles.leastInner = least;
    return forEachDynamicTile(code, shape, tiles, emit);
  }
  if (!unitIsTile)
    return forEachTile(code, shape, columnTiles, emit);
  buildClosedTile(code, operands);
}

/// Where several tiles share a panel of weights, each prefetches its share of
/// the next one: see MatMul::fetchesNext.
bool Convolution::fetchesNext() const {
  return !shape.hasDynamicArea() && groupPanels > 1 && order.chunk > 1 &&
         tilesOfPanel() >= leastFetchingTiles;
}

int64_t Convolution::tilesOfPanel() const {
  return order.chunk * (unitIsTile ? 1 : columnTiles.count);
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

  /// Stores the result of vector \p v of the panel.
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

  /// Stores the results of all vectors of the panel.
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

/// Whether the epilogue is a loop over the tile's pixels: because it is long,
/// or because low-bit weights come with rounded results; then a loop is not
/// slower where a pixel has several vectors, and compiles 10 to 25% faster.
bool Convolution::finishesInLoop(const Operands &operands) const {
  const bool hasLowBitWeights = isFloat(arithmetic.accumulator) &&
                                arithmetic.rhs != arithmetic.accumulator;
  return operands.epilogue->isLong ||
         (hasLowBitWeights && !tilesAreSmall && *operands.epilogue);
}

void Convolution::buildTile(VectorBuilder &code, Operands &operands,
                            const ColumnTile &tile) const {
  SmallVector<Value> sums = Reduction(*this, code, operands, tile).run();
  Finish finish(*this, code, operands, tile.firstColumn);
  if (finishesInLoop(operands))
    return forRows(code, sums, operands.vectors,
                   [&](Value column, ValueRange results) {
                     finish.storeColumn(column, results);
                   });
  for (int64_t v = 0; v < operands.vectors; ++v)
    for (int64_t column = 0; column < tile.columns; ++column)
      finish.store(sums[column * operands.vectors + v], v, code.index(column));
}

/// Both widths of a tile share the code of a long epilogue.
void Convolution::buildClosedTile(VectorBuilder &code,
                                  Operands &operands) const {
  Value first = columnTiles.start(code, operands.unit);
  auto tileOf = [&](int64_t columns) {
    return ColumnTile{first, columns, /*isInterior=*/true, {}};
  };
  if (columnTiles.longer == 0 || !finishesInLoop(operands))
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
