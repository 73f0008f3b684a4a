//===- StoredWeights.h - trains weights that are stored as integers -------===//
//
// A quantised model stores weights as integers, which have no gradient. For
// training each becomes its float values, rounded in the graph (fake
// quantisation):
//
//     dequantize(elements)  ->  dequantize(quantize(weight))
//
// (Jacob et al. 2018, "Quantization and training of neural networks for
// efficient integer-arithmetic-only inference".) Trained weights are rounded to
// integers again when the file is written.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_STOREDWEIGHTS_H
#define SINTER_ENGINE_COMPILER_STOREDWEIGHTS_H

#include "graph/Model.h"
#include "graph/Quantization.h"
#include "llvm/ADT/StringMap.h"

namespace sinter {

/// The quantised type of a weight, without a context.
struct StoredWeight {
  unsigned bits = 8;
  bool isUnsigned = false;
  QuantizationParameters parameters;
  IntegerBounds bounds;
};

/// By name.
using StoredWeights = llvm::StringMap<StoredWeight>;

/// Makes float weights of the named integer constants of \p model's entry
/// function whose only uses dequantise them to f32 in the same way.
StoredWeights expandStoredWeights(Model &model);

/// The names of other integer constants that are dequantised.
std::vector<std::string> integerWeights(Model &model);

/// The storage elements of \p weight nearest to \p numbers, of f32.
Result<Tensor> elementsOf(const StoredWeight &weight, const Tensor &numbers,
                          mlir::MLIRContext *context);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_STOREDWEIGHTS_H
