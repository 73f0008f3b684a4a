//===- Quantized.h - quantised elements -----------------------------------===//

#ifndef SINTER_INTERPRETER_QUANTIZED_H
#define SINTER_INTERPRETER_QUANTIZED_H

#include "interpreter/Evaluation.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

namespace sinter::interpreter {

/// Whether the tensor type has quantised elements.
bool isQuantized(mlir::Type type);

/// The dequantised storage elements, in the expressed type: (element -
/// zero_point) * scale. \p type is quantised.
Result<Tensor> dequantized(const Tensor &storage, mlir::Type type);

/// The quantised storage elements: round(x / scale) + zero_point, ties to even,
/// clamped to the storage range. \p type is quantised. The zero point is added
/// before rounding, as in StableHLO, or with \p roundsFirst after it, as in
/// ONNX.
Result<Tensor> quantized(const Tensor &numbers, mlir::Type type,
                         bool roundsFirst = false);

/// Whether \p op is a product of quantised tensors that is computed in integers
/// (graph/QuantizedProducts.h), and its results by the evaluator for floats.
bool isQuantizedProduct(mlir::Operation *op);
Result<Tensors> evaluateQuantizedProduct(Evaluator evaluator, const Call &call);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_QUANTIZED_H
