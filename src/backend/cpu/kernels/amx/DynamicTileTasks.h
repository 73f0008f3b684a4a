//===- DynamicTileTasks.h - tasks on matrix units of rows that are counted
//---===//
//
// Rows, of which nobody knows how many there will be, are cut into parts of at
// most so many rows as stay in the second-level cache, whose tasks share out
// the panels of columns (PanelChunks).
//
//     taskRows = 256, at most 8 chunks
//       1 to 256 rows:    1 part  by 8 chunks of panels
//       257 to 512 rows:  2 parts by 4 chunks
//       700 rows:         3 parts (of 256, 256, 188 rows) by 4 chunks
//       1025 to 2048:     5 to 8 parts by 2 chunks, or by 1 from 8 parts on
//
// Parts are whole pairs of tiles of 16 rows, of nearly the same size.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICTILETASKS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICTILETASKS_H

#include "backend/cpu/kernels/common/TaskExtent.h"
#include "backend/cpu/kernels/gemm/PanelChunks.h"

namespace sinter::cpu {

class DynamicTileTasks {
public:
  /// Rows are multiplied by \p panels; at most \p mostRows rows fit the cache.
  /// \p seconds is what a part of so many takes, whose products and weights may
  /// be shared out.
  static DynamicTileTasks choose(int64_t panels, int64_t mostRows,
                                 double seconds);

  /// Rows of a part at most.
  int64_t taskRows() const { return rowsOfPart; }
  /// What the number of tasks is the product of, if the number of rows is that
  /// of \p rows.
  std::vector<TaskExtent> taskExtents(const std::vector<Dim> &rows) const {
    return {{rows, rowsOfPart}, {{chunks.most()}, 1}};
  }
  /// How many tasks bring each of so many \p rows together.
  int64_t chunksOf(int64_t rows) const;

  struct Task {
    mlir::Value isAny; ///< Whether there is something to do.
    mlir::Value firstRow, endRow;
    mlir::Value firstPanel, endPanel;
  };
  /// The task of that number, if there are so many \p rows: at least one.
  Task task(VectorBuilder &code, mlir::Value rows, mlir::Value number) const;

private:
  int64_t rowsOfPart = 0; ///< A multiple of two tiles.
  PanelChunks chunks;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICTILETASKS_H
