//===- Inference.h - the head of a result type inference ------------------===//

#ifndef SINTER_GRAPH_INFERENCE_H
#define SINTER_GRAPH_INFERENCE_H

#include "mlir/Interfaces/InferTypeOpInterface.h"

/// The head of `Op`'s inference of result types: its body follows, with the
/// parameter names below; errors go through emitOptionalError(location, ...).
#define SINTER_INFER(Op)                                                       \
  ::mlir::LogicalResult Op::inferReturnTypes(                                  \
      ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,  \
      ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,          \
      ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,        \
      ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes)

#endif // SINTER_GRAPH_INFERENCE_H
