//===- SdyOps.h - the subset of Shardy in exported programs ---------------===//

#ifndef SINTER_GRAPH_SDY_SDYOPS_H
#define SINTER_GRAPH_SDY_SDYOPS_H

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/SymbolTable.h"

#include "graph/sdy/SdyDialect.h.inc"

#define GET_OP_CLASSES
#include "graph/sdy/SdyOps.h.inc"

#endif // SINTER_GRAPH_SDY_SDYOPS_H
