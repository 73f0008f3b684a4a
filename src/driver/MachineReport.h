//===- MachineReport.h - sinter bench --machine ---------------------------===//

#ifndef SINTER_DRIVER_MACHINEREPORT_H
#define SINTER_DRIVER_MACHINEREPORT_H

#include "runtime/MachineCeilings.h"
#include "runtime/Result.h"

#include <string>

namespace sinter::driver {

/// Measures the peak rates of one thread of this machine in about \p seconds,
/// prints them, as JSON if \p json, and stores them as a JSON file in \p
/// cacheFolder, named after the machine, unless that is empty. Returns the exit
/// code; failure to store them is a note.
Result<int> reportMachine(double seconds, const std::string &cacheFolder,
                          bool json);

/// The peak rates stored in \p cacheFolder; else they are measured now, in a
/// second, and stored there.
Result<MachineCeilings> machineCeilings(const std::string &cacheFolder);

} // namespace sinter::driver

#endif // SINTER_DRIVER_MACHINEREPORT_H
