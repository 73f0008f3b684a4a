//===- MachineReport.h - sinter bench --machine ---------------------------===//

#ifndef SINTER_DRIVER_MACHINEREPORT_H
#define SINTER_DRIVER_MACHINEREPORT_H

#include "runtime/MachineCeilings.h"
#include "runtime/Result.h"

#include <optional>
#include <string>

namespace sinter::driver {

/// Measures in about \p seconds what one thread of this machine can do at most,
/// prints it, as JSON if \p json, and keeps it as a JSON file in \p
/// cacheFolder, named after the machine, unless that is empty. The exit code;
/// that it cannot be kept is a note.
Result<int> reportMachine(double seconds, const std::string &cacheFolder,
                          bool json);

/// What was measured of this machine before and kept in \p cacheFolder; nothing
/// where that is not there, or damaged.
std::optional<MachineCeilings> keptCeilings(const std::string &cacheFolder);

/// What was measured of this machine before and kept in \p cacheFolder; else it
/// is measured now, in a second, and kept there.
Result<MachineCeilings> machineCeilings(const std::string &cacheFolder);

} // namespace sinter::driver

#endif // SINTER_DRIVER_MACHINEREPORT_H
