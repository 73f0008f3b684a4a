//===- GuardedBuffers.h - a kernel's buffers between guard pages ----------===//
//
// Kernels may touch nothing but what their contracts say. To see that they keep
// to that, a call works on copies of its buffers, each of which ends where a
// page begins that nobody may touch: who reads or writes past it is stopped by
// the system. What alignment leaves open at either end holds a pattern, which
// must be there after the call.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_GUARDEDBUFFERS_H
#define SINTER_RUNTIME_GUARDEDBUFFERS_H

#include "runtime/Program.h"
#include "runtime/Result.h"

#include <functional>
#include <span>

namespace sinter {

/// Whether kernels are called so, slowly: where the environment has
/// SINTER_GUARD_BUFFERS=1.
bool guardsBuffers();

/// Calls \p call with copies of \p buffers, of which \p contract says how large
/// they are and which are written, and copies back what was written. The System
/// error names the buffer beside which was written.
Result<void> callGuarded(const KernelContract &contract,
                         std::span<void *const> buffers,
                         const std::function<void(void *const *)> &call);

} // namespace sinter

#endif // SINTER_RUNTIME_GUARDEDBUFFERS_H
