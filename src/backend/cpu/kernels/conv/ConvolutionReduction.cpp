//===- ConvolutionReduction.cpp - accumulation of a convolution's tile ----===//

#include "backend/cpu/kernels/conv/Convolution.h"

#include "backend/cpu/kernels/conv/ZeroPoint.h"
#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Prefetches this tile's share of the next panel, some in each row of the
/// kernel.
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

/// The weights of one step.
SmallVector<Value> Convolution::Reduction::loadWeights(Value weights) {
  VectorType type = of.arithmetic.rhsType(code.builder.getContext(), of.lanes);
  const bool fetches = of.streamsWeights && !of.fetchesNext();
  // Behind a tap that is left out, the next weights are those of the next
  // block.
  const Value ahead =
      skipsTaps ? code.mul(code.own(of.arithmetic.steps(blockChannels)),
                           shape.taps() * stepWeights)
                : code.index(weightPrefetchBytes / of.arithmetic.rhsBytes());
  SmallVector<Value> loaded;
  for (int64_t v = 0; v < operands.vectors; ++v) {
    const int64_t element = v * of.vectorElements();
    Value at = code.add(weights, element);
    loaded.push_back(code.load(operands.weights, at, type));
    if (fetches && beginsLine(element, of.arithmetic.rhsBytes()))
      code.prefetch(operands.weights, code.add(at, ahead));
  }
  return loaded;
}

/// Accumulates one group of channels, from \p channel on, for one tap, which
/// reaches the same columns as tap \p s. Pixels outside are the zero point.
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
      Value pixel = multiplied.loadSplat(code, operands.input, at, of.lanes,
                                         multiplied.kGroup);
      return operands.zero && pixels.isInside(column)
                 ? code.select(pixels.isInside(column), pixel, operands.zero)
                 : pixel;
    });
  };
  const SmallVector<Value> loaded = loadWeights(weights);
  if (multiplied == of.arithmetic)
    return multiply(loaded, channel);
  // One after the other, to save registers.
  for (int64_t i = 0; i < of.arithmetic.kGroup; ++i) {
    SmallVector<Value> columns;
    for (Value words : loaded)
      columns.push_back(of.arithmetic.widened(code, words, i));
    // The blocks of a group are a channel plane apart.
    Value place = code.add(channel, i % pixelSize);
    if (const int64_t plane = i / pixelSize)
      place = code.add(place, code.mul(code.index(plane), planeSize()));
    multiply(columns, place);
  }
}

/// Accumulates all channels of a block, for one tap.
SmallVector<Value> Convolution::Reduction::tap(ValueRange carried, Value steps,
                                               Value weights,
                                               const Pixels &pixels,
                                               int64_t s) {
  SmallVector<Value> sums(carried);
  if (code.constantOf(steps) == 1) {
    step(sums, weights, pixels, code.index(0), s);
    return sums;
  }
  // That many multiply-adds hide the loop's overhead; with few accumulators
  // their latency does.
  constexpr int64_t enough = 10;
  const auto size = static_cast<int64_t>(sums.size());
  const int64_t known = code.constantOf(steps).value_or(1);
  const int64_t unrolled =
      size >= DynamicRowTiles::busySums && size < enough && known % 2 == 0 ? 2
                                                                           : 1;
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

/// Accumulates tap \p s, one of [first, end), of a tile that may be at an edge.
/// Columns where it is outside the input read a valid pixel. With a zero point,
/// that is multiplied instead, as the initial accumulators assume. Else the
/// column's accumulators are restored afterwards: adding zeros could change -0,
/// or multiply an infinity.
SmallVector<Value> Convolution::Reduction::tapAtEdge(ValueRange carried,
                                                     Value steps, Value weights,
                                                     Value input, Value plane,
                                                     Value s, int64_t first,
                                                     int64_t end) {
  Pixels pixels{input, SmallVector<Value>(tile.columns),
                SmallVector<Value>(tile.columns)};
  for (int64_t column = 0; column < tile.columns; ++column)
    for (int64_t each = first; each < end; ++each)
      if (reach(column, each) == Reach::Unknown) {
        Value isInside = tile.isInside(code, shape, column, s);
        Value at = code.add(input, column * shape.strideWidth * pixelSize);
        pixels.ofColumn[column] = code.select(isInside, at, plane);
        pixels.insideOfColumn[column] = isInside;
        break;
      }
  SmallVector<Value> sums = tap(carried, steps, weights, pixels, first);
  if (operands.zero)
    return sums;
  const SmallVector<Value> before = registers.rowsOf(code, carried);
  sums = registers.rowsOf(code, sums);
  for (auto [i, sum] : llvm::enumerate(sums))
    if (Value condition = pixels.isInside(i / operands.vectors))
      sum = code.select(condition, sum, before[i]);
  return registers.held(code, sums);
}

/// Accumulates tap \p s for columns [begin, end) of the tile. It is outside the
/// input for the others.
SmallVector<Value> Convolution::Reduction::tapOfPart(ValueRange carried,
                                                     Value steps, Value weights,
                                                     Value input, Value plane,
                                                     Value s, int64_t begin,
                                                     int64_t end) {
  const ColumnTile part{code.add(tile.firstColumn, begin),
                        end - begin,
                        /*isInterior=*/false,
                        {}};
  Reduction reduction(of, code, operands, part);
  reduction.skipsTaps = true;
  SmallVector<Value> sums = registers.rowsOf(code, carried);
  const MutableArrayRef<Value> ofPart = MutableArrayRef(sums).slice(
      begin * operands.vectors, (end - begin) * operands.vectors);
  const SmallVector<Value> results = reduction.registers.rowsOf(
      code,
      reduction.tapAtEdge(
          reduction.registers.held(code, ofPart), steps, weights,
          code.add(input, begin * shape.strideWidth * pixelSize), plane, s,
          /*first=*/0, shape.kernelWidth));
  llvm::copy(results, ofPart.begin());
  return registers.held(code, sums);
}

/// Accumulates all taps of a row of the kernel, of a tile at an edge of so much
/// padding that a tap may miss all of it, or some thirds, which are left out.
SmallVector<Value> Convolution::Reduction::tapsAtWideEdge(
    ValueRange carried, Value steps, Value weights, Value input, Value plane) {
  struct Part {
    int64_t begin, end;
    Value isAll; ///< Of the tile that the tap does not miss.
  };
  auto alternatives = [&](Value s) {
    SmallVector<Part> parts;
    auto columnAt = [&](int64_t column) {
      return tile.inputColumn(code, shape, column, s);
    };
    const int64_t third = llvm::divideCeil(tile.columns, 3);
    for (int64_t cut = 2 * third; cut > 0; cut -= third)
      if (cut < tile.columns && tile.mayMiss(shape, cut))
        parts.push_back(
            {cut, tile.columns, code.less(columnAt(cut - 1), code.index(0))});
    for (int64_t cut = third; cut < tile.columns; cut += third)
      if (tile.mayMiss(shape, tile.columns - cut))
        parts.push_back({0, cut,
                         code.less(code.index(shape.inputWidth),
                                   code.add(columnAt(cut), 1))});
    parts.push_back({0, tile.columns, {}});
    return parts;
  };
  const auto [first, end] = tile.tapsInside(code, shape);
  return code.loop(first, end, 1, carried, [&](Value s, ValueRange carried) {
    Value from = code.add(weights, code.mul(s, code.mul(steps, stepWeights)));
    Value at = code.add(input, code.mul(s, shape.dilationWidth * pixelSize));
    auto emit = [&](auto &self, ArrayRef<Part> parts) -> SmallVector<Value> {
      const Part &part = parts.front();
      auto here = [&] {
        return tapOfPart(carried, steps, from, at, plane, s, part.begin,
                         part.end);
      };
      return part.isAll
                 ? code.branch(part.isAll, here,
                               [&] { return self(self, parts.drop_front()); })
                 : here();
    };
    return emit(emit, alternatives(s));
  });
}

/// Accumulates all taps of a row of the kernel. Adjacent taps that reach the
/// same columns share a loop. (In straight-line code LLVM would keep pixels
/// that several taps read in registers, of which none are free.) So do all taps
/// of a tile for which that is not known statically, if each is a loop itself:
/// the check is cheap then.
SmallVector<Value> Convolution::Reduction::kernelRow(ValueRange carried,
                                                     Value steps, Value weights,
                                                     Value input, Value plane) {
  const int64_t tapStep = shape.dilationWidth * pixelSize;
  Value weightStep = code.mul(steps, stepWeights);
  const bool isDynamic = !tile.isInterior && !tile.edgeColumn;
  if (isDynamic && !operands.zero && shape.kernelWidth > 1 &&
      code.constantOf(steps) != 1 && tile.mayMiss(shape, tile.columns / 3))
    return tapsAtWideEdge(carried, steps, weights, input, plane);
  SmallVector<Value> sums(carried);
  int64_t next = 0;
  for (int64_t first = 0; first < shape.kernelWidth; first = next) {
    next = first + 1;
    while (next < shape.kernelWidth &&
           ((isDynamic && code.constantOf(steps) != 1) ||
            reachesAlike(first, next)))
      ++next;
    auto emitTap = [&](Value s, ValueRange carried) {
      Value from = code.add(weights, code.mul(s, weightStep));
      Value at = code.add(input, code.mul(s, tapStep));
      return isDynamic
                 ? tapAtEdge(carried, steps, from, at, plane, s, first, next)
                 : tap(carried, steps, from, {at, {}, {}}, first);
    };
    sums = next == first + 1 ? emitTap(code.index(first), sums)
                             : code.loop(code.index(first), code.index(next), 1,
                                         sums, emitTap);
  }
  return sums;
}

/// Accumulates all rows of the kernel, for one block of channels.
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

/// Accumulates rows [begin, end) of the kernel, which are outside the input,
/// for all columns, with the zero point as pixels.
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

/// The initial accumulators: zeros, or with a zero point minus its contribution
/// over all taps.
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

/// Goes on with \p sums from block to block. Of images of dynamic size all
/// blocks are in one loop, whatever the number of channels, so that layers can
/// share the code.
SmallVector<Value> Convolution::Reduction::forEachBlock(
    ValueRange sums,
    llvm::function_ref<SmallVector<Value>(Value, Value, ValueRange)> body) {
  const int64_t steps = of.arithmetic.steps(blockChannels);
  if (shape.hasDynamicArea() && steps > 1)
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
  return registers.rowsOf(
      code, forEachBlock(registers.held(code, initialSums()),
                         [&](Value i, Value steps, ValueRange carried) {
                           return block(carried, steps, planeAt(i),
                                        weightsAt(i));
                         }));
}
