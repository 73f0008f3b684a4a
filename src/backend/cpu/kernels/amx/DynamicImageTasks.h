//===- DynamicImageTasks.h - tasks on matrix units of images of any size
//---===//
//
// Results of an image, of which nobody knows how high and how wide it will be,
// are cut into rectangles of at most so many rows and columns as read what
// stays in the second-level cache. Rectangles are of nearly the same size, and
// so are tiles of their rows of results:
//
//     16 rows and 64 columns at most
//       56 x 56:   4 rectangles of 14 x 56, each row four tiles of 14
//       7 x 7:     1 rectangle, each row one tile of 7
//       90 x 100:  6 by 2 rectangles of 15 x 50, tiles of 13, 13, 13, 11
//
// Where each result reads one pixel, all pixels are one row. The tasks of a
// rectangle share out panels of weights (PanelChunks).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICIMAGETASKS_H
#define SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICIMAGETASKS_H

#include "backend/cpu/kernels/common/TaskExtent.h"
#include "backend/cpu/kernels/conv/Window.h"
#include "backend/cpu/kernels/gemm/PanelChunks.h"

namespace sinter::cpu {

class DynamicImageTasks {
public:
  /// Of results of \p window, or of all pixels as one row if it \p isFlat.
  /// \p mostPositions pixels that are read fit the cache. The products of a
  /// small image by all of \p panels, and their weights, take \p seconds.
  static DynamicImageTasks choose(const WindowShape &window, bool isFlat,
                                  int64_t mostPositions, int64_t panels,
                                  double seconds);

  /// Pixels that a task reads at most, with what the last tile of a row reads
  /// beyond its end.
  int64_t positions() const { return positionsOf(mostRows, mostColumns); }
  /// Tiles of a task at most.
  int64_t mostTiles() const;
  /// The extents whose product is an image's task count.
  std::vector<TaskExtent> taskExtents() const;

  /// The tasks of an image.
  mlir::Value tasks(VectorBuilder &code) const;
  /// Results of each tile but the last of a row.
  mlir::Value tileRows(VectorBuilder &code) const;
  struct Task {
    mlir::Value isAny; ///< Whether the task has any work.
    mlir::Value firstRow, rows, firstColumn, columns;
    mlir::Value firstPanel, endPanel;
  };
  Task task(VectorBuilder &code, mlir::Value number) const;

private:
  /// Pieces of nearly the same size along a dimension, and what they have at
  /// most.
  struct Pieces {
    mlir::Value all, count, size;
  };
  Pieces rows(VectorBuilder &code) const;
  Pieces columns(VectorBuilder &code) const;
  int64_t positionsOf(int64_t rows, int64_t columns) const;

  WindowShape window;
  bool isFlat = false;
  int64_t mostRows = 1, mostColumns = 1;
  PanelChunks chunks;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_AMX_DYNAMICIMAGETASKS_H
