//===- ScanLoop.h - a Scan of unknown length as a loop --------------------===//
//
//   Scan(s, x), x : [T, N]        i = 0, g = zeros of [T, N]
//     t = body(s, x[i])     ->    while i < T:
//     gathers t                     t = body(s, take(x, i))
//                                   g = dynamic_update_slice(g, t, i)
//
// Restrictions: sizes of what is gathered are known, or those of something that
// the node takes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_SCANLOOP_H
#define SINTER_FORMATS_ONNX_OPS_SCANLOOP_H

#include "formats/onnx/NodeContext.h"

#include <optional>

namespace sinter::onnx {

/// What a Scan says of its values, one entry for each that is scanned or
/// gathered.
struct ScanForm {
  const GraphProto &body;
  /// What is carried, then what is scanned.
  Values values;
  int64_t carried = 0;
  /// Not negative.
  Ints inputAxes;
  Ints outputAxes;
  /// 1 for what is scanned from its end.
  Ints inputDirections, outputDirections;
};

/// The node's results.
mlir::LogicalResult scanLoop(NodeContext &node, const ScanForm &scan);

/// What holds \p length values like \p value, which is computed in a loop's
/// body, before the loop: zeros. Null where sizes are not known from \p
/// outside.
mlir::Value stackBefore(NodeContext &node, mlir::Value value, const Dim &length,
                        llvm::ArrayRef<mlir::Value> outside);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_SCANLOOP_H
