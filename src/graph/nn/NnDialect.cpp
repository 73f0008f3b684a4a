#include "graph/nn/NnAssume.h"
#include "graph/nn/NnDeferred.h"
#include "graph/nn/NnDropout.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/NnTrees.h"

#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/AssemblyFormat.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::nn;
using sinter::stablehlo::parseSameTypes;
using sinter::stablehlo::printSameTypes;

#include "graph/nn/NnDialect.cpp.inc"

#define GET_OP_CLASSES
#include "graph/nn/NnOps.cpp.inc"

void NnDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "graph/nn/NnOps.cpp.inc"
      >();
  addOperations<AssumeOp, DeferredOp, DropoutOp, TreeEnsembleOp>();
  attachAxes(getContext());
}
