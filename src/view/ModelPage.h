//===- ModelPage.h - a model's graphs as a page for browsers --------------===//
//
// One HTML file without references to others: page/page.html with the style,
// the scripts, and the model as JSON, which a script lays out and draws. All
// names of the model are text to it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_VIEW_MODELPAGE_H
#define SINTER_VIEW_MODELPAGE_H

#include "engine/ModelView.h"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace sinter {

/// The time of one execution of a step.
struct MeasuredStep {
  /// As in ViewedStep.
  std::string layer, op, kernel;
  double seconds = 0;
};

/// The data of the page, see docs/inspect.md. \p measured: the steps of a run
/// in the order of execution; empty if there was none.
nlohmann::json modelViewJson(const std::string &title, const ModelView &view,
                             std::span<const MeasuredStep> measured = {});

/// The page.
std::string modelPage(const std::string &title, const ModelView &view,
                      std::span<const MeasuredStep> measured = {});

} // namespace sinter

#endif // SINTER_VIEW_MODELPAGE_H
