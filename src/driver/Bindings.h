//===- Bindings.h - inputs that become constants --------------------------===//
//
//   --bind w=weights.npy --bind rate=16000 --bind params.npz --bind folder/
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_BINDINGS_H
#define SINTER_DRIVER_BINDINGS_H

#include "engine/Session.h"

#include <functional>

namespace sinter::driver {

/// The arrays that \p texts, one a --bind, stand for. What is typed has the
/// type of the input it names, which \p open tells; it is asked for no other.
Result<NamedTensors>
readBindings(const std::vector<std::string> &texts,
             const std::function<Result<std::unique_ptr<Session>>()> &open);

} // namespace sinter::driver

#endif // SINTER_DRIVER_BINDINGS_H
