//===- Reduce.cpp - the smallest program that still fails -----------------===//

#include "reducer/Reduce.h"

#include "engine/compiler/MlirCompiler.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

namespace sinter {

Result<ReduceOutcome> MlirCompiler::reduce(const ReduceRequest &request) {
  if (Result<WrittenForm> form = writtenForm(request.output); !form)
    return form.takeError();
  ModelRequest input;
  input.path = request.input;
  input.keepsSource = true;
  auto source = ModelSource::open(input);
  if (!source)
    return source.takeError();
  Result<TranslatedGraph> graph = (*source)->translate({});
  if (!graph)
    return graph.takeError();
  Model &model = graph->model;

  llvm::SmallString<128> candidate;
  const llvm::StringRef extension = llvm::sys::path::extension(request.output);
  if (std::error_code failed = llvm::sys::fs::createTemporaryFile(
          "sinter-reduce", extension.drop_front(), candidate))
    return systemError("cannot make a temporary file: " + failed.message());
  llvm::FileRemover remover(candidate);
  const std::string path = candidate.str().str();

  ReduceOptions options;
  options.progress = request.progress;
  options.isInteresting = [&](const Model &smaller) {
    // A program that cannot be written is of no use to others.
    return static_cast<bool>(writeModel(smaller, path)) &&
           request.isInteresting(path);
  };
  Result<ReduceReport> report = reduceProgram(model, options);
  if (!report)
    return inFile(report.takeError(), request.input);
  if (Result<void> written = writeModel(model, request.output); !written)
    return written.takeError();
  return ReduceOutcome{report->operationsBefore, report->operationsAfter,
                       report->attempts};
}

} // namespace sinter
