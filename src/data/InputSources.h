//===- InputSources.h - which inputs are of many samples ------------------===//

#ifndef SINTER_DATA_INPUTSOURCES_H
#define SINTER_DATA_INPUTSOURCES_H

#include "engine/ModelDescription.h"

#include <string>
#include <vector>

namespace sinter {

/// Arguments as InputOptions has them, divided by what they are for.
struct InputSources {
  /// Sources of samples (SampleFiles.h); none: the arguments are for one run.
  std::vector<std::string> samples;
  /// Inputs that are the same for all samples, by name.
  std::vector<std::string> fixed;
};

/// Divides \p arguments for a \p model with \p inputs of the sizes wanted.
/// Sources of samples are folders, patterns, lists, standard input, .npz
/// archives, an .npy file with a leading dimension that the input does not have
/// or has in another size, and several files for the only input that is left.
/// \p splitsBatches: so are .npy files whose first dimension is the input's
/// batch. Inputs called \p zeros need none. Nothing is divided if there are
/// more arguments than inputs, which is an error of the one run.
Result<InputSources> inputSources(const ModelDescription &model,
                                  const std::vector<ModelInput> &inputs,
                                  const std::vector<std::string> &arguments,
                                  bool splitsBatches,
                                  const std::vector<std::string> &zeros = {});

} // namespace sinter

#endif // SINTER_DATA_INPUTSOURCES_H
