//===- QuantizedConstant.h - quantised constants with other scales --------===//

#ifndef SINTER_PASSES_QUANTIZEDCONSTANT_H
#define SINTER_PASSES_QUANTIZEDCONSTANT_H

#include "graph/Quantization.h"
#include "passes/FoldedNames.h"

namespace sinter {

/// A constant of \p elements, of \p type, in place of the constant \p old, with
/// a name from \p names. It keeps the storedAsAttribute of \p old.
mlir::Value makeQuantized(mlir::OpBuilder &builder, mlir::Value old,
                          const Tensor &elements,
                          mlir::quant::QuantizedType type, FoldedNames &names);

} // namespace sinter

#endif // SINTER_PASSES_QUANTIZEDCONSTANT_H
