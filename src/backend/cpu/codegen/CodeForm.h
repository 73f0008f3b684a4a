//===- CodeForm.h - what code is but for its numbers ----------------------===//
//
// Layers of a network differ in channels and sizes, and the code of their
// kernels in numbers: how often a loop runs, how far apart things lie.
//
//     for i in 0 .. 8: load x[i * 128 + j]      for i in 0 .. 16: load x[i *
//     256 + j]
//
// have one form, in which 8 and 128 are numbers 0 and 1. Code that reads its
// numbers from a table is for all kernels of a form.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_CODEFORM_H
#define SINTER_BACKEND_CPU_CODEGEN_CODEFORM_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter::cpu {

/// Of the functions of a module, which have a table of sizes.
struct CodeForm {
  /// Everything but the functions' names and constants of type index.
  std::string text;
  /// What each use of such a constant has, in the order of the code. A place in
  /// the table of sizes is the name of the size that is there.
  std::vector<int64_t> numbers;
  /// Whether LLVM may choose the order of a sum, which it does by the numbers
  /// that it knows.
  bool leavesOrder = false;

  /// Makes the numbers, but for names, a part of the text.
  void keepNumbers();
};

/// The form of \p module, as generators wrote it.
CodeForm formOf(mlir::ModuleOp module);

/// Lets each use of a number in \p module that has a place, one each of
/// formOf()'s, read it from that place of the table of sizes. Nobody needs to
/// know which argument that is then.
void readFromTable(mlir::ModuleOp module,
                   llvm::ArrayRef<std::optional<uint32_t>> places);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_CODEFORM_H
