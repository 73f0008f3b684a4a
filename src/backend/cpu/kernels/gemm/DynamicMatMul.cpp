//===- DynamicMatMul.cpp - products of matrices of any size ---------------===//

#include "backend/cpu/kernels/gemm/DynamicMatMul.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static constexpr int64_t taskRows = DynamicMatMulShape::taskRows,
                         taskColumns = DynamicMatMulShape::taskColumns;

MatMulShape DynamicMatMul::shapeOfTask(const DynamicMatMulShape &shape) {
  // A reduction of dynamic size is passed as an argument; a plan is for some of
  // it.
  constexpr int64_t depthOfPlan = 256;
  MatMulShape task;
  task.m = taskRows;
  task.n = shape.columns.upTo(taskColumns);
  task.k = shape.depth.valueOr(depthOfPlan);
  task.givenRows = true;
  task.givenColumns = task.clipsColumns = shape.columns > taskColumns;
  task.givenDepth = shape.depth.isDynamic();
  task.aRowStride = shape.aRow;
  task.aColumnStride = shape.aColumn;
  task.bStride = shape.bStride;
  task.turnsB = shape.turnsB;
  task.bLayout = shape.isTransposed ? MatMulShape::BLayout::Transposed
                                    : MatMulShape::BLayout::Rows;
  task.cRowStride = shape.columns;
  return task;
}

DynamicMatMul::DynamicMatMul(DynamicMatMulShape given, const Target &target,
                             const Arithmetic &arithmetic)
    : shape(std::move(given)), product(shapeOfTask(shape), target, arithmetic) {
}

int64_t DynamicMatMul::scratchElements() const {
  // Besides the part that depends on the depth, whole 32-bit words.
  return product.scratchElements() +
         (scratchOfDepth() ? product.wordElements() * scratchOfDepth() : 0);
}

int64_t DynamicMatMul::scratchOfDepth() const {
  return shape.depth.isDynamic() && product.packsBytes()
             ? product.panelColumns()
             : 0;
}

void DynamicMatMul::build(OpBuilder &builder, Location location, Value task,
                          Value a, Value b, Value c, Value scratch,
                          const MatMulEpilogue &epilogue,
                          const MatMulZeros &zeros) const {
  VectorBuilder code(builder, location);
  const DynamicMatMulShape::Task own = shape.task(code, task);
  Value firstRow = code.mul(own.rowBlock, taskRows),
        firstColumn = code.mul(own.columnBlock, taskColumns);
  const MatMulOrigin origin{
      code.add(own.a, code.mul(firstRow, shape.aRow)),
      code.add(own.b, code.mul(firstColumn,
                               shape.isTransposed ? shape.bStride : Dim(1))),
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
      shape.depth.isDynamic() ? code.index(shape.depth) : Value()};
  // A task that packs its columns computes all rows.
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
