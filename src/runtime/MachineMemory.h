//===- MachineMemory.h - the memory of this machine -----------------------===//

#ifndef SINTER_RUNTIME_MACHINEMEMORY_H
#define SINTER_RUNTIME_MACHINEMEMORY_H

#include <cstdint>
#include <string>

namespace sinter {

/// Total memory in bytes, swap space included.
uint64_t memoryOfMachine();

/// "12.3 GB", 10^9 bytes each.
std::string inGigabytes(uint64_t bytes);

} // namespace sinter

#endif // SINTER_RUNTIME_MACHINEMEMORY_H
