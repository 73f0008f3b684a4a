//===- SampleChoices.h - samples with what is right of them as options ----===//

#ifndef SINTER_INTERFACE_SAMPLECHOICES_H
#define SINTER_INTERFACE_SAMPLECHOICES_H

#include "data/SampleFiles.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// --samples, --truth and --labels, in \p group of the help. \p truth says what
/// the file \p form of the right answers may be.
void addLabelledSamples(CLI::App &app, SampleOptions &options,
                        const std::string &group, const std::string &truth,
                        const std::string &form);

} // namespace sinter

#endif // SINTER_INTERFACE_SAMPLECHOICES_H
