#include "graph/nn/NnDeferred.h"

#include "graph/stablehlo/AssemblyFormat.h"

using namespace mlir;
using namespace sinter;

#define GET_OP_CLASSES
#include "graph/nn/NnDeferred.cpp.inc"
