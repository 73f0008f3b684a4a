//===- KernelBody.h - the ways to compute a kernel ------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_KERNELBODY_H
#define SINTER_BACKEND_CPU_EMIT_KERNELBODY_H

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/KernelPlan.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/Dim.h"

#include <memory>

namespace sinter::cpu {

/// What is estimated of named sizes is estimated as if they were this.
inline constexpr int64_t nominalSize = 64;
inline int64_t nominalOf(Dim size) { return size.valueOr(nominalSize); }
/// How many elements a tensor of these \p sizes has then.
double nominalCount(llvm::ArrayRef<Dim> sizes);

/// Arithmetic operations that \p kernel does.
double flopsOf(KernelOp kernel);
/// The same for one element of its result; at least 1.
double elementCostOf(KernelOp kernel);

class KernelBody {
public:
  virtual ~KernelBody() = default;

  virtual int64_t tasks() const = 0;
  /// Where sizes are named, what tasks() are the product of; nothing where the
  /// kernel is for known sizes only.
  virtual std::vector<TaskExtent> taskExtents() const { return {}; }
  virtual Scratch scratch() const { return {}; }
  /// For how many neighbours a coordinate with lanes stands.
  virtual int64_t lanes() const { return 1; }
  /// Writes one task. \p elemental knows the inputs; \p outputs are the
  /// results' memory, \p scratch that of bytes (i8), if it was asked for.
  virtual void emit(Elemental &elemental, mlir::Value task,
                    mlir::ValueRange outputs, mlir::Value scratch) = 0;

  /// The way for \p kernel.
  static std::unique_ptr<KernelBody> create(KernelOp kernel);
};

/// Loops over the elements of the results.
std::unique_ptr<KernelBody> createLoopKernel(KernelOp kernel);
/// Reductions of rows, which the first \p rowRank dimensions of the result
/// number, and what is computed of them while the row is in the cache.
std::unique_ptr<KernelBody> createRowKernel(KernelOp kernel, int64_t rowRank);
/// Each row by itself.
std::unique_ptr<KernelBody> createSortKernel(stablehlo::SortOp op);
/// One update after the other; \p inPlace if the result's memory holds the
/// operand.
std::unique_ptr<KernelBody> createScatterKernel(stablehlo::ScatterOp op,
                                                bool inPlace);
/// One source element after the other.
std::unique_ptr<KernelBody>
createSelectAndScatterKernel(stablehlo::SelectAndScatterOp op);
/// One of these three; null for any other operation.
std::unique_ptr<KernelBody> createWholeKernel(mlir::Operation *op);
/// stablehlo.reduce_window whose windows are all that came so far.
std::unique_ptr<KernelBody> createScanKernel(KernelOp kernel);
/// stablehlo.dynamic_update_slice into memory that holds the operand.
std::unique_ptr<KernelBody> createUpdateKernel(KernelOp kernel);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_KERNELBODY_H
