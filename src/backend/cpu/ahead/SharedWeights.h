//===- SharedWeights.h - one copy of the weights of programs --------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SHAREDWEIGHTS_H
#define SINTER_BACKEND_CPU_AHEAD_SHAREDWEIGHTS_H

#include "backend/cpu/ahead/BundleLayout.h"

namespace sinter::cpu {

/// A program, and its layout.
struct LaidOut {
  const Program *program;
  BundleLayout *layout;
};

/// Sets the weights of the first of \p all, at least one, to one copy of each
/// constant that programs use, and its offset there in each layout.
void layOutWeights(llvm::ArrayRef<LaidOut> all, BundleWeights weights);

/// Checks that all programs have the same states with the same initial values.
/// Unsupported error.
Result<void> checkSameStates(llvm::ArrayRef<const Program *> programs);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SHAREDWEIGHTS_H
