//===- SortByLoops.h - a merge sort as a loop of steps --------------------===//

#ifndef SINTER_BACKEND_CPU_REGIONS_SORTBYLOOPS_H
#define SINTER_BACKEND_CPU_REGIONS_SORTBYLOOPS_H

#include "backend/cpu/regions/LoopWriter.h"

namespace sinter::cpu {

/// What \p op computes, by stablehlo.while: a stable merge sort of each row's
/// indices, from runs of one element up. Written before \p op, which stays.
Values sortByLoops(stablehlo::SortOp op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_REGIONS_SORTBYLOOPS_H
