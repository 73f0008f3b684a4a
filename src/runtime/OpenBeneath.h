//===- OpenBeneath.h - files that a model names ---------------------------===//
//
// A model names such files itself, and models come from strangers. So a
// location is followed only to a regular file inside the model's folder:
// nothing absolute, no "..", no symbolic link in any component, no hard link
// (which could be a second name of anything on the same file system). The rules
// are those of ONNX's own docs/ExternalDataSecurity.md.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_OPENBENEATH_H
#define SINTER_RUNTIME_OPENBENEATH_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter {

/// How a file below a folder is opened.
enum class OpenMethod {
  Openat2,     ///< openat2(2) where the kernel has it, else ByComponent.
  ByComponent, ///< Component by component, none of them a symbolic link.
};

/// Opens \p location, relative to \p folder, for reading. Returns a descriptor
/// that the caller closes, or what is wrong with the location.
Result<int> openBeneath(const std::string &folder, std::string_view location,
                        OpenMethod method = OpenMethod::Openat2);

} // namespace sinter

#endif // SINTER_RUNTIME_OPENBENEATH_H
