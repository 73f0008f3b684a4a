#include "graph/nn/NnAssume.h"

#include "graph/stablehlo/AssemblyFormat.h"

using namespace mlir;
using namespace sinter;

#define GET_OP_CLASSES
#include "graph/nn/NnAssume.cpp.inc"
