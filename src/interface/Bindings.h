//===- Bindings.h - inputs that become constants --------------------------===//
//
//   --bind w=weights.npy --bind rate=16000 --bind params.npz --bind folder/
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERFACE_BINDINGS_H
#define SINTER_INTERFACE_BINDINGS_H

#include "engine/Session.h"

#include <functional>

namespace sinter {

struct Bindings {
  NamedTensors arrays;
  /// The file of each; empty for typed values.
  std::vector<std::string> files;
};

/// The arrays of \p texts, one per --bind. A typed value gets the type of its
/// input, for which \p open is called; only then.
Result<Bindings>
readBindings(const std::vector<std::string> &texts,
             const std::function<Result<std::unique_ptr<Session>>()> &open);

} // namespace sinter

#endif // SINTER_INTERFACE_BINDINGS_H
