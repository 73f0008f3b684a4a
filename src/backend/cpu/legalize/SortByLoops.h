//===- SortByLoops.h - merge sort as loops in the graph -------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_SORTBYLOOPS_H
#define SINTER_BACKEND_CPU_LEGALIZE_SORTBYLOOPS_H

#include "backend/cpu/legalize/LoopWriter.h"

namespace sinter::cpu {

/// The results of \p op, computed by stablehlo.while: a stable bottom-up merge
/// sort of each row's indices. Built before \p op, which stays.
Values sortByLoops(stablehlo::SortOp op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_SORTBYLOOPS_H
