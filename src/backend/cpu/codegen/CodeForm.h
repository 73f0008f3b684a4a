//===- CodeForm.h - code without its index constants ----------------------===//
//
// Layers of a network differ in channels and sizes, and the code of their
// kernels in constants: trip counts and strides.
//
//     for i in 0 .. 8: load x[i * 128 + j]
//     for i in 0 .. 16: load x[i * 256 + j]
//
// have one form, in which 8 and 128 are constants 0 and 1. Code that loads its
// constants from a table serves all kernels of a form.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_CODEFORM_H
#define SINTER_BACKEND_CPU_CODEGEN_CODEFORM_H

#include "mlir/IR/BuiltinOps.h"

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace sinter::cpu {

/// A constant of the code, or an entry in the table of sizes.
struct FormNumber {
  int64_t number = 0;
  bool isEntry = false;

  FormNumber(int64_t number = 0) : number(number) {}
  static FormNumber entry(int64_t number) {
    FormNumber made(number);
    made.isEntry = true;
    return made;
  }
  auto operator<=>(const FormNumber &) const = default;
};

/// The form of the functions of a module, which have a table of sizes.
struct CodeForm {
  /// Everything but the functions' names and constants of type index.
  std::string text;
  /// The value of each use of such a constant, in the order of the code.
  std::vector<FormNumber> numbers;
  /// Whether LLVM may reorder a sum, which depends on the constants that it
  /// knows.
  bool leavesOrder = false;

  /// Adds the constants, except entries, to the text.
  void keepNumbers();
};

/// The form of \p module, as generated.
CodeForm formOf(mlir::ModuleOp module);

/// Replaces uses of constants in \p module by loads from the table of sizes.
/// \p places has one entry per use, in the order of formOf()'s constants: an
/// index in the table, or nothing if the use stays. Removes the attribute that
/// marks the table's argument.
void readFromTable(mlir::ModuleOp module,
                   llvm::ArrayRef<std::optional<uint32_t>> places);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_CODEFORM_H
