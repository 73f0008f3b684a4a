//===- PanelChunks.h - panels of weights, split over tasks ----------------===//
//
// What is multiplied by weights is cut into parts, of which nobody knows how
// many there will be. Panels of weights are cut into chunks, of which there are
// as many as keep threads busy where there is one part, half as many where
// there are two, and so on: what a part reads is brought together by the task
// of each chunk. There are as many tasks as parts times the most chunks; of
// those that chunks are too few for nothing is left to do.
//
//     most = 8
//       1 part:        8 chunks
//       2 or 3 parts:  4 chunks
//       4 to 7 parts:  2 chunks
//       8 parts:       all panels by one task
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_GEMM_PANELCHUNKS_H
#define SINTER_BACKEND_CPU_KERNELS_GEMM_PANELCHUNKS_H

#include "backend/cpu/kernels/common/VectorBuilder.h"

namespace sinter::cpu {

class PanelChunks {
public:
  /// Of \p panels, whose products and weights take \p seconds for one part.
  static PanelChunks choose(int64_t panels, double seconds);

  /// Tasks of a part.
  int64_t most() const { return mostChunks; }
  /// How many have something to do where there are so many \p parts.
  int64_t countFor(int64_t parts) const;

  struct Task {
    mlir::Value isAny; ///< Whether the task has any work.
    mlir::Value part;
    mlir::Value firstPanel, endPanel;
  };
  /// The task of that number, of at least one part.
  Task task(VectorBuilder &code, mlir::Value parts, mlir::Value number) const;

private:
  int64_t panels = 1;
  int64_t mostChunks = 1; ///< A power of two.
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_GEMM_PANELCHUNKS_H
