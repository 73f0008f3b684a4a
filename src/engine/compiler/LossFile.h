//===- LossFile.h - a loss that a file says -------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_LOSSFILE_H
#define SINTER_ENGINE_COMPILER_LOSSFILE_H

#include "engine/compiler/ModelSource.h"
#include "graph/nn/TensorBuilder.h"

#include <memory>
#include <string>

namespace sinter {

/// A model whose one result, floating-point numbers, is what is made small: a
/// scalar, or numbers whose mean it is.
class LossFile {
public:
  /// A Usage error where the model is no such function.
  static Result<LossFile> open(const std::string &path);

  /// Builds it where \p emit is, of \p arguments, which are static tensors. A
  /// Usage error where it takes others.
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
