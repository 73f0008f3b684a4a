//===- OpenRowTiles.cpp - tiles of rows that are counted at run time ------===//

#include "backend/cpu/kernels/OpenRowTiles.h"

#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace sinter::cpu;

/// Two multiply-adds a cycle, each of which takes four.
static constexpr int64_t busySums = 8;

static int64_t powerOfTwo(int64_t atMost) {
  return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(atMost)));
}

OpenRowTiles::OpenRowTiles(int64_t most, int64_t vectors)
    : most(most),
      least(std::max<int64_t>(
          1, std::min(powerOfTwo(busySums / vectors), powerOfTwo(most) / 2))) {}

int64_t OpenRowTiles::largest() const {
  return std::max(least, powerOfTwo(most) / 2);
}

int64_t OpenRowTiles::rowsOfCode() const {
  if (most <= 2)
    return most * (most + 1) / 2;
  return 2 * most - 1 + 2 * largest() - least;
}

Value OpenRowTiles::count(VectorBuilder &code, Value rows) const {
  return code.div(code.add(rows, most - 1), most);
}

OpenRowTiles::Tile OpenRowTiles::tile(VectorBuilder &code, Value rows,
                                      Value number) const {
  Value tiles = count(code, rows);
  // So many tiles would have one row less; if there are as many.
  Value missing = code.sub(code.mul(tiles, most), rows);
  Value isEven = code.less(missing, code.add(tiles, 1));
  Value firstShort = code.select(isEven, code.sub(tiles, missing), tiles);
  Value before = code.max(code.sub(number, firstShort), code.index(0));
  Value first = code.sub(code.mul(number, most), before);
  Value isShort = code.less(firstShort, code.add(number, 1));
  Value whole = code.select(isShort, code.index(most - 1), code.index(most));
  return {first, code.min(whole, code.sub(rows, first))};
}

void OpenRowTiles::forParts(
    VectorBuilder &code, const Tile &tile,
    llvm::function_ref<void(Value, int64_t, Value)> emit) const {
  if (most == 1)
    return emit(tile.first, 1, Value());
  code.when(
      code.less(tile.rows, code.index(most)),
      [&] {
        if (most == 2)
          return emit(tile.first, 1, Value());
        code.when(
            code.less(tile.rows, code.index(most - 1)),
            [&] { forRest(code, tile, emit); },
            [&] { emit(tile.first, most - 1, Value()); });
      },
      [&] { emit(tile.first, most, Value()); });
}

/// For fewer rows than most - 1.
void OpenRowTiles::forRest(
    VectorBuilder &code, const Tile &tile,
    llvm::function_ref<void(Value, int64_t, Value)> emit) const {
  Value done = code.index(0);
  auto emitParts = [&](Value parts, int64_t rows, Value last) {
    code.loop(code.index(0), parts, 1, [&](Value part) {
      emit(code.add(tile.first, code.add(done, code.mul(part, rows))), rows,
           last);
    });
  };
  for (int64_t rows = largest(); rows > least; rows /= 2) {
    Value parts = code.div(code.sub(tile.rows, done), rows);
    emitParts(parts, rows, Value());
    done = code.add(done, code.mul(parts, rows));
  }
  Value left = code.sub(tile.rows, done);
  emitParts(code.div(code.add(left, least - 1), least), least,
            least > 1 ? code.add(tile.first, code.sub(tile.rows, 1)) : Value());
}
