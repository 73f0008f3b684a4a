//===- ViewModel.h - a model file as a page for browsers ------------------===//

#ifndef SINTER_VIEW_VIEWMODEL_H
#define SINTER_VIEW_VIEWMODEL_H

#include "engine/Session.h"

#include <string>

namespace sinter {

/// The page (ModelPage.h) of the model at \p path, which is called \p title
/// there: its graph, the graph that is compiled as \p options say, and the
/// program. \p isMeasured: the times of its steps are measured on random
/// inputs, else estimated. Sizes that the options leave open are dynamic, and
/// an unknown first one is 1 in runs. What cannot be compiled or run is a note
/// in the page, and goes to the options' `note`. Errors: those of reading the
/// model.
Result<std::string> viewModel(const std::string &path, const std::string &title,
                              SessionOptions options, bool isMeasured);

} // namespace sinter

#endif // SINTER_VIEW_VIEWMODEL_H
