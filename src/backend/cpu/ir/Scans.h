//===- Scans.h - windows that are running sums ----------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_SCANS_H
#define SINTER_BACKEND_CPU_IR_SCANS_H

#include "graph/stablehlo/Sums.h"

namespace sinter::cpu {

/// Whether windows may be combined without the initial values that stand where
/// they reach beyond the elements.
bool ignoresPadding(stablehlo::ReduceWindowOp op);

/// What the windows of \p op are, if they are those of a scan. Nothing if
/// initial values count in them.
std::optional<stablehlo::Scan> scanOf(stablehlo::ReduceWindowOp op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_SCANS_H
