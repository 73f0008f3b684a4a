//===- Distribution.cpp - collectives as host functions -------------------===//

#include "runtime/Collectives.h"
#include "runtime/ElementDispatch.h"
#include "runtime/host/Builtin.h"

#include <algorithm>
#include <cmath>

namespace sinter::host {

namespace {

/// The configuration of a call; see Builtin.h.
struct Settings {
  std::string what;
  Groups groups;
  int64_t axis = 0, joinAxis = 0, count = 1, channel = 0;
  bool hasRoots = false;
  Combination combination = Combination::Add;
};

/// The text of \p key in "key=text;key=text".
std::string_view textOf(std::string_view configuration, std::string_view key) {
  while (!configuration.empty()) {
    const size_t end = std::min(configuration.find(';'), configuration.size());
    const std::string_view entry = configuration.substr(0, end);
    configuration.remove_prefix(std::min(end + 1, configuration.size()));
    if (entry.size() > key.size() && entry.starts_with(key) &&
        entry[key.size()] == '=')
      return entry.substr(key.size() + 1);
  }
  return {};
}

Settings settingsOf(const HostCall &call) {
  const HostConfiguration numbers(call.configuration);
  Settings settings;
  settings.what = "stablehlo." + std::string(textOf(call.configuration, "op"));
  settings.groups.grouping = static_cast<Grouping>(numbers.number("grouping"));
  settings.groups.ids = parseIds(textOf(call.configuration, "ids"))
                            .value_or(std::vector<std::vector<int64_t>>());
  settings.axis = numbers.number("axis");
  settings.joinAxis = numbers.number("join_axis");
  settings.count = numbers.number("count", 1);
  settings.channel = numbers.number("channel");
  settings.hasRoots = numbers.number("has_roots") != 0;
  settings.combination =
      static_cast<Combination>(numbers.number("combination"));
  return settings;
}

/// The process's communicator, or one of a single process.
Communicator &communicatorOf(const HostCall &call) {
  static thread_local LoneCommunicator lone;
  auto *communicator = dynamic_cast<Communicator *>(call.context);
  return communicator ? *communicator : lone;
}

/// Writes the values into the outputs, zeros if there are none; and, on
/// request, into the last output whether there are.
Result<void> give(const HostCall &call, const std::optional<Tensors> &values,
                  std::string_view what) {
  std::span<Tensor> outputs = call.outputs;
  if (HostConfiguration(call.configuration).number("tells") != 0) {
    outputs.back().set<uint8_t>(0, values.has_value());
    outputs = outputs.first(outputs.size() - 1);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor &output = outputs[i];
    if (!values || i >= values->size()) {
      std::memset(output.mutableBytes(), 0, output.bytes());
      continue;
    }
    const Tensor &value = (*values)[i];
    if (value.type() != output.type() || value.shape() != output.shape())
      return Error{ErrorKind::WrongResult,
                   std::string(what) + ": got " +
                       toString(value.type(), value.shape()) + ", expected " +
                       toString(output.type(), output.shape())};
    std::memcpy(output.mutableBytes(), value.data(), value.bytes());
  }
  return {};
}

Result<void> give(const HostCall &call, Result<Tensors> values,
                  std::string_view what) {
  if (!values)
    return values.takeError();
  return give(call, std::optional<Tensors>(std::move(*values)), what);
}

Result<void> give(const HostCall &call, Result<std::optional<Tensors>> values,
                  std::string_view what) {
  if (!values)
    return values.takeError();
  return give(call, *values, what);
}

Tensors inputsOf(const HostCall &call, size_t leaveOut = 0) {
  return {call.inputs.begin(), call.inputs.end() - leaveOut};
}

//===----------------------------------------------------------------------===//
// Combining
//===----------------------------------------------------------------------===//

/// a and b combined, by the interpreter's rules: small floats are rounded once,
/// NaN wins in minimum and maximum, and i1 adds by `or` and multiplies by
/// `and`.
template <typename T> T combineReal(T a, T b, Combination how) {
  if constexpr (std::is_floating_point_v<T>) {
    if (how >= Combination::Minimum && (std::isnan(a) || std::isnan(b)))
      return std::isnan(a) ? a : b;
    if (how >= Combination::Minimum && a == b)
      return std::signbit(a) == (how == Combination::Minimum) ? a : b;
  }
  switch (how) {
  case Combination::Multiply:
    return a * b;
  case Combination::Minimum:
    return std::min(a, b);
  case Combination::Maximum:
    return std::max(a, b);
  default:
    return a + b;
  }
}

template <typename T> T combineIntegers(T a, T b, Combination how) {
  using U = std::make_unsigned_t<T>;
  switch (how) {
  case Combination::Add:
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  case Combination::Multiply:
    return static_cast<T>(static_cast<uint64_t>(static_cast<U>(a)) *
                          static_cast<U>(b));
  case Combination::Minimum:
    return std::min(a, b);
  case Combination::Maximum:
    return std::max(a, b);
  case Combination::And:
    return static_cast<T>(a & b);
  case Combination::Or:
    return static_cast<T>(a | b);
  case Combination::Xor:
    return static_cast<T>(a ^ b);
  }
  return a;
}

template <typename T> T combineElements(T a, T b, Combination how) {
  if constexpr (isStdComplex<T>)
    return how == Combination::Multiply ? a * b : a + b;
  else if constexpr (std::is_integral_v<T>)
    return combineIntegers(a, b, how);
  else if constexpr (std::is_floating_point_v<T>)
    return combineReal(a, b, how);
  else
    return T(combineReal(static_cast<float>(a), static_cast<float>(b), how));
}

/// The tensors of all processes, combined in the order of the group.
Tensor combine(std::span<const Tensor> tensors, Combination how) {
  Tensor result(tensors[0].type(), tensors[0].shape());
  std::memcpy(result.mutableBytes(), tensors[0].data(), result.bytes());
  if (result.type() == ElementType::I1 && how == Combination::Add)
    how = Combination::Or;
  dispatch(result.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 1; i < tensors.size(); ++i)
      for (int64_t j = 0; j < result.size(); ++j)
        result.set<T>(
            j, combineElements<T>(result.at<T>(j), tensors[i].at<T>(j), how));
  });
  return result;
}

Tensors combineAll(const std::vector<Tensors> &all, const Settings &settings) {
  Tensors results;
  for (size_t i = 0; i < all.front().size(); ++i) {
    Tensors tensors;
    for (const Tensors &given : all)
      tensors.push_back(given[i]);
    results.push_back(combine(tensors, settings.combination));
  }
  return results;
}

std::vector<int64_t> rootsOf(const HostCall &call, const Settings &settings) {
  std::vector<int64_t> roots;
  if (settings.hasRoots)
    for (size_t i = 0; i < call.outputs.size(); ++i)
      roots.push_back(call.inputs.back().toInteger(std::min<int64_t>(
          static_cast<int64_t>(i), call.inputs.back().size() - 1)));
  return roots;
}

} // namespace

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

Result<void> allGather(const HostCall &call) {
  const Settings settings = settingsOf(call);
  return give(call,
              sinter::allGather(communicatorOf(call), settings.groups,
                                inputsOf(call), settings.axis, settings.what),
              settings.what);
}

Result<void> allToAll(const HostCall &call) {
  const Settings settings = settingsOf(call);
  return give(call,
              sinter::allToAll(communicatorOf(call), settings.groups,
                               inputsOf(call), settings.axis, settings.joinAxis,
                               settings.count, settings.what),
              settings.what);
}

Result<void> collectiveBroadcast(const HostCall &call) {
  const Settings settings = settingsOf(call);
  return give(call,
              sinter::collectiveBroadcast(communicatorOf(call), settings.groups,
                                          inputsOf(call, settings.hasRoots),
                                          rootsOf(call, settings),
                                          settings.what),
              settings.what);
}

Result<void> collectivePermute(const HostCall &call) {
  const Settings settings = settingsOf(call);
  return give(call,
              sinter::collectivePermute(communicatorOf(call), settings.groups,
                                        inputsOf(call), settings.what),
              settings.what);
}

/// The operands of the group's processes for a reduction: only this process's
/// slices for a reduce_scatter. None for a process in no group.
static Result<Gathered> gatherForReduction(const HostCall &call,
                                           const Settings &settings) {
  Communicator &communicator = communicatorOf(call);
  if (settings.what == "stablehlo.collective_reduce") {
    Result<RankGroup> group =
        groupOf(communicator.rank(), settings.groups, communicator.grid());
    if (!group)
      return group.takeError();
    if (group->empty())
      return Gathered();
  }
  Result<Gathered> gathered =
      gather(communicator, settings.groups, inputsOf(call, settings.hasRoots),
             settings.what);
  if (!gathered || settings.what != "stablehlo.reduce_scatter")
    return gathered;
  for (Tensors &given : gathered->all) {
    Result<Tensor> part = partOf(given.front(), settings.axis,
                                 static_cast<int64_t>(gathered->place),
                                 static_cast<int64_t>(gathered->all.size()));
    if (!part)
      return part.takeError();
    given.front() = std::move(*part);
  }
  return gathered;
}

/// Whether this process gets result \p index of a collective_reduce.
static bool isRoot(const Gathered &gathered, const std::vector<int64_t> &roots,
                   size_t index) {
  return static_cast<int64_t>(gathered.place) ==
         (roots.empty() ? 0 : roots[index]);
}

Result<void> allReduce(const HostCall &call) {
  const Settings settings = settingsOf(call);
  Result<Gathered> gathered = gatherForReduction(call, settings);
  if (!gathered)
    return gathered.takeError();
  return give(call, std::optional(combineAll(gathered->all, settings)),
              settings.what);
}

Result<void> collectiveReduce(const HostCall &call) {
  const Settings settings = settingsOf(call);
  Result<Gathered> gathered = gatherForReduction(call, settings);
  if (!gathered)
    return gathered.takeError();
  if (gathered->all.empty())
    return give(call, std::optional<Tensors>(), settings.what);
  Tensors combined = combineAll(gathered->all, settings);
  const std::vector<int64_t> roots = rootsOf(call, settings);
  for (size_t i = 0; i < combined.size(); ++i)
    if (!isRoot(*gathered, roots, i))
      combined[i] = Tensor(combined[i].type(), combined[i].shape());
  return give(call, std::optional<Tensors>(std::move(combined)), settings.what);
}

Result<void> gatherParts(const HostCall &call) {
  const Settings settings = settingsOf(call);
  Result<Gathered> gathered = gatherForReduction(call, settings);
  if (!gathered)
    return gathered.takeError();
  const std::vector<int64_t> roots = rootsOf(call, settings);
  const bool isOfRoots = settings.what == "stablehlo.collective_reduce";
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const bool isZero =
        gathered->all.empty() || (isOfRoots && !isRoot(*gathered, roots, i));
    call.outputs[i].set<int64_t>(
        0, isZero ? 1 : static_cast<int64_t>(gathered->all.size()));
    if (isZero && !gathered->all.empty())
      gathered->all[0][i] = Tensor();
  }
  communicatorOf(call).gathered = std::move(gathered->all);
  return {};
}

Result<void> gatheredPart(const HostCall &call) {
  const int64_t place = call.inputs[0].toInteger(0);
  const auto index = static_cast<size_t>(
      HostConfiguration(call.configuration).number("tensor"));
  const std::vector<Tensors> &all = communicatorOf(call).gathered;
  std::optional<Tensors> part;
  if (place >= 0 && place < static_cast<int64_t>(all.size()) &&
      index < all[place].size() && all[place][index].data())
    part = Tensors{all[place][index]};
  return give(call, part, "a reduction over processes");
}

Result<void> replicaId(const HostCall &call) {
  call.outputs[0].set<uint32_t>(0, communicatorOf(call).replica());
  return {};
}

Result<void> partitionId(const HostCall &call) {
  call.outputs[0].set<uint32_t>(0, communicatorOf(call).partition());
  return {};
}

/// Tokens are the last input or output, without elements.
Result<void> send(const HostCall &call) {
  const Settings settings = settingsOf(call);
  return sendValues(communicatorOf(call), settings.channel, settings.groups,
                    inputsOf(call, 1), settings.what);
}

Result<void> receive(const HostCall &call) {
  const Settings settings = settingsOf(call);
  return give(call,
              receiveValues(communicatorOf(call), settings.channel,
                            settings.groups, settings.what),
              settings.what);
}

Result<void> infeed(const HostCall &call) {
  if (call.outputs.size() == 1)
    return {};
  return give(call, takeInfeed(communicatorOf(call), "stablehlo.infeed"),
              "stablehlo.infeed");
}

Result<void> outfeed(const HostCall &call) {
  Tensors values;
  for (const Tensor &value : inputsOf(call, 1)) {
    Tensor copy(value.type(), value.shape());
    std::memcpy(copy.mutableBytes(), value.data(), value.bytes());
    values.push_back(std::move(copy));
  }
  communicatorOf(call).outfeed.push_back(std::move(values));
  return {};
}

} // namespace sinter::host
