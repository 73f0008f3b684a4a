//===- Json.h - JSON as text ----------------------------------------------===//

#ifndef SINTER_RUNTIME_JSON_H
#define SINTER_RUNTIME_JSON_H

#include <nlohmann/json.hpp>

#include <string>

namespace sinter {

/// \p json on one line, or with each level indented by \p indent spaces; in
/// UTF-8, or escaped to ASCII. Names and paths come from strangers: what is not
/// UTF-8 in them becomes U+FFFD, where the library would throw.
inline std::string jsonText(const nlohmann::json &json, int indent = -1,
                            bool isAscii = false) {
  return json.dump(indent, ' ', isAscii,
                   nlohmann::json::error_handler_t::replace);
}

} // namespace sinter

#endif // SINTER_RUNTIME_JSON_H
