//===- ChosenWeights.h - weights by patterns of their names ---------------===//

#ifndef SINTER_AUTODIFF_CHOSENWEIGHTS_H
#define SINTER_AUTODIFF_CHOSENWEIGHTS_H

#include "autodiff/Options.h"
#include "autodiff/Weights.h"

namespace sinter::autodiff {

/// Whether \p name fits one of the patterns (`*` for any text); a Usage error
/// where one is no pattern.
Result<bool> fitsOne(llvm::StringRef name,
                     llvm::ArrayRef<std::string> patterns);

/// Whether each pattern of the option \p option fits the name of a weight; a
/// Usage error names the first that does not.
Result<void> checkPatterns(llvm::StringRef option,
                           llvm::ArrayRef<std::string> patterns,
                           llvm::ArrayRef<LiftedWeight> weights);

/// Those of \p weights that \p options ask for (trainable, frozen), in their
/// order, but for those that \p isStatistic says are none.
Result<std::vector<const LiftedWeight *>>
chosenWeights(llvm::ArrayRef<LiftedWeight> weights,
              const TrainingOptions &options,
              llvm::function_ref<bool(const LiftedWeight &)> isStatistic);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_CHOSENWEIGHTS_H
