//===- Optimize.cpp - simplify a model and write it back ------------------===//

#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/Simplification.h"

#include "llvm/ADT/StringRef.h"

namespace sinter {

Result<SimplifyReport> simplifyWith(Model &model, const PassOptions &passes) {
  SimplifyOptions options;
  options.disabledPatterns = passes.disabledPatterns;
  options.enabledPatterns = passes.enabledPatterns;
  options.verifyNumerics = passes.verifyNumerics;
  options.printIrAfter = passes.printIrAfter;
  Result<SimplifyReport> report = simplify(model, options);
  if (report)
    return report;
  Error error = report.takeError();
  if (error.kind != ErrorKind::Usage)
    error.message = model.path + ": " + error.message;
  return error;
}

/// The same format in and out; `convert` is for everything else.
static Result<void> checkSameFormat(const std::string &input,
                                    const std::string &output) {
  if (Result<void> good = checkOutputName(output); !good)
    return good;
  const auto isOnnx = [](llvm::StringRef name) {
    return !name.ends_with(".mlir") && !name.ends_with(".mlirbc");
  };
  if (isOnnx(input) == isOnnx(output))
    return {};
  return usageError("'" + output + "': `optimize` writes the format that it " +
                    "reads; `sinter convert` changes it");
}

Result<OptimizeReport> MlirCompiler::optimize(const OptimizeRequest &request) {
  if (!request.output.empty())
    if (Result<void> good = checkSameFormat(request.input, request.output);
        !good)
      return good.takeError();
  auto source = ModelSource::open(request.input, request.shapes);
  if (!source)
    return source.takeError();
  Result<Model> model = (*source)->asItIs();
  if (!model)
    return model.takeError();
  Result<SimplifyReport> simplified = simplifyWith(*model, request.passes);
  if (!simplified)
    return simplified.takeError();
  if (!request.output.empty())
    if (Result<void> written = writeModel(*model, request.output); !written)
      return written.takeError();
  const auto counts = [](const std::map<std::string, uint64_t> &map) {
    return Counts(map.begin(), map.end());
  };
  return OptimizeReport{counts(simplified->operationsBefore),
                        counts(simplified->operationsAfter),
                        counts(simplified->patterns)};
}

std::vector<std::pair<std::string, std::string>> MlirCompiler::patterns() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const PatternInfo &pattern : allPatterns())
    list.emplace_back(pattern.label.str(),
                      pattern.picture.str() +
                          (pattern.byDefault ? "" : " (off by default)"));
  return list;
}

} // namespace sinter
