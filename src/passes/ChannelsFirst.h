//===- ChannelsFirst.h - convolutions and what is between, in one order ---===//
//
//   x : NHWC -> convolution -> add -> relu -> convolution -> y
//       ->  transpose(x) : NCHW -> convolution -> add -> ... -> transpose -> y
//
// What JAX and TensorFlow export has the channels last, and the backend's
// kernels want them first (or in blocks that are made of that). The walk takes
// along what works as well in the other order: elementwise operations, windows,
// reductions, padding, slices, joins and batch norms. Transposes are left where
// other operations read.
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
