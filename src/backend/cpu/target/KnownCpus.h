//===- KnownCpus.h - targets and CPUs of which more is known --------------===//
//
// LLVM knows hundreds of CPUs and nothing of their caches. Code is made for any
// of them; for these, with their sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_KNOWNCPUS_H
#define SINTER_BACKEND_CPU_TARGET_KNOWNCPUS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace llvm {
class Triple;
} // namespace llvm

namespace sinter::cpu {

struct KnownCpu {
  /// What `--target` and `--cpu` take; no name: any CPU of the target.
  const char *triple, *cpu;
  /// The data cache of one core and the second level, or, without caches, what
  /// memory is near: what blocks of kernels should fit.
  int64_t l1Bytes, l2Bytes;
};

/// All of them; those of one target stand together, and its first row is that
/// of any CPU.
llvm::ArrayRef<KnownCpu> knownCpus();

/// The row of \p cpu on an architecture like \p triple's, or, if it has none,
/// that of any; null for other architectures.
const KnownCpu *knownCpu(const llvm::Triple &triple, llvm::StringRef cpu);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_KNOWNCPUS_H
