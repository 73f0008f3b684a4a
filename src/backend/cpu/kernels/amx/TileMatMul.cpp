//===- TileMatMul.cpp - AMX matmuls ---------------------------------------===//

#include "backend/cpu/kernels/amx/TileMatMul.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool TileMatMul::supports(const MatMulShape &shape, const Target &target) {
  return target.hasMatrixUnits && target.f32Lanes == 16 &&
         shape.bLayout == MatMulShape::BLayout::Packed && shape.batch.empty() &&
         shape.aColumnStride == 1 && shape.blocks.size == 0;
}

TileProduct TileMatMul::productOf(int64_t positions,
                                  int64_t cutPositions) const {
  TileProductShape of;
  of.n = shape.n;
  of.k = shape.k;
  of.tileRows = tileRows;
  of.positions = positions;
  of.cutPositions = cutPositions;
  return TileProduct(of, arithmetic);
}

TileMatMul::TileMatMul(const MatMulShape &given, const Target &target,
                       const TileArithmetic &arithmetic,
                       const TileTermsOf &parts)
    : shape(given), arithmetic(arithmetic), parts(parts),
      tileRows(given.dynamicRows.empty() ? tileRowsFor(given.m) : mostTileRows),
      tiles(llvm::divideCeil(shape.m, tileRows)),
      dynamic(given.dynamicRows.empty() ? std::optional<DynamicTileTasks>()
                                        : dynamicTasksFor(target)),
      cut(dynamic ? TileTasks() : cutFor(target)),
      cutRows(
          cut.isShared
              ? productOf(tiles * tileRows).cutPositionsFor(shape.m, 1, target)
              : 0),
      product(productOf(scratchRows(), cutRows)) {
  assert(supports(shape, target));
  for (std::optional<TileTerms> *each :
       {&this->parts.operand, &this->parts.result})
    if (*each)
      (*each)->dynamicRows = shape.dynamicRows;
}

/// The rows that are staged at once.
int64_t TileMatMul::scratchRows() const {
  if (dynamic)
    return dynamic->taskRows();
  return (cut.isShared ? tiles : std::min(2 * cut.units.sizeOf(0), tiles)) *
         tileRows;
}

TileTerms TileMatMul::partsOf(int64_t columns) const {
  TileTerms of;
  of.columns = columns;
  if (dynamic)
    of.dynamicRows = shape.dynamicRows;
  else
    of.width = of.rows = shape.m;
  return of;
}

std::optional<TileTerms> TileMatMul::operandTerms() const {
  if (arithmetic.isOfBytes() || arithmetic.lhsTerms != TileTerms::parts ||
      (shape.m > 1 && shape.aRowStride != shape.k))
    return std::nullopt;
  TileTerms of = partsOf(shape.k);
  of.beyond = dynamic ? mostTileRows - 1 : tiles * tileRows - shape.m;
  return of;
}

std::optional<TileTerms> TileMatMul::resultTerms() const {
  TileTerms of = partsOf(shape.n);
  if (!dynamic)
    of.tileRows = of.unitRows = tileRows;
  return of;
}

int64_t TileMatMul::cutTasks() const {
  return cut.isShared ? llvm::divideCeil(shape.m, cutRows) : 0;
}

TileTasks TileMatMul::cutFor(const Target &target) const {
  const TileProduct whole = productOf(tiles * tileRows);
  const auto weights = double(whole.packedBytes());
  TileTasks::Costs costs;
  costs.stage = [&](int64_t units) {
    return parts.operand ? 0 : whole.stageSeconds(units * 2 * tileRows, target);
  };
  costs.shared = whole.sharedStageSeconds(tiles * tileRows, target);
  costs.weights =
      weights / (weights <= double(target.l2Bytes) / 2 ? target.rates.cache
                                                       : target.rates.memory);
  costs.products = whole.productSeconds(tiles, target);
  costs.mostUnits = target.l2Bytes / 2 / whole.stagedBytes(2 * tileRows);
  return TileTasks::choose(1, llvm::divideCeil(tiles, 2), whole.panels(),
                           costs);
}

DynamicTileTasks TileMatMul::dynamicTasksFor(const Target &target) const {
  const TileProduct pair = productOf(2 * tileRows);
  const int64_t rows =
      2 * tileRows * (target.l2Bytes / 2 / pair.stagedBytes(2 * tileRows));
  // For few rows: the time to read weights.
  return DynamicTileTasks::choose(pair.panels(), rows,
                                  double(pair.packedBytes()) /
                                          target.rates.memory +
                                      pair.productSeconds(2, target));
}

double TileMatMul::stageSeconds(const Target &target) const {
  return dynamic ? double(dynamic->chunksOf(shape.m)) *
                       product.stageSeconds(shape.m, target)
                 : cut.stageSeconds;
}

double TileMatMul::seconds(const Target &target) const {
  return product.productSeconds(tiles, target) + stageSeconds(target);
}

TileTermsGain TileMatMul::gainByTerms(const Target &target) const {
  return {stageSeconds(target), product.sharedStageSeconds(shape.m, target)};
}

SmallVector<Value> cpu::loadBlock(VectorBuilder &code, Value flat, Value offset,
                                  int64_t valid,
                                  const TileArithmetic &arithmetic) {
  OpBuilder &b = code.builder;
  const int64_t lanes = arithmetic.isOfBytes() ? 64 : 16;
  auto type = VectorType::get(
      {lanes}, arithmetic.isOfBytes() ? Type(b.getI8Type()) : b.getF32Type());
  SmallVector<Value> vectors;
  for (int64_t at = 0; at < arithmetic.blockElements(); at += lanes)
    vectors.push_back(at < valid ? code.loadFirst(flat, code.add(offset, at),
                                                  type, valid - at)
                                 : code.zero(type));
  return vectors;
}

Value TileMatMul::stageRows(VectorBuilder &code, Value a, Value firstRow,
                            Value endRow, Value firstPosition, Value carried,
                            TileProduct::Put put) const {
  const int64_t elements = arithmetic.blockElements();
  const int64_t whole = shape.k / elements, rest = shape.k % elements;
  return code.loop(
      firstRow, endRow, 1, carried, [&](Value row, ValueRange ofRows) {
        Value position = code.add(firstPosition, code.sub(row, firstRow));
        Value start = code.mul(row, shape.aRowStride);
        IndexBuilder::Carried most(ofRows);
        if (whole > 0)
          most = code.loop(
              code.index(0), code.index(whole), 1, most,
              [&](Value block, ValueRange ofBlocks) -> IndexBuilder::Carried {
                Value at = code.add(start, code.mul(block, elements));
                return {put(position, block,
                            loadBlock(code, a, at, elements, arithmetic),
                            ofBlocks[0])};
              });
        if (rest > 0)
          most[0] = put(position, code.index(whole),
                        loadBlock(code, a, code.add(start, whole * elements),
                                  rest, arithmetic),
                        most[0]);
        return most;
      })[0];
}

/// The rows and panels of a task.
struct TileMatMul::Part {
  Value firstRow, endRow;
  Value tiles; ///< Of rows.
  Value firstPanel, endPanel;
};

void TileMatMul::build(OpBuilder &builder, Location location, Value task,
                       const MatMulRequest &request) const {
  VectorBuilder code(builder, location);
  if (dynamic) {
    Value rows = code.index(1);
    for (Dim size : shape.dynamicRows)
      rows = code.mul(rows, size);
    const DynamicTileTasks::Task own = dynamic->task(code, rows, task);
    return code.when(own.isAny, [&] {
      Value count = code.sub(own.endRow, own.firstRow);
      buildPart(code,
                {own.firstRow, own.endRow,
                 code.div(code.add(count, tileRows - 1), tileRows),
                 own.firstPanel, own.endPanel},
                request);
    });
  }
  Value unit = code.div(task, cut.panels.count),
        chunk = code.rem(task, cut.panels.count);
  Value firstTile = code.mul(cut.units.start(code, unit), 2);
  Value endTile = code.min(
      code.mul(cut.units.start(code, code.add(unit, 1)), 2), code.index(tiles));
  buildPart(code,
            {code.mul(firstTile, tileRows),
             code.min(code.mul(endTile, tileRows), code.index(shape.m)),
             code.sub(endTile, firstTile), cut.panels.start(code, chunk),
             cut.panels.start(code, code.add(chunk, 1))},
            request);
}

void TileMatMul::buildPart(VectorBuilder &code, const Part &part,
                           const MatMulRequest &request) const {
  Value rows = code.flatten(request.a);
  Value firstRow = part.firstRow, endRow = part.endRow;
  // Rows have fixed positions where they were staged before.
  Value firstPosition = findsRows() ? firstRow : code.index(0);
  const TileProduct::Staged staged{
      parts.operand ? rows : code.flatten(request.scratch), code.index(0)};
  const TileProduct::Task what{staged,
                               code.flatten(request.b),
                               part.tiles,
                               part.firstPanel,
                               part.endPanel,
                               dynamic
                                   ? dynamic->taskRows() / tileRows
                                   : std::min(2 * cut.units.sizeOf(0), tiles),
                               !dynamic && tiles % 2 == 0,
                               /*zero=*/{},
                               firstRow,
                               endRow,
                               parts.operand ? &*parts.operand : nullptr};
  auto offsetOf = [&](Value row, Value column) {
    return code.add(code.mul(row, shape.cRowStride), column);
  };
  auto finish = [&](Value row, Value column, Value offset, Value sums) {
    return request.epilogue ? request.epilogue(code.builder, code.loc, sums,
                                               {{}, row, column, offset})
                            : sums;
  };
  product.build(
      code, what,
      [&](Value carried, TileProduct::Put put) {
        return stageRows(code, rows, firstRow, endRow, firstPosition, carried,
                         put);
      },
      [&] {
        Value none = code.index(0), one = code.index(1);
        TileVectorImage image;
        image.memory = rows;
        image.start = image.row = image.column = none;
        image.shift = code.sub(firstRow, firstPosition);
        image.width = image.rowStride = image.columnStride = one;
        image.imageRows = endRow;
        image.imageColumns = one;
        image.ofPixel = code.index(shape.aRowStride);
        image.ofBlock = code.index(arithmetic.blockElements());
        image.ofHalf = code.index(16);
        image.depth = code.index(shape.k);
        return image.numbers();
      },
      [&](Value tile) -> TilePlace {
        Value position = code.mul(tile, tileRows);
        Value first = code.add(firstRow, position);
        return {code.add(firstPosition, position),
                code.min(code.index(tileRows), code.sub(endRow, first)), first};
      },
      {code.flatten(request.c), offsetOf, finish,
       parts.result ? &*parts.result : nullptr, code.index(0)});
}

void TileMatMul::buildCut(OpBuilder &builder, Location location, Value task,
                          Value a, Value scratch) const {
  VectorBuilder code(builder, location);
  Value rows = code.flatten(a);
  Value first = code.mul(task, cutRows),
        end = code.min(code.add(first, cutRows), code.index(shape.m));
  product.buildCut(code, {code.flatten(scratch), code.index(0)}, task,
                   [&](Value carried, TileProduct::Put put) {
                     return stageRows(code, rows, first, end, first, carried,
                                      put);
                   });
}
