//===- HostFunctions.h - functions that programs call by name -------------===//
//
// A step of a program may call a function of this process instead of compiled
// code: a user's custom call, an algorithm that is not worth generating, or
// communication with other processes. The registry has them by name, for all
// programs of this process.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_HOSTFUNCTIONS_H
#define SINTER_RUNTIME_HOSTFUNCTIONS_H

#include "runtime/Cancellation.h"
#include "runtime/Printer.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include "runtime/ValueObserver.h"

#include <any>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sinter {

/// What the owner of an executor passes to the host functions that it calls:
/// they find their own type by dynamic_cast.
class HostContext {
public:
  virtual ~HostContext() = default;
};

/// The state of a run's random number generator: its seed, and how many words
/// were drawn.
struct RandomStream {
  uint64_t seed = 0;
  uint64_t drawn = 0;
};

/// Rows that a program collects until their number is known.
struct GatheredRows {
  std::vector<std::byte> bytes;
  int64_t rows = 0;
};
using GatheredLists = std::map<int64_t, GatheredRows>;

/// The nested programs of a program.
class NestedPrograms {
public:
  virtual ~NestedPrograms() = default;
  /// Runs nested program \p number, with the random state of the calling run.
  /// System error if there is no such program.
  virtual Result<std::vector<Tensor>> run(size_t number,
                                          std::span<const Tensor> inputs) = 0;
  /// The results of call \p number of this run, for other calls.
  virtual std::vector<Tensor> &results(int64_t number) = 0;
};

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
/// What host functions keep from call to call of one executor, by their
/// configurations.
using KeptValues =
    std::unordered_map<std::string, std::any, TextHash, std::equal_to<>>;

/// One call of a host function.
struct HostCall {
  /// Parameters from the program, as text.
  std::string_view configuration;
  /// Views of the program's memory, 64-byte aligned or not; invalid after the
  /// call.
  std::span<const Tensor> inputs;
  /// To be filled through mutableBytes(); undefined before.
  std::span<Tensor> outputs;
  /// The run's.
  RandomStream &random;
  /// Null if the executor has none.
  HostContext *context = nullptr;
  /// Null if there is no observer.
  const ValueObserver *observer = nullptr;
  /// The run's; null if nothing is collected.
  GatheredLists *lists = nullptr;
  /// Of the calling program; null if it has none.
  NestedPrograms *programs = nullptr;
  /// Gets what is printed; null: standard output.
  const Printer *printer = nullptr;
  /// The run's; may be null.
  const Cancellation *cancellation = nullptr;
  /// The executor's; null if it keeps nothing.
  KeptValues *kept = nullptr;
};

/// Calls of one executor are sequential, of several concurrent.
using HostFunction = std::function<Result<void>(const HostCall &)>;

/// Functions by name.
using HostFunctionTable = std::map<std::string, HostFunction, std::less<>>;

/// Registers \p function as \p name, and replaces an earlier one.
void registerHostFunction(std::string name, HostFunction function);
/// The function of that name; null if there is none. Never invalidated.
const HostFunction *findHostFunction(std::string_view name);

/// A configuration of the form "lower=1;lengths=2,3", for host functions with
/// integer parameters.
class HostConfiguration {
public:
  explicit HostConfiguration(std::string_view text) : text(text) {}
  /// The integers of \p key; nothing if it is missing or malformed.
  std::optional<std::vector<int64_t>> numbers(std::string_view key) const;
  /// The single integer of \p key, or \p otherwise without it.
  int64_t number(std::string_view key, int64_t otherwise = 0) const;

private:
  std::string_view text;
};

} // namespace sinter

#endif // SINTER_RUNTIME_HOSTFUNCTIONS_H
