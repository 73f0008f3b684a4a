//===- OpenTileCut.cpp - tasks on matrix units of rows that are counted ---===//

#include "backend/cpu/kernels/OpenTileCut.h"

#include "backend/cpu/kernels/TileRegisters.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter::cpu;

/// Rows that are multiplied at once.
static constexpr int64_t pairRows = TileRegisters::groupTiles * mostTileRows;

OpenTileCut OpenTileCut::choose(int64_t panels, int64_t mostRows,
                                double seconds) {
  // More rows read weights hardly less often; less is not worth another task.
  constexpr int64_t enoughRows = 512, enoughTasks = 8;
  constexpr double worthATask = 20e-6;
  OpenTileCut cut;
  cut.panels = panels;
  cut.rowsOfPart =
      std::clamp(mostRows, pairRows, enoughRows) / pairRows * pairRows;
  const auto wanted =
      std::clamp<int64_t>(int64_t(seconds / worthATask), 1, enoughTasks);
  cut.mostChunks = static_cast<int64_t>(
      llvm::bit_floor(static_cast<uint64_t>(std::min(panels, wanted))));
  return cut;
}

int64_t OpenTileCut::chunksOf(int64_t rows) const {
  const auto parts = uint64_t(llvm::divideCeil(rows, rowsOfPart));
  return std::max<int64_t>(1, mostChunks / int64_t(llvm::bit_floor(parts)));
}

OpenTileCut::Task OpenTileCut::task(VectorBuilder &code, Value rows,
                                    Value number) const {
  Value parts = code.div(code.add(rows, rowsOfPart - 1), rowsOfPart);
  Value chunks = code.index(1);
  for (int64_t fewer = 2; fewer <= mostChunks; fewer *= 2)
    chunks = code.select(code.less(parts, code.index(mostChunks / fewer * 2)),
                         code.index(fewer), chunks);
  // Those without work stand between the others, so that threads which have
  // some tasks each have as much to do.
  Value apart = code.div(code.index(mostChunks), chunks);
  Value place = code.div(number, apart);
  Value part = code.div(place, chunks), chunk = code.rem(place, chunks);
  Value pairs = code.div(code.add(rows, pairRows - 1), pairRows);
  Value each =
      code.mul(code.div(code.add(pairs, code.sub(parts, code.index(1))), parts),
               pairRows);
  Task task;
  task.firstRow = code.mul(part, each);
  task.endRow = code.min(code.add(task.firstRow, each), rows);
  task.firstPanel = code.div(code.mul(chunk, panels), chunks);
  task.endPanel = code.div(code.mul(code.add(chunk, 1), panels), chunks);
  task.isAny = code.both(code.equal(code.rem(number, apart), code.index(0)),
                         code.less(task.firstRow, rows));
  return task;
}
