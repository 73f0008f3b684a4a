//===- KeptCeilings.h - peak rates of this machine, in the cache ----------===//

#ifndef SINTER_INTERFACE_KEPTCEILINGS_H
#define SINTER_INTERFACE_KEPTCEILINGS_H

#include "runtime/MachineCeilings.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace sinter {

/// The rates of \p ceilings as JSON, "arithmetic" and "bandwidth".
nlohmann::json asJson(const MachineCeilings &ceilings);

/// The file in \p cacheFolder with the rates of this machine, whose CPU its
/// name identifies: several machines may share a folder.
std::string ceilingsPath(const std::string &cacheFolder);

/// The peak rates stored in \p cacheFolder; nothing if it is empty, or they do
/// not exist or are damaged. \p note gets why a file is not used.
std::optional<MachineCeilings>
keptCeilings(const std::string &cacheFolder,
             const std::function<void(const std::string &)> &note);

} // namespace sinter

#endif // SINTER_INTERFACE_KEPTCEILINGS_H
