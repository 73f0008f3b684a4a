//===- StoredWeights.h - weights that a file holds as integers ------------===//
//
// A quantised model holds its weights as storage elements, which have no
// gradient. For training each of them becomes the numbers that it stands for,
// rounded on the way:
//
//     dequantize(elements)  ->  dequantize(quantize(weight))
//
// (Jacob et al. 2018, "Quantization and training of neural networks for
// efficient integer-arithmetic-only inference".) What was trained is rounded to
// elements again where the file is written.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_STOREDWEIGHTS_H
#define SINTER_ENGINE_COMPILER_STOREDWEIGHTS_H

#include "graph/Model.h"
#include "graph/Quantization.h"
#include "llvm/ADT/StringMap.h"

namespace sinter {

/// How storage elements of a weight stand for numbers, without a context.
struct StoredWeight {
  unsigned bits = 8;
  bool isUnsigned = false;
  QuantizationParameters parameters;
  IntegerBounds bounds;
};

/// By name.
using StoredWeights = llvm::StringMap<StoredWeight>;

/// Makes weights of the named constants of integers of \p model's entry
/// function that nothing reads but one way to dequantise them to f32.
StoredWeights expandStoredWeights(Model &model);

/// The names of constants of integers that are dequantised all the same.
std::vector<std::string> integerWeights(Model &model);

/// The elements of \p weight nearest to \p numbers, of f32.
Result<Tensor> elementsOf(const StoredWeight &weight, const Tensor &numbers,
                          mlir::MLIRContext *context);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_STOREDWEIGHTS_H
