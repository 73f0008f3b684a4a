//===- DynamicTileTasks.cpp - tasks on matrix units of rows that are counted
//---===//

#include "backend/cpu/kernels/amx/DynamicTileTasks.h"

#include "backend/cpu/kernels/amx/TileRegisters.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace sinter::cpu;

/// Rows that are multiplied at once.
static constexpr int64_t pairRows = TileRegisters::groupTiles * mostTileRows;

DynamicTileTasks DynamicTileTasks::choose(int64_t panels, int64_t mostRows,
                                          double seconds) {
  // More rows hardly reduce weight traffic.
  constexpr int64_t enoughRows = 512;
  DynamicTileTasks cut;
  cut.rowsOfPart =
      std::clamp(mostRows, pairRows, enoughRows) / pairRows * pairRows;
  cut.chunks = PanelChunks::choose(panels, seconds);
  return cut;
}

int64_t DynamicTileTasks::chunksOf(int64_t rows) const {
  return chunks.countFor(llvm::divideCeil(rows, rowsOfPart));
}

DynamicTileTasks::Task DynamicTileTasks::task(VectorBuilder &code, Value rows,
                                              Value number) const {
  Value parts = code.div(code.add(rows, rowsOfPart - 1), rowsOfPart);
  const PanelChunks::Task own = chunks.task(code, parts, number);
  Value pairs = code.div(code.add(rows, pairRows - 1), pairRows);
  Value each =
      code.mul(code.div(code.add(pairs, code.sub(parts, code.index(1))), parts),
               pairRows);
  Task task;
  task.firstRow = code.mul(own.part, each);
  task.endRow = code.min(code.add(task.firstRow, each), rows);
  task.firstPanel = own.firstPanel;
  task.endPanel = own.endPanel;
  task.isAny = code.both(own.isAny, code.less(task.firstRow, rows));
  return task;
}
