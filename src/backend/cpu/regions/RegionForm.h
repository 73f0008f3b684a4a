//===- RegionForm.h - what a region is made of ----------------------------===//

#ifndef SINTER_BACKEND_CPU_REGIONS_REGIONFORM_H
#define SINTER_BACKEND_CPU_REGIONS_REGIONFORM_H

#include "mlir/IR/Region.h"

namespace sinter::cpu {

/// Whether a region of a kernel's operation can be part of its code: scalars,
/// and small tensors that are computed where they are asked for. Others have to
/// be expanded (ExpandRegions.h).
bool isInlinable(mlir::Region &region);
/// The same of all regions of \p op.
bool hasInlinableRegions(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_REGIONS_REGIONFORM_H
