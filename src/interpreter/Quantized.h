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

/// The real numbers that the storage elements stand for, in the expressed type:
/// (element - zero_point) * scale. \p type is quantised.
Result<Tensor> dequantized(const Tensor &storage, mlir::Type type);

/// The storage elements nearest to real numbers: round(x / scale) + zero_point,
/// ties to even, within the storage range. \p type is quantised. The zero point
/// is added before the sum is rounded, as StableHLO says, or with
/// \p roundsFirst after it, as ONNX says.
Result<Tensor> quantized(const Tensor &numbers, mlir::Type type,
                         bool roundsFirst = false);

/// Whether \p op is a product of quantised tensors that is taken in integers
/// (graph/QuantizedProducts.h), and its results by the evaluator for floats.
bool isQuantizedProduct(mlir::Operation *op);
Result<Tensors> evaluateQuantizedProduct(Evaluator evaluator, const Call &call);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_QUANTIZED_H
