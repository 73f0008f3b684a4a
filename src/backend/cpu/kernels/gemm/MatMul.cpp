//===- MatMul.cpp - generator of matmuls ----------------------------------===//

#include "backend/cpu/kernels/gemm/MatMul.h"

#include "backend/cpu/kernels/gemm/MatMulTiles.h"

#include <utility>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// The code of a task.
class TaskCode : public MatMulTiles {
public:
  TaskCode(const MatMulPlan &plan, VectorBuilder &code,
           const MatMulRequest &request)
      : MatMulTiles(plan, code, request), request(request) {}

  void build(Value task);

private:
  TaskOrder::Task placeOf(Value task) const;
  void buildFewRows(const TaskOrder::Task &place) const;
  void bringPanel(MatMulPanel &panel, Value number) const;
  void buildPanels(const TaskOrder::Task &place);
  void buildPanel(const MatMulPanel &panel, Value unit);
  void buildClipped(Value firstColumn, Value left, Value unit);

  const MatMulRequest &request;
};

} // namespace

TaskOrder::Task TaskCode::placeOf(Value task) const {
  if (!hasDynamicRows() || (copiesPanels() && !widensPanels()))
    return order.decode(code, task);
  if (order.panels == 1)
    return {code.index(0), task, code.index(0)};
  // In as many parts as hold the rows that there are.
  Value units = dynamicTiles().count(code, operands.extents.rows);
  if (copiesPanels())
    units = code.div(code.add(units, rowBlocks.size - 1), rowBlocks.size);
  return order.decode(code, task, units);
}

void TaskCode::build(Value task) {
  const TaskOrder::Task place = placeOf(task);
  if (!widensPanels() || shape.dynamicRows.empty())
    return buildPanels(place);
  Value areFew =
      code.less(operands.extents.rows, code.index(leastWidenedRows(packing)));
  code.when(areFew, [&] { buildFewRows(place); }, [&] { buildPanels(place); });
}

/// Of few rows there is one task a panel, which takes one tile after the other,
/// and widens weights in each.
void TaskCode::buildFewRows(const TaskOrder::Task &place) const {
  MatMulShape inTiles = shape;
  inTiles.widensInTiles = true;
  const MatMul few(inTiles, target, packing);
  MatMulRequest ofTile = request;
  ofTile.scratch = {};
  Value tiles = few.dynamicTiles().count(code, operands.extents.rows);
  code.loop(code.index(0), tiles, 1, [&](Value tile) {
    Value part = code.add(code.mul(tile, order.panels), place.panel);
    few.build(code.builder, code.loc, part, ofTile);
  });
}

/// Sets the location of panel \p number, and copies it there if its layout
/// differs.
void TaskCode::bringPanel(MatMulPanel &panel, Value number) const {
  if (packsBytes())
    return packBytes(panel);
  switch (shape.bLayout) {
  case MatMulShape::BLayout::Packed:
    panel.offset = code.mul(number, code.own(panelElements()));
    if (!widensPanels())
      break;
    panel.source = operands.scratch;
    widenPanel(panel,
               std::exchange(panel.offset,
                             code.index(-operands.firstDepth * panel.stride)));
    break;
  case MatMulShape::BLayout::Rows:
    panel.offset = code.add(operands.origin.b, panel.firstColumn);
    panel.stride = shape.bStride;
    panel.isPadded = false;
    break;
  case MatMulShape::BLayout::CopiedRows:
    panel.source = operands.scratch;
    panel.offset = code.index(0);
    copyRows(panel);
    break;
  case MatMulShape::BLayout::Transposed:
    panel.source = operands.scratch;
    panel.offset = code.index(0);
    packTransposed(panel);
    break;
  }
}

void TaskCode::buildPanel(const MatMulPanel &panel, Value unit) {
  if (!copiesPanels())
    return buildTile(panel, unit);
  Value end = rowBlocks.start(code, code.add(unit, 1));
  if (hasDynamicRows())
    end = code.min(end, dynamicTiles().count(code, operands.extents.rows));
  code.loop(rowBlocks.start(code, unit), end, 1,
            [&](Value tile) { buildTile(panel, tile); });
}

/// Panels of one vector each, for the \p left columns after whole panels.
void TaskCode::buildClipped(Value firstColumn, Value left, Value unit) {
  Value vectors =
      code.div(code.add(code.max(left, code.index(0)), lanes - 1), lanes);
  code.loop(code.index(0), vectors, 1, [&](Value vector) {
    Value column = code.mul(vector, lanes);
    MatMulPanel panel{code.add(firstColumn, column),
                      1,
                      lanes,
                      operands.b,
                      Value(),
                      shape.bStride,
                      false,
                      Value(),
                      code.sub(left, column),
                      Value()};
    if (packsBytes() || shape.isTransposed()) {
      panel.stride = vectorElements();
      panel.isPadded = true;
    }
    bringPanel(panel, Value());
    buildPanel(panel, unit);
  });
}

void TaskCode::buildPanels(const TaskOrder::Task &place) {
  if (!shape.dynamic)
    operands.batch = shape.toMatrix(code, place.outer, operands.origin);

  auto emitPanel = [&](int64_t vectors, int64_t valid) {
    MatMulPanel panel{
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
    bringPanel(panel, place.panel);
    buildPanel(panel, place.unit);
  };

  if (shape.clipsColumns) {
    Value firstColumn = code.mul(place.panel, panelVectors * lanes);
    Value left = code.sub(operands.extents.columns, firstColumn);
    code.when(
        code.less(left, code.index(panelVectors * lanes)),
        [&] { buildClipped(firstColumn, left, place.unit); },
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

void MatMul::buildTask(OpBuilder &builder, Location location, Value task,
                       const MatMulRequest &request) const {
  VectorBuilder code(builder, location);
  TaskCode(*this, code, request).build(task);
}

/// Of dynamic sizes.
void MatMul::buildBlock(OpBuilder &builder, Location location, Value task,
                        const MatMulRequest &request) const {
  VectorBuilder code(builder, location);
  const MatMulShape::Block own = shape.block(code, task);
  Value firstRow = code.mul(own.rowBlock, MatMulShape::taskRows),
        firstColumn = code.mul(own.columnBlock, MatMulShape::taskColumns);
  MatMulRequest part = request;
  part.origin = {
      code.add(own.origin.a, code.mul(firstRow, shape.aRowStride)),
      code.add(
          own.origin.b,
          code.mul(firstColumn, shape.isTransposed() ? shape.bStride : Dim(1))),
      code.add(own.origin.c,
               code.add(code.mul(firstRow, shape.cRowStride), firstColumn))};
  if (request.epilogue)
    part.epilogue = [&](OpBuilder &inner, Location at, Value vector,
                        const MatMulPosition &position) {
      VectorBuilder code(inner, at);
      MatMulPosition whole = position;
      whole.batch = own.batch;
      whole.row = code.add(position.row, firstRow);
      whole.column = code.add(position.column, firstColumn);
      return request.epilogue(inner, at, vector, whole);
    };
  part.epilogue.isLong = request.epilogue.isLong;

  part.extents = {code.min(code.index(shape.m), code.sub(own.rows, firstRow)),
                  code.min(code.index(MatMulShape::taskColumns),
                           code.sub(own.columns, firstColumn)),
                  shape.givenDepth ? code.index(shape.dynamic->depth)
                                   : Value()};
  Value panels =
      shape.clipsColumns
          ? code.div(code.add(part.extents.columns, panelColumns() - 1),
                     panelColumns())
          : code.index(order.panels);
  // A task that packs its columns computes all rows.
  Value parts = copiesPanels() ? panels : tasksFor(code, part.extents.rows);
  code.loop(code.index(0), parts, 1,
            [&](Value number) { buildTask(builder, location, number, part); });
}

void MatMul::build(OpBuilder &builder, Location location, Value task,
                   const MatMulRequest &request) const {
  if (shape.dynamic)
    buildBlock(builder, location, task, request);
  else
    buildTask(builder, location, task, request);
}

Value MatMul::tasksFor(VectorBuilder &code, Value rows) const {
  return code.mul(dynamicTiles().count(code, rows), order.panels);
}
