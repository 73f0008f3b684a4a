//===- OpenMatMul.cpp - products of matrices of any size ------------------===//

#include "backend/cpu/kernels/OpenMatMul.h"

#include "graph/NamedSizes.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr int64_t taskRows = OpenMatMulShape::taskRows,
                         taskColumns = OpenMatMulShape::taskColumns;

MatMulShape OpenMatMul::shapeOfTask(const OpenMatMulShape &shape) {
  // What is open of a reduction is told; a plan is for some of it.
  constexpr int64_t depthOfPlan = 256;
  MatMulShape task;
  task.m = taskRows;
  task.n = isNamed(shape.columns) ? taskColumns
                                  : std::min(taskColumns, shape.columns);
  task.k = isNamed(shape.depth) ? depthOfPlan : shape.depth;
  task.givenRows = true;
  task.givenColumns = task.clipsColumns =
      isNamed(shape.columns) || shape.columns > taskColumns;
  task.givenDepth = isNamed(shape.depth);
  task.aRowStride = shape.aRow;
  task.aColumnStride = shape.aColumn;
  task.bStride = shape.bStride;
  task.turnsB = shape.turnsB;
  task.bLayout = shape.isTransposed ? MatMulShape::BLayout::Transposed
                                    : MatMulShape::BLayout::Rows;
  task.cRowStride = shape.columns;
  return task;
}

OpenMatMul::OpenMatMul(OpenMatMulShape given, const Target &target,
                       const Arithmetic &arithmetic)
    : shape(std::move(given)), product(shapeOfTask(shape), target, arithmetic) {
}

int64_t OpenMatMul::scratchElements() const {
  // Beside what follows from the depth, whole words.
  return product.scratchElements() +
         (scratchOfDepth() ? product.wordElements() * scratchOfDepth() : 0);
}

int64_t OpenMatMul::scratchOfDepth() const {
  return isNamed(shape.depth) && product.packsBytes() ? product.panelColumns()
                                                      : 0;
}

void OpenMatMul::build(OpBuilder &builder, Location location, Value task,
                       Value a, Value b, Value c, Value scratch,
                       const MatMulEpilogue &epilogue,
                       const MatMulZeros &zeros) const {
  VectorBuilder code(builder, location);
  const OpenMatMulShape::Task own = shape.task(code, task);
  Value firstRow = code.mul(own.rowBlock, taskRows),
        firstColumn = code.mul(own.columnBlock, taskColumns);
  const MatMulOrigin origin{
      code.add(own.a, code.mul(firstRow, shape.aRow)),
      code.add(own.b,
               code.mul(firstColumn, shape.isTransposed ? shape.bStride : 1)),
      code.add(own.c,
               code.add(code.mul(firstRow, shape.columns), firstColumn))};
  MatMulEpilogue inMatrix;
  inMatrix.isLong = epilogue.isLong;
  if (epilogue)
    inMatrix = [&](OpBuilder &inner, Location at, Value vector,
                   const MatMulPosition &position) {
      VectorBuilder code(inner, at);
      MatMulPosition whole = position;
      whole.batch = own.batch;
      whole.row = code.add(position.row, firstRow);
      whole.column = code.add(position.column, firstColumn);
      return epilogue(inner, at, vector, whole);
    };
  inMatrix.isLong = epilogue.isLong;

  const MatMulExtents extents{
      code.min(code.index(taskRows), code.sub(own.rows, firstRow)),
      code.min(code.index(taskColumns), code.sub(own.columns, firstColumn)),
      isNamed(shape.depth) ? code.index(shape.depth) : Value()};
  // One that packs its columns goes over all rows.
  Value panels =
      product.clipsColumns()
          ? code.div(code.add(extents.columns, product.panelColumns() - 1),
                     product.panelColumns())
          : code.index(product.panels());
  Value parts = shape.isTransposed || product.packsBytes()
                    ? panels
                    : product.tasksFor(code, extents.rows);
  code.loop(code.index(0), parts, 1, [&](Value part) {
    product.build(builder, location, part, a, b, c, scratch, inMatrix, &origin,
                  0, {}, extents, zeros);
  });
}
