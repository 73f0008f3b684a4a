//===- ChannelsFirst.h - convolutions from NHWC to NCHW -------------------===//
//
//   x : NHWC -> convolution -> add -> relu -> convolution -> y
//       ->  transpose(x) : NCHW -> convolution -> add -> ... -> transpose -> y
//
// Models exported from JAX and TensorFlow have the channels last (NHWC). The
// backend's kernels want them first (NCHW, or in blocks made from that). The
// pass also converts operations between convolutions that work in either order:
// elementwise operations, windows, reductions, padding, slices, concatenates
// and batch norms. Transposes stay in front of other users.
//
// Restrictions:
//   - Only the entry function's own block; shapes are static.
//   - A graph whose convolutions all have the channels first stays as it is.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_CHANNELSFIRST_H
#define SINTER_PASSES_CHANNELSFIRST_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace sinter {

llvm::ArrayRef<PatternInfo> channelsFirstPatterns();
std::unique_ptr<mlir::Pass>
createChannelsFirst(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_CHANNELSFIRST_H
