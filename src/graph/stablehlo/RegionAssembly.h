//===- RegionAssembly.h - limits of the short form of regions -------------===//

#ifndef SINTER_GRAPH_STABLEHLO_REGIONASSEMBLY_H
#define SINTER_GRAPH_STABLEHLO_REGIONASSEMBLY_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// Whether each operand of a loop has the type of its region arguments and its
/// result. Other tools parse the short form only then.
bool hasOneTypePerValue(WhileOp op);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_REGIONASSEMBLY_H
