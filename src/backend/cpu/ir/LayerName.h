//===- LayerName.h - names of layers, for messages and plans --------------===//

#ifndef SINTER_BACKEND_CPU_IR_LAYERNAME_H
#define SINTER_BACKEND_CPU_IR_LAYERNAME_H

#include "mlir/IR/Location.h"

#include <string>

namespace sinter::cpu {

/// The name of the node in the user's file that \p location stands for; "" if
/// it has none.
std::string layerOf(mlir::Location location);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_IR_LAYERNAME_H
