//===- KernelCache.h - the code of kernels, kept from run to run ----------===//
//
// A file a kernel in the folder of the program cache (runtime/Cache.h, which
// trims it), named by a hash of all that its code follows from: the kernel's
// operations, the machine, the compiler. So a model finds what another one, or
// the same at other sizes, has in common with it. Like programs, a kernel in
// the cache is never wrong, only absent; nothing that is wrong with the folder
// makes compiling fail.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_KERNELCACHE_H
#define SINTER_BACKEND_CPU_PROGRAM_KERNELCACHE_H

#include "backend/cpu/codegen/Codegen.h"
#include "runtime/Hash.h"
#include "runtime/Program.h"

#include <optional>
#include <string>
#include <vector>

namespace sinter::cpu {

/// A kernel's code, and what each of its functions takes for granted.
struct KernelCode {
  ObjectFile object;
  /// The features of matrix units that it needs.
  std::vector<std::string> features;
  std::vector<KernelContract> contracts;
};

class KernelCache {
public:
  /// Code that \p compiler, a build of ours, makes for \p target. An empty \p
  /// folder keeps nothing.
  KernelCache(std::string folder, std::string_view compiler,
              const Target &target);

  /// What the code of the kernel with this \p text is kept under.
  Hash128 keyOf(std::string_view text) const;
  /// The kernel of \p key with \p functions functions. What is damaged counts
  /// as absent.
  std::optional<KernelCode> lookup(const Hash128 &key, size_t functions) const;
  void store(const Hash128 &key, const KernelCode &kernel) const;

private:
  std::string pathOf(const Hash128 &key) const;

  std::string folder;
  /// Compiler and machine, as text.
  std::string maker;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_KERNELCACHE_H
