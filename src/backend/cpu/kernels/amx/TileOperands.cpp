//===- TileOperands.cpp - stage both operands of AMX matmuls --------------===//

#include "backend/cpu/kernels/amx/TileOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <bit>
#include <numeric>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr int64_t lanes = 16;

VectorType TileOperands::words() const {
  return VectorType::get({lanes}, code.builder.getI32Type());
}
VectorType TileOperands::floats() const {
  return VectorType::get({lanes}, code.builder.getF32Type());
}

void TileOperands::storeLine(Value vector, Value line) const {
  code.store(code.bitsAs(vector, floats()), scratch, code.mul(line, lanes));
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// A vector, of which \p left lanes exist; all of them if counts are multiples
/// of \p unit.
Value TileOperands::loadUpTo(const TileMatrix &from, Value offset, Value left,
                             int64_t unit) const {
  if (unit == lanes)
    return code.load(from.flat, offset, floats());
  return code.loadSome(from.flat, offset, floats(), left);
}

/// The same of numbers that lie so far apart, which may be named.
Value TileOperands::gatherUpTo(Value flat, Value offset, Dim apart,
                               Value left) const {
  auto indices = VectorType::get({lanes}, code.builder.getIndexType());
  SmallVector<int64_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value number = code.create<arith::ConstantOp>(
      DenseElementsAttr::get(indices, ArrayRef<int64_t>(numbers)));
  auto splat = [&](Value index) {
    return code.create<vector::SplatOp>(indices, index);
  };
  Value mask = code.create<arith::CmpIOp>(arith::CmpIPredicate::slt, number,
                                          splat(left));
  Value places = code.create<arith::MulIOp>(number, splat(code.index(apart)));
  return code.create<vector::GatherOp>(floats(), flat, offset, places, mask,
                                       code.zero(floats()));
}

/// Of how many at least \p count is known to be a multiple, up to \p most.
static bool isMultiple(VectorBuilder &code, Value count, int64_t of) {
  const std::optional<int64_t> known = code.constantOf(count);
  return known && *known % of == 0;
}

/// The same of the depth of \p from.
static bool isDepthMultiple(VectorBuilder &code, const TileMatrix &from,
                            int64_t of) {
  return from.depthUnit % of == 0 || isMultiple(code, from.depth, of);
}

/// The two vectors of line \p i of a block of k: 32 neighbours along k of row
/// or column first + i, or two adjacent indices along k of the 16 from \p first
/// on.
SmallVector<Value> TileOperands::numbersAt(const TileMatrix &from, Value first,
                                           Value block, Value i) const {
  const bool isDeep = isDepthMultiple(code, from, 2 * lanes);
  Value k = code.mul(block, 2 * lanes);
  SmallVector<Value> both;
  if (from.isAlongDepth()) {
    Value at = code.add(
        code.add(from.start, code.mul(code.add(first, i), from.stride)),
        code.mul(k, from.depthStride));
    for (int64_t half : {int64_t(0), lanes}) {
      if (from.depthStride != 1) {
        both.push_back(gatherUpTo(
            from.flat,
            code.add(at, code.mul(code.index(half), from.depthStride)),
            from.depthStride, code.sub(from.depth, code.add(k, half))));
        continue;
      }
      both.push_back(loadUpTo(from, code.add(at, half),
                              code.sub(from.depth, code.add(k, half)),
                              isDeep ? lanes : 1));
    }
    return both;
  }
  const bool isFull = isMultiple(code, from.count, lanes);
  for (int64_t of : {0, 1}) {
    Value depth = code.add(code.add(k, code.mul(i, 2)), of);
    Value at = code.add(code.add(from.start, first),
                        code.mul(depth, from.depthStride));
    Value left = code.sub(from.count, first);
    if (!isDeep)
      left = code.select(code.less(depth, from.depth), left, code.index(0));
    both.push_back(loadUpTo(from, at, left, isDeep && isFull ? lanes : 1));
  }
  return both;
}

/// Line \p i of a block of k, of int8: 64 neighbours along k of row or column
/// first + i, or four neighbours of each of the 16 from \p first on.
Value TileOperands::bytesAt(const TileMatrix &from, Value first, Value block,
                            Value i) const {
  Type byte = code.builder.getI8Type();
  const bool isDeep = isDepthMultiple(code, from, tileRowBytes);
  Value k = code.mul(block, tileRowBytes);
  if (from.isAlongDepth()) {
    auto type = VectorType::get({tileRowBytes}, byte);
    Value at = code.add(
        code.add(from.start, code.mul(code.add(first, i), from.stride)), k);
    return isDeep ? code.load(from.flat, at, type)
                  : code.loadSome(from.flat, at, type, code.sub(from.depth, k));
  }
  auto type = VectorType::get({lanes}, byte);
  const bool isFull = isMultiple(code, from.count, lanes);
  SmallVector<Value> rows;
  for (int64_t of = 0; of < arithmetic.group(); ++of) {
    Value depth = code.add(code.add(k, code.mul(i, arithmetic.group())), of);
    Value at = code.add(code.add(from.start, first),
                        code.mul(depth, from.depthStride));
    Value left = code.sub(from.count, first);
    if (!isDeep)
      left = code.select(code.less(depth, from.depth), left, code.index(0));
    rows.push_back(isDeep && isFull ? code.load(from.flat, at, type)
                                    : code.loadSome(from.flat, at, type, left));
  }
  return code.interleavedBytes(rows);
}

/// Stores the terms of a line, and returns the largest magnitudes so far.
Value TileOperands::putLine(const TileMatrix &from, Value first, Value block,
                            Value i, int64_t parts, const Place &to,
                            Value most) const {
  OpBuilder &b = code.builder;
  if (arithmetic.isOfBytes()) {
    storeLine(bytesAt(from, first, block, i), to.line);
    return most;
  }
  const SmallVector<Value> numbers = numbersAt(from, first, block, i);
  const SmallVector<Value> cut =
      from.isAlongDepth() ? arithmetic.split(code, numbers, parts)
                          : arithmetic.splitPairs(code, numbers, parts);
  for (auto [part, line] : llvm::enumerate(cut))
    storeLine(line, code.add(to.line, int64_t(part) * to.partLines));
  Value magnitude = b.create<arith::ConstantOp>(
      code.loc, DenseElementsAttr::get(words(), int32_t(0x7fffffff)));
  for (Value each : numbers)
    most = b.create<arith::MaxUIOp>(
        code.loc, most,
        b.create<arith::AndIOp>(code.loc, code.bitsAs(each, words()),
                                magnitude));
  return most;
}

/// Stores the 16 lines of a block, transposed: lines along k become pairs of
/// columns, and vice versa.
Value TileOperands::putTransposed(const TileMatrix &from, Value first,
                                  Value block, int64_t parts, const Place &to,
                                  Value most) const {
  OpBuilder &b = code.builder;
  // Memory after the last one may be out of bounds.
  Value count = from.isAlongDepth()
                    ? code.min(code.index(lanes), code.sub(from.count, first))
                    : code.index(lanes);
  most = code.loop(code.index(0), count, 1, most,
                   [&](Value i, ValueRange carried) -> IndexBuilder::Carried {
                     return {putLine(from, first, block, i, parts,
                                     {code.add(i, spare), lanes}, carried[0])};
                   })[0];
  auto square = VectorType::get({lanes, lanes}, b.getF32Type());
  code.loop(code.index(0), code.index(parts), 1, [&](Value part) {
    Value lines = b.create<arith::ConstantOp>(code.loc, b.getZeroAttr(square));
    Value line = code.add(code.mul(part, lanes), spare);
    for (int64_t i = 0; i < lanes; ++i)
      lines = b.create<vector::InsertOp>(
          code.loc,
          code.load(scratch, code.mul(code.add(line, i), lanes), floats()),
          lines, ArrayRef<int64_t>{i});
    Value turned =
        b.create<vector::TransposeOp>(code.loc, lines, ArrayRef<int64_t>{1, 0});
    Value place = code.add(to.line, code.mul(part, to.partLines));
    for (int64_t i = 0; i < lanes; ++i)
      storeLine(
          b.create<vector::ExtractOp>(code.loc, turned, ArrayRef<int64_t>{i}),
          code.add(place, i));
  });
  return most;
}

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

Value TileOperands::blocksOf(Value depth) const {
  const int64_t elements = arithmetic.blockElements();
  return code.div(code.add(depth, elements - 1), elements);
}

Value TileOperands::stageRows(const TileMatrix &a, const TileRows &to,
                              Value isFirst) const {
  OpBuilder &b = code.builder;
  Value blocks = blocksOf(a.depth);
  auto overBlocks = [&](Value position, auto put) {
    return code.loop(
        code.index(0), blocks, 1, code.zero(words()),
        [&](Value block, ValueRange carried) -> IndexBuilder::Carried {
          Value line = code.add(
              code.add(code.mul(block, to.positions), position), to.at);
          return {put(block, Place{line, to.partLines()}, carried[0])};
        })[0];
  };
  auto larger = [&](Value x, Value y) -> Value {
    return b.create<arith::MaxUIOp>(code.loc, x, y);
  };
  // Combines with the notes of the previous pieces.
  auto withNoted = [&](Value ofRows, Value noted) {
    Value before = code.bitsAs(noted, words());
    return larger(ofRows, code.select(isFirst, code.zero(words()), before));
  };
  Value most = code.loop(
      code.index(0), a.count, a.isAlongDepth() ? 1 : lanes, code.zero(words()),
      [&](Value row, ValueRange carried) -> IndexBuilder::Carried {
        Value note = code.add(row, to.notes * lanes);
        if (!a.isAlongDepth()) {
          Value ofRows =
              overBlocks(row, [&](Value block, const Place &place, Value so) {
                return putTransposed(a, row, block, to.parts, place, so);
              });
          if (arithmetic.isOfBytes())
            return {ofRows};
          if (isFirst)
            ofRows = withNoted(ofRows, code.load(scratch, note, floats()));
          code.store(code.bitsAs(ofRows, floats()), scratch, note);
          return {larger(carried[0], ofRows)};
        }
        Value ofRow =
            overBlocks(row, [&](Value block, const Place &place, Value so) {
              return putLine(a, row, block, code.index(0), to.parts, place, so);
            });
        if (arithmetic.isOfBytes())
          return {ofRow};
        if (isFirst)
          ofRow = withNoted(ofRow, code.loadSplat(scratch, note, floats()));
        Value magnitude = b.create<vector::ReductionOp>(
            code.loc, vector::CombiningKind::MAXUI, ofRow);
        b.create<memref::StoreOp>(
            code.loc,
            b.create<arith::BitcastOp>(code.loc, b.getF32Type(), magnitude),
            scratch, note);
        return {larger(carried[0], ofRow)};
      })[0];
  return isUnusual(b.create<vector::ReductionOp>(
      code.loc, vector::CombiningKind::MAXUI, most));
}

Value TileOperands::packColumns(const TileMatrix &from, Value first,
                                Value tiles, const TileColumns &to,
                                Value panel) const {
  OpBuilder &b = code.builder;
  Value blocks = blocksOf(from.depth);
  Value start = code.add(code.mul(panel, to.panelLines()), to.at);
  auto packBlock = [&](Value tile, Value block, Value most) {
    Value line = code.add(code.add(start, code.mul(block, to.stepLines())),
                          code.mul(tile, mostTileRows));
    Value column = code.add(first, code.mul(tile, lanes));
    const int64_t partLines = TileColumns::tiles * mostTileRows;
    if (from.isAlongDepth())
      return putTransposed(from, column, block, to.parts, {line, partLines},
                           most);
    return code.loop(code.index(0), code.index(mostTileRows), 1, most,
                     [&](Value i, ValueRange carried) -> IndexBuilder::Carried {
                       return {putLine(from, column, block, i, to.parts,
                                       {code.add(line, i), partLines},
                                       carried[0])};
                     })[0];
  };
  Value most = code.loop(
      code.index(0), tiles, 1, code.zero(words()),
      [&](Value tile, ValueRange ofTiles) -> IndexBuilder::Carried {
        return code.loop(
            code.index(0), blocks, 1, ofTiles,
            [&](Value block, ValueRange ofBlocks) -> IndexBuilder::Carried {
              return {packBlock(tile, block, ofBlocks[0])};
            });
      })[0];
  return b.create<vector::ReductionOp>(code.loc, vector::CombiningKind::MAXUI,
                                       most);
}

Value TileOperands::packPanels(const TileMatrix &b,
                               const TileColumns &to) const {
  constexpr int64_t columns = TileRegisters::panelColumns;
  Value panels = code.div(code.add(b.count, columns - 1), columns);
  Value none =
      code.create<arith::ConstantOp>(code.builder.getI32IntegerAttr(0));
  Value most =
      code.loop(code.index(0), panels, 1, none,
                [&](Value panel, ValueRange carried) -> IndexBuilder::Carried {
                  Value first = code.mul(panel, columns);
                  Value left = code.sub(b.count, first);
                  Value tiles =
                      code.min(code.index(TileColumns::tiles),
                               code.div(code.add(left, lanes - 1), lanes));
                  return {code.create<arith::MaxUIOp>(
                      carried[0], packColumns(b, first, tiles, to, panel))};
                })[0];
  return isUnusual(most);
}

/// \p sums plus the sums of the four int8 of each 32-bit lane of \p line.
Value TileOperands::sumOfLine(Value line, bool isSigned, Value sums,
                              const Arithmetic &dot) const {
  Value bytes = code.bitsAs(
      line, VectorType::get({tileRowBytes}, code.builder.getI8Type()));
  Value ones = dot.splat(code, 1, lanes);
  return isSigned ? dot.multiplyAdd(code, ones, bytes, sums)
                  : dot.multiplyAdd(code, bytes, ones, sums);
}

void TileOperands::sumRows(const TileMatrix &a, const TileRows &rows,
                           Value zero, const Arithmetic &dot,
                           Value isFirst) const {
  const bool isSigned = arithmetic.lhs == ElementType::I8;
  code.loop(code.index(0), a.count, 1, [&](Value row) {
    Value sums = code.loop(
        code.index(0), blocksOf(a.depth), 1, code.zero(words()),
        [&](Value block, ValueRange carried) -> IndexBuilder::Carried {
          Value line =
              code.add(code.add(code.mul(block, rows.positions), row), rows.at);
          return {sumOfLine(code.load(scratch, code.mul(line, lanes), floats()),
                            isSigned, carried[0], dot)};
        })[0];
    Value sum =
        code.create<vector::ReductionOp>(vector::CombiningKind::ADD, sums);
    Value none =
        code.create<arith::ConstantOp>(code.builder.getI32IntegerAttr(0));
    Value note = code.add(row, rows.notes * lanes), before = none;
    if (isFirst)
      before = code.select(
          isFirst, none,
          code.create<arith::BitcastOp>(
              none.getType(), code.create<memref::LoadOp>(scratch, note)));
    sum = code.create<arith::SubIOp>(before,
                                     code.create<arith::MulIOp>(sum, zero));
    code.builder.create<memref::StoreOp>(
        code.loc, code.create<arith::BitcastOp>(code.builder.getF32Type(), sum),
        scratch, note);
  });
}

Value TileOperands::sumOfRow(const TileRows &rows, Value row) const {
  return code.bitsAs(
      code.loadSplat(scratch, code.add(row, rows.notes * lanes), floats()),
      words());
}

Value TileOperands::sumColumns(const TileMatrix &b, const TileColumns &columns,
                               Value panel, int64_t tile,
                               const Arithmetic &dot) const {
  const bool isSigned = arithmetic.rhs == ElementType::I8;
  Value start = code.add(code.mul(panel, columns.panelLines()), columns.at);
  return code.loop(
      code.index(0), blocksOf(b.depth), 1, code.zero(words()),
      [&](Value block, ValueRange ofBlocks) {
        Value first =
            code.add(code.add(start, code.mul(block, columns.stepLines())),
                     tile * mostTileRows);
        return code.loop(
            code.index(0), code.index(mostTileRows), 1, ofBlocks,
            [&](Value i, ValueRange carried) -> IndexBuilder::Carried {
              return {sumOfLine(code.load(scratch,
                                          code.mul(code.add(first, i), lanes),
                                          floats()),
                                isSigned, carried[0], dot)};
            });
      })[0];
}

void TileOperands::putRow(const TileRows &to, Value position, Value block,
                          ValueRange elements) const {
  Value line =
      code.add(code.add(code.mul(block, to.positions), position), to.at);
  for (auto [part, vector] :
       llvm::enumerate(arithmetic.split(code, elements, to.parts)))
    storeLine(vector, code.add(line, int64_t(part) * to.partLines()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void TileOperands::multiply(TileRegisters &registers,
                            const TileFactors &factors, const TilePanel &panel,
                            Store store) const {
  constexpr int64_t group = TileRegisters::groupTiles;
  const int64_t tileRows = factors.tileRows;
  Value tiles = code.div(code.add(factors.a.count, tileRows - 1), tileRows);
  Value groups = code.div(tiles, group);
  auto emit = [&](Value firstTile, int64_t rowTiles) {
    SmallVector<Value> positions;
    for (int64_t r = 0; r < rowTiles; ++r)
      positions.push_back(code.mul(code.add(firstTile, r), tileRows));
    multiplyGroup(registers, factors, panel, positions);
    finishGroup(registers, factors, panel, positions, store);
  };
  if (factors.mostTiles >= group)
    code.loop(code.index(0), groups, 1,
              [&](Value i) { emit(code.mul(i, group), group); });
  if (factors.areEven)
    return;
  Value rest = code.mul(groups, group);
  code.when(code.less(rest, tiles), [&] { emit(rest, 1); });
}

void TileOperands::multiplyGroup(TileRegisters &registers,
                                 const TileFactors &factors,
                                 const TilePanel &panel,
                                 ValueRange positions) const {
  const auto rowTiles = int64_t(positions.size());
  registers.clear(rowTiles, panel.tiles);
  addSteps(registers, factors, panel, positions, factors.a.depth);
  registers.store(rowTiles, panel.tiles);
}

void TileOperands::addSteps(TileRegisters &registers,
                            const TileFactors &factors, const TilePanel &panel,
                            ValueRange positions, Value depth) const {
  const TileRows &rows = factors.rows;
  const TileColumns &columns = factors.columns;
  Value address = registers.addressOf(scratch);
  Value ofPanel =
      code.add(code.mul(panel.number, columns.panelLines()), columns.at);
  code.loop(code.index(0), blocksOf(depth), 1, [&](Value block) {
    TileStep step;
    step.rowsAddress = step.columnsAddress = address;
    for (Value position : positions)
      step.rows.push_back(
          code.mul(code.add(code.add(code.mul(block, rows.positions), position),
                            rows.at),
                   tileRowBytes));
    step.rowPart = code.index(rows.partLines() * tileRowBytes);
    step.columns = code.mul(
        code.add(ofPanel, code.mul(block, columns.stepLines())), tileRowBytes);
    step.columnTiles = panel.tiles;
    step.columnPart = TileColumns::tiles * tileBytes;
    registers.multiply(arithmetic, step);
  });
}

void TileOperands::multiplyPiece(TileRegisters &registers,
                                 const TileFactors &factors,
                                 const TilePanel &panel, Value first,
                                 const TilePiece &piece, Value waiting) const {
  Value memory = registers.sumsAddress();
  if (!code.knownTruth(piece.isLast))
    memory = TileInstructions(code).addressAt(registers.addressOf(scratch),
                                              code.mul(waiting, tileRowBytes));
  Value to = code.select(piece.isLast, registers.sumsAddress(), memory);
  auto multiply = [&](ValueRange positions) {
    const auto rowTiles = int64_t(positions.size());
    code.when(
        piece.isFirst, [&] { registers.clear(rowTiles, panel.tiles); },
        [&] { registers.load(rowTiles, panel.tiles, memory); });
    addSteps(registers, factors, panel, positions, piece.depth);
    registers.store(rowTiles, panel.tiles, to);
  };
  Value second = code.add(first, mostTileRows);
  code.when(
      code.less(second, factors.a.count), [&] { multiply({first, second}); },
      [&] { multiply(first); });
}

void TileOperands::forRows(
    const TileFactors &factors, ValueRange positions,
    llvm::function_ref<void(int64_t tile, Value i, Value row)> body) const {
  for (auto [tile, first] : llvm::enumerate(positions)) {
    Value count = code.min(code.index(factors.tileRows),
                           code.sub(factors.a.count, first));
    code.loop(code.index(0), count, 1,
              [&, tile = int64_t(tile), first = first](Value i) {
                body(tile, i, code.add(first, i));
              });
  }
}

/// Recomputes rows with unusual values, and passes all rows to \p store.
void TileOperands::finishGroup(TileRegisters &registers,
                               const TileFactors &factors,
                               const TilePanel &panel, ValueRange positions,
                               Store store) const {
  auto type = floats();
  auto sumsAt = [&](int64_t tile, Value i, int64_t c) {
    return code.add(registers.sumsAt(tile, i), c * lanes);
  };
  if (arithmetic.isOfBytes())
    return forRows(factors, positions, [&](int64_t tile, Value i, Value row) {
      for (int64_t c = 0; c < panel.tiles; ++c)
        store(row, c, code.load(registers.sums(), sumsAt(tile, i, c), words()));
    });
  code.when(code.create<arith::OrIOp>(factors.anyRow, panel.areUnusual), [&] {
    forRows(factors, positions, [&](int64_t tile, Value i, Value row) {
      redoRow(registers, factors, panel, row, registers.sumsAt(tile, i));
    });
  });
  forRows(factors, positions, [&](int64_t tile, Value i, Value row) {
    Value unscale = unscaleOf(factors, panel, row);
    for (int64_t c = 0; c < panel.tiles; ++c) {
      Value sums = code.load(registers.sums(), sumsAt(tile, i, c), type);
      store(row, c, code.mulVectors(sums, unscale));
    }
  });
}

void TileOperands::redoUnusual(TileRegisters &registers,
                               const TileFactors &factors,
                               const TilePanel &panel, Value first,
                               Value count) const {
  code.when(code.create<arith::OrIOp>(factors.anyRow, panel.areUnusual), [&] {
    code.loop(code.index(0), count, 1, [&](Value i) {
      redoRow(registers, factors, panel, code.add(first, i),
              registers.sumsAt(0, i));
    });
  });
}

void TileOperands::redoRow(TileRegisters &registers, const TileFactors &factors,
                           const TilePanel &panel, Value row,
                           Value place) const {
  code.when(isUnusualRow(factors, panel, row), [&] {
    for (auto [c, sums] : llvm::enumerate(multiplyRow(factors, panel, row)))
      code.store(sums, registers.sums(), code.add(place, int64_t(c) * lanes));
  });
}

Value TileOperands::unscaleOf(const TileFactors &factors,
                              const TilePanel &panel, Value row) const {
  auto constant = [&](float number) {
    return code.create<arith::ConstantOp>(code.builder.getF32FloatAttr(number));
  };
  return code.create<vector::SplatOp>(
      floats(), code.select(isUnusualRow(factors, panel, row), constant(1),
                            constant(1 / (tileScale * tileScale))));
}

Value TileOperands::isUnusual(Value magnitude) const {
  Value most = code.create<arith::ConstantOp>(code.builder.getI32IntegerAttr(
      std::bit_cast<int32_t>(mostUsualMagnitude)));
  return code.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, magnitude, most);
}

/// i1: whether the row cannot be computed from bf16 terms.
Value TileOperands::isUnusualRow(const TileFactors &factors,
                                 const TilePanel &panel, Value row) const {
  Value note = code.create<memref::LoadOp>(
      scratch, code.add(row, factors.rows.notes * lanes));
  return code.create<arith::OrIOp>(panel.areUnusual,
                                   isUnusual(code.create<arith::BitcastOp>(
                                       code.builder.getI32Type(), note)));
}

/// The row's results in f32, from both matrices in memory.
SmallVector<Value> TileOperands::multiplyRow(const TileFactors &factors,
                                             const TilePanel &panel,
                                             Value row) const {
  const TileMatrix &a = factors.a, &from = factors.b;
  auto columnsAt = [&](Value k, Value first) -> Value {
    Value at = code.add(code.add(from.start, code.mul(first, from.stride)),
                        code.mul(k, from.depthStride));
    Value left = code.sub(from.count, first);
    if (!from.isAlongDepth())
      return code.loadSome(from.flat, at, floats(), left);
    return gatherUpTo(from.flat, at, from.stride, left);
  };
  const SmallVector<Value> zeros(panel.tiles, code.zero(floats()));
  return code.loop(
      code.index(0), a.depth, 1, zeros, [&](Value k, ValueRange carried) {
        Value at = code.add(code.add(a.start, code.mul(row, a.stride)),
                            code.mul(k, a.depthStride));
        Value x = code.loadSplat(a.flat, at, floats());
        IndexBuilder::Carried sums(carried);
        for (auto [c, sum] : llvm::enumerate(sums))
          sum = code.fma(
              x, columnsAt(k, code.add(panel.column, int64_t(c) * lanes)), sum);
        return sums;
      });
}
