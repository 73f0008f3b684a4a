//===- TextOps.h - tensors of strings -------------------------------------===//

#ifndef SINTER_GRAPH_TEXT_TEXTOPS_H
#define SINTER_GRAPH_TEXT_TEXTOPS_H

#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

#include "graph/text/TextDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "graph/text/TextTypes.h.inc"

#define GET_OP_CLASSES
#include "graph/text/TextOps.h.inc"

namespace sinter::text {

/// Whether \p op may have operands or results of strings: it moves elements,
/// passes tensors on, compares for equality, or is of this dialect.
bool takesStrings(mlir::Operation *op);

} // namespace sinter::text

#endif // SINTER_GRAPH_TEXT_TEXTOPS_H
