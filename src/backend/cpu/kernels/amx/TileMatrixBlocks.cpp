//===- TileMatrixBlocks.cpp - AMX matmuls of activations, dynamic sizes ---===//

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/kernels/amx/TileMatrices.h"
#include "backend/cpu/kernels/amx/TileMatrixTask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr int64_t blockRows = MatMulShape::taskRows,
                         linesOfSums = TileRegisters::sumsBytes / tileRowBytes;

/// The 32-bit word \p number after line \p line of the scratch memory.
static Value wordAt(VectorBuilder &code, int64_t line, Value number) {
  return code.add(number, line * tileRowBytes / int64_t(sizeof(float)));
}

void TileMatrices::planBlocks(const Target &target) {
  // Longer pieces hardly reduce the traffic of accumulators.
  constexpr int64_t mostOfPiece = 16;
  const int64_t elements = arithmetic.blockElements();
  const bool isDynamic = shape.dynamic->depth.isDynamic();
  const int64_t steps =
      isDynamic ? mostOfPiece
                : llvm::divideCeil(shape.dynamic->depth.value(), elements);
  pieces = isDynamic ? 0 : llvm::divideCeil(steps, mostOfPiece);
  rows.blocks = columns.blocks =
      isDynamic ? mostOfPiece : llvm::divideCeil(steps, pieces);
  pieceDepth = rows.blocks * elements;
  // Spilled accumulators must stay in the cache, too.
  constexpr int64_t mostBlocks = 32, mostThatWait = 8;
  const int64_t rowBytes = rows.parts * rows.blocks * tileRowBytes;
  blocks = blocksFor(target.l2Bytes / 2 / rowBytes / blockRows,
                     isOnePiece() ? mostBlocks : mostThatWait);
  const int64_t panels =
      blocks.back().columns * MatMulShape::taskColumns / panelColumns;
  rows.positions = blocks.back().rows * blockRows;
  rows.at = reserve(rows.lines());
  rows.notes = reserve(rows.noteLines());
  columns.at = reserve(columns.panelLines());
  if (arithmetic.isOfBytes())
    byteSums = reserve(panels * TileColumns::tiles);
  if (!isOnePiece()) {
    magnitudes = reserve(llvm::divideCeil(panels, lanes));
    waiting = reserve(panels * (rows.positions / pairRows) * linesOfSums);
  }
}

/// Doubles rows and columns alternately, up to \p mostRows blocks of rows and
/// \p most blocks in all.
std::vector<TileMatrices::Blocks> TileMatrices::blocksFor(int64_t mostRows,
                                                          int64_t most) {
  constexpr int64_t enoughRows = 8, enoughColumns = 4;
  std::vector<Blocks> all = {{1, 1}};
  for (bool areRows = true;; areRows = !areRows) {
    Blocks next = all.back();
    const bool haveMore = 2 * next.rows <= std::min(mostRows, enoughRows),
               areWider = 2 * next.columns <= enoughColumns;
    if ((!haveMore && !areWider) || 2 * next.rows * next.columns > most)
      return all;
    if ((areRows && haveMore) || !areWider)
      next.rows *= 2;
    else
      next.columns *= 2;
    all.push_back(next);
  }
}

/// The column tiles of a panel; the second one of the last panel may be empty.
int64_t TileMatrices::panelTiles() const {
  return shape.dynamic->columns <= lanes ? 1 : TileRegisters::panelTiles;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// The blocks of rows and of columns per task: as many as leave enough tasks.
std::pair<Value, Value>
TileMatrices::blocksOfTask(TileMatrixTask &e,
                           const MatMulShape::Block &own) const {
  constexpr int64_t enoughTasks = 8;
  VectorBuilder &code = e.code;
  auto parts = [&](Value count, int64_t of) {
    return code.div(code.add(count, of - 1), of);
  };
  std::pair<Value, Value> chosen(code.index(1), code.index(1));
  for (const Blocks &more : llvm::drop_begin(blocks)) {
    Value tasks =
        code.mul(own.matrices, code.mul(parts(own.rowBlocks, more.rows),
                                        parts(own.columnBlocks, more.columns)));
    Value areFew = code.less(tasks, code.index(enoughTasks));
    chosen = {code.select(areFew, chosen.first, code.index(more.rows)),
              code.select(areFew, chosen.second, code.index(more.columns))};
  }
  return chosen;
}

void TileMatrices::buildBlocks(TileMatrixTask &e, Value task) const {
  VectorBuilder &code = e.code;
  const MatMulShape::Block own = shape.block(code, task);
  e.batch = own.batch;
  e.origin = own.origin;
  const auto [rowBlocks, columnBlocks] = blocksOfTask(e, own);
  e.firstRow = code.mul(own.rowBlock, blockRows);
  e.firstColumn = code.mul(own.columnBlock, MatMulShape::taskColumns);
  const Dim depth = shape.dynamic->depth;
  const int64_t unit = arithmetic.blockElements();
  e.factors = {{},  {}, rows, columns, {}, tileRows, rows.positions / tileRows,
               true};
  e.setMatrices(shape, own.columns, code.index(depth),
                depth % unit == 0 ? unit : 1);
  e.factors.a.count =
      code.min(code.mul(rowBlocks, blockRows), code.sub(own.rows, e.firstRow));
  e.columns = code.min(code.mul(columnBlocks, MatMulShape::taskColumns),
                       code.sub(own.columns, e.firstColumn));
  auto begins = [&](Value block, Value of) {
    return code.equal(code.rem(block, of), code.index(0));
  };
  code.when(code.both(begins(own.rowBlock, rowBlocks),
                      begins(own.columnBlock, columnBlocks)),
            [&] { buildPieces(e); });
}

void TileMatrices::buildPieces(TileMatrixTask &e) const {
  VectorBuilder &code = e.code;
  Value depth = e.factors.a.depth;
  if (isOnePiece())
    return buildPiece(e, code.index(0),
                      {depth, code.boolean(true), code.boolean(true)});
  // A depth of 0 also stores results.
  Value end = code.max(depth, code.index(1));
  code.loop(code.index(0), end, pieceDepth, [&](Value start) {
    Value next = code.add(start, pieceDepth);
    buildPiece(e, start,
               {code.sub(code.min(next, depth), start),
                code.equal(start, code.index(0)),
                code.less(code.sub(end, 1), next)});
  });
}

void TileMatrices::buildPiece(TileMatrixTask &e, Value start,
                              const TilePiece &piece) const {
  VectorBuilder &code = e.code;
  auto pieceOf = [&](TileMatrix matrix) {
    matrix.start = code.add(matrix.start, code.mul(start, matrix.depthStride));
    matrix.depth = piece.depth;
    return matrix;
  };
  const TileMatrix a = pieceOf(e.factors.a), b = pieceOf(e.factors.b);
  Value isFirst = isOnePiece() ? Value() : piece.isFirst;
  e.factors.anyRow = e.operands.stageRows(a, rows, isFirst);
  if (e.request.zeros.rhs)
    e.operands.sumRows(a, rows, e.request.zeros.rhs, dot, isFirst);
  code.loop(code.index(0),
            code.div(code.add(e.columns, panelColumns - 1), panelColumns), 1,
            [&](Value number) { buildPanel(e, b, number, piece); });
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

void TileMatrices::buildPanel(TileMatrixTask &e, const TileMatrix &b,
                              Value number, const TilePiece &piece) const {
  VectorBuilder &code = e.code;
  TilePanel panel{code.index(0),
                  code.add(e.firstColumn, code.mul(number, panelColumns)),
                  panelTiles(),
                  {}};
  Value left = code.sub(e.factors.b.count, panel.column);
  Value tiles = code.min(code.index(panel.tiles),
                         code.div(code.add(left, lanes - 1), lanes));
  Value magnitude =
      e.operands.packColumns(b, panel.column, tiles, columns, panel.number);
  keepMagnitude(e, panel, number, magnitude, piece);
  sumColumns(e, b, panel, number, piece);
  Value groups = code.div(code.add(e.factors.a.count, pairRows - 1), pairRows);
  code.loop(code.index(0), groups, 1, [&](Value group) {
    Value first = code.mul(group, pairRows);
    Value place = code.add(
        code.mul(code.add(code.mul(number, rows.positions / pairRows), group),
                 linesOfSums),
        waiting);
    e.operands.multiplyPiece(e.registers, e.factors, panel, first, piece,
                             place);
    code.when(piece.isLast, [&] { finish(e, panel, number, first); });
  });
}

/// Keeps the largest magnitude of all pieces so far.
void TileMatrices::keepMagnitude(TileMatrixTask &e, TilePanel &panel,
                                 Value number, Value magnitude,
                                 const TilePiece &piece) const {
  VectorBuilder &code = e.code;
  if (arithmetic.isOfBytes())
    return;
  if (!isOnePiece()) {
    Type word = code.builder.getI32Type();
    Value place = wordAt(e.code, magnitudes, number);
    Value before = code.create<arith::BitcastOp>(
        word, code.create<memref::LoadOp>(e.scratch, place));
    magnitude = code.select(piece.isFirst, magnitude,
                            code.create<arith::MaxUIOp>(magnitude, before));
    code.builder.create<memref::StoreOp>(
        code.loc,
        code.create<arith::BitcastOp>(code.builder.getF32Type(), magnitude),
        e.scratch, place);
  }
  panel.areUnusual = e.operands.isUnusual(magnitude);
}

/// Adds the column sums of int8 panels over all pieces so far.
void TileMatrices::sumColumns(TileMatrixTask &e, const TileMatrix &b,
                              const TilePanel &panel, Value number,
                              const TilePiece &piece) const {
  VectorBuilder &code = e.code;
  if (!e.request.zeros.lhs)
    return;
  auto floats = e.floats();
  for (int64_t tile = 0; tile < panel.tiles; ++tile) {
    Value place = wordAt(
        e.code, byteSums,
        code.mul(code.add(code.mul(number, TileColumns::tiles), tile), lanes));
    Value sums = e.operands.sumColumns(b, columns, panel.number, tile, dot);
    if (!isOnePiece())
      sums = code.addVectors(
          sums, code.select(piece.isFirst, code.zero(e.words()),
                            code.bitsAs(code.load(e.scratch, place, floats),
                                        e.words())));
    code.store(code.bitsAs(sums, floats), e.scratch, place);
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// \p row is relative to the task.
void TileMatrices::store(TileMatrixTask &e, Value row, Value column,
                         Value sums) const {
  VectorBuilder &code = e.code;
  Value inMatrix = code.add(e.firstRow, row);
  e.store(inMatrix, column,
          code.add(e.origin.c,
                   code.add(code.mul(inMatrix, shape.cRowStride), column)),
          sums);
}

/// Passes the accumulators of a group of tiles and a panel, which are on the
/// stack, to the epilogue.
void TileMatrices::finish(TileMatrixTask &e, const TilePanel &panel,
                          Value number, Value first) const {
  VectorBuilder &code = e.code;
  Value count =
      code.min(code.index(pairRows), code.sub(e.factors.a.count, first));
  if (!arithmetic.isOfBytes())
    e.operands.redoUnusual(e.registers, e.factors, panel, first, count);
  Value ofColumns =
      wordAt(e.code, byteSums, code.mul(number, TileColumns::tiles * lanes));
  code.loop(code.index(0), count, 1, [&](Value i) {
    finishRow(e, panel, ofColumns, code.add(first, i),
              e.registers.sumsAt(0, i));
  });
}

/// \p ofColumns is the location of the column sums, \p place that of the row's
/// accumulators on the stack.
void TileMatrices::finishRow(TileMatrixTask &e, const TilePanel &panel,
                             Value ofColumns, Value row, Value place) const {
  VectorBuilder &code = e.code;
  const bool areBytes = arithmetic.isOfBytes();
  auto splat = [&](Value number) {
    return code.create<vector::SplatOp>(e.words(), number);
  };
  Value unscale =
      areBytes ? Value() : e.operands.unscaleOf(e.factors, panel, row);
  // zeroA k zeroB
  Value whole;
  if (e.request.zeros.lhs && e.request.zeros.rhs)
    whole = splat(code.create<arith::MulIOp>(
        code.create<arith::MulIOp>(e.request.zeros.lhs, e.request.zeros.rhs),
        code.create<arith::IndexCastOp>(code.builder.getI32Type(),
                                        e.factors.a.depth)));
  auto accumulatorsOf = [&](Value c) {
    Value sums =
        code.load(e.registers.sums(), code.add(place, code.mul(c, lanes)),
                  areBytes ? e.words() : e.floats());
    if (unscale)
      return code.mulVectors(sums, unscale);
    if (e.request.zeros.rhs)
      sums = code.addVectors(sums, e.operands.sumOfRow(rows, row));
    if (e.request.zeros.lhs)
      sums = code.subVectors(
          sums,
          code.create<arith::MulIOp>(
              splat(e.request.zeros.lhs),
              code.bitsAs(code.load(e.scratch,
                                    code.add(ofColumns, code.mul(c, lanes)),
                                    e.floats()),
                          e.words())));
    return whole ? code.addVectors(sums, whole) : sums;
  };
  Value left = code.min(code.index(panel.tiles * lanes),
                        code.sub(e.factors.b.count, panel.column));
  Value tiles = code.div(left, lanes);
  code.loop(code.index(0), tiles, 1, [&](Value c) {
    store(e, row, code.add(panel.column, code.mul(c, lanes)),
          accumulatorsOf(c));
  });
  if (shape.dynamic->columns % lanes == 0)
    return;
  Value rest = code.rem(left, lanes);
  code.when(code.less(code.index(0), rest), [&] {
    finishRest(e, panel, tiles, rest, row, accumulatorsOf(tiles));
  });
}

/// The first \p left columns of tile \p c.
void TileMatrices::finishRest(TileMatrixTask &e, const TilePanel &panel,
                              Value c, Value left, Value row,
                              Value sums) const {
  VectorBuilder &code = e.code;
  Value column = code.add(panel.column, code.mul(c, lanes));
  if (shape.dynamic->columns.isStatic())
    return store(e, row, column,
                 code.first(sums, shape.dynamic->columns.value() % lanes));
  const Type element = cast<VectorType>(sums.getType()).getElementType();
  Value kept =
      createScratch(code.builder, code.loc, MemRefType::get({lanes}, element));
  code.store(sums, kept, code.index(0));
  // By halves, quarters, and so on.
  for (int64_t count = lanes / 2; count > 0; count /= 2) {
    Value done = code.mul(code.div(left, 2 * count), 2 * count);
    code.when(code.less(code.index(count - 1), code.sub(left, done)), [&] {
      store(e, row, code.add(column, done),
            code.load(kept, done, VectorType::get({count}, element)));
    });
  }
}
