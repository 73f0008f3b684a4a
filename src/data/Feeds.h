//===- Feeds.h - outputs that become inputs of the next step --------------===//

#ifndef SINTER_DATA_FEEDS_H
#define SINTER_DATA_FEEDS_H

#include "engine/ModelDescription.h"
#include "runtime/Executor.h"

#include <string>
#include <vector>

namespace sinter {

/// An output that becomes an input, by their indices.
struct Feed {
  size_t output = 0, input = 0;
};

/// "OUTPUT=INPUT" for each of \p texts. Usage errors, which call them \p what,
/// for names that \p model does not have, and for an input that is given twice.
Result<std::vector<Feed>> parseFeeds(const std::vector<std::string> &texts,
                                     const ModelDescription &model,
                                     const std::string &what);

/// The pairs that \p model keeps, of states of dynamic sizes.
std::vector<std::string> keptFeeds(const ModelDescription &model);
/// The names of the inputs of \p model that are zeros unless they are given:
/// those called \p named, and those of keptFeeds().
std::vector<std::string> zeroInputs(const ModelDescription &model,
                                    std::vector<std::string> named);

/// The files of what \p feeds keep, in a folder of states.
std::vector<std::string> feedFileNames(const std::vector<Feed> &feeds,
                                       const ModelDescription &model);

/// Whether what is fed fits where it goes, as far as \p executor of \p model
/// knows it; Usage error.
Result<void> checkFeeds(const std::vector<Feed> &feeds,
                        const ModelDescription &model, const Executor &executor,
                        const std::string &what);

} // namespace sinter

#endif // SINTER_DATA_FEEDS_H
