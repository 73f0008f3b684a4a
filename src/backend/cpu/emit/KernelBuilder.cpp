//===- KernelBuilder.cpp - builds the code of a kernel --------------------===//

#include "backend/cpu/emit/KernelBuilder.h"

#include "backend/cpu/codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace sinter::cpu;

KernelBuilder::KernelBuilder(OpBuilder &builder, Location location)
    : IndexBuilder(builder, location),
      hasAvx512(builder.getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>()
                    ->hasAttr(avx512Attribute)) {}
