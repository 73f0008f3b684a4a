//===- KernelSource.h - what an object of a program is compiled from ------===//
//
// The code of a program's kernels is compiled in pieces, each of which becomes
// an object that the cache keeps. A source describes a piece: the functions of
// a kernel, or a subroutine that several of them call. Its code is written from
// the kernel, once where it is compiled by the thread that has written it
// already, and then specialised: functions get their names, constants become
// reads of a table, subroutines are put back or called by name.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_KERNELSOURCE_H
#define SINTER_BACKEND_CPU_PROGRAM_KERNELSOURCE_H

#include "backend/cpu/program/KernelCache.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <optional>
#include <variant>

namespace sinter::cpu {

/// The functions of a kernel, or a subroutine, as a generator wrote them in the
/// context of a thread, and what they take for granted.
struct WrittenCode {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<KernelContract> contracts = {};
  unsigned thread = 0;
};

/// A subroutine that a kernel's functions call.
struct CalledSubroutine {
  /// Of the source that it is; empty if it stays in the code of the functions.
  std::string name;
  /// What has been written of one that stays; null: nothing.
  std::shared_ptr<WrittenCode> written = nullptr;
};

/// The functions of a kernel, or the one of a stage where stages are separate
/// (KernelPlan::hasSeparateStages).
struct KernelFunctions {
  size_t stage = 0; ///< Of the first function.
  size_t count = 1;
  /// Where each constant is read from, if it is (SharedCode::places); empty: no
  /// constant is.
  std::vector<std::optional<uint32_t>> places = {};
  /// In the order of takeSubroutines().
  std::vector<CalledSubroutine> subroutines = {};
};

/// A subroutine of a kernel, by its place in takeSubroutines().
struct SubroutineOfKernel {
  size_t number;
};

struct KernelSource {
  /// The symbol of the first function; stageName() has the others.
  std::string name;
  /// What the code is kept under: a hash of all that decides on it.
  Hash128 key;
  /// The kernel, as serialize() gives it.
  std::string bytecode;
  /// A layer that it computes, for reports.
  std::string layer;
  std::variant<KernelFunctions, SubroutineOfKernel> part;
  /// What has been written of it; null: nothing.
  std::shared_ptr<WrittenCode> written;

  /// How many functions are called by steps of the program.
  size_t functions() const {
    const auto *functions = std::get_if<KernelFunctions>(&part);
    return functions ? functions->count : 0;
  }
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_KERNELSOURCE_H
