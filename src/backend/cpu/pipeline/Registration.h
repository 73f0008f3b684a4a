//===- Registration.h - the CPU backend in a context ----------------------===//

#ifndef SINTER_BACKEND_CPU_PIPELINE_REGISTRATION_H
#define SINTER_BACKEND_CPU_PIPELINE_REGISTRATION_H

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace sinter::cpu {

/// Adds the dialect `cpu`; once it and the graph's dialects are loaded, their
/// operations say what this backend computes (ir/ElementalOp.h).
void registerCpuDialect(mlir::DialectRegistry &registry);

/// Loads the dialect into \p context, with the same effect.
void loadCpuDialect(mlir::MLIRContext *context);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PIPELINE_REGISTRATION_H
