//===- Machine.h - the machine of a measurement ---------------------------===//

#ifndef SINTER_DRIVER_MACHINE_H
#define SINTER_DRIVER_MACHINE_H

#include <string>

namespace sinter::driver {

/// The widest vector instruction set of programs for this machine: "avx512",
/// "avx2", "sse2", "neon".
std::string instructionSet();
/// The peak memory of this process, in 10^6 bytes.
double peakMemoryMb();

} // namespace sinter::driver

#endif // SINTER_DRIVER_MACHINE_H
