//===- DynamicMatMulKernel.h - kernels of products of dynamic sizes
//----------===//

#ifndef SINTER_BACKEND_CPU_EMIT_DYNAMICMATMULKERNEL_H
#define SINTER_BACKEND_CPU_EMIT_DYNAMICMATMULKERNEL_H

#include "backend/cpu/emit/RootKernel.h"

#include <memory>

namespace sinter::cpu {

struct Target;

/// Whether the generator has code for \p op, of whose sizes some are not known
/// (named or, in a graph where no size has its name yet, dynamic): rows,
/// columns and what is contracted lie evenly in memory. False of anything but
/// dot_general and zero_point_product.
bool isDynamicMatMul(mlir::Operation *op);

/// Whether matrix units compute such an \p op, of some depths at least.
bool hasDynamicTiles(mlir::Operation *op, const Target &target);

std::unique_ptr<RootKernel> createDynamicMatMulKernel(KernelOp kernel,
                                                      mlir::Operation *op,
                                                      const Target &target);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_DYNAMICMATMULKERNEL_H
