//===- GuardedBuffers.h - a kernel's buffers between guard pages ----------===//
//
// Kernels may access only what their contracts state. To check that, a call
// works on copies of its buffers, each of which ends at an inaccessible page:
// an access past it is a fault. The gap that alignment leaves at either end
// holds a pattern, which must be unchanged after the call.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_GUARDEDBUFFERS_H
#define SINTER_RUNTIME_GUARDEDBUFFERS_H

#include "runtime/Program.h"
#include "runtime/Result.h"

#include <functional>
#include <span>

namespace sinter {

/// Whether kernels are called like this, which is slow: if the environment has
/// SINTER_GUARD_BUFFERS=1.
bool guardsBuffers();

/// Calls \p call with copies of \p buffers, whose sizes and directions \p
/// contract has, and copies back those that are written. The System error names
/// a buffer that was written out of bounds.
Result<void> callGuarded(const KernelContract &contract,
                         std::span<void *const> buffers,
                         const std::function<void(void *const *)> &call);

} // namespace sinter

#endif // SINTER_RUNTIME_GUARDEDBUFFERS_H
