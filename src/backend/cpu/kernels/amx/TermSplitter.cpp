//===- TermSplitter.cpp - split operands for several AMX products ---------===//

#include "backend/cpu/kernels/amx/TermSplitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The rows per task: enough to be worth one.
int64_t TermSplitter::taskRows() const {
  constexpr int64_t enoughNumbers = 16 << 10;
  return tileRows *
         std::max<int64_t>(1, enoughNumbers / (tileRows * parts.blocks() *
                                               TileTerms::blockColumns));
}

/// A block of row \p row of \p image, which has \p rows rows.
std::array<Value, 2> TermSplitter::numbersAt(VectorBuilder &code, Value flat,
                                             Value image, Value rows, Value row,
                                             Value block) const {
  // The elements of a vector, and of a block of channels.
  constexpr int64_t lanes = 16;
  const auto type = VectorType::get({lanes}, code.builder.getF32Type());
  const int64_t planes = llvm::divideCeil(parts.columns, lanes);
  std::array<Value, 2> numbers;
  for (int64_t half : {0, 1}) {
    Value column =
        code.add(code.mul(block, TileTerms::blockColumns), half * lanes);
    Value place = code.add(code.mul(row, parts.columns), column);
    if (parts.areBlocked) {
      Value plane =
          code.add(code.mul(image, planes), code.add(code.mul(block, 2), half));
      place = code.mul(code.add(code.mul(plane, rows), row), lanes);
    }
    numbers[size_t(half)] =
        parts.columns % TileTerms::blockColumns == 0
            ? code.load(flat, place, type)
            : code.loadSome(flat, place, type,
                            code.sub(code.index(parts.columns), column));
  }
  return numbers;
}

void TermSplitter::build(OpBuilder &builder, Location location, Value task,
                         Value input, Value output) const {
  VectorBuilder code(builder, location);
  Value flat = code.flatten(input), rows = code.index(1);
  for (Dim size : taskExtent().sizes)
    rows = code.mul(rows, size);
  Value image = code.index(0), number = task;
  if (parts.areBlocked) {
    Value ofImage = code.div(code.add(rows, taskRows() - 1), taskRows());
    image = code.div(task, ofImage);
    number = code.rem(task, ofImage);
  }
  const TileTerms::Image where = parts.imageIn(code, output, image);
  Value first = code.mul(number, taskRows());
  Value end = code.min(code.add(first, taskRows()), rows);
  code.loop(code.index(0), code.index(parts.blocks()), 1, [&](Value block) {
    code.loop(first, end, tileRows, [&](Value tile) {
      Value count = code.min(code.index(tileRows), code.sub(end, tile));
      parts.store(
          code, where, block, tile, count, /*areInARow=*/false, [&](Value i) {
            return numbersAt(code, flat, image, rows, code.add(tile, i), block);
          });
    });
  });
}
