//===- InferDynamic.h - result types of dynamic operations ----------------===//

#ifndef SINTER_GRAPH_STABLEHLO_INFERDYNAMIC_H
#define SINTER_GRAPH_STABLEHLO_INFERDYNAMIC_H

namespace mlir {
class MLIRContext;
}

namespace sinter::stablehlo {

/// Attaches type inference to dynamic_gather. Its own verifier compares the
/// types, with the specification's labels.
void inferDynamicTypes(mlir::MLIRContext *context);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_INFERDYNAMIC_H
