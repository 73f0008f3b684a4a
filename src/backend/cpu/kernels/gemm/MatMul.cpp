//===- MatMul.cpp - generator of matmuls ----------------------------------===//

#include "backend/cpu/kernels/gemm/MatMul.h"

#include "backend/cpu/codegen/KernelFunction.h"

#include <utility>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void MatMul::build(OpBuilder &builder, Location location, Value task, Value a,
                   Value b, Value c, Value scratch,
                   const MatMulEpilogue &epilogue, const MatMulOrigin *origin,
                   int64_t stage, const MatMulNumbers &numbers,
                   const MatMulExtents &extents,
                   const MatMulZeros &zeros) const {
  VectorBuilder code(builder, location);
  Operands operands{code.flatten(a),
                    code.flatten(b),
                    code.flatten(c),
                    scratch ? code.flatten(scratch) : Value(),
                    {},
                    code.index(0),
                    code.index(0),
                    code.index(0),
                    {},
                    &epilogue,
                    firstStep(stage),
                    firstStep(stage + 1),
                    {},
                    extents,
                    zeros,
                    {}};
  if (numbers.scales)
    operands.numbers.scales = code.flatten(numbers.scales);
  if (numbers.zeros)
    operands.numbers.zeros = code.flatten(numbers.zeros);
  if (origin) {
    operands.aBase = origin->a;
    operands.bBase = origin->b;
    operands.cBase = origin->c;
  }
  if (!shape.dynamicRows.empty()) {
    operands.extents.rows = code.index(1);
    for (Dim size : shape.dynamicRows)
      operands.extents.rows = code.mul(operands.extents.rows, size);
  }
  // In as many parts as hold the rows that there are.
  auto dynamicUnits = [&] {
    Value tiles = dynamicTiles().count(code, operands.extents.rows);
    return copiesPanels()
               ? code.div(code.add(tiles, rowBlocks.size - 1), rowBlocks.size)
               : tiles;
  };
  auto decodeTask = [&]() -> TaskOrder::Task {
    if (!hasDynamicRows() || (copiesPanels() && !widensPanels()))
      return order.decode(code, task);
    if (order.panels == 1)
      return {code.index(0), task, code.index(0)};
    return order.decode(code, task, dynamicUnits());
  };
  const TaskOrder::Task place = decodeTask();

  if (widensPanels() && !shape.dynamicRows.empty()) {
    // Of few rows there is one task a panel, which takes one tile after the
    // other.
    MatMulShape inTiles = shape;
    inTiles.widensInTiles = true;
    const MatMul few(inTiles, target, packing);
    auto buildFew = [&] {
      Value tiles = few.dynamicTiles().count(code, operands.extents.rows);
      code.loop(code.index(0), tiles, 1, [&](Value tile) {
        Value part = code.add(code.mul(tile, order.panels), place.panel);
        few.build(builder, location, part, a, b, c, Value(), epilogue, nullptr,
                  0, numbers);
      });
    };
    auto buildMany = [&] { buildPanels(code, operands, place); };
    Value isFew =
        code.less(operands.extents.rows, code.index(leastWidenedRows(packing)));
    return code.when(isFew, buildFew, buildMany);
  }
  buildPanels(code, operands, place);
}

void MatMul::buildPanels(VectorBuilder &code, Operands &operands,
                         const TaskOrder::Task &place) const {
  Value rest = place.outer;
  operands.position.batch.resize(shape.batch.size());
  for (size_t d = shape.batch.size(); d-- > 0;) {
    const MatMulShape::BatchDim &dim = shape.batch[d];
    Value i = d == 0 ? rest : code.rem(rest, dim.size);
    rest = code.div(rest, dim.size);
    operands.position.batch[d] = i;
    auto advance = [&](Value &base, int64_t stride) {
      base = code.add(base, code.mul(i, stride));
    };
    advance(operands.aBase, dim.aStride);
    advance(operands.bBase, dim.bStride);
    advance(operands.cBase, dim.cStride);
  }

  auto emitPanel = [&](int64_t vectors, int64_t valid) {
    Panel panel{
        code.mul(place.panel, panelVectors * lanes),
        vectors,
        valid,
        operands.b,
        Value(),
        vectors * vectorElements(),
        true,
        code.mul(place.panel, shape.blockCount() * panelVectors * lanes),
        Value(),
        place.panel};
    bringPanel(code, operands, panel, place.panel);
    buildPanel(code, operands, panel, place.unit);
  };

  if (shape.clipsColumns) {
    Value firstColumn = code.mul(place.panel, panelVectors * lanes);
    Value left = code.sub(operands.extents.columns, firstColumn);
    code.when(
        code.less(left, code.index(panelVectors * lanes)),
        [&] { buildClipped(code, operands, firstColumn, left, place.unit); },
        [&] { emitPanel(panelVectors, lanes); });
    return;
  }

  // Only the last panel can have another width.
  int64_t lastVectors = allVectors - (order.panels - 1) * panelVectors;
  int64_t lastValid = shape.n - (allVectors - 1) * lanes;
  bool lastDiffers = lastVectors != panelVectors || lastValid != lanes;
  if (!lastDiffers || order.panels == 1)
    return emitPanel(lastVectors, lastValid);
  code.when(
      code.less(place.panel, code.own(order.panels - 1)),
      [&] { emitPanel(panelVectors, lanes); },
      [&] { emitPanel(lastVectors, lastValid); });
}

/// Sets the location of panel \p panel, and copies it there if its layout
/// differs.
void MatMul::bringPanel(VectorBuilder &code, Operands &operands, Panel &panel,
                        Value number) const {
  if (packsBytes())
    return packBytes(code, operands, panel);
  switch (shape.bLayout) {
  case MatMulShape::BLayout::Packed:
    panel.offset = code.mul(number, code.own(panelElements()));
    if (!widensPanels())
      break;
    panel.source = operands.scratch;
    widenPanel(code, operands, panel,
               std::exchange(panel.offset,
                             code.index(-operands.firstDepth * panel.stride)));
    break;
  case MatMulShape::BLayout::Rows:
    panel.offset = code.add(operands.bBase, panel.firstColumn);
    panel.stride = shape.bStride;
    panel.isPadded = false;
    break;
  case MatMulShape::BLayout::CopiedRows:
    panel.source = operands.scratch;
    panel.offset = code.index(0);
    copyRows(code, operands, panel);
    break;
  case MatMulShape::BLayout::Transposed:
    panel.source = operands.scratch;
    panel.offset = code.index(0);
    packTransposed(code, operands, panel);
    break;
  }
}

void MatMul::buildClipped(VectorBuilder &code, Operands &operands,
                          Value firstColumn, Value left, Value unit) const {
  Value vectors =
      code.div(code.add(code.max(left, code.index(0)), lanes - 1), lanes);
  code.loop(code.index(0), vectors, 1, [&](Value vector) {
    Value column = code.mul(vector, lanes);
    Panel panel{code.add(firstColumn, column),
                1,
                lanes,
                operands.b,
                Value(),
                shape.bStride,
                false,
                Value(),
                code.sub(left, column),
                Value()};
    if (packsBytes() || shape.bLayout == MatMulShape::BLayout::Transposed) {
      panel.stride = vectorElements();
      panel.isPadded = true;
    }
    bringPanel(code, operands, panel, Value());
    buildPanel(code, operands, panel, unit);
  });
}

void MatMul::finishClipped(VectorBuilder &code, Operands &operands,
                           const Panel &panel, Value row, Value sums) const {
  auto type = cast<VectorType>(sums.getType());
  Value kept = createScratch(code.builder, code.loc,
                             MemRefType::get({lanes}, type.getElementType()));
  MatMulPosition &position = operands.position;
  position.row = row;
  auto store = [&](Value vector, Value column) {
    position.column = code.add(panel.firstColumn, column);
    position.offset =
        code.add(code.add(operands.cBase,
                          code.mul(position.row, code.own(shape.cRowStride))),
                 position.column);
    if (*operands.epilogue)
      vector = (*operands.epilogue)(code.builder, code.loc, vector, position);
    code.store(vector, operands.c, position.offset);
  };
  code.when(
      code.less(panel.left, code.index(lanes)),
      [&] {
        code.store(sums, kept, code.index(0));
        // By halves, quarters, and so on.
        for (int64_t count = lanes / 2; count > 0; count /= 2) {
          Value done = code.mul(code.div(panel.left, 2 * count), 2 * count);
          Value isLeft =
              code.less(code.index(count - 1), code.sub(panel.left, done));
          code.when(isLeft, [&] {
            store(code.load(kept, done,
                            VectorType::get({count}, type.getElementType())),
                  done);
          });
        }
      },
      [&] { store(sums, code.index(0)); });
}

void MatMul::buildPanel(VectorBuilder &code, Operands &operands,
                        const Panel &panel, Value unit) const {
  auto emitUnit = [&](Value unit) {
    operands.unit = unit;
    if (hasDynamicRows())
      return buildDynamicTile(code, operands, panel, unit);
    buildClosedTile(code, operands, panel, unit);
  };
  if (!copiesPanels())
    return emitUnit(unit);
  Value end = rowBlocks.start(code, code.add(unit, 1));
  if (hasDynamicRows())
    end = code.min(end, dynamicTiles().count(code, operands.extents.rows));
  code.loop(rowBlocks.start(code, unit), end, 1,
            [&](Value tile) { emitUnit(tile); });
}

/// Both heights of a tile share the code of a long epilogue.
void MatMul::buildClosedTile(VectorBuilder &code, Operands &operands,
                             const Panel &panel, Value unit) const {
  Value firstRow = rowTiles.start(code, unit);
  Value rows = code.index(rowTiles.size);
  if (rowTiles.longer != 0)
    rows = code.select(code.less(unit, code.index(rowTiles.longer)),
                       code.index(rowTiles.size + 1), rows);
  sumRows(code, operands, firstRow, rows, rowTiles.sizeOf(0));
  if (rowTiles.longer == 0 || !finishesInLoop(operands, panel))
    return rowTiles.dispatch(code, unit, [&](int64_t rows) {
      buildTile(code, operands, panel, firstRow, rows);
    });
  WaitingRows waiting(code,
                      arithmetic.sumType(code.builder.getContext(), lanes),
                      rowTiles.size + 1, panel.vectors);
  rowTiles.dispatch(code, unit, [&](int64_t rows) {
    waiting.keep(code, code.index(0),
                 reduce(code, operands, panel, firstRow, rows));
  });
  waiting.forEach(code, rows, [&](Value row, ValueRange sums) {
    finishRow(code, operands, panel, code.add(firstRow, row), sums);
  });
}

Value MatMul::tasksFor(VectorBuilder &code, Value rows) const {
  return code.mul(dynamicTiles().count(code, rows), order.panels);
}

/// All heights of a tile share the code of a long epilogue, or of one after a
/// subroutine.
void MatMul::buildDynamicTile(VectorBuilder &code, Operands &operands,
                              const Panel &panel, Value unit) const {
  const DynamicRowTiles tiles =
      isFewOfMany(panel) ? dynamicTiles().withTwoHeights() : dynamicTiles();
  const DynamicRowTiles::Tile tile =
      tiles.tile(code, operands.extents.rows, unit);
  sumRows(code, operands, tile.first, tile.rows, tiles.mostComputed());
  const bool calls = callsSums(panel);
  const bool sharesEpilogue = calls || finishesInLoop(operands, panel);
  const SmallVector<Grouping> groupings = groupingsOf(code, tile, panel);
  // Calls \p use with the first row of each piece.
  auto forOwnPieces = [&](auto use) {
    forPieces(code, tiles, tile, panel, groupings,
              [&](const DynamicRowTiles::Piece &piece, const Panel &panel) {
                operands.lastRow = piece.last;
                operands.sureRows = piece.sure;
                use(piece, panel, code.add(tile.first, piece.start));
                operands.lastRow = Value();
              });
  };
  if (!sharesEpilogue)
    return forOwnPieces([&](const DynamicRowTiles::Piece &piece,
                            const Panel &panel, Value first) {
      buildTile(code, operands, panel, first, piece.height);
    });
  int64_t most = tiles.mostComputed();
  for (const Grouping &each : groupings)
    most = std::max(most, each.group.rows * each.group.panels);
  WaitingRows waiting(code,
                      arithmetic.sumType(code.builder.getContext(), lanes),
                      most, panel.vectors);
  // The panels that are finished at once.
  Value finished = code.index(1);
  for (const Grouping &each : llvm::reverse(groupings))
    finished = code.select(
        each.isGrouped,
        code.select(each.isFirst, code.index(each.group.panels), code.index(0)),
        finished);
  if (calls)
    code.when(code.less(code.index(0), finished), [&] {
      callSums(code, operands, panel, tiles, tile, groupings, finished,
               waiting);
    });
  else
    forOwnPieces([&](const DynamicRowTiles::Piece &piece, const Panel &panel,
                     Value first) {
      waiting.keep(code, piece.start,
                   reduce(code, operands, panel, first, piece.height));
    });
  code.loop(code.index(0), finished, 1, [&](Value number) {
    Panel each = panel;
    each.firstColumn =
        code.add(panel.firstColumn, code.mul(number, panelColumns()));
    waiting.forEach(
        code, tile.rows,
        [&](Value row, ValueRange sums) {
          finishRow(code, operands, each, code.add(tile.first, row), sums);
        },
        number, finished);
  });
}

/// Calls \p emit for each way in which \p panel may be computed: for each
/// height that rows of \p tile may have, and for groups of panels that begin
/// with it.
void MatMul::forPieces(
    VectorBuilder &code, const DynamicRowTiles &tiles,
    const DynamicRowTiles::Tile &tile, const Panel &panel,
    ArrayRef<Grouping> groupings,
    llvm::function_ref<void(const DynamicRowTiles::Piece &, const Panel &)>
        emit) const {
  auto build = [&](auto &&self, ArrayRef<Grouping> left, int64_t least) {
    if (left.empty())
      return tiles.dispatch(
          code, tile,
          [&](const DynamicRowTiles::Piece &piece) { emit(piece, panel); },
          least);
    const auto [rows, panels] = left[0].group;
    Panel all = panel;
    all.vectors *= panels;
    auto buildGroup = [&] {
      Value last =
          rows > least ? code.add(tile.first, code.sub(tile.rows, 1)) : Value();
      emit({rows, code.index(0), last, least}, all);
    };
    const int64_t leastOfOthers = left[0].takesAll ? rows + 1 : least;
    code.when(
        left[0].isGrouped, [&] { code.when(left[0].isFirst, buildGroup); },
        [&] { self(self, left.drop_front(), leastOfOthers); });
  };
  build(build, groupings, 1);
}

/// The groups that \p panel may be in, of which the first one counts that has
/// rows enough for \p tile.
SmallVector<MatMul::Grouping>
MatMul::groupingsOf(VectorBuilder &code, const DynamicRowTiles::Tile &tile,
                    const Panel &panel) const {
  const bool isWhole = panel.vectors == panelVectors && panel.valid == lanes;
  const int64_t whole = shape.n / panelColumns();
  SmallVector<Grouping> groupings;
  if (!panel.number || !isWhole)
    return groupings;
  for (const PanelGroup &group : panelGroups) {
    const int64_t grouped = whole / group.panels * group.panels;
    if (grouped == 0)
      continue;
    Value isGrouped = code.less(tile.rows, code.index(group.rows + 1));
    if (grouped < whole)
      isGrouped =
          code.both(isGrouped, code.less(panel.number, code.own(grouped)));
    groupings.push_back(
        {group, isGrouped,
         code.equal(code.rem(panel.number, group.panels), code.index(0)),
         grouped == whole});
  }
  return groupings;
}

/// Whether \p panel is the last one, with another width, of so many that its
/// time does not matter.
bool MatMul::isFewOfMany(const Panel &panel) const {
  const bool isCutAlike = panel.vectors == panelVectors && panel.valid == lanes;
  return !isCutAlike && order.panels > 4;
}

bool MatMul::endsSums(const Operands &operands) const {
  return operands.endDepth == arithmetic.steps(shape.k);
}

/// Whether the epilogue is a loop over rows: because it has too much code to
/// repeat for each row, or because it needs registers that hold accumulators
/// while columns are widened.
bool MatMul::finishesInLoop(const Operands &operands,
                            const Panel &panel) const {
  const bool hasNoRoom = arithmetic.widensRhs() && *operands.epilogue;
  return panel.left ||
         (endsSums(operands) && (operands.epilogue->isLong || hasNoRoom));
}

void MatMul::buildTile(VectorBuilder &code, Operands &operands,
                       const Panel &panel, Value firstRow, int64_t rows) const {
  SmallVector<Value> sums = reduce(code, operands, panel, firstRow, rows);
  auto finish = [&](Value row, ValueRange ofRow) {
    finishRow(code, operands, panel, code.add(firstRow, row), ofRow);
  };
  if (finishesInLoop(operands, panel))
    return forRows(code, sums, panel.vectors, finish);
  for (int64_t row = 0; row < rows; ++row) {
    auto finishThis = [&] {
      finish(code.index(row),
             ValueRange(sums).slice(row * panel.vectors, panel.vectors));
    };
    // An epilogue may read the memory that it overwrites, so no row is finished
    // twice.
    if (operands.lastRow && row >= operands.sureRows)
      code.when(code.less(code.add(firstRow, row - 1), operands.lastRow),
                finishThis);
    else
      finishThis();
  }
}

/// The index of a tile's row; the last existing row replaces those after it.
Value MatMul::rowAt(VectorBuilder &code, const Operands &operands,
                    Value firstRow, Value row) const {
  Value at = code.add(firstRow, row);
  return operands.lastRow ? code.min(at, operands.lastRow) : at;
}

/// Stores a row of a tile.
void MatMul::finishRow(VectorBuilder &code, Operands &operands,
                       const Panel &panel, Value row, ValueRange sums) const {
  if (panel.left)
    return finishClipped(code, operands, panel, row, sums[0]);
  const bool isLast = endsSums(operands);
  forRow(code, operands, panel, row, [&](size_t i, int64_t valid) {
    Value result = code.first(sums[i], valid);
    if (isLast && *operands.epilogue)
      result = (*operands.epilogue)(code.builder, code.loc, result,
                                    operands.position);
    code.store(result, operands.c, operands.position.offset);
  });
}

void MatMul::forRow(
    VectorBuilder &code, Operands &operands, const Panel &panel, Value row,
    llvm::function_ref<void(size_t i, int64_t valid)> body) const {
  MatMulPosition &position = operands.position;
  position.row = row;
  Value rowOffset =
      code.add(operands.cBase, code.mul(row, code.own(shape.cRowStride)));
  for (int64_t v = 0; v < panel.vectors; ++v) {
    position.column = code.add(panel.firstColumn, v * lanes);
    position.offset = code.add(rowOffset, position.column);
    body(v, v + 1 == panel.vectors ? panel.valid : lanes);
  }
}

void MatMul::forTile(
    VectorBuilder &code, Operands &operands, const Panel &panel, Value firstRow,
    int64_t rows,
    llvm::function_ref<void(size_t i, int64_t valid)> body) const {
  for (int64_t row = 0; row < rows; ++row)
    forRow(
        code, operands, panel, rowAt(code, operands, firstRow, code.index(row)),
        [&](size_t i, int64_t valid) { body(row * panel.vectors + i, valid); });
}
