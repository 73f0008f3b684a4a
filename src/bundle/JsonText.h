//===- JsonText.h - a bundle for programs of any language -----------------===//

#ifndef SINTER_BUNDLE_JSONTEXT_H
#define SINTER_BUNDLE_JSONTEXT_H

#include "runtime/Bundle.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sinter {

/// What the header says, as JSON; docs/ahead-of-time.md describes the keys.
nlohmann::json bundleJson(const Bundle &bundle, const std::string &model);

/// The same as text.
std::string jsonText(const Bundle &bundle, const std::string &model);

} // namespace sinter

#endif // SINTER_BUNDLE_JSONTEXT_H
