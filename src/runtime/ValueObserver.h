//===- ValueObserver.h - who is told of values on the way -----------------===//

#ifndef SINTER_RUNTIME_VALUEOBSERVER_H
#define SINTER_RUNTIME_VALUEOBSERVER_H

#include "runtime/Tensor.h"

#include <charconv>
#include <functional>
#include <optional>
#include <string_view>

namespace sinter {

/// Told of a value that a program tells of (interpreter.probe), each time that
/// it is computed, by the name it has there. Nobody may keep the tensor's
/// bytes.
using ValueObserver =
    std::function<void(std::string_view name, const Tensor &value)>;

/// How names begin that are no program's own: see passes/Observe.h.
inline constexpr std::string_view observedPrefix = "sinter.observed.";

/// The number that is observed under \p name; nothing for a program's own
/// probe.
inline std::optional<int64_t> observedNumber(std::string_view name) {
  if (!name.starts_with(observedPrefix))
    return std::nullopt;
  name.remove_prefix(observedPrefix.size());
  int64_t number = 0;
  auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size()
             ? std::optional(number)
             : std::nullopt;
}

} // namespace sinter

#endif // SINTER_RUNTIME_VALUEOBSERVER_H
