//===- OpenTrainable.cpp - opens a model for training ---------------------===//

#include "train/OpenTrainable.h"

#include "engine/CompilerLibrary.h"
#include "train/Losses.h"

#include <utility>

namespace sinter {

Result<std::vector<TargetArray>> findTargets(const Session &session,
                                             TrainOptions &options) {
  if (options.isLogits || options.isProbabilities)
    options.loss.isLogits = options.isLogits;
  return resolveLosses(session, options.losses, options.lossOutput,
                       options.loss, options.training, options.names.losses);
}

static Result<TrainRequest>
requestOf(const TrainOptions &options, const SessionOptions &how,
          std::function<void(const std::string &)> note) {
  Result<std::string> compiler = compilerIdentity();
  if (!compiler)
    return compiler.takeError();
  TrainRequest request;
  request.input.path = options.model;
  request.input.shapes = how.shapes;
  request.input.dimensionNames = how.dimensionNames;
  request.input.bound = how.bound;
  request.input.boundFiles = how.boundFiles;
  request.input.function = how.function;
  request.input.opening = how.opening;
  request.input.note = std::move(note);
  request.input.metadata = options.metadata;
  request.options = options.training;
  request.options.accumulates = options.accumulated > 1;
  request.options.seed = options.seed;
  request.passes = how.passes;
  request.threads = how.threads;
  request.kernelFolder = how.cacheFolder;
  request.compiler = std::move(*compiler);
  request.ceilings = how.ceilings;
  request.progress = how.progress;
  static_cast<CodeOptions &>(request) = how;
  request.goesOn = options.resumes;
  request.head = options.head;
  request.interprets = how.backend == Backend::Interpreter;
  if (options.memoryLimit)
    request.memoryLimit = options.memoryLimit;
  if (request.memoryLimit && request.interprets)
    return usageError(options.names.memoryLimit +
                      ": the interpreter plans no memory");
  return request;
}

Result<std::unique_ptr<TrainableModel>>
openTrainable(const TrainOptions &options, const SessionOptions &how,
              std::function<void(const std::string &)> note) {
  Result<TrainRequest> request = requestOf(options, how, std::move(note));
  if (!request)
    return request.takeError();
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  return (*compiler)->train(*request);
}

} // namespace sinter
