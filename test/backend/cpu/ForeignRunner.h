//===- ForeignRunner.h - runs a kernel of a machine that we are not -------===//
//
// Kernels for 64-bit Arm, linked with a small program (foreign/Runner.c) and
// run by qemu's user mode on copies of their buffers, each before a page that
// nobody may touch. Needs qemu-aarch64, clang-19 and ld.lld-19.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_FOREIGNRUNNER_H
#define SINTER_TEST_BACKEND_CPU_FOREIGNRUNNER_H

#include "backend/cpu/codegen/Codegen.h"

#include <span>
#include <string>

namespace sinter::cpu {

/// What is missing to run kernels of 64-bit Arm; "" if nothing is.
std::string missingForForeign();

/// Calls the function `kernel` of \p object for all of \p tasks and writes to
/// the buffers what it makes of them, as the CPU \p cpu, a name that LLVM and
/// qemu share, or "" for one that has all there is. Dies with a message if that
/// fails, also where the CPU has not an instruction of the kernel's.
void runForeign(const ObjectFile &object, const std::string &cpu,
                std::span<const std::span<std::byte>> buffers, int64_t tasks);

} // namespace sinter::cpu

#endif // SINTER_TEST_BACKEND_CPU_FOREIGNRUNNER_H
