//===- ChannelWindows.h - windows over images with channels last ----------===//

#ifndef SINTER_BACKEND_CPU_EMIT_CHANNELWINDOWS_H
#define SINTER_BACKEND_CPU_EMIT_CHANNELWINDOWS_H

#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

/// Windows that are single elements along the last dimension, as those over
/// images with channels last: neighbours are computed at once, as vectors.
struct ChannelWindows {
  static constexpr int64_t lanes = 16;

  /// Whether \p kernel has such windows, and all else in it can be computed
  /// beside them.
  static bool areAll(KernelOp kernel);
  /// Whether \p windows are such, over \p shape.
  static bool are(const stablehlo::ConvolutionWindow &windows,
                  llvm::ArrayRef<Dim> shape);
  /// Whether \p region can be computed for several elements at once.
  static bool takesVectors(mlir::Region &region);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_CHANNELWINDOWS_H
