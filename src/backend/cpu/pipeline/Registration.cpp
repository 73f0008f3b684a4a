//===- Registration.cpp - the CPU backend in a context --------------------===//

#include "backend/cpu/pipeline/Registration.h"

#include "backend/cpu/emit/ElementalModels.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/RescaleModels.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace sinter;

void cpu::registerCpuDialect(DialectRegistry &registry) {
  registry.insert<CpuDialect, nn::NnDialect, stablehlo::StablehloDialect>();
  registry.addExtension(+[](MLIRContext *context, CpuDialect *, nn::NnDialect *,
                            stablehlo::StablehloDialect *) {
    attachElementals(context);
    attachRescales(context);
  });
}

void cpu::loadCpuDialect(MLIRContext *context) {
  if (context->getLoadedDialect<CpuDialect>())
    return;
  DialectRegistry registry;
  registerCpuDialect(registry);
  context->appendDialectRegistry(registry);
  context
      ->loadDialect<nn::NnDialect, stablehlo::StablehloDialect, CpuDialect>();
}
