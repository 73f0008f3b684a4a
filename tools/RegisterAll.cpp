#include "RegisterAll.h"

#include "autodiff/Differentiate.h"
#include "backend/cpu/pipeline/Passes.h"
#include "backend/cpu/pipeline/Registration.h"
#include "graph/check/CheckOps.h"
#include "graph/chlo/ChloOps.h"
#include "graph/interfaces/AffineFlow.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "graph/sdy/SdyOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/text/TextOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Pipelines.h"

void sinter::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, mlir::quant::QuantizationDialect,
                  nn::NnDialect, stablehlo::StablehloDialect, chlo::ChloDialect,
                  check::CheckDialect, check::InterpreterDialect,
                  sdy::SdyDialect, text::TextDialect>();
  cpu::registerCpuDialect(registry);
  registry.addExtension(+[](mlir::MLIRContext *context,
                            stablehlo::StablehloDialect *, nn::NnDialect *) {
    attachRescales(context);
    attachAffineFlow(context);
    attachGradients(context);
  });
}

void sinter::registerAllPasses() {
  mlir::registerTransformsPasses();
  registerSimplificationPasses();
  cpu::registerPasses();
  mlir::registerPass([] { return autodiff::createDifferentiate(); });
}
