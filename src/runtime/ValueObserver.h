//===- ValueObserver.h - who is told of values on the way -----------------===//

#ifndef SINTER_RUNTIME_VALUEOBSERVER_H
#define SINTER_RUNTIME_VALUEOBSERVER_H

#include "runtime/Tensor.h"

#include <functional>
#include <string_view>

namespace sinter {

/// Told of a value that a program tells of (interpreter.probe), each time that
/// it is computed, by the name it has there. Nobody may keep the tensor's
/// bytes.
using ValueObserver =
    std::function<void(std::string_view name, const Tensor &value)>;

/// How names begin that are no program's own: see passes/Observe.h.
inline constexpr std::string_view observedPrefix = "sinter.observed.";

} // namespace sinter

#endif // SINTER_RUNTIME_VALUEOBSERVER_H
