//===- QuantizationParameters.h - what storage elements mean --------------===//
//
//   real number = scale * (storage element - zero point)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_QUANTIZATIONPARAMETERS_H
#define SINTER_GRAPH_QUANTIZATIONPARAMETERS_H

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sinter {

/// The element type of a tensor, if it is quantised; null else.
mlir::quant::QuantizedType quantizedOf(mlir::Type type);

/// Scales and zero points: one of each, or one an element of dimension `axis`.
struct QuantizationParameters {
  llvm::SmallVector<double> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = -1;

  bool operator==(const QuantizationParameters &) const = default;
  bool isSymmetric() const;
};

/// Those that \p type says; nothing for what is neither quantised per tensor
/// nor per axis.
std::optional<QuantizationParameters>
parametersOf(mlir::quant::QuantizedType type);
/// The same with scales rounded to the expressed type, in which is computed.
std::optional<QuantizationParameters>
roundedParametersOf(mlir::quant::QuantizedType type);

/// Whether all quantised operands of \p op, of one result, have the scales and
/// zero points of the result, as \p parameters gives them.
bool keepsParameters(mlir::Operation *op,
                     llvm::function_ref<std::optional<QuantizationParameters>(
                         mlir::quant::QuantizedType)>
                         parameters);

} // namespace sinter

#endif // SINTER_GRAPH_QUANTIZATIONPARAMETERS_H
