//===- Alternative.h - what a pass chooses from ---------------------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_ALTERNATIVE_H
#define SINTER_BACKEND_CPU_TARGET_ALTERNATIVE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace sinter::cpu {

/// A kernel, by KernelPlan's name, and its estimated time; 0 where sizes do not
/// say it.
struct Alternative {
  llvm::StringRef kernel;
  double seconds = 0;
  /// Where it is none that could be taken, why.
  llvm::StringRef reason = {};
  /// Of its weights and what it keeps beside them, where others keep more.
  double bytes = 0;
};
using Alternatives = llvm::SmallVector<Alternative, 2>;

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_ALTERNATIVE_H
