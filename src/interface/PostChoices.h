//===- PostChoices.h - steps of post-processing as options ----------------===//

#ifndef SINTER_INTERFACE_POSTCHOICES_H
#define SINTER_INTERFACE_POSTCHOICES_H

#include "post/PostProcessing.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// --post, in \p group of the help.
void addPostSteps(CLI::App &app, std::vector<std::string> &steps,
                  const std::string &group);

/// The steps of --post: none for `none`; nothing if \p steps is empty, which
/// leaves the choice to the model.
Result<std::optional<PostProcessing>>
postStepsOf(const std::vector<std::string> &steps);

} // namespace sinter

#endif // SINTER_INTERFACE_POSTCHOICES_H
