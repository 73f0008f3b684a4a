//===- RegionAssembly.h - what the text form of regions can say -----------===//

#ifndef SINTER_GRAPH_STABLEHLO_REGIONASSEMBLY_H
#define SINTER_GRAPH_STABLEHLO_REGIONASSEMBLY_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// Whether each operand of a loop has one type with the arguments and the
/// result that stand for it: all that other tools read in the short form of
/// the text. What else there is, only we print shortly.
bool hasOneTypePerValue(WhileOp op);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_REGIONASSEMBLY_H
