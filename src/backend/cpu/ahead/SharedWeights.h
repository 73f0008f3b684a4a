//===- SharedWeights.h - one copy of the weights of several programs ------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SHAREDWEIGHTS_H
#define SINTER_BACKEND_CPU_AHEAD_SHAREDWEIGHTS_H

#include "backend/cpu/ahead/BundleLayout.h"

namespace sinter::cpu {

/// A program, and its layout.
struct LaidOut {
  const Program *program;
  BundleLayout *layout;
};

/// Lets the layouts of \p all, at least one, refer to one copy of each constant
/// that several programs have, in the weights of the first; those of the others
/// are empty from then on. A single one stays as it is.
void shareWeights(llvm::ArrayRef<LaidOut> all, BundleWeights weights);

/// Checks that all programs have the same states with the same initial values.
/// Unsupported error.
Result<void> checkSameStates(llvm::ArrayRef<const Program *> programs);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SHAREDWEIGHTS_H
