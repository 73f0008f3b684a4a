//===- OptimizeOptions.h - options and report of `sinter optimize` --------===//

#ifndef SINTER_INTERFACE_OPTIMIZEOPTIONS_H
#define SINTER_INTERFACE_OPTIMIZEOPTIONS_H

#include "engine/Compiler.h"

#include <nlohmann/json_fwd.hpp>

namespace CLI {
class App;
} // namespace CLI

namespace sinter {

/// --freeze, --raise-quantized, --change-outputs, --standard-operators,
/// --target: they set \p request.
void addOptimization(CLI::App &app, OptimizeRequest &request);

/// \p report, of a request with counts, as JSON, without "model" and "output".
nlohmann::json asJson(const OptimizeReport &report);

} // namespace sinter

#endif // SINTER_INTERFACE_OPTIMIZEOPTIONS_H
