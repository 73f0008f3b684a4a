//===- LossFile.h - a loss function from a file ---------------------------===//

#ifndef SINTER_ENGINE_COMPILER_LOSSFILE_H
#define SINTER_ENGINE_COMPILER_LOSSFILE_H

#include "engine/compiler/ModelSource.h"
#include "graph/nn/TensorBuilder.h"

#include <memory>
#include <string>

namespace sinter {

/// A model whose only result, a float tensor, is the loss: a scalar, or a
/// tensor whose mean is the loss.
class LossFile {
public:
  /// A Usage error if the model is no such function.
  static Result<LossFile> open(const std::string &path);

  /// Builds the function with \p emit on \p arguments, which are static
  /// tensors. A Usage error if their types are wrong.
  Result<mlir::Value> build(nn::TensorBuilder &emit,
                            mlir::ValueRange arguments);

private:
  LossFile(std::string path, std::unique_ptr<ModelSource> source)
      : path(std::move(path)), source(std::move(source)) {}

  Result<void> checkArguments(mlir::ValueRange arguments) const;

  std::string path;
  std::unique_ptr<ModelSource> source;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_LOSSFILE_H
