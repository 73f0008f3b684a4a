//===- QuantizedConstant.h - quantised constants with other scales --------===//

#ifndef SINTER_PASSES_QUANTIZEDCONSTANT_H
#define SINTER_PASSES_QUANTIZEDCONSTANT_H

#include "graph/Quantization.h"
#include "passes/FoldedNames.h"

namespace sinter {

/// A constant of \p elements, which are those of \p type, in the place of the
/// constant \p old, called by \p names. What that says of the type that it was
/// stored as (storedAsAttribute) holds for the new one, too.
mlir::Value makeQuantized(mlir::OpBuilder &builder, mlir::Value old,
                          const Tensor &elements,
                          mlir::quant::QuantizedType type, FoldedNames &names);

} // namespace sinter

#endif // SINTER_PASSES_QUANTIZEDCONSTANT_H
