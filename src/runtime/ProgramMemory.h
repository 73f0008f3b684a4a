//===- ProgramMemory.h - how much memory a program needs ------------------===//

#ifndef SINTER_RUNTIME_PROGRAMMEMORY_H
#define SINTER_RUNTIME_PROGRAMMEMORY_H

#include "runtime/Program.h"

namespace sinter {

/// Bytes by memory space.
struct ProgramMemory {
  uint64_t arena = 0, constants = 0, inputs = 0, outputs = 0, states = 0;

  /// What a run needs at its peak, beside code and what threads compute in.
  uint64_t peak() const {
    return arena + constants + inputs + outputs + states;
  }
};

ProgramMemory memoryOf(const Program &program);

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAMMEMORY_H
