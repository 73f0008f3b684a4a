//===- ValueObserver.h - observes intermediate values ---------------------===//

#ifndef SINTER_RUNTIME_VALUEOBSERVER_H
#define SINTER_RUNTIME_VALUEOBSERVER_H

#include "runtime/Tensor.h"

#include <charconv>
#include <functional>
#include <optional>
#include <string_view>

namespace sinter {

/// Called for each value of interpreter.probe in a program, each time it is
/// computed, with its name. The tensor's bytes are invalid after the call.
using ValueObserver =
    std::function<void(std::string_view name, const Tensor &value)>;

/// The prefix of names of probes that are not the program's own: see
/// passes/Observe.h.
inline constexpr std::string_view observedPrefix = "sinter.observed.";

/// The index of the value observed under \p name; nothing for a program's own
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
