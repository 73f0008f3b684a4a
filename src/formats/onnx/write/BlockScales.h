//===- BlockScales.h - block-wise scales of constants ---------------------===//
//
//   i = constant : 64x8xi4, s = constant : 2x8xf32
//   b = broadcast_in_dim s, dims = [0, 2] : 2x32x8xf32
//   y = multiply(convert(i), reshape(b))
//      ->
//   y = DequantizeLinear(i, s) {axis = 0, block_size = 32}
//
// No quantised type expresses that, so it is arithmetic in the graph, and one
// node in ONNX from operator set 21 on.
//
// Restrictions: the integers are a constant of 4 or 8 bits; all blocks have the
// same size and cover the dimension.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_BLOCKSCALES_H
#define SINTER_FORMATS_ONNX_WRITE_BLOCKSCALES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter::onnx {

/// The operands of such a multiplication.
struct BlockScales {
  mlir::Value integers, scales;
  int64_t axis = 0, size = 0;
  /// The ops that only it uses, which are not written.
  llvm::SmallVector<mlir::Operation *, 3> parts;

  /// Nothing if \p multiply is none.
  static std::optional<BlockScales> of(mlir::Operation *multiply);
};

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_BLOCKSCALES_H
