//===- Window.h - the attributes of convolutions and pools ----------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_WINDOW_H
#define SINTER_FORMATS_ONNX_OPS_WINDOW_H

#include "formats/import/Windows.h"
#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

using formats::areExtents;
using formats::largestExtent;
using formats::Window;
using formats::WindowPadding;

/// kernel_shape (or \p kernel if it is absent), strides, dilations, pads,
/// auto_pad and ceil_mode for the spatial dimensions of \p operand [N, C,
/// spatial...]. Fails for lists of another length, for negative padding and for
/// sizes that overflow.
std::optional<Window> readWindow(NodeContext &node, mlir::Value operand,
                                 llvm::ArrayRef<int64_t> kernel = {});

/// The same without padding, for transposed convolutions: strides, dilations,
/// size.
std::optional<Window> readWindowSizes(NodeContext &node, int64_t spatial,
                                      llvm::ArrayRef<int64_t> kernel);

/// A convolution of \p input [N, C, spatial...] with \p kernel [O, C / groups,
/// spatial...]; the result has \p input's element type. Padding elements are
/// zero.
mlir::Value convolve(NodeContext &node, mlir::Value input, mlir::Value kernel,
                     const Window &window, int64_t groups);

/// The node's convolution of \p input with \p weight, plus input 2, if it is
/// there; its elements are of type \p element.
mlir::Value convolution(NodeContext &node, mlir::Value input,
                        mlir::Value weight, mlir::Type element);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_WINDOW_H
