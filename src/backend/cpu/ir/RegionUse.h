//===- RegionUse.h - how a region's operations are computed ---------------===//

#ifndef SINTER_BACKEND_CPU_IR_REGIONUSE_H
#define SINTER_BACKEND_CPU_IR_REGIONUSE_H

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

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_REGIONUSE_H
