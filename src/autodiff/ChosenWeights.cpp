#include "autodiff/ChosenWeights.h"

#include "runtime/OptionNames.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace sinter::autodiff {

Result<bool> fitsOne(StringRef name, ArrayRef<std::string> patterns) {
  for (const std::string &text : patterns) {
    auto pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return usageError("'" + text +
                        "': " + llvm::toString(pattern.takeError()));
    if (pattern->match(name))
      return true;
  }
  return false;
}

Result<void> checkPatterns(StringRef option, ArrayRef<std::string> patterns,
                           ArrayRef<LiftedWeight> weights) {
  for (const std::string &pattern : patterns) {
    bool isMatched = false;
    for (const LiftedWeight &weight : weights) {
      Result<bool> fits = fitsOne(weight.name, pattern);
      if (!fits)
        return fits.takeError();
      isMatched |= *fits;
    }
    if (!isMatched)
      return usageError(option.str() + " '" + pattern +
                        "': no weight has such a name");
  }
  return {};
}

Result<std::vector<const LiftedWeight *>>
chosenWeights(ArrayRef<LiftedWeight> weights, const TrainingOptions &options,
              llvm::function_ref<bool(const LiftedWeight &)> isStatistic) {
  for (const auto &[option, patterns] :
       {std::pair(optionText("trainable"), &options.trainable),
        std::pair(optionText("frozen"), &options.frozen)})
    if (Result<void> good = checkPatterns(option, *patterns, weights); !good)
      return good.takeError();
  std::vector<const LiftedWeight *> chosen;
  for (const LiftedWeight &weight : weights) {
    if (isStatistic(weight))
      continue;
    Result<bool> isTrained = options.trainable.empty()
                                 ? Result<bool>(!weight.isAskedFor)
                                 : fitsOne(weight.name, options.trainable);
    if (!isTrained)
      return isTrained.takeError();
    Result<bool> isFrozen = fitsOne(weight.name, options.frozen);
    if (!isFrozen)
      return isFrozen.takeError();
    if (*isTrained && !*isFrozen)
      chosen.push_back(&weight);
  }
  return chosen;
}

} // namespace sinter::autodiff
