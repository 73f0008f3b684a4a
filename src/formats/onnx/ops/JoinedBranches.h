//===- JoinedBranches.h - an If whose condition is computed ---------------===//
//
//   If(c): then x : [2, N], else y : [3, N]
//     ->  stablehlo.if c : [?, N] { x } { y }
//
// A sequence with the same number of tensors in both branches becomes one
// result for each; any other is packed (PackedSequence.h).
//
// Restrictions: results of both branches have the same rank and element type;
// sizes may differ only with ReadOptions::expandsUnknown.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_JOINEDBRANCHES_H
#define SINTER_FORMATS_ONNX_OPS_JOINEDBRANCHES_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// Sets the node's results: those of graph \p yes if \p condition, a scalar,
/// holds, else those of \p no.
mlir::LogicalResult joinBranches(NodeContext &node, mlir::Value condition,
                                 const GraphProto &yes, const GraphProto &no);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_JOINEDBRANCHES_H
