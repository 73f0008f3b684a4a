//===- WhileLoop.h - a Loop with a computed trip count --------------------===//
//
//   Loop(M, c, s)            i = 0, g = zeros of [0, N]
//     c', s', t = body  ->   while i < M and c:
//     gathers t                c, s, t = body(i, c, s)
//                              g = concatenate(g, t), i = i + 1
//
// A loop-carried sequence is packed (PackedSequence.h) unless each iteration
// leaves it empty.
//
// Restrictions: loop-carried values keep their rank and element type; scan
// outputs are tensors.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_WHILELOOP_H
#define SINTER_FORMATS_ONNX_OPS_WHILELOOP_H

#include "formats/onnx/ops/Bodies.h"

namespace sinter::onnx {

struct WhileForm {
  /// The largest number of iterations; null if there is none.
  mlir::Value limit;
  /// Whether there is a first iteration; null for yes.
  mlir::Value condition;
  llvm::ArrayRef<Bound> carried;
  /// The number of scan outputs.
  int64_t gathered = 0;
  /// Imports the body at the insertion point. Its arguments are the iteration
  /// index, the condition and the loop-carried values; it returns the
  /// condition, the loop-carried values and the scan outputs, or nothing on
  /// failure.
  llvm::function_ref<std::optional<std::vector<Bound>>(llvm::ArrayRef<Bound>)>
      body;
};

/// Builds the loop and sets the node's results: the loop-carried values, then
/// the scan outputs.
mlir::LogicalResult whileLoop(NodeContext &node, const WhileForm &form);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_WHILELOOP_H
