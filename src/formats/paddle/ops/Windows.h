//===- Windows.h - the attributes of convolutions and pools ---------------===//

#ifndef SINTER_FORMATS_PADDLE_OPS_WINDOWS_H
#define SINTER_FORMATS_PADDLE_OPS_WINDOWS_H

#include "formats/import/Windows.h"
#include "formats/paddle/OperatorContext.h"

namespace sinter::paddle {

using formats::areExtents;
using formats::channelsFirst;
using formats::channelsLast;
using formats::largestExtent;
using formats::Window;
using formats::WindowPadding;

/// Whether channels come last by data_format (or data_layout); fails for an
/// unknown layout.
bool hasChannelsLast(OperatorContext &op, llvm::StringRef name = "data_format");

/// strides, paddings (one or two per dimension), dilations and
/// padding_algorithm for windows of \p size over the spatial dimensions of
/// \p input [N, C, spatial...]. SAME rounds the result's size up, and takes no
/// dilation; VALID takes no padding. With \p roundsUp the size is rounded up,
/// even where the last window then begins in the padding. Fails for lists of
/// another length and for invalid values.
std::optional<Window> readWindow(OperatorContext &op, mlir::Value input,
                                 llvm::ArrayRef<int64_t> size,
                                 bool roundsUp = false);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPS_WINDOWS_H
