//===- Domain.h - the domains of operators --------------------------------===//

#ifndef SINTER_FORMATS_ONNX_FILE_DOMAIN_H
#define SINTER_FORMATS_ONNX_FILE_DOMAIN_H

#include <string_view>

namespace sinter::onnx {

/// Whether \p domain is one of the two names of ONNX's own.
inline bool isStandardDomain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// ONNX's domain of classical machine learning.
inline constexpr char mlDomain[] = "ai.onnx.ml";
/// ONNX Runtime's own operators ("contrib ops").
inline constexpr char runtimeDomain[] = "com.microsoft";

/// The key for operators and functions of \p domain: "" for ONNX's own.
inline std::string_view domainKey(std::string_view domain) {
  return isStandardDomain(domain) ? std::string_view() : domain;
}

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_FILE_DOMAIN_H
