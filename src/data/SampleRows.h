//===- SampleRows.h - arrays of several samples ---------------------------===//
//
//   input [1, 3, 8, 8]   array [100, 3, 8, 8]      100 samples
//   input [4, 3, 8, 8]   array [100, 3, 8, 8]      25 samples, or 100 of one
//   row input [N, 3, 8, 8]   array [100, 3, 8, 8]      100 samples of one row
//   input [3, 8, 8]      array [100, 3, 8, 8]      100 samples
//
// Sizes that are hints are as dynamic ones.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_SAMPLEROWS_H
#define SINTER_DATA_SAMPLEROWS_H

#include "engine/ModelDescription.h"
#include "runtime/Tensor.h"

#include <optional>

namespace sinter {

/// The samples in an array.
struct SampleRows {
  int64_t count = 0;
  /// Of one sample.
  Shape shape;
};

/// What rowsIn() takes as a sample.
struct RowOptions {
  /// Whether the input's first dimension is a batch; else only one that the
  /// input does not have counts samples.
  bool hasBatch = true;
  /// Whether a sample is one row of the batch, whatever its size; else one row
  /// only if the batch is dynamic.
  bool asRows = false;
};

/// How \p array holds samples of \p input; nothing if it is one. Usage error if
/// an array that is not one sample has no whole number of them.
Result<std::optional<SampleRows>>
rowsIn(const Tensor &array, const ModelInput &input, const RowOptions &options);

/// Sample \p index of \p array, without a copy.
Tensor sampleOf(const Tensor &array, const SampleRows &rows, size_t index);

/// The size of the first dimension of \p input, which has one; negative if any
/// is taken.
int64_t batchSizeOf(const ModelInput &input);

/// Which inputs have a batch dimension, and its size.
struct BatchDimension {
  /// By input; none if there is no batch dimension.
  std::vector<bool> inputs;
  /// Negative: dynamic.
  int64_t size = 1;

  bool has(size_t input) const {
    return input < inputs.size() && inputs[input];
  }
};

/// The first dimension of those inputs among \p varying that have the size, or
/// the symbol, of that of the first of them, which has others beside it. Inputs
/// whose values decide on sizes have none.
BatchDimension batchOf(const std::vector<ModelInput> &inputs,
                       const std::vector<size_t> &varying);

/// \p inputs with a static batch of several rows made dynamic: one row may come
/// alone.
std::vector<ModelInput> withAnyBatch(std::vector<ModelInput> inputs,
                                     const BatchDimension &batch);

/// The rows of \p samples, each with a first dimension of 1 and otherwise of
/// one shape and type, one after the other; rows of zeros follow up to \p size.
Result<Tensor> stackedRows(std::span<const Tensor> samples, int64_t size);
/// Row \p index of a result of a batch, with a first dimension of 1. It shares
/// the memory of \p result.
Tensor rowOfBatch(const Tensor &result, int64_t index);

} // namespace sinter

#endif // SINTER_DATA_SAMPLEROWS_H
