//===- InferDynamic.h - types that dynamic operations give ----------------===//

#ifndef SINTER_GRAPH_STABLEHLO_INFERDYNAMIC_H
#define SINTER_GRAPH_STABLEHLO_INFERDYNAMIC_H

namespace mlir {
class MLIRContext;
}

namespace sinter::stablehlo {

/// Gives dynamic_gather type inference: the operation's own verifier compares,
/// with the specification's labels.
void inferDynamicTypes(mlir::MLIRContext *context);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_INFERDYNAMIC_H
