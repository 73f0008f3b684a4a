//===- DynamicLayout.h - what callers of a dynamic program choose ---------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_DYNAMICLAYOUT_H
#define SINTER_BACKEND_CPU_AHEAD_DYNAMICLAYOUT_H

#include "backend/cpu/ahead/SlotOrder.h"
#include "runtime/Bundle.h"

#include "llvm/Support/MathExtras.h"

namespace sinter::cpu {

/// The sizes of a dynamic program that callers give, and the order of its
/// arena. The other sizes follow from these.
struct DynamicLayout {
  /// Which parameter each size is, and how callers know it.
  std::vector<uint32_t> parameters;
  std::vector<BundleSize> sizes;
  SlotOrder order;
  /// Where all sizes are bounded: no run takes more. Of the arena and scratch,
  /// and of each input and output.
  struct Most {
    uint64_t workspaceBytes = 0, scratchBytes = 0;
    std::vector<uint64_t> inputs, outputs;
  };
  std::optional<Most> most;

  /// The layout of \p program, for sizes up to those of \p bounds. Usage error
  /// if these are too large.
  static Result<DynamicLayout> of(const Program &program,
                                  const std::map<std::string, int64_t> &bounds);
};

/// \p bytes rounded up to a multiple of bundleAlignment.
inline uint64_t alignedUp(uint64_t bytes) {
  return llvm::alignTo(bytes, bundleAlignment);
}

/// The parameters of \p dynamic that are sizes of inputs, in order.
std::vector<uint32_t> givenParameters(const DynamicProgram &dynamic);

/// Checks that all sizes of \p program, which is dynamic, follow from those of
/// its inputs. Unsupported error.
Result<void> checkSizesFollow(const Program &program);

/// What \p buffer of a step is of: for a dynamic program, the space and the
/// index of its slot.
BufferReference placeOf(const Program &program, const BufferReference &buffer);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_DYNAMICLAYOUT_H
