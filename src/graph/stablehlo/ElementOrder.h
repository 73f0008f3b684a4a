//===- ElementOrder.h - types that compare and convert use ----------------===//

#ifndef SINTER_GRAPH_STABLEHLO_ELEMENTORDER_H
#define SINTER_GRAPH_STABLEHLO_ELEMENTORDER_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// The element type that \p op compares its operands as: their own, or the
/// unsigned type for signless integers with `compare_type` UNSIGNED.
mlir::Type comparedType(CompareOp op);
/// Whether that differs from their own.
bool comparesOtherwise(CompareOp op);

/// Whether the conversion \p op involves no index type, or is between index and
/// a signless integer.
bool convertsIndex(mlir::Operation &op);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_ELEMENTORDER_H
