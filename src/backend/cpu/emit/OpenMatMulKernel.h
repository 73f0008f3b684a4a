//===- OpenMatMulKernel.h - kernels of products of open sizes -------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_OPENMATMULKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_OPENMATMULKERNEL_H

#include "backend/cpu/emit/AnchorKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// Whether the generator has code for \p op, of whose sizes some are not known
/// (named or, in a graph where no size has its name yet, dynamic): rows,
/// columns and what is contracted lie evenly in memory. False of anything but
/// dot_general and distance_product.
bool isOpenMatMul(mlir::Operation *op);

/// Whether matrix units compute such an \p op, of some depths at least.
bool hasOpenTiles(mlir::Operation *op, const Target &target);

std::unique_ptr<AnchorKernel> createOpenMatMulKernel(KernelOp kernel,
                                                     mlir::Operation *op,
                                                     const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_OPENMATMULKERNEL_H
