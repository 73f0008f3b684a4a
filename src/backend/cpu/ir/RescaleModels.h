//===- RescaleModels.h - rescales around operations of the backend --------===//

#ifndef SINTER_BACKEND_CPU_IR_RESCALEMODELS_H
#define SINTER_BACKEND_CPU_IR_RESCALEMODELS_H

#include "mlir/IR/MLIRContext.h"

namespace sinter::cpu {

/// Makes operations of the dialect `cpu`, which \p context has loaded,
/// implement RescaleOpInterface: what blocks channels and takes them apart
/// again, and pools.
void attachRescales(mlir::MLIRContext *context);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_RESCALEMODELS_H
