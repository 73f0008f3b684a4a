//===- ScanLoop.h - a Scan of dynamic length as a loop --------------------===//
//
//   Scan(s, x), x : [T, N]        i = 0, g = zeros of [T, N]
//     t = body(s, x[i])     ->    while i < T:
//     gathers t                     t = body(s, take(x, i))
//                                   g = dynamic_update_slice(g, t, i)
//
// Restrictions: the sizes of scan outputs are static, or equal to a dimension
// of an operand of the node.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_SCANLOOP_H
#define SINTER_FORMATS_ONNX_OPS_SCANLOOP_H

#include "formats/onnx/NodeContext.h"

#include <optional>

namespace sinter::onnx {

/// The operands and attributes of a Scan; lists have one entry for each scan
/// input or output.
struct ScanForm {
  const GraphProto &body;
  /// The loop-carried values, then the scan inputs.
  Values values;
  int64_t carried = 0;
  /// Not negative.
  Ints inputAxes;
  Ints outputAxes;
  /// 1 for values that are scanned in reverse.
  Ints inputDirections, outputDirections;
};

/// Builds the loop and sets the node's results.
mlir::LogicalResult scanLoop(NodeContext &node, const ScanForm &scan);

/// A stack of zeros, made before a loop, for \p length values like \p value,
/// which is computed in the loop's body. Null if its sizes do not follow from
/// \p outside.
mlir::Value stackBefore(NodeContext &node, mlir::Value value, const Dim &length,
                        llvm::ArrayRef<mlir::Value> outside);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_SCANLOOP_H
