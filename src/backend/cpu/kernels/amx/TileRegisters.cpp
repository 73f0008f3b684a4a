//===- TileRegisters.cpp - accumulators in AMX registers ------------------===//

#include "backend/cpu/kernels/amx/TileRegisters.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/kernels/common/Arithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

int64_t cpu::tileRowsFor(int64_t rows) {
  const int64_t tiles = llvm::divideCeil(rows, mostTileRows);
  const int64_t height = llvm::divideCeil(rows, tiles),
                lower = llvm::divideCeil(rows, tiles + 1);
  const bool isOdd = tiles > 1 && tiles % TileRegisters::groupTiles != 0;
  return isOdd && (tiles + 1) * lower <= tiles * height ? lower : height;
}

// Register indices.
static int64_t accumulatorOf(int64_t rowTile, int64_t columnTile) {
  return rowTile * TileRegisters::panelTiles + columnTile;
}
static int64_t rowsOf(int64_t rowTile) { return 4 + rowTile; }
static int64_t columnsOf(int64_t columnTile) { return 6 + columnTile; }

TileRegisters::TileRegisters(VectorBuilder &code, int64_t tileRows,
                             const TileArithmetic &arithmetic,
                             const NumberAtStart &dynamicRows)
    : code(code), tiles(code) {
  const TileShape ofRows{tileRows, tileRowBytes, dynamicRows},
      ofColumns{mostTileRows, tileRowBytes};
  configureTiles(code, {ofRows, ofRows, ofRows, ofRows, ofRows, ofRows,
                        ofColumns, ofColumns});
  memory =
      createScratch(code.builder, code.loc,
                    MemRefType::get({groupTiles * mostTileRows * panelColumns},
                                    storedType(arithmetic.accumulator(),
                                               code.builder.getContext())));
  address = tiles.addressOf(memory);
}

void TileRegisters::clear(int64_t rowTiles, int64_t columnTiles) {
  for (int64_t r = 0; r < rowTiles; ++r)
    for (int64_t c = 0; c < columnTiles; ++c)
      tiles.zero(accumulatorOf(r, c));
}

void TileRegisters::multiply(const TileArithmetic &arithmetic,
                             const TileStep &step) {
  const auto rowTiles = int64_t(step.rows.size());
  SmallVector<Value> rows;
  for (Value each : step.rows)
    rows.push_back(tiles.addressAt(step.rowsAddress, each));
  Value columns = tiles.addressAt(step.columnsAddress, step.columns);
  PartPair inRegisters(-1, -1);
  for (const PartPair &pair : arithmetic.products()) {
    const auto [a, b] = pair;
    for (int64_t r = 0; r < rowTiles && a != inRegisters.first; ++r)
      tiles.load(rowsOf(r), rows[size_t(r)], code.mul(step.rowPart, a),
                 step.rowStride);
    for (int64_t c = 0; c < step.columnTiles && b != inRegisters.second; ++c)
      tiles.load(columnsOf(c), columns,
                 code.index(b * step.columnPart + c * tileBytes), tileRowBytes);
    for (int64_t r = 0; r < rowTiles; ++r)
      for (int64_t c = 0; c < step.columnTiles; ++c)
        tiles.multiply(accumulatorOf(r, c), rowsOf(r), columnsOf(c),
                       arithmetic.lhsPart(), arithmetic.rhsPart());
    inRegisters = pair;
  }
}

/// The byte offset between the accumulators of tiles, and between rows.
static int64_t sumsOffset(int64_t rowTile, int64_t columnTile) {
  return (rowTile * mostTileRows * TileRegisters::panelColumns +
          columnTile * 16) *
         4;
}
static constexpr int64_t sumsStride = TileRegisters::panelColumns * 4;

void TileRegisters::store(int64_t rowTiles, int64_t columnTiles, Value to) {
  for (int64_t r = 0; r < rowTiles; ++r)
    for (int64_t c = 0; c < columnTiles; ++c)
      tiles.store(accumulatorOf(r, c), to ? to : address,
                  code.index(sumsOffset(r, c)), sumsStride);
}

void TileRegisters::load(int64_t rowTiles, int64_t columnTiles, Value from) {
  for (int64_t r = 0; r < rowTiles; ++r)
    for (int64_t c = 0; c < columnTiles; ++c)
      tiles.load(accumulatorOf(r, c), from, code.index(sumsOffset(r, c)),
                 sumsStride);
}

Value TileRegisters::sumsAt(Value rowTile, Value i) const {
  return code.mul(code.add(i, code.mul(rowTile, mostTileRows)), panelColumns);
}

Value TileRegisters::sumsAt(int64_t rowTile, Value i) const {
  return sumsAt(code.index(rowTile), i);
}
