//===- Expansion.h - new operations in terms of old ones ------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_EXPANSION_H
#define SINTER_FORMATS_STABLEHLO_VHLO_EXPANSION_H

#include "formats/stablehlo/vhlo/Version.h"

#include "mlir/IR/BuiltinOps.h"

namespace sinter::vhlo {

/// Expands what version \p target lacks to equivalent operations: `tan` before
/// 1.4, batching dimensions of `gather` and `scatter` before 1.1, groups of a
/// mesh before 1.16, `composite` before 0.19. Operations that cannot be
/// expanded stay.
void expandFor(mlir::ModuleOp module, Version target);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_EXPANSION_H
