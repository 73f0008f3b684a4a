//===- ChosenWeights.h - weights by patterns of their names ---------------===//

#ifndef SINTER_AUTODIFF_CHOSENWEIGHTS_H
#define SINTER_AUTODIFF_CHOSENWEIGHTS_H

#include "autodiff/Options.h"
#include "autodiff/Weights.h"

namespace sinter::autodiff {

/// Whether \p name matches one of the patterns (`*` for any text); a Usage
/// error where one is not a valid pattern.
Result<bool> fitsOne(llvm::StringRef name,
                     llvm::ArrayRef<std::string> patterns);

/// Checks that each pattern of the option \p option matches the name of a
/// weight; a Usage error names the first that does not.
Result<void> checkPatterns(llvm::StringRef option,
                           llvm::ArrayRef<std::string> patterns,
                           llvm::ArrayRef<LiftedWeight> weights);

/// Those of \p weights that \p options select (trainable, frozen), in their
/// order, without those that \p isStatistic holds for.
Result<std::vector<const LiftedWeight *>>
chosenWeights(llvm::ArrayRef<LiftedWeight> weights,
              const TrainingOptions &options,
              llvm::function_ref<bool(const LiftedWeight &)> isStatistic);

} // namespace sinter::autodiff

#endif // SINTER_AUTODIFF_CHOSENWEIGHTS_H
