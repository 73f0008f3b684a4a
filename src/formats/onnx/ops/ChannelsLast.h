//===- ChannelsLast.h - images whose channels are last --------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_CHANNELSLAST_H
#define SINTER_FORMATS_ONNX_OPS_CHANNELSLAST_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// [N, spatial..., C] as [N, C, spatial...]; fails for less than three
/// dimensions.
mlir::Value channelsFirst(NodeContext &node, mlir::Value image);
/// [N, C, spatial...] as [N, spatial..., C]; null for null.
mlir::Value channelsLast(NodeContext &node, mlir::Value image);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_CHANNELSLAST_H
