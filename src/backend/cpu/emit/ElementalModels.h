//===- ElementalModels.h - what this backend computes ---------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ELEMENTALMODELS_H
#define SINTER_BACKEND_CPU_EMIT_ELEMENTALMODELS_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace sinter::cpu {

/// Makes the operations that this backend computes implement
/// ElementalOpInterface in \p context, whose dialects are loaded.
void attachElementals(mlir::MLIRContext *context);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ELEMENTALMODELS_H
