//===- LowBitTables.h - low-bit tables of gathers -------------------------===//
//
//   gather((convert<f32>(w : i8) - z) * s, i)
//     ->  (convert<f32>(gather(w, i)) - gather(z, i)) * gather(s, i)
//
// A look-up of rows of a table (an embedding) reads them in the storage type
// and widens only the gathered rows. A program keeps the table in its storage
// type.
//
// Restrictions:
//   - The table is computed from constants, of which one has integers of up to
//     8 bits or floats of up to 16 bits: by conversions, subtractions and
//     multiplications by repeated constants, and reshapes that keep rows.
//   - Whole rows along the first dimension, one index per row, which are the
//     last dimensions of the result.
//   - Sizes are static.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_WEIGHTS_LOWBITTABLES_H
#define SINTER_BACKEND_CPU_WEIGHTS_LOWBITTABLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

/// Rewrites all of \p function, regions of control flow included.
void lowBitTables(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> lowBitTablesPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_WEIGHTS_LOWBITTABLES_H
