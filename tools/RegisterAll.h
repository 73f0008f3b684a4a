//===- RegisterAll.h - the dialects and passes that tools know ------------===//

#ifndef SINTER_DRIVER_REGISTERALL_H
#define SINTER_DRIVER_REGISTERALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace sinter {

/// Every dialect that a model's text may use: ours, and MLIR's that the
/// backend lowers through.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Every pass, by its command-line name.
void registerAllPasses();

} // namespace sinter

#endif // SINTER_DRIVER_REGISTERALL_H
