//===- MatMulTask.cpp - the operands of a matmul's task -------------------===//

#include "backend/cpu/kernels/gemm/MatMulTask.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static Value flatOrNull(VectorBuilder &code, Value memref) {
  return memref ? code.flatten(memref) : Value();
}

MatMulTask::MatMulTask(const MatMulPlan &plan, VectorBuilder &code,
                       const MatMulRequest &request)
    : MatMulPlan(plan), code(code),
      operands{code.flatten(request.a),
               code.flatten(request.b),
               code.flatten(request.c),
               flatOrNull(code, request.scratch),
               {code.index(0), code.index(0), code.index(0)},
               {flatOrNull(code, request.numbers.scales),
                flatOrNull(code, request.numbers.zeros)},
               request.zeros,
               request.extents,
               request.epilogue,
               firstStep(request.stage),
               firstStep(request.stage + 1)} {
  if (request.origin)
    operands.origin = *request.origin;
  if (!shape.dynamicRows.empty()) {
    operands.extents.rows = code.index(1);
    for (Dim size : shape.dynamicRows)
      operands.extents.rows = code.mul(operands.extents.rows, size);
  }
}

Value MatMulTask::rowOfA(Value row) const {
  return operands.rowStride ? code.mul(row, operands.rowStride)
                            : code.mul(row, shape.aRowStride);
}

Value MatMulTask::rowAt(const MatMulRows &rows, int64_t row) const {
  Value at = code.add(rows.first, code.index(row));
  return rows.last ? code.min(at, rows.last) : at;
}

Value MatMulTask::reductionDepth() const {
  return shape.givenDepth ? operands.extents.depth : code.index(shape.k);
}

void MatMulTask::forRow(const MatMulPanel &panel, Value row,
                        VectorBody body) const {
  Value rowOffset =
      code.add(operands.origin.c, code.mul(row, code.own(shape.cRowStride)));
  MatMulPosition position{operands.batch, row, {}, {}};
  for (int64_t v = 0; v < panel.vectors; ++v) {
    position.column = code.add(panel.firstColumn, v * lanes);
    position.offset = code.add(rowOffset, position.column);
    body(v, v + 1 == panel.vectors ? panel.valid : lanes, position);
  }
}

void MatMulTask::forTile(const MatMulPanel &panel, const MatMulRows &rows,
                         VectorBody body) const {
  for (int64_t row = 0; row < rows.count; ++row)
    forRow(panel, rowAt(rows, row),
           [&](size_t i, int64_t valid, const MatMulPosition &position) {
             body(row * panel.vectors + i, valid, position);
           });
}
