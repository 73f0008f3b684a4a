//===- DynamicRowTiles.cpp - tiles of rows that are counted at run time ---===//

#include "backend/cpu/kernels/gemm/DynamicRowTiles.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace sinter::cpu;

static int64_t powerOfTwo(int64_t atMost) {
  return static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(atMost)));
}

/// So few rows have code for each number of them.
static constexpr int64_t mostOfFew = 4;

DynamicRowTiles::DynamicRowTiles(int64_t most, int64_t vectors, int64_t busy)
    : most(most), heights{most} {
  if (most == 1)
    return;
  const int64_t least = std::max<int64_t>(1, powerOfTwo(busy / vectors));
  if (most - 1 >= least)
    heights.push_back(most - 1);
  const int64_t whole = heights.back();
  for (int64_t height = powerOfTwo(most) / 2; height > mostOfFew; height /= 2)
    if (height < heights.back())
      heights.push_back(height);
  for (int64_t height = std::min(mostOfFew, whole - 1); height >= least;
       --height)
    heights.push_back(height);
  if (heights.back() == whole && least < whole)
    heights.push_back(least);
  std::ranges::reverse(heights);
}

DynamicRowTiles DynamicRowTiles::withTwoHeights() const {
  DynamicRowTiles result = *this;
  if (heights.size() > 2)
    result.heights = {heights.front(), heights.back()};
  return result;
}

int64_t DynamicRowTiles::rowsOfCode() const {
  return std::accumulate(heights.begin(), heights.end(), int64_t(0));
}

Value DynamicRowTiles::count(VectorBuilder &code, Value rows) const {
  return code.div(code.add(rows, most - 1), most);
}

DynamicRowTiles::Tile DynamicRowTiles::tile(VectorBuilder &code, Value rows,
                                            Value number) const {
  if (!cutsEvenly() || !hasEveryHeight())
    return nearlyWhole(code, rows, number);
  Value tiles = count(code, rows);
  Value least = code.div(rows, tiles), longer = code.rem(rows, tiles);
  return {code.add(code.mul(number, least), code.min(number, longer)),
          code.select(code.less(number, longer), code.add(least, 1), least)};
}

DynamicRowTiles::Tile DynamicRowTiles::nearlyWhole(VectorBuilder &code,
                                                   Value rows,
                                                   Value number) const {
  if (!cutsEvenly()) {
    Value first = code.mul(number, most);
    return {first, code.min(code.index(most), code.sub(rows, first))};
  }
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

ArrayRef<int64_t> DynamicRowTiles::heightsOfPieces() const {
  const ArrayRef<int64_t> all = heights;
  return all.size() > 2 && cutsEvenly() ? all.drop_back(2)
                                        : ArrayRef<int64_t>();
}

int64_t DynamicRowTiles::mostComputed() const {
  const ArrayRef<int64_t> ofPieces = heightsOfPieces();
  return ofPieces.empty()
             ? most
             : std::max(most,
                        int64_t(llvm::alignTo(uint64_t(most - 2),
                                              uint64_t(ofPieces.back()))));
}

void DynamicRowTiles::dispatch(VectorBuilder &code, const Tile &tile,
                               llvm::function_ref<void(const Piece &)> emit,
                               int64_t least) const {
  Value last = code.add(tile.first, code.sub(tile.rows, 1));
  auto emitOne = [&](ArrayRef<int64_t> heights, Value start, int64_t least) {
    code.dispatch(code.sub(tile.rows, start), heights, [&](size_t number) {
      const int64_t height = heights[number],
                    sure = number == 0 ? least : heights[number - 1] + 1;
      emit({height, start, sure < height ? last : Value(), sure});
    });
  };
  const ArrayRef<int64_t> ofPieces = heightsOfPieces();
  if (ofPieces.empty() || heights.front() == least)
    return emitOne(heights, code.index(0), least);
  code.when(
      code.less(tile.rows, code.index(most - 1)),
      [&] {
        code.loop(code.index(0), tile.rows, ofPieces.back(),
                  [&](Value start) { emitOne(ofPieces, start, 1); });
      },
      [&] {
        code.dispatch(tile.rows, {most - 1, most}, [&](size_t number) {
          const int64_t height = most - 1 + int64_t(number);
          emit({height, code.index(0), Value(), height});
        });
      });
}
