//===- CodeFile.h - from a bundle's module to a file ----------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_CODEFILE_H
#define SINTER_BACKEND_CPU_AHEAD_CODEFILE_H

#include "backend/cpu/ahead/ObjectFacts.h"
#include "backend/cpu/target/Target.h"
#include "runtime/Bundle.h"

#include <memory>

namespace llvm {
class Module;
} // namespace llvm

namespace sinter::cpu {

struct CodeFile {
  std::vector<char> bytes;
  ObjectFacts facts;
  uint64_t stackBytes = 0;
  /// The forms of BundleOptions::also.
  std::vector<BundleText> also;
};

/// Emits \p module, which changes, as a file of the form and the names of \p
/// options. Functions without a CPU of their own get \p target's. \p
/// usesMatrixUnits: whether the module has AMX code. Errors: Unsupported if
/// LLVM cannot compile it; System.
Result<CodeFile> emitCodeFile(llvm::Module &module, const Target &target,
                              bool usesMatrixUnits,
                              const BundleOptions &options);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_CODEFILE_H
