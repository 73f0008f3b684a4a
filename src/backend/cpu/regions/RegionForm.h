//===- RegionForm.h - what a region is made of ----------------------------===//

#ifndef SINTER_BACKEND_CPU_REGIONS_REGIONFORM_H
#define SINTER_BACKEND_CPU_REGIONS_REGIONFORM_H

#include "mlir/IR/Operation.h"

namespace sinter::cpu {

/// How an operation in a region of a kernel's operation is computed.
enum class RegionUse {
  Value,       ///< Scalars: in its place.
  ReadThrough, ///< Element by element, where it is read.
  Buffer,      ///< Element by element, all of them in its place.
  Whole,       ///< As Kind::Whole, in its place.
  Control      ///< Branches and loops.
};

/// For an operation in a region that may be inlined.
RegionUse regionUse(mlir::Operation *op);

/// Whether the regions of \p op, an operation of a kernel, can be part of its
/// code: they use nothing from outside, are made of what can be computed
/// element by element, and their tensors fit on the stack. Others have to be
/// expanded (ExpandRegions.h).
bool hasInlinableRegions(mlir::Operation *op);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_REGIONS_REGIONFORM_H
