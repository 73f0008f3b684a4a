//===- TileCut.h - tasks of a product on matrix units ---------------------===//
//
// A task goes over some panels of weights with the numbers of some rows, which
// its thread's second-level cache holds. It brings them together itself or,
// where several tasks take the same rows, tasks of their own have done so
// before for all. So what is read again and again is weighed against tasks that
// are too few.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILECUT_H
#define SINTER_BACKEND_CPU_KERNELS_TILECUT_H

#include "backend/cpu/kernels/Tiling.h"

#include <functional>

namespace sinter::cpu {

/// How many tasks of how many rows' units and panels there are, and who brings
/// rows together, chosen by what they bring together and read.
struct TileCut {
  int64_t tasks() const { return units.count * panels.count; }

  /// Everything in seconds of one thread, but units and panels.
  struct Costs {
    std::function<double(int64_t units)> stage; ///< Of a task of so many,
    double shared;                              ///< or of all, for all tasks.
    double weights;                             ///< To read all of them again,
    double products;                            ///< and all products.
    int64_t mostUnits; ///< Whose numbers fit the second-level cache.
  };
  Partition units{}, panels{};
  bool isShared = false;   ///< Rows are brought together by tasks of their own.
  double stageSeconds = 0; ///< What that takes, of each of `outer`.
  static TileCut choose(int64_t outer, int64_t units, int64_t panels,
                        const Costs &costs);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILECUT_H
