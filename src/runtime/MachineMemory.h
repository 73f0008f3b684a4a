//===- MachineMemory.h - how much memory there is -------------------------===//

#ifndef SINTER_RUNTIME_MACHINEMEMORY_H
#define SINTER_RUNTIME_MACHINEMEMORY_H

#include <cstdint>
#include <string>

namespace sinter {

/// What this machine has in bytes, swap space included.
uint64_t memoryOfMachine();

/// "12.3 GB", 10^9 bytes each.
std::string inGigabytes(uint64_t bytes);

} // namespace sinter

#endif // SINTER_RUNTIME_MACHINEMEMORY_H
