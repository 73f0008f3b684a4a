//===- CompareOptions.h - options of what counts as equal -----------------===//

#ifndef SINTER_INTERFACE_COMPAREOPTIONS_H
#define SINTER_INTERFACE_COMPAREOPTIONS_H

#include "compare/CompareReport.h"

namespace CLI {
class App;
}

namespace sinter {

/// The tolerances, --min-snr and --min-cosine of a comparison of two models.
void addCriteria(CLI::App &app, CompareCriteria &criteria, const char *group);

} // namespace sinter

#endif // SINTER_INTERFACE_COMPAREOPTIONS_H
