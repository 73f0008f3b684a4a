//===- Channelwise.cpp - depthwise convolution and pooling ----------------===//

#include "backend/cpu/kernels/conv/Channelwise.h"

#include "backend/cpu/kernels/conv/ZeroPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// How a window combines the pixels it covers.
struct sinter::cpu::WindowOperation {
  /// The initial accumulator.
  Value initial;
  /// Converts a pixel from its type in memory to the combined one. May be null.
  std::function<Value(Value)> read;
  /// The operands of the taps of row r: none, or one weight each.
  std::function<SmallVector<Value>(Value block, Value r)> prepareRow;
  std::function<Value(Value sum, Value pixel, ArrayRef<Value> row, int64_t s)>
      combine;
  /// The result; `taps` is the number of the window's columns in the input.
  std::function<Value(Value sum, const RowTaps &rows, Value taps)> finish;
};

namespace {

/// Emits the task that computes one output row of one block of channels.
struct WindowTask {
  VectorBuilder &code;
  const ChannelwiseShape &shape;
  int64_t lanes, blocks;
  const Partition &tiles;
  Value input, output;
  const BlockedEpilogue &epilogue;
  Arithmetic arithmetic = {};

  VectorType pixelType() const {
    return arithmetic.lhsType(code.builder.getContext(), lanes);
  }

  void emit(Value task, const WindowOperation &operation) {
    Value rows = code.own(shape.outputHeight);
    Value plane = code.div(task, rows);
    Value outputRow = code.rem(task, rows);
    Value block = code.rem(plane, code.own(blocks));
    RowTaps taps = RowTaps::of(code, shape, outputRow);
    // Where an epilogue is long, all tiles of a row share its code.
    std::optional<WaitingRows> row;
    const auto type = cast<VectorType>(operation.initial.getType());
    if (waitsForRow(type))
      row.emplace(code, type, shape.outputWidth.value(), 1);
    auto emit = [&](const ColumnTile &tile) {
      SmallVector<Value> sums = reduce(plane, block, taps, tile, operation);
      SmallVector<Value> results = finish(taps, tile, sums, operation);
      if (row)
        return row->keep(code, tile.firstColumn, results);
      auto store = storesFrom(plane, block, outputRow, tile.firstColumn);
      if (epilogue.isLong)
        return forRows(code, results, 1, [&](Value column, ValueRange result) {
          store(result[0], column);
        });
      for (auto [column, result] : llvm::enumerate(results))
        store(result, code.index(int64_t(column)));
    };
    if (!shape.hasDynamicWidth()) {
      forEachTile(code, shape, tiles, emit);
      if (!row)
        return;
      auto store = storesFrom(plane, block, outputRow, code.index(0));
      return row->forEach(
          code, code.index(shape.outputWidth),
          [&](Value column, ValueRange result) { store(result[0], column); });
    }
    DynamicTiles dynamic = DynamicTiles::of(tiles.size, {9, 5}, 3);
    dynamic.leastInner = tiles.size / 2;
    forEachDynamicTile(code, shape, dynamic, emit);
  }

private:
  /// Loops over the tile's input pixels; each is loaded once for all the taps
  /// of a row that read it.
  SmallVector<Value> reduce(Value plane, Value block, const RowTaps &taps,
                            const ColumnTile &tile,
                            const WindowOperation &operation) {
    struct Use {
      int64_t column, tap;
    };
    struct Pixel {
      SmallVector<Use> uses;
      Value isInside; ///< Null if it is surely inside.
    };
    std::map<int64_t, Pixel> pixels;
    for (int64_t column = 0; column < tile.columns; ++column)
      for (int64_t s = 0; s < shape.kernelWidth; ++s) {
        const ColumnTile::Reach reach = tile.reach(shape, column, s);
        if (reach == ColumnTile::Reach::Outside)
          continue;
        Pixel &pixel =
            pixels[column * shape.strideWidth + s * shape.dilationWidth];
        pixel.uses.push_back({column, s});
        if (reach == ColumnTile::Reach::Unknown)
          pixel.isInside = tile.isInside(code, shape, column, code.index(s));
      }

    Value planeBase = code.mul(plane, code.mul(shape.inputPixels(code), lanes));
    Value firstColumn = code.sub(code.mul(tile.firstColumn, shape.strideWidth),
                                 code.index(shape.padLeft));
    SmallVector<Value> initial(tile.columns, operation.initial);
    auto row = [&](Value r, ValueRange carried) {
      SmallVector<Value> sums(carried);
      Value inputRow =
          code.add(taps.inputRow, code.mul(r, shape.dilationHeight));
      Value pixel = code.add(code.mul(inputRow, shape.inputWidth), firstColumn);
      Value base = code.add(planeBase, code.mul(pixel, lanes));
      SmallVector<Value> prepared = operation.prepareRow(block, r);
      for (const auto &[column, pixel] : pixels) {
        Value at = code.add(base, column * lanes);
        // A pixel outside is replaced by a valid one, whose result is
        // discarded.
        if (pixel.isInside)
          at = code.select(pixel.isInside, at, planeBase);
        Value x = code.load(input, at, pixelType());
        if (operation.read)
          x = operation.read(x);
        for (Use use : pixel.uses) {
          Value &sum = sums[use.column];
          Value next = operation.combine(sum, x, prepared, use.tap);
          sum = pixel.isInside ? code.select(pixel.isInside, next, sum) : next;
        }
      }
      return sums;
    };
    return code.loop(taps.first, taps.end, 1, initial, row);
  }

  /// Whether a row of results of type \p type, of several tiles, is buffered in
  /// the first-level cache until it is complete.
  bool waitsForRow(VectorType type) const {
    constexpr int64_t mostBytes = 8192;
    return epilogue.isLong && !shape.hasDynamicWidth() && tiles.count > 1 &&
           shape.outputWidth * type.getNumElements() *
                   int64_t(type.getElementTypeBitWidth() / 8) <=
               mostBytes;
  }

  /// The results of \p tile, one per column.
  SmallVector<Value> finish(const RowTaps &taps, const ColumnTile &tile,
                            ArrayRef<Value> sums,
                            const WindowOperation &operation) {
    SmallVector<Value> results;
    for (int64_t column = 0; column < tile.columns; ++column) {
      Value present = code.index(0);
      for (int64_t s = 0; s < shape.kernelWidth; ++s) {
        const ColumnTile::Reach reach = tile.reach(shape, column, s);
        if (reach == ColumnTile::Reach::Inside)
          present = code.add(present, 1);
        else if (reach == ColumnTile::Reach::Unknown)
          present =
              code.select(tile.isInside(code, shape, column, code.index(s)),
                          code.add(present, 1), present);
      }
      results.push_back(operation.finish(sums[column], taps, present));
    }
    return results;
  }

  /// A function that stores the result of a column, relative to \p firstColumn.
  std::function<void(Value result, Value column)>
  storesFrom(Value plane, Value block, Value outputRow, Value firstColumn) {
    BlockedPosition position;
    position.batch = code.div(plane, code.own(blocks));
    position.block = block;
    Value planeBase =
        code.mul(plane, code.mul(shape.outputPixels(code), lanes));
    Value first = code.add(code.mul(outputRow, shape.outputWidth), firstColumn);
    return [this, position, planeBase, first](Value result,
                                              Value column) mutable {
      position.pixel = code.add(first, column);
      position.offset = code.add(planeBase, code.mul(position.pixel, lanes));
      if (epilogue)
        result = epilogue(code.builder, code.loc, result, position);
      code.store(result, output, position.offset);
    };
  }
};

/// The columns of tiles: accumulators, a row of weights and a pixel are in
/// registers.
Partition tilesOf(const ChannelwiseShape &shape, const Target &target,
                  int64_t weights) {
  int64_t limit = std::min<int64_t>(
      std::max<int64_t>(1, target.vectorRegisters - weights - 2),
      target.isSmall ? 2 : 14);
  if (shape.hasDynamicWidth())
    return {limit, 1, limit, 0};
  return Partition::of(shape.outputWidth.value(), limit);
}

} // namespace

ChannelwiseKernel::ChannelwiseKernel(const ChannelwiseShape &shape,
                                     const Target &target,
                                     const Arithmetic &arithmetic,
                                     int64_t lanes, int64_t weights)
    : arithmetic(arithmetic), shape(shape), lanes(lanes),
      blocks(llvm::divideCeil(shape.channels, lanes)),
      tiles(tilesOf(shape, target, weights)) {}

int64_t ChannelwiseKernel::tasks() const {
  return blocks * shape.outputHeight.value();
}

void ChannelwiseKernel::buildTask(VectorBuilder &code, Value task, Value input,
                                  Value output, const BlockedEpilogue &epilogue,
                                  const WindowOperation &operation) const {
  WindowTask{code,
             shape,
             lanes,
             blocks,
             tiles,
             code.flatten(input),
             code.flatten(output),
             epilogue,
             arithmetic}
      .emit(task, operation);
}

Depthwise::Depthwise(const ChannelwiseShape &shape, const Target &target,
                     const Arithmetic &arithmetic)
    : ChannelwiseKernel(shape, target, arithmetic, arithmetic.lanes(target),
                        shape.kernelWidth) {
  assert(arithmetic.kGroup == 1 && "a lane is a channel of its own");
}

double Depthwise::flops() const {
  return 2.0 * double(shape.channels) * double(shape.outputPixels().value()) *
         double(shape.taps());
}
int64_t Depthwise::packedElements() const {
  return blocks * lanes * shape.taps();
}

void Depthwise::pack(const void *weights, void *packed) const {
  const auto *from = static_cast<const char *>(weights);
  auto *to = static_cast<char *>(packed);
  const int64_t bytes = arithmetic.rhsBytes();
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t tap = 0; tap < shape.taps(); ++tap)
      for (int64_t lane = 0; lane < lanes; ++lane, to += bytes) {
        int64_t channel = block * lanes + lane;
        if (channel < shape.channels)
          std::memcpy(to, from + (channel * shape.taps() + tap) * bytes, bytes);
        else
          std::memset(to, 0, bytes);
      }
}

/// Converts pixels of \p lanes elements to the accumulator's type and subtracts
/// the zero point of \p shape.
static std::function<Value(Value)> readsDistances(VectorBuilder &code,
                                                  const Arithmetic &arithmetic,
                                                  const WindowShape &shape,
                                                  int64_t lanes, Value zero) {
  const ElementType from = arithmetic.lhs, to = arithmetic.accumulator;
  Value number;
  if (shape.countsDistances())
    number = ZeroPoint(code, from, shape, zero).as(to, lanes);
  return [&code, from, to, number](Value pixel) {
    Value wide = converted(code, pixel, from, to);
    if (!number)
      return wide;
    return isFloat(to)
               ? code.subVectors(wide, number)
               : code.builder.create<arith::SubIOp>(code.loc, wide, number);
  };
}

void Depthwise::build(OpBuilder &builder, Location location, Value task,
                      Value input, Value weights, Value output,
                      const BlockedEpilogue &epilogue, Value zero) const {
  VectorBuilder code(builder, location);
  Value flatWeights = code.flatten(weights);
  // Pixels are widened once for all the taps that read them.
  const Arithmetic widened{arithmetic.accumulator, arithmetic.rhs,
                           arithmetic.accumulator};
  WindowOperation operation;
  operation.initial =
      code.zero(arithmetic.sumType(builder.getContext(), lanes));
  operation.prepareRow = [&](Value block, Value r) {
    Value row =
        code.add(code.mul(block, shape.taps()), code.mul(r, shape.kernelWidth));
    Value base = code.mul(row, lanes);
    SmallVector<Value> loaded;
    for (int64_t s = 0; s < shape.kernelWidth; ++s)
      loaded.push_back(
          code.load(flatWeights, code.add(base, s * lanes),
                    arithmetic.rhsType(builder.getContext(), lanes)));
    return loaded;
  };
  operation.read = readsDistances(code, arithmetic, shape, lanes, zero);
  operation.combine = [&](Value sum, Value pixel, ArrayRef<Value> row,
                          int64_t s) {
    return widened.multiplyAdd(code, pixel, row[s], sum);
  };
  operation.finish = [](Value sum, const RowTaps &, Value) { return sum; };
  buildTask(code, task, input, output, epilogue, operation);
}

static Arithmetic poolArithmetic(Pooling::Kind kind, ElementType element) {
  const bool isOfIntegers =
      kind == Pooling::Kind::Maximum && isInteger(element);
  return {element, element, isOfIntegers ? element : ElementType::F32};
}

Pooling::Pooling(Kind kind, const ChannelwiseShape &shape, const Target &target,
                 ElementType element)
    : ChannelwiseKernel(shape, target, poolArithmetic(kind, element),
                        target.f32Lanes, 0),
      kind(kind) {}

/// Divides the sum by (rows of the window in the input * taps).
static Value averageOfPresent(VectorBuilder &code, Value sum,
                              const RowTaps &rows, Value taps) {
  OpBuilder &builder = code.builder;
  Value count = code.mul(code.sub(rows.end, rows.first), taps);
  Value integer =
      builder.create<arith::IndexCastOp>(code.loc, builder.getI32Type(), count);
  Value divisor =
      builder.create<arith::SIToFPOp>(code.loc, builder.getF32Type(), integer);
  Value splat =
      builder.create<vector::SplatOp>(code.loc, sum.getType(), divisor);
  return builder.create<arith::DivFOp>(code.loc, sum, splat);
}

/// The maximum of pixels of \p arithmetic.
static WindowOperation greatest(VectorBuilder &code,
                                const Arithmetic &arithmetic, int64_t lanes) {
  OpBuilder &builder = code.builder;
  const ElementType element = arithmetic.lhs;
  VectorType type = arithmetic.sumType(builder.getContext(), lanes);
  WindowOperation operation;
  if (isFloat(element)) {
    operation.initial = builder.create<arith::ConstantOp>(
        code.loc,
        DenseElementsAttr::get(type, -std::numeric_limits<float>::infinity()));
    operation.combine = [&code](Value sum, Value pixel, ArrayRef<Value>,
                                int64_t) -> Value {
      return code.builder.create<arith::MaximumFOp>(code.loc, sum, pixel);
    };
    return operation;
  }
  const bool isUnsigned = element == ElementType::UI8;
  // Pixels of 16 bits hold int8 values.
  operation.initial = arithmetic.splat(code, isUnsigned ? 0 : -128, lanes);
  operation.combine = [&code, isUnsigned](Value sum, Value pixel,
                                          ArrayRef<Value>, int64_t) -> Value {
    if (isUnsigned)
      return code.builder.create<arith::MaxUIOp>(code.loc, sum, pixel);
    return code.builder.create<arith::MaxSIOp>(code.loc, sum, pixel);
  };
  return operation;
}

WindowOperation Pooling::operation(VectorBuilder &code) const {
  WindowOperation operation;
  if (kind == Kind::Maximum) {
    operation = greatest(code, arithmetic, lanes);
    operation.finish = [](Value sum, const RowTaps &, Value) { return sum; };
  } else {
    VectorType type = arithmetic.sumType(code.builder.getContext(), lanes);
    operation.initial = code.zero(type);
    operation.combine = [&code](Value sum, Value pixel, ArrayRef<Value>,
                                int64_t) {
      return code.addVectors(sum, pixel);
    };
    operation.finish = [&code, this, type](Value sum, const RowTaps &rows,
                                           Value taps) -> Value {
      if (kind == Kind::AverageOfPresent)
        return averageOfPresent(code, sum, rows, taps);
      Value size = code.builder.create<arith::ConstantOp>(
          code.loc, DenseElementsAttr::get(type, float(shape.taps())));
      return code.builder.create<arith::DivFOp>(code.loc, sum, size);
    };
  }
  // Sums of int8 are exact in f32.
  if (arithmetic.lhs != arithmetic.accumulator)
    operation.read = readsDistances(code, arithmetic, shape, lanes, {});
  operation.prepareRow = [](Value, Value) { return SmallVector<Value>(); };
  return operation;
}

void Pooling::build(OpBuilder &builder, Location location, Value task,
                    Value input, Value output,
                    const BlockedEpilogue &epilogue) const {
  VectorBuilder code(builder, location);
  buildTask(code, task, input, output, epilogue, operation(code));
}
