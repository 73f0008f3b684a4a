//===- Machine.h - what a measurement was made on -------------------------===//

#ifndef SINTER_DRIVER_MACHINE_H
#define SINTER_DRIVER_MACHINE_H

#include <string>

namespace sinter::driver {

/// The processor's name, as /proc/cpuinfo has it.
std::string cpuModel();
/// The widest vector instruction set that programs for this machine use:
/// "avx512", "avx2", "sse2", "neon".
std::string instructionSet();
/// The most memory that this process has occupied, in 10^6 bytes.
double peakMemoryMb();

} // namespace sinter::driver

#endif // SINTER_DRIVER_MACHINE_H
