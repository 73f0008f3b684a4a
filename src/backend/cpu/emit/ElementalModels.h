//===- ElementalModels.h - attaches ElementalOpInterface ------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ELEMENTALMODELS_H
#define SINTER_BACKEND_CPU_EMIT_ELEMENTALMODELS_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace sinter::cpu {

/// Attaches ElementalOpInterface to the operations that this backend computes,
/// in
/// \p context, whose dialects are loaded.
void attachElementals(mlir::MLIRContext *context);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ELEMENTALMODELS_H
