//===- ProgramMemory.h - the memory that a program needs ------------------===//

#ifndef SINTER_RUNTIME_PROGRAMMEMORY_H
#define SINTER_RUNTIME_PROGRAMMEMORY_H

#include "runtime/Program.h"

namespace sinter {

/// Bytes by memory space.
struct ProgramMemory {
  uint64_t arena = 0, constants = 0, inputs = 0, outputs = 0, states = 0;

  /// The peak of a run, without code and scratch memory of threads.
  uint64_t peak() const {
    return arena + constants + inputs + outputs + states;
  }
};

ProgramMemory memoryOf(const Program &program);

/// Whether the memory of \p steps of \p program fits into this machine's. The
/// System error lists the largest parts.
Result<void> checkMemoryFor(const Program &program,
                            std::span<const Step> steps);

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAMMEMORY_H
