//===- TensorNames.h - the names of tensors -------------------------------===//

#ifndef SINTER_RUNTIME_TENSORNAMES_H
#define SINTER_RUNTIME_TENSORNAMES_H

#include "runtime/Executor.h"

#include <span>
#include <string>
#include <vector>

namespace sinter {

/// The names of \p specs, in order.
inline std::vector<std::string> namesOf(std::span<const TensorSpec> specs) {
  std::vector<std::string> names;
  for (const TensorSpec &spec : specs)
    names.push_back(spec.name);
  return names;
}

} // namespace sinter

#endif // SINTER_RUNTIME_TENSORNAMES_H
