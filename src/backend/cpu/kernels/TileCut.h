//===- TileCut.h - tasks of a product on matrix units ---------------------===//
//
// A task brings together the numbers of some rows, which its thread's
// second-level cache holds, and goes over some panels of weights with them. So
// what is read again and again is weighed against tasks that are too few.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_TILECUT_H
#define SINTER_BACKEND_CPU_KERNELS_TILECUT_H

#include "backend/cpu/kernels/Tiling.h"

#include <functional>

namespace sinter::cpu {

/// How many tasks of how many rows' units and panels there are, chosen by what
/// they bring together and read.
struct TileCut {
  int64_t tasks() const { return units.count * panels.count; }

  /// Everything in seconds of one thread, but units and panels.
  struct Costs {
    std::function<double(int64_t units)> stage; ///< Of a task of so many.
    double weights;                             ///< To read all of them again,
    double products;                            ///< and all products.
    int64_t mostUnits; ///< Whose numbers fit the second-level cache.
  };
  Partition units{}, panels{};
  static TileCut choose(int64_t outer, int64_t units, int64_t panels,
                        const Costs &costs);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_TILECUT_H
