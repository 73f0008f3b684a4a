//===- BundleLayout.h - the memory of a program without a runtime ---------===//
//
// Where each buffer of a program's steps is, once its memory is the caller's:
//
//     workspace   | arena | scratch 0 | ...      one for each thread
//     state       | state 0 | state 1 | ...      a C struct
//     weights     | header | constant 3 | ...    what steps and states refer to
//
// Everything in these begins at a multiple of bundleAlignment.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_BUNDLELAYOUT_H
#define SINTER_BACKEND_CPU_AHEAD_BUNDLELAYOUT_H

#include "backend/cpu/ahead/DynamicLayout.h"
#include "runtime/Bundle.h"
#include "runtime/Program.h"
#include "runtime/Result.h"

#include <optional>
#include <vector>

namespace sinter::cpu {

struct BundleLayout {
  std::vector<BundleTensor> inputs, outputs, states;
  /// Of a dynamic program, whose offsets in the workspace follow from sizes
  /// (SizePlan.h).
  std::optional<DynamicLayout> dynamic;
  uint64_t scratchOffset = 0;
  /// Of one thread; of a dynamic program at most, if there is a bound.
  uint64_t scratchBytes = 0;
  /// The workspace is that of one thread.
  std::optional<uint64_t> workspaceBytes;
  uint64_t stateBytes = 0;
  /// The offset of each constant that is used, once layOutWeights() has set it.
  std::vector<std::optional<uint64_t>> constants;
  /// The bytes of the weights; of several programs, the first has all.
  std::vector<char> weights;

  /// The layout of \p program, which is verified, but for its weights. Errors:
  /// System if a copy overlaps with its source; those of DynamicLayout::of().
  /// Sizes are up to those of \p most.
  static Result<BundleLayout>
  of(const Program &program, const std::map<std::string, int64_t> &most = {});
};

/// Checks that \p program needs nothing but its code and memory, or, with \p
/// mayCallRuntime, functions of the runtime library that need no executor: the
/// Unsupported error lists all operations that do, with their counts.
Result<void> checkNeedsNoRuntime(const Program &program,
                                 bool mayCallRuntime = false);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_BUNDLELAYOUT_H
