//===- ChloOps.h - operations that frameworks use besides StableHLO -------===//

#ifndef SINTER_GRAPH_CHLO_CHLOOPS_H
#define SINTER_GRAPH_CHLO_CHLOOPS_H

#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"

#include "graph/chlo/ChloDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "graph/chlo/ChloAttrs.h.inc"

#define GET_OP_CLASSES
#include "graph/chlo/ChloOps.h.inc"

#endif // SINTER_GRAPH_CHLO_CHLOOPS_H
