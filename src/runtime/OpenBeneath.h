//===- OpenBeneath.h - opens files that a model names ---------------------===//
//
// Models come from strangers, so a location that a model names is opened only
// if it is a regular file inside the model's folder: nothing absolute, no "..",
// no symbolic link in any component, no hard link (which could be a second name
// of any file on the same file system). The rules are those of ONNX's
// docs/ExternalDataSecurity.md.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_OPENBENEATH_H
#define SINTER_RUNTIME_OPENBENEATH_H

#include "runtime/Result.h"

#include <string>
#include <string_view>

namespace sinter {

/// How to open a file below a folder.
enum class OpenMethod {
  Openat2,     ///< openat2(2) where the kernel has it, else ByComponent.
  ByComponent, ///< Component by component, none of them a symbolic link.
};

/// Opens \p location, relative to \p folder, for reading. Returns a descriptor,
/// which the caller closes, or why the location is refused.
Result<int> openBeneath(const std::string &folder, std::string_view location,
                        OpenMethod method = OpenMethod::Openat2);

} // namespace sinter

#endif // SINTER_RUNTIME_OPENBENEATH_H
