//===- StageTiles.cpp - stage rows for AMX --------------------------------===//

#include "backend/cpu/kernels/amx/TileProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value TileProduct::stagedOffset(VectorBuilder &code, const Staged &staged,
                                Value block, Value position) const {
  Value row = code.add(code.mul(block, shape.positions), position);
  return code.add(staged.start, code.mul(row, tileRowBytes));
}

/// Stages all values of a task and returns the largest magnitude, as bits of
/// f32.
Value TileProduct::stage(VectorBuilder &code, const Staged &staged,
                         Source source) const {
  OpBuilder &b = code.builder;
  auto words = VectorType::get({16}, b.getI32Type());
  Value magnitude = b.create<arith::ConstantOp>(
      code.loc, DenseElementsAttr::get(words, int32_t(0x7fffffff)));
  Value magnitudes =
      source(code.zero(words),
             [&](Value position, Value block, ValueRange elements, Value most) {
               Value row = stagedOffset(code, staged, block, position);
               for (auto [part, vector] :
                    llvm::enumerate(arithmetic.split(code, elements)))
                 code.store(vector, staged.memory,
                            code.add(row, int64_t(part) * planeBytes()));
               if (arithmetic.isOfBytes())
                 return most;
               for (Value each : elements)
                 most = b.create<arith::MaxUIOp>(
                     code.loc, most,
                     b.create<arith::AndIOp>(code.loc, code.bitsAs(each, words),
                                             magnitude));
               return most;
             });
  return b.create<vector::ReductionOp>(code.loc, vector::CombiningKind::MAXUI,
                                       magnitudes);
}

void TileProduct::buildCut(VectorBuilder &code, const Staged &staged,
                           Value number, Source source) const {
  Value most = stage(code, staged, source);
  if (arithmetic.isOfBytes())
    return;
  OpBuilder &b = code.builder;
  Value line = b.create<vector::SplatOp>(
      code.loc, VectorType::get({16}, b.getI32Type()), most);
  code.store(code.bitsAs(line, VectorType::get({tileRowBytes}, b.getI8Type())),
             staged.memory, magnitudePlace(code, staged, number));
}

/// The offset where staging task \p number stores its largest magnitude.
Value TileProduct::magnitudePlace(VectorBuilder &code, const Staged &staged,
                                  Value number) const {
  return code.add(staged.start, code.add(code.mul(number, tileRowBytes),
                                         stagedBytes(shape.positions)));
}

/// The largest magnitude that \p task reads. Stages the task's values unless
/// other tasks have done so.
Value TileProduct::largest(VectorBuilder &code, const Task &task,
                           Source source) const {
  if (task.parts)
    return task.parts->largest(code, task.staged, task.firstPosition,
                               task.endPosition);
  return isShared() ? largestOfStaged(code, task)
                    : stage(code, task.staged, source);
}

/// The same from the magnitudes that staging tasks have stored.
Value TileProduct::largestOfStaged(VectorBuilder &code,
                                   const Task &task) const {
  if (arithmetic.isOfBytes())
    return {};
  OpBuilder &b = code.builder;
  auto word = VectorType::get({1}, b.getI32Type());
  auto bytes = VectorType::get({4}, b.getI8Type());
  Value first = code.div(task.firstPosition, shape.cutPositions),
        last = code.div(code.sub(task.endPosition, 1), shape.cutPositions);
  Value none = b.create<arith::ConstantOp>(code.loc, b.getI32IntegerAttr(0));
  return code.loop(
      first, code.add(last, 1), 1, none,
      [&](Value number, ValueRange most) -> IndexBuilder::Carried {
        Value found =
            code.load(task.staged.memory,
                      magnitudePlace(code, task.staged, number), bytes);
        return {b.create<arith::MaxUIOp>(
            code.loc, most[0],
            b.create<vector::ExtractOp>(code.loc, code.bitsAs(found, word),
                                        ArrayRef<int64_t>{0}))};
      })[0];
}
