//===- HostFunctions.h - functions that programs call by name -------------===//
//
// A step of a program may call a function of this process instead of compiled
// code: a user's custom call, an algorithm that is not worth generating, or an
// exchange with other processes. The registry holds them by name, for all
// programs of this process.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_HOSTFUNCTIONS_H
#define SINTER_RUNTIME_HOSTFUNCTIONS_H

#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include "runtime/ValueObserver.h"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// What the owner of an executor hands to the host functions that it calls:
/// they find their own kind by dynamic_cast.
class HostContext {
public:
  virtual ~HostContext() = default;
};

/// What the random numbers of a run follow from, and how many words have been
/// drawn in it.
struct RandomStream {
  uint64_t seed = 0;
  uint64_t drawn = 0;
};

/// What a program gathers as it runs and takes when it knows how much there is.
struct GatheredRows {
  std::vector<std::byte> bytes;
  int64_t rows = 0;
};
using GatheredLists = std::map<int64_t, GatheredRows>;

/// One call of a host function.
struct HostCall {
  /// Free text of the program that says what exactly to do.
  std::string_view configuration;
  /// Views of the program's memory, 64-byte aligned or not; nobody may keep
  /// them after the call.
  std::span<const Tensor> inputs;
  /// To be filled through mutableBytes(); they hold anything before.
  std::span<Tensor> outputs;
  /// The run's.
  RandomStream &random;
  /// Null if the executor has none.
  HostContext *context = nullptr;
  /// Null if nobody listens.
  const ValueObserver *observer = nullptr;
  /// The run's; null where nothing is gathered.
  GatheredLists *lists = nullptr;
};

/// Called by one thread at a time for one executor, by several for several.
using HostFunction = std::function<Result<void>(const HostCall &)>;

/// Functions by name.
using HostFunctionTable = std::map<std::string, HostFunction, std::less<>>;

/// Makes \p function known under \p name, in place of one that was.
void registerHostFunction(std::string name, HostFunction function);
/// The function of that name; null if there is none. Stays valid.
const HostFunction *findHostFunction(std::string_view name);

/// A configuration of the form "lower=1;lengths=2,3", for host functions that
/// take numbers.
class HostConfiguration {
public:
  explicit HostConfiguration(std::string_view text) : text(text) {}
  /// The numbers of \p key; nothing if it is missing or malformed.
  std::optional<std::vector<int64_t>> numbers(std::string_view key) const;
  /// The one number of \p key, \p otherwise where there is none.
  int64_t number(std::string_view key, int64_t otherwise = 0) const;

private:
  std::string_view text;
};

} // namespace sinter

#endif // SINTER_RUNTIME_HOSTFUNCTIONS_H
