//===- MatMulTiles.cpp - tiles of rows, and what follows them ------------===//

#include "backend/cpu/kernels/gemm/MatMulTiles.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/codegen/Subroutine.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

void MatMulTiles::finishClipped(const MatMulPanel &panel, Value row,
                                Value sums) const {
  auto type = cast<VectorType>(sums.getType());
  Value kept = createScratch(code.builder, code.loc,
                             MemRefType::get({lanes}, type.getElementType()));
  MatMulPosition position{operands.batch, row, {}, {}};
  auto store = [&](Value vector, Value column) {
    position.column = code.add(panel.firstColumn, column);
    position.offset =
        code.add(code.add(operands.origin.c,
                          code.mul(position.row, code.own(shape.cRowStride))),
                 position.column);
    if (operands.epilogue)
      vector = operands.epilogue(code.builder, code.loc, vector, position);
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

/// Stores a row of a tile.
void MatMulTiles::finishRow(const MatMulPanel &panel, Value row,
                            ValueRange sums) const {
  if (panel.left)
    return finishClipped(panel, row, sums[0]);
  const bool isLast = endsSums();
  forRow(
      panel, row, [&](size_t i, int64_t valid, const MatMulPosition &position) {
        Value result = code.first(sums[i], valid);
        if (isLast && operands.epilogue)
          result = operands.epilogue(code.builder, code.loc, result, position);
        code.store(result, operands.c, position.offset);
      });
}

/// Whether the epilogue is a loop over rows: because it has too much code to
/// repeat for each row, or because it needs registers that hold accumulators
/// while columns are widened.
bool MatMulTiles::finishesInLoop(const MatMulPanel &panel) const {
  const bool hasNoRoom = arithmetic.widensRhs() && operands.epilogue;
  return panel.left || (endsSums() && (operands.epilogue.isLong || hasNoRoom));
}

void MatMulTiles::buildRows(const MatMulPanel &panel,
                            const MatMulRows &rows) const {
  SmallVector<Value> sums = reduce(panel, rows);
  auto finish = [&](Value row, ValueRange ofRow) {
    finishRow(panel, code.add(rows.first, row), ofRow);
  };
  if (finishesInLoop(panel))
    return forRows(code, sums, panel.vectors, finish);
  for (int64_t row = 0; row < rows.count; ++row) {
    auto finishThis = [&] {
      finish(code.index(row),
             ValueRange(sums).slice(row * panel.vectors, panel.vectors));
    };
    // An epilogue may read the memory that it overwrites, so no row is finished
    // twice.
    if (rows.mayLack(row))
      code.when(code.less(code.add(rows.first, row - 1), rows.last),
                finishThis);
    else
      finishThis();
  }
}

/// Both heights of a tile share the code of a long epilogue.
void MatMulTiles::buildStaticTile(const MatMulPanel &panel) {
  Value unit = operands.unit;
  Value firstRow = rowTiles.start(code, unit);
  Value rows = code.index(rowTiles.size);
  if (rowTiles.longer != 0)
    rows = code.select(code.less(unit, code.index(rowTiles.longer)),
                       code.index(rowTiles.size + 1), rows);
  sumRows(firstRow, rows, rowTiles.sizeOf(0));
  if (rowTiles.longer == 0 || !finishesInLoop(panel))
    return rowTiles.dispatch(
        code, unit, [&](int64_t rows) { buildRows(panel, {firstRow, rows}); });
  WaitingRows waiting(code,
                      arithmetic.sumType(code.builder.getContext(), lanes),
                      rowTiles.size + 1, panel.vectors);
  rowTiles.dispatch(code, unit, [&](int64_t rows) {
    waiting.keep(code, code.index(0), reduce(panel, {firstRow, rows}));
  });
  waiting.forEach(code, rows, [&](Value row, ValueRange sums) {
    finishRow(panel, code.add(firstRow, row), sums);
  });
}

//===----------------------------------------------------------------------===//
// Dynamic rows
//===----------------------------------------------------------------------===//

/// For this many steps, the cost of accumulators in memory is negligible.
static constexpr int64_t leastSteps = 48;

SmallVector<MatMulTiles::Grouping>
MatMulTiles::groupingsOf(const DynamicRowTiles::Tile &tile,
                         const MatMulPanel &panel) const {
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

void MatMulTiles::forPieces(
    const DynamicRowTiles &tiles, const DynamicRowTiles::Tile &tile,
    const MatMulPanel &panel, ArrayRef<Grouping> groupings,
    llvm::function_ref<void(const DynamicRowTiles::Piece &,
                            const MatMulPanel &)>
        emit) const {
  auto build = [&](auto &&self, ArrayRef<Grouping> left, int64_t least) {
    if (left.empty())
      return tiles.dispatch(
          code, tile,
          [&](const DynamicRowTiles::Piece &piece) { emit(piece, panel); },
          least);
    const auto [rows, panels] = left[0].group;
    MatMulPanel all = panel;
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

bool MatMulTiles::callsSums(const MatMulPanel &panel) const {
  return hasDynamicRows() && shape.bLayout == MatMulShape::BLayout::Packed &&
         !widensPanels() && shape.blocks.size == 0 && !panel.left &&
         shape.aColumnStride.isStatic() &&
         arithmetic.steps(shape.k) >= leastSteps;
}

void MatMulTiles::callSums(const MatMulPanel &panel,
                           const DynamicRowTiles &tiles,
                           const DynamicRowTiles::Tile &tile,
                           ArrayRef<Grouping> groupings, Value panels,
                           const WaitingRows &waiting) const {
  SmallVector<Value> arguments = {
      operands.a,       panel.source,
      waiting.memory(), code.add(operands.origin.a, rowOfA(tile.first)),
      panel.offset,     tile.rows};
  if (!groupings.empty())
    arguments.push_back(panels);
  if (fetchesNext(panel))
    arguments.push_back(firstFetched(panel));
  if (mayTellDistances())
    arguments.push_back(code.index(shape.aRowStride));
  arguments.push_back(code.index(arithmetic.steps(shape.k)));
  auto write = [&](OpBuilder &builder, ValueRange given) {
    VectorBuilder inner(builder, code.loc);
    auto next = [&] {
      Value value = given.front();
      given = given.drop_front();
      return value;
    };
    MatMulTiles own(*this, inner);
    MatMulPanel ownPanel = panel;
    own.operands.a = next();
    own.operands.b = ownPanel.source = next();
    const WaitingRows kept(
        next(), arithmetic.sumType(builder.getContext(), lanes), panel.vectors);
    own.operands.origin.a = next();
    ownPanel.offset = next();
    const DynamicRowTiles::Tile rows{inner.index(0), next()};
    SmallVector<Grouping> ofPanels(groupings);
    Value wanted = groupings.empty() ? Value() : next();
    for (Grouping &each : ofPanels) {
      each.isGrouped =
          inner.both(inner.less(rows.rows, inner.index(each.group.rows + 1)),
                     inner.equal(wanted, inner.index(each.group.panels)));
      each.isFirst = inner.boolean(true);
    }
    if (fetchesNext(panel))
      own.operands.fetched = next();
    if (mayTellDistances())
      own.operands.rowStride = next();
    // There is at least one step, without a check.
    ownPanel.steps = inner.max(next(), inner.index(leastSteps));
    own.forPieces(
        tiles, rows, ownPanel, ofPanels,
        [&](const DynamicRowTiles::Piece &piece, const MatMulPanel &panel) {
          kept.keep(inner, piece.start,
                    own.reduce(panel, {piece.start, piece.height, piece.last,
                                       piece.sure}));
        });
  };
  callSubroutine(code.builder, code.loc, arguments, {waiting.memory()}, write);
}

/// Whether \p panel is the last one, with another width, of so many that its
/// time does not matter.
bool MatMulTiles::isFewOfMany(const MatMulPanel &panel) const {
  const bool isCutAlike = panel.vectors == panelVectors && panel.valid == lanes;
  return !isCutAlike && order.panels > 4;
}

/// All heights of a tile share the code of a long epilogue, or of one after a
/// subroutine.
void MatMulTiles::buildDynamicTile(const MatMulPanel &panel) {
  const DynamicRowTiles tiles =
      isFewOfMany(panel) ? dynamicTiles().withTwoHeights() : dynamicTiles();
  const DynamicRowTiles::Tile tile =
      tiles.tile(code, operands.extents.rows, operands.unit);
  sumRows(tile.first, tile.rows, tiles.mostComputed());
  const bool calls = callsSums(panel);
  const bool sharesEpilogue = calls || finishesInLoop(panel);
  const SmallVector<Grouping> groupings = groupingsOf(tile, panel);
  // Calls \p use with the rows of each piece.
  auto forOwnPieces = [&](auto use) {
    forPieces(
        tiles, tile, panel, groupings,
        [&](const DynamicRowTiles::Piece &piece, const MatMulPanel &panel) {
          use(piece, panel,
              MatMulRows{code.add(tile.first, piece.start), piece.height,
                         piece.last, piece.sure});
        });
  };
  if (!sharesEpilogue)
    return forOwnPieces(
        [&](const DynamicRowTiles::Piece &piece, const MatMulPanel &panel,
            const MatMulRows &rows) { buildRows(panel, rows); });
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
      callSums(panel, tiles, tile, groupings, finished, waiting);
    });
  else
    forOwnPieces([&](const DynamicRowTiles::Piece &piece,
                     const MatMulPanel &panel, const MatMulRows &rows) {
      waiting.keep(code, piece.start, reduce(panel, rows));
    });
  code.loop(code.index(0), finished, 1, [&](Value number) {
    MatMulPanel each = panel;
    each.firstColumn =
        code.add(panel.firstColumn, code.mul(number, panelColumns()));
    waiting.forEach(
        code, tile.rows,
        [&](Value row, ValueRange sums) {
          finishRow(each, code.add(tile.first, row), sums);
        },
        number, finished);
  });
}

void MatMulTiles::buildTile(const MatMulPanel &panel, Value unit) {
  operands.unit = unit;
  if (hasDynamicRows())
    buildDynamicTile(panel);
  else
    buildStaticTile(panel);
}
