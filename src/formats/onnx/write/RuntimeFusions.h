//===- RuntimeFusions.h - nodes as ONNX Runtime fuses them ----------------===//
//
//   Relu(Conv(x, w))                  ->  FusedConv(x, w)
//   MatMul(Transpose(a), b) * 0.5     ->  FusedMatMul(a, b)
//   x * (1 + erf(x / sqrt(2))) * 0.5  ->  Gelu(x)
//   Gelu(x + bias)                    ->  BiasGelu(x, bias)
//   LayerNormalization(x + y)         ->  SkipLayerNormalization(x, y)
//
// Restrictions: nodes of the main graph, over f32, for which the runtime has
// kernels for CPUs.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_RUNTIMEFUSIONS_H
#define SINTER_FORMATS_ONNX_WRITE_RUNTIMEFUSIONS_H

#include "formats/onnx/file/onnx.pb.h"
#include "mlir/IR/BuiltinTypes.h"
#include <map>
#include <string>

namespace sinter::onnx {

/// What is known of tensors, by name.
struct TensorFacts {
  std::map<std::string, mlir::RankedTensorType> types;
  /// The values of constants of one f32.
  std::map<std::string, float> numbers;
};

/// Replaces nodes of \p model, and declares the runtime's domain if it is used.
void fuseForOnnxRuntime(ModelProto &model, const TensorFacts &facts);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_RUNTIMEFUSIONS_H
