//===- Ahead.cpp - models compiled to files of the C interface ------------===//

#include "bindings/c/Model.h"
#include "bindings/c/Strings.h"

#include "interface/AheadOfTime.h"
#include "runtime/Json.h"

#include <CLI/CLI.hpp>

namespace sinter::c {

/// Compiles \p model to the files at \p output, by the options that it was
/// opened with and those \p given; the report.
static Result<std::string> compileTo(const sinter_model &model,
                                     const char *output,
                                     const Configuration &given) {
  CommonOptions common;
  Result<Configuration> all = beginCall(model, given, common);
  if (!all)
    return all.takeError();
  AheadOptions options;
  if (Result<void> done = parse(*all,
                                [&](CLI::App &app) {
                                  addModelOptions(app, common);
                                  addPasses(app, common);
                                  addArithmetic(app, common);
                                  addAhead(app, options);
                                });
      !done)
    return done.takeError();
  options.output = output;
  BundleRequest request;
  request.passes.cancellation = all->cancellation;
  if (all->progress)
    request.progress = [tell = all->progress](unsigned done, unsigned total) {
      tell("compile", done, total);
    };
  Result<WrittenBundle> written =
      compileAhead(common, std::move(options), std::move(request), "output");
  if (!written)
    return written.takeError();
  return jsonText(asJson(*written, nameOf(model)));
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_model_compile_to(const sinter_model *model,
                                      const char *output,
                                      const sinter_options *options,
                                      char **report, sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (report)
      *report = nullptr;
    if (Result<void> good = checkPointer(output, "output"); !good)
      return good;
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    Result<std::string> text = compileTo(*model, output, *given);
    if (!text)
      return text.takeError();
    return giveString(*text, report);
  });
}

} // extern "C"
