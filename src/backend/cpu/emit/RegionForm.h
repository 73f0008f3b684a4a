//===- RegionForm.h - what a region is made of ----------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_REGIONFORM_H
#define SINTER_BACKEND_CPU_EMIT_REGIONFORM_H

#include "mlir/IR/Operation.h"

namespace sinter::cpu {

/// Whether the regions of \p op, an operation of a kernel, can be part of its
/// code: they use nothing from outside, are made of what can be computed
/// element by element, and their tensors fit on the stack. Others have to be
/// expanded (ExpandRegions.h).
bool hasInlinableRegions(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_REGIONFORM_H
