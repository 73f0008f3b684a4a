//===- Minifloats.h - FLOAT4E2M1 and FLOAT8E8M0 ---------------------------===//
//
// The graph language has no such element types. A tensor of them is one of its
// codes (Bound::Coded), ui4 or ui8, as in the file: a sign, two bits of
// exponent and one of mantissa; or an exponent with a bias of 127, where 255 is
// NaN. Operators that move elements move codes; Cast, QuantizeLinear and
// DequantizeLinear compute with what they stand for; others are not supported.
// A model that is written again keeps such nodes as they are.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_OPS_MINIFLOATS_H
#define SINTER_FORMATS_ONNX_OPS_MINIFLOATS_H

#include "formats/onnx/NodeContext.h"

namespace sinter::onnx {

/// \p value, a tensor of the file whose elements are of \p dataType.
Bound boundOf(mlir::Value value, int32_t dataType);

/// Whether input \p input consists of codes.
bool isCoded(NodeContext &node, int64_t input);

/// Input \p input with elements \p element: the numbers that its codes stand
/// for if it consists of codes, else its elements converted. Null if it is
/// absent.
mlir::Value numbersOf(NodeContext &node, int64_t input, mlir::Type element);

/// The codes of TensorProto.DataType \p dataType for the floats \p x. Rounds to
/// nearest even; FLOAT8E8M0 as attribute `round_mode` says, or up. The largest
/// FLOAT4E2M1 stands for what is larger, and -0 for NaN. What is larger than
/// the largest FLOAT8E8M0, or less than the least one, becomes that or, if
/// attribute `saturate` is 0, NaN.
mlir::Value codesOf(NodeContext &node, mlir::Value x, int32_t dataType);

/// Sets output 0 to codes.
mlir::LogicalResult codedResult(NodeContext &node, mlir::Value codes,
                                int32_t dataType);

/// Whether \p opType moves elements of its first input, or of all, without
/// computing with them.
bool movesCodes(llvm::StringRef opType);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_OPS_MINIFLOATS_H
