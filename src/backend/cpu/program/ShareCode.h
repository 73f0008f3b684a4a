//===- ShareCode.h - one code for kernels that differ in sizes ------------===//
//
// Kernels of dynamic sizes read these from a table. So they may read everything
// else there in which they differ from others, numbers of channels above all:
//
//     for c in 0 .. 8:  ... x[c * H * W]        8, 128 and the size H
//     for c in 0 .. 16: ... x[c * H' * W']      16, 256 and the size H'
//
// become one code with a table of three places, which each kernel has of its
// own. Numbers that all of them have in common stay in the code.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_SHARECODE_H
#define SINTER_BACKEND_CPU_PROGRAM_SHARECODE_H

#include "backend/cpu/codegen/CodeForm.h"

namespace sinter::cpu {

/// Code that several kernels run.
struct SharedCode {
  /// Those, by their place in what shareCode() was given; the first one's code
  /// is the one to read numbers from the table.
  std::vector<size_t> kernels;
  /// Where each number of the form is read from, if it is.
  std::vector<std::optional<uint32_t>> places;
  /// What each kernel's table has.
  std::vector<std::vector<FormNumber>> tables;

  /// A text that no other code has, from \p form, the one of all its kernels.
  std::string textOf(const CodeForm &form) const;
};

/// Puts kernels of one form together, in the order of the first ones.
std::vector<SharedCode> shareCode(llvm::ArrayRef<CodeForm> forms);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_SHARECODE_H
