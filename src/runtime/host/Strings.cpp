//===- Strings.cpp - calls of the functions on strings --------------------===//

#include "runtime/Strings.h"
#include "runtime/StringFunctions.h"
#include "runtime/host/Builtin.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sinter::host {

/// Whether the call has so many tensors of handles, then numbers.
static Result<void> checkStringCall(const HostCall &call, size_t inputs,
                                    size_t outputs) {
  if (call.inputs.size() < inputs || call.outputs.size() != outputs)
    return invalidModel("a call on strings has another number of tensors");
  return {};
}

/// What the executor keeps for calls with this configuration, made by \p make
/// the first time.
template <typename T, typename Make>
static Result<std::shared_ptr<T>> keptFor(const HostCall &call, Make make) {
  if (call.kept)
    if (const auto found = call.kept->find(call.configuration);
        found != call.kept->end())
      if (auto *known = std::any_cast<std::shared_ptr<T>>(&found->second))
        return *known;
  Result<std::shared_ptr<T>> made = make();
  if (made && call.kept)
    call.kept->insert_or_assign(std::string(call.configuration), *made);
  return made;
}

namespace {
/// A constant, whose texts it holds.
struct ConstantStrings {
  StringHolder holder;
  std::vector<StringHandle> handles;
};
} // namespace

/// The \p count strings of \p text: "3:abc" for each.
static Result<std::shared_ptr<ConstantStrings>>
constantStrings(std::string_view text, int64_t count) {
  auto made = std::make_shared<ConstantStrings>();
  std::string_view rest = text;
  for (int64_t i = 0; i < count; ++i) {
    size_t size = 0;
    const auto [end, code] =
        std::from_chars(rest.data(), rest.data() + rest.size(), size);
    const auto digits = static_cast<size_t>(end - rest.data());
    if (code != std::errc() || digits >= rest.size() || rest[digits] != ':' ||
        size > rest.size() - digits - 1)
      return invalidModel("a constant of strings is damaged");
    made->handles.push_back(made->holder.hold(rest.substr(digits + 1, size)));
    rest.remove_prefix(digits + 1 + size);
  }
  return made;
}

Result<void> strings(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 0, 1); !good)
    return good;
  Tensor &to = call.outputs[0];
  auto constant = keptFor<ConstantStrings>(
      call, [&] { return constantStrings(call.configuration, to.size()); });
  if (!constant)
    return constant.takeError();
  const std::vector<StringHandle> &handles = (*constant)->handles;
  if (std::ssize(handles) != to.size())
    return invalidModel("a constant of strings has another number of them");
  for (int64_t i = 0; i < to.size(); ++i) {
    const StringHandle handle = handles[static_cast<size_t>(i)];
    // What nobody keeps belongs to the run.
    to.set<StringHandle>(i,
                         call.kept ? handle : internString(stringOf(handle)));
  }
  return {};
}

Result<void> formatted(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 1); !good)
    return good;
  formatNumbers(call.inputs[0], call.outputs[0]);
  return {};
}

Result<void> parsed(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 1); !good)
    return good;
  return parseNumbers(call.inputs[0], call.outputs[0]);
}

Result<void> concatenated(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 2, 1); !good)
    return good;
  concatStrings(call.inputs[0], call.inputs[1], call.outputs[0]);
  return {};
}

Result<void> caseChanged(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 1); !good)
    return good;
  const size_t end =
      std::min(call.configuration.find(';'), call.configuration.size() - 1);
  return changeCase(call.inputs[0], call.configuration.starts_with("upper"),
                    call.configuration.substr(end + 1), call.outputs[0]);
}

Result<void> matched(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 1); !good)
    return good;
  auto pattern = keptFor<StringPattern>(
      call, [&]() -> Result<std::shared_ptr<StringPattern>> {
        Result<StringPattern> made = StringPattern::of(call.configuration);
        if (!made)
          return made.takeError();
        return std::make_shared<StringPattern>(std::move(*made));
      });
  if (!pattern)
    return pattern.takeError();
  (*pattern)->match(call.inputs[0], call.outputs[0]);
  return {};
}

Result<void> ranked(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 1); !good)
    return good;
  rankStrings(call.inputs[0], call.outputs[0]);
  return {};
}

Result<void> found(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 2, 1); !good)
    return good;
  auto places = keptFor<StringPlaces>(
      call, []() -> Result<std::shared_ptr<StringPlaces>> {
        return std::make_shared<StringPlaces>();
      });
  if (!places)
    return places.takeError();
  (*places)->setKeys(call.inputs[1]);
  (*places)->find(call.inputs[0], call.outputs[0]);
  return {};
}

namespace {
/// How strings are split.
struct Splitting {
  int64_t most = -1;
  std::string_view delimiter;

  explicit Splitting(std::string_view text) {
    const auto [end, code] =
        std::from_chars(text.data(), text.data() + text.size(), most);
    const auto digits = static_cast<size_t>(end - text.data());
    delimiter = text.substr(std::min(digits + 1, text.size()));
  }
};
} // namespace

Result<void> partsCounted(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 2); !good)
    return good;
  const Splitting how(call.configuration);
  countParts(call.inputs[0], how.delimiter, how.most, call.outputs[0]);
  int64_t largest = 0;
  for (int64_t i = 0; i < call.outputs[0].size(); ++i)
    largest = std::max(largest, call.outputs[0].at<int64_t>(i));
  call.outputs[1].set(0, largest);
  return {};
}

Result<void> stringsSplit(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 1); !good)
    return good;
  const Splitting how(call.configuration);
  return splitStrings(call.inputs[0], how.delimiter, how.most, call.outputs[0]);
}

/// \p call with its input as strings.
static HostCall ofStrings(const HostCall &call, Tensor &input) {
  input = Tensor::share(ElementType::STRING, call.inputs[0].shape(),
                        call.inputs[0].data(), nullptr);
  HostCall other = call;
  other.inputs = {&input, 1};
  return other;
}

Result<void> stringsProbed(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 0); !good)
    return good;
  Tensor input;
  return probe(ofStrings(call, input));
}

Result<void> stringsPrinted(const HostCall &call) {
  if (Result<void> good = checkStringCall(call, 1, 0); !good)
    return good;
  Tensor input;
  return print(ofStrings(call, input));
}

} // namespace sinter::host
