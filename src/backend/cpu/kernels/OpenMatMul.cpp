//===- OpenMatMul.cpp - products of matrices of any size ------------------===//

#include "backend/cpu/kernels/OpenMatMul.h"

#include "graph/NamedSizes.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Rows and columns of a task: enough rows to pay for the columns that are
/// packed for them.
static constexpr int64_t taskRows = 64, taskColumns = 256;

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
         (scratchOfDepth() ? bytesOfWord * scratchOfDepth() : 0);
}

int64_t OpenMatMul::scratchOfDepth() const {
  return isNamed(shape.depth) && product.packsBytes() ? product.panelColumns()
                                                      : 0;
}

std::vector<TaskPart> OpenMatMul::taskParts() const {
  std::vector<int64_t> matrices = {1};
  for (const OpenMatMulShape::BatchDim &dim : shape.batch)
    matrices.push_back(dim.size);
  return {
      {matrices, 1}, {shape.rows, taskRows}, {{shape.columns}, taskColumns}};
}

void OpenMatMul::build(OpBuilder &builder, Location location, Value task,
                       Value a, Value b, Value c, Value scratch,
                       const MatMulEpilogue &epilogue,
                       const MatMulZeros &zeros) const {
  VectorBuilder code(builder, location);
  auto blocks = [&](Value size, int64_t block) {
    return code.div(code.add(size, block - 1), block);
  };
  Value rows = code.index(1), columns = code.index(shape.columns);
  for (int64_t size : shape.rows)
    rows = code.mul(rows, size);
  Value columnBlocks = blocks(columns, taskColumns),
        rowBlocks = blocks(rows, taskRows);
  Value firstColumn = code.mul(code.rem(task, columnBlocks), taskColumns);
  Value rest = code.div(task, columnBlocks);
  Value firstRow = code.mul(code.rem(rest, rowBlocks), taskRows);
  rest = code.div(rest, rowBlocks);

  SmallVector<Value> batch(shape.batch.size());
  MatMulOrigin origin{
      code.mul(firstRow, shape.aRow),
      code.mul(firstColumn, shape.isTransposed ? shape.bStride : 1),
      code.add(code.mul(firstRow, shape.columns), firstColumn)};
  for (size_t d = batch.size(); d-- > 0;) {
    const OpenMatMulShape::BatchDim &dim = shape.batch[d];
    batch[d] = d == 0 ? rest : code.rem(rest, dim.size);
    rest = code.div(rest, dim.size);
    origin.a = code.add(origin.a, code.mul(batch[d], dim.a.in(code)));
    origin.b = code.add(origin.b, code.mul(batch[d], dim.b.in(code)));
    origin.c = code.add(origin.c, code.mul(batch[d], dim.c.in(code)));
  }
  MatMulEpilogue inMatrix;
  inMatrix.isLong = epilogue.isLong;
  if (epilogue)
    inMatrix = [&](OpBuilder &inner, Location at, Value vector,
                   const MatMulPosition &position) {
      VectorBuilder code(inner, at);
      MatMulPosition whole = position;
      whole.batch = batch;
      whole.row = code.add(position.row, firstRow);
      whole.column = code.add(position.column, firstColumn);
      return epilogue(inner, at, vector, whole);
    };
  inMatrix.isLong = epilogue.isLong;

  const MatMulExtents extents{
      code.min(code.index(taskRows), code.sub(rows, firstRow)),
      code.min(code.index(taskColumns), code.sub(columns, firstColumn)),
      isNamed(shape.depth) ? code.index(shape.depth) : Value()};
  // One that packs its columns goes over all rows.
  Value panels = product.clipsColumns()
                     ? blocks(extents.columns, product.panelColumns())
                     : code.index(product.panels());
  Value parts = shape.isTransposed || product.packsBytes()
                    ? panels
                    : product.tasksFor(code, extents.rows);
  code.loop(code.index(0), parts, 1, [&](Value part) {
    product.build(builder, location, part, a, b, c, scratch, inMatrix, &origin,
                  0, {}, extents, zeros);
  });
}
