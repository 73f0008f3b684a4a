//===- StageTiles.cpp - rows as matrix units read them --------------------===//

#include "backend/cpu/kernels/TileProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <bit>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static Value constant(VectorBuilder &code, int32_t number) {
  return code.builder.create<arith::ConstantOp>(
      code.loc, code.builder.getI32IntegerAttr(number));
}

static Value maximum(VectorBuilder &code, Value a, Value b) {
  return code.builder.create<arith::MaxUIOp>(code.loc, a, b);
}

/// \p count elements of \p type that lie at \p offset, in bytes.
static Value loadAs(VectorBuilder &code, Value bytes, Value offset,
                    int64_t count, Type type) {
  OpBuilder &b = code.builder;
  auto loaded = VectorType::get(
      {count * int64_t(type.getIntOrFloatBitWidth()) / 8}, b.getI8Type());
  return code.bitsAs(code.load(bytes, offset, loaded),
                     VectorType::get({count}, type));
}

Value TileProduct::placeOf(VectorBuilder &code, const Staged &staged,
                           Value block, Value position) const {
  Value row = code.add(code.mul(block, shape.positions), position);
  return code.add(staged.start, code.mul(row, tileRowBytes));
}

/// Brings all numbers of a task together and returns the magnitude of the
/// largest one, as bits of f32.
Value TileProduct::stage(VectorBuilder &code, const Staged &staged,
                         Source source) const {
  OpBuilder &b = code.builder;
  auto words = VectorType::get({16}, b.getI32Type());
  Value magnitude = b.create<arith::ConstantOp>(
      code.loc, DenseElementsAttr::get(words, int32_t(0x7fffffff)));
  Value magnitudes =
      source(code.zero(words), [&](Value position, Value block,
                                   ValueRange elements, Value most) {
        Value row = placeOf(code, staged, block, position);
        for (auto [part, vector] :
             llvm::enumerate(arithmetic.split(code, elements)))
          code.store(vector, staged.memory,
                     code.add(row, int64_t(part) * planeBytes()));
        if (arithmetic.isOfBytes())
          return most;
        for (Value each : elements)
          most = maximum(code, most,
                         b.create<arith::AndIOp>(
                             code.loc, code.bitsAs(each, words), magnitude));
        return most;
      });
  return b.create<vector::ReductionOp>(code.loc, vector::CombiningKind::MAXUI,
                                       magnitudes);
}

/// The same numbers as f32, 16 of a block in each of two parts.
void TileProduct::stageWide(VectorBuilder &code, const Staged &staged,
                            Source source) const {
  OpBuilder &b = code.builder;
  auto bytes = VectorType::get({tileRowBytes}, b.getI8Type());
  source(code.zero(VectorType::get({16}, b.getI32Type())),
         [&](Value position, Value block, ValueRange elements, Value carried) {
           Value row = placeOf(code, staged, block, position);
           for (auto [i, each] : llvm::enumerate(elements))
             code.store(code.bitsAs(each, bytes), staged.memory,
                        code.add(row, int64_t(i) * planeBytes()));
           return carried;
         });
}

void TileProduct::buildCut(VectorBuilder &code, const Staged &staged,
                           Value number, Source source) const {
  Value most = stage(code, staged, source);
  if (arithmetic.isOfBytes())
    return;
  code.when(isLarge(code, most), [&] { stageWide(code, staged, source); });
  OpBuilder &b = code.builder;
  Value line = b.create<vector::SplatOp>(
      code.loc, VectorType::get({16}, b.getI32Type()), most);
  Value at = code.add(staged.start, code.add(code.mul(number, tileRowBytes),
                                             stagedBytes(shape.positions)));
  code.store(code.bitsAs(line, VectorType::get({tileRowBytes}, b.getI8Type())),
             staged.memory, at);
}

/// What the task \p number of those that bring together left.
Value TileProduct::magnitudeAt(VectorBuilder &code, const Staged &staged,
                               Value number) const {
  OpBuilder &b = code.builder;
  Value at = code.add(staged.start, code.add(code.mul(number, tileRowBytes),
                                             stagedBytes(shape.positions)));
  return b.create<vector::ExtractOp>(
      code.loc, loadAs(code, staged.memory, at, 1, b.getI32Type()),
      ArrayRef<int64_t>{0});
}

/// The same of all whose positions \p task reads.
Value TileProduct::largest(VectorBuilder &code, const Task &task) const {
  if (arithmetic.isOfBytes())
    return {};
  Value first = code.div(task.firstPosition, shape.cutPositions),
        last = code.div(code.sub(task.endPosition, 1), shape.cutPositions);
  return code.loop(
      first, code.add(last, 1), 1, constant(code, 0),
      [&](Value number, ValueRange most) -> IndexBuilder::Carried {
        return {maximum(code, most[0], magnitudeAt(code, task.staged, number))};
      })[0];
}

/// Whether a number of that magnitude cannot be cut.
Value TileProduct::isLarge(VectorBuilder &code, Value magnitude) const {
  return code.builder.create<arith::CmpIOp>(
      code.loc, arith::CmpIPredicate::ugt, magnitude,
      constant(code, std::bit_cast<int32_t>(mostUsualMagnitude)));
}

Value TileProduct::pairAt(VectorBuilder &code, const Staged &staged,
                          Value block, Value position, Value pair) const {
  OpBuilder &b = code.builder;
  Value row = placeOf(code, staged, block, position);
  auto asF32 = [&]() -> IndexBuilder::Carried {
    Value at = code.add(code.mul(code.div(pair, 8), planeBytes()),
                        code.mul(code.rem(pair, 8), 8));
    return {loadAs(code, staged.memory, code.add(row, at), 2, b.getF32Type())};
  };
  if (!isShared())
    return asF32()[0];
  // Where all others of their task could be cut, they were.
  auto ofParts = [&]() -> IndexBuilder::Carried {
    auto type = VectorType::get({2}, b.getF32Type());
    Value sum = code.zero(type);
    for (int64_t part = arithmetic.lhsParts; part-- > 0;) {
      Value halves = loadAs(
          code, staged.memory,
          code.add(row, code.add(code.mul(pair, 4), part * planeBytes())), 2,
          b.getI16Type());
      auto words = VectorType::get({2}, b.getI32Type());
      Value shift = b.create<arith::ConstantOp>(
          code.loc, DenseElementsAttr::get(words, int32_t(16)));
      Value bits = b.create<arith::ShLIOp>(
          code.loc, b.create<arith::ExtUIOp>(code.loc, words, halves), shift);
      sum = code.addVectors(sum, code.bitsAs(bits, type));
    }
    Value unscale = b.create<arith::ConstantOp>(
        code.loc, DenseElementsAttr::get(type, 1 / tileScale));
    return {code.mulVectors(sum, unscale)};
  };
  Value number = code.div(position, shape.cutPositions);
  return code.branch(isLarge(code, magnitudeAt(code, staged, number)), asF32,
                     ofParts)[0];
}
