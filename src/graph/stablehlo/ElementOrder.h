//===- ElementOrder.h - what elements are compared and converted as -------===//

#ifndef SINTER_GRAPH_STABLEHLO_ELEMENTORDER_H
#define SINTER_GRAPH_STABLEHLO_ELEMENTORDER_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// The element type as which \p op compares its operands: their own, or of
/// signless integers the unsigned one where `compare_type` says so.
mlir::Type comparedType(CompareOp op);
/// Whether that is not their own.
bool comparesOtherwise(CompareOp op);

/// Whether \p op, a conversion, has no index, or one and a signless integer.
bool convertsIndex(mlir::Operation &op);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_ELEMENTORDER_H
