//===- Role.h - roles of tensors ------------------------------------------===//
//
// The role of a tensor determines when its bytes move between the host and a
// device. graph/storage computes the roles in a graph; a program's memory
// spaces are the same roles.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_ROLE_H
#define SINTER_RUNTIME_ROLE_H

#include "runtime/Program.h"

namespace sinter {

enum class Role : uint8_t { Constant, Input, Output, State, Temporary };

std::string_view name(Role role);

/// When bytes move between host and device.
enum class Transfer : uint8_t { Never, OnceAtLoad, EachRun, WhenAsked };

/// Host to device before a run. An output only if the program may leave a part
/// of it unwritten.
Transfer transferBefore(Role role, bool isPartlyWritten = false);
/// Device to host after a run (an output: as soon as it is complete).
Transfer transferAfter(Role role);

/// What the memory of a space holds.
Role roleOf(BufferSpace space);

/// Whether \p program may leave a part of its output \p index unwritten: the
/// first step that uses it outside of control flow does not write all of it.
bool isPartlyWritten(const Program &program, uint32_t index);

} // namespace sinter

#endif // SINTER_RUNTIME_ROLE_H
