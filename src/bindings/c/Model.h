//===- Model.h - a model of the C interface -------------------------------===//

#ifndef SINTER_BINDINGS_C_MODEL_H
#define SINTER_BINDINGS_C_MODEL_H

#include "bindings/c/ModelInfo.h"
#include "bindings/c/Options.h"
#include "bindings/c/ValueInfo.h"
#include "engine/Session.h"
#include "runtime/MemoryFiles.h"

#include <memory>
#include <string>

struct sinter_model : sinter::c::Handle {
  sinter_model() : Handle(Kind::Model) {}

  /// Of a file on disk, or in `files`.
  std::string path;
  /// Null for a file on disk.
  std::shared_ptr<sinter::MemoryFolder> files;
  /// Whether the compiler wrote the files.
  bool isWritten = false;
  /// What the model was opened with.
  sinter::c::Configuration configuration;
  sinter::ModelDescription description;
  std::vector<sinter::c::ValueInfo> inputs, outputs, states;
  sinter::c::ModelInfo info;
};

namespace sinter::c {

/// Opens the model at \p path, which may be in \p files, and describes it.
Result<std::unique_ptr<sinter_model>>
openModel(std::string path, std::shared_ptr<MemoryFolder> files,
          Configuration configuration);

/// What messages and reports call \p model.
std::string nameOf(const sinter_model &model);

/// Begins a call on \p model: the options that it was opened with and those
/// \p given. \p common gets the path, and what is told of notes. The Cancelled
/// error if the call was cancelled before it began.
Result<Configuration> beginCall(const sinter_model &model,
                                const Configuration &given,
                                CommonOptions &common);

/// What the compiler is asked of \p model, by the options that it was opened
/// with.
Result<ModelRequest> requestFor(const sinter_model &model,
                                const Configuration &configuration);

} // namespace sinter::c

#endif // SINTER_BINDINGS_C_MODEL_H
