//===- KernelBuilder.cpp - builds the code of a kernel --------------------===//

#include "backend/cpu/emit/KernelBuilder.h"

#include "backend/cpu/codegen/Target.h"

using namespace mlir;
using namespace sinter::cpu;

void sinter::cpu::tellMachine(ModuleOp module, const Target &target) {
  if (target.f32Lanes == 16)
    module->setAttr(avx512Attribute, UnitAttr::get(module.getContext()));
}

KernelBuilder::KernelBuilder(OpBuilder &builder, Location location)
    : IndexBuilder(builder, location),
      hasAvx512(builder.getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>()
                    ->hasAttr(avx512Attribute)) {}
