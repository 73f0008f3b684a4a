//===- MatMulShape.cpp - sizes and layouts of matmuls ---------------------===//

#include "backend/cpu/kernels/gemm/MatMulShape.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

MatMulShape MatMulShape::dense(int64_t m, int64_t n, int64_t k) {
  MatMulShape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.aRowStride = k;
  shape.bStride = n;
  shape.cRowStride = n;
  return shape;
}

SmallVector<Value> MatMulShape::toMatrix(IndexBuilder &code, Value number,
                                         MatMulOrigin &origin) const {
  SmallVector<Value> index(batch.size());
  for (size_t d = batch.size(); d-- > 0;) {
    const BatchDim &dim = batch[d];
    Value i = d == 0 ? number : code.rem(number, dim.size);
    index[d] = i;
    number = code.div(number, dim.size);
    origin.a = code.add(origin.a, code.mul(i, dim.aStride.in(code)));
    origin.b = code.add(origin.b, code.mul(i, dim.bStride.in(code)));
    origin.c = code.add(origin.c, code.mul(i, dim.cStride.in(code)));
  }
  return index;
}

std::vector<TaskExtent> MatMulShape::taskExtents() const {
  std::vector<Dim> matrices = {1};
  for (const BatchDim &dim : batch)
    matrices.push_back(dim.size);
  return {{matrices, 1},
          {dynamic->rows, taskRows},
          {{dynamic->columns}, taskColumns}};
}

MatMulShape::Block MatMulShape::block(IndexBuilder &code, Value task) const {
  auto blocks = [&](Value size, int64_t block) {
    return code.div(code.add(size, block - 1), block);
  };
  Block own;
  own.matrices = own.rows = code.index(1);
  for (const BatchDim &dim : batch)
    own.matrices = code.mul(own.matrices, dim.size);
  for (Dim size : dynamic->rows)
    own.rows = code.mul(own.rows, size);
  own.columns = code.index(dynamic->columns);
  own.columnBlocks = blocks(own.columns, taskColumns);
  own.rowBlocks = blocks(own.rows, taskRows);
  own.columnBlock = code.rem(task, own.columnBlocks);
  Value rest = code.div(task, own.columnBlocks);
  own.rowBlock = code.rem(rest, own.rowBlocks);
  rest = code.div(rest, own.rowBlocks);
  own.origin.a = own.origin.b = own.origin.c = code.index(0);
  own.batch = toMatrix(code, rest, own.origin);
  return own;
}
