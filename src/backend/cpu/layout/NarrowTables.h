//===- NarrowTables.h - tables that stay as narrow as they are ------------===//
//
//   gather((convert<f32>(w : i8) - z) * s, i)
//     ->  (convert<f32>(gather(w, i)) - gather(z, i)) * gather(s, i)
//
// What looks up rows of a table (an embedding) takes them from the numbers that
// the file holds, and widens those that it took. A program holds and reads the
// table as it is.
//
// Restrictions:
//   - The table follows from constants, of which one has integers of up to 8
//     bits or floats of up to 16: by conversions, differences and products with
//     numbers that are repeated, and reshapes that leave rows alone.
//   - Whole rows along the first dimension, one index each, which come last in
//     the result.
//   - Sizes are known.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_NARROWTABLES_H
#define SINTER_BACKEND_CPU_LAYOUT_NARROWTABLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, regions of control flow included.
void narrowTables(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> narrowTablesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_NARROWTABLES_H
