#include "graph/stablehlo/StablehloOps.h"

#include "graph/stablehlo/AssemblyFormat.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::stablehlo;

#include "graph/stablehlo/StablehloDialect.cpp.inc"
#include "graph/stablehlo/StablehloEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "graph/stablehlo/StablehloTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "graph/stablehlo/StablehloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "graph/stablehlo/StablehloOps.cpp.inc"

void StablehloDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "graph/stablehlo/StablehloTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "graph/stablehlo/StablehloAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "graph/stablehlo/StablehloOps.cpp.inc"
      >();
}
