//===- DynamicMatMulShape.cpp - products of dynamic sizes, and their tasks
//---===//

#include "backend/cpu/kernels/gemm/DynamicMatMulShape.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

std::vector<TaskExtent> DynamicMatMulShape::taskExtents() const {
  std::vector<Dim> matrices = {1};
  for (const BatchDim &dim : batch)
    matrices.push_back(dim.size);
  return {{matrices, 1}, {rows, taskRows}, {{columns}, taskColumns}};
}

DynamicMatMulShape::Task DynamicMatMulShape::task(IndexBuilder &code,
                                                  Value number) const {
  auto blocks = [&](Value size, int64_t block) {
    return code.div(code.add(size, block - 1), block);
  };
  Task task;
  task.matrices = task.rows = code.index(1);
  for (const BatchDim &dim : batch)
    task.matrices = code.mul(task.matrices, dim.size);
  for (Dim size : rows)
    task.rows = code.mul(task.rows, size);
  task.columns = code.index(columns);
  task.columnBlocks = blocks(task.columns, taskColumns);
  task.rowBlocks = blocks(task.rows, taskRows);
  task.columnBlock = code.rem(number, task.columnBlocks);
  Value rest = code.div(number, task.columnBlocks);
  task.rowBlock = code.rem(rest, task.rowBlocks);
  rest = code.div(rest, task.rowBlocks);

  task.batch.resize(batch.size());
  task.a = task.b = task.c = code.index(0);
  for (size_t d = batch.size(); d-- > 0;) {
    const BatchDim &dim = batch[d];
    Value i = d == 0 ? rest : code.rem(rest, dim.size);
    task.batch[d] = i;
    rest = code.div(rest, dim.size);
    task.a = code.add(task.a, code.mul(i, dim.a.in(code)));
    task.b = code.add(task.b, code.mul(i, dim.b.in(code)));
    task.c = code.add(task.c, code.mul(i, dim.c.in(code)));
  }
  return task;
}
