//===- View.cpp - the page of a model of the C interface ------------------===//

#include "bindings/c/Model.h"
#include "bindings/c/Strings.h"

#include "view/ViewModel.h"

#include <CLI/CLI.hpp>

namespace sinter::c {

/// The page of \p model, by the options that it was opened with and those \p
/// given.
static Result<std::string> viewOf(const sinter_model &model,
                                  const Configuration &given) {
  CommonOptions options;
  Result<Configuration> all = beginCall(model, given, options);
  if (!all)
    return all.takeError();
  options.dynamicSizes = DynamicSizes::Unknown;
  bool isMeasured = false;
  if (Result<void> done = parse(*all,
                                [&](CLI::App &app) {
                                  addModelOptions(app, options);
                                  addPasses(app, options);
                                  addArithmetic(app, options);
                                  app.add_flag("--measure", isMeasured);
                                });
      !done)
    return done.takeError();
  Result<SessionOptions> how = sessionOptions(options);
  if (!how)
    return how.takeError();
  all->applyTo(*how);
  return viewModel(model.path, nameOf(model), std::move(*how), isMeasured);
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_model_view(const sinter_model *model,
                                const sinter_options *options, char **page,
                                sinter_error **error) {
  return guarded(model, Handle::Kind::Model, error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(page, "page"); !good)
      return good;
    *page = nullptr;
    Result<Configuration> given = configurationOf(options);
    if (!given)
      return given.takeError();
    Result<std::string> text = viewOf(*model, *given);
    if (!text)
      return text.takeError();
    return giveString(*text, page);
  });
}

} // extern "C"
