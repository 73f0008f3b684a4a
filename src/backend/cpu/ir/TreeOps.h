//===- TreeOps.h - ensembles of decision trees ----------------------------===//
//
// Apart from the other operations, since few sources use it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_TREEOPS_H
#define SINTER_BACKEND_CPU_IR_TREEOPS_H

#include "backend/cpu/ir/CpuOps.h"
#include "graph/nn/TreeLayout.h"

#define GET_OP_CLASSES
#include "backend/cpu/ir/TreeOps.h.inc"

#endif // SINTER_BACKEND_CPU_IR_TREEOPS_H
