//===- BufferAssignment.h - which slot holds a value ----------------------===//
//
// Values get slots of a MemoryPlan when they are first needed. Before steps are
// scheduled, a value may be claimed for a slot that exists already, so that its
// producer writes there and no copy is needed:
//
//     %y = cpu.kernel(%x); return %y         the kernel writes the output
//     while (%i = %start)                    the producer of %start writes
//                                            where the loop carries %i
//     %w' = cpu.kernel(%w, %g) of a state    written over %w, if all other
//                                            uses of %w come before
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_BUFFERASSIGNMENT_H
#define SINTER_BACKEND_CPU_PROGRAM_BUFFERASSIGNMENT_H

#include "backend/cpu/program/DynamicSchedule.h"
#include "backend/cpu/program/MemoryPlan.h"
#include "backend/cpu/program/ProgramConstants.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

class BufferAssignment {
public:
  using Id = MemoryPlan::Id;

  /// \p dynamic is null for a static program.
  BufferAssignment(const KernelTable &kernels, ProgramConstants &constants,
                   DynamicSchedule *dynamic)
      : kernels(kernels), constants(constants), dynamic(dynamic) {}

  /// A new slot for \p value.
  Id add(BufferSpace space, uint32_t index, mlir::Value value);
  /// Lets \p id be the slot of \p value.
  void assign(mlir::Value value, Id id) { slotOf[value] = id; }

  /// The slot of a value that exists. Constants are added when they are asked
  /// for. Errors: System for a value that nothing has computed yet, and what
  /// ProgramConstants::indexOf() reports.
  Result<Id> find(mlir::Value value);
  /// The slot that \p value is to be written to.
  Id create(mlir::Value value);

  /// Lets the operation of \p block that computes \p value write to \p slot, if
  /// there is one and its result has no slot yet.
  void claim(mlir::Value value, mlir::Block &block, Id slot);
  /// The same for the operands of loops and of kernels that update one in
  /// place, in \p block.
  void claimOperands(mlir::Block &block);
  /// The same for \p value, which a loop's body returns for \p argument (and
  /// the entry function for a state): \p slot is the argument's own memory,
  /// which may be overwritten once no other use of the old value follows.
  /// Returns why it cannot be, as "which ..."; "" if it is.
  llvm::StringRef claimUpdate(mlir::Value value, mlir::BlockArgument argument,
                              Id slot);

  MemoryPlan plan;

private:
  void claimCarried(stablehlo::WhileOp op);
  void claimUpdated(KernelOp op);

  const KernelTable &kernels;
  ProgramConstants &constants;
  DynamicSchedule *dynamic;
  llvm::DenseMap<mlir::Value, Id> slotOf;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_BUFFERASSIGNMENT_H
