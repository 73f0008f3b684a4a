//===- Strings.cpp - the elements of tensors of strings -------------------===//

#include "runtime/Strings.h"

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace sinter {

namespace {

/// A text of the process. Its handle is its address.
struct Entry {
  std::string text;
  /// Of holders. The lock of the entry's shard guards it.
  uint64_t holders = 0;
};

StringHandle handleOf(const Entry *entry) {
  return reinterpret_cast<StringHandle>(entry);
}
Entry *entryOf(StringHandle handle) {
  return reinterpret_cast<Entry *>(handle); // NOLINT(performance-no-int-to-ptr)
}

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
  size_t operator()(const std::unique_ptr<Entry> &entry) const {
    return (*this)(std::string_view(entry->text));
  }
};
struct TextEqual {
  using is_transparent = void;
  static std::string_view of(std::string_view text) { return text; }
  static std::string_view of(const std::unique_ptr<Entry> &entry) {
    return entry->text;
  }
  template <typename A, typename B>
  bool operator()(const A &a, const B &b) const {
    return of(a) == of(b);
  }
};

/// A part of all texts, so that threads seldom wait for each other.
class Shard {
public:
  StringHandle hold(std::string_view text) {
    const std::lock_guard lock(mutex);
    auto at = entries.find(text);
    if (at == entries.end())
      at = entries.insert(std::make_unique<Entry>(Entry{std::string(text)}))
               .first;
    ++(*at)->holders;
    return handleOf(at->get());
  }
  void hold(Entry *entry) {
    const std::lock_guard lock(mutex);
    ++entry->holders;
  }
  void release(Entry *entry) {
    const std::lock_guard lock(mutex);
    if (--entry->holders == 0)
      entries.erase(entries.find(std::string_view(entry->text)));
  }

private:
  std::mutex mutex;
  std::unordered_set<std::unique_ptr<Entry>, TextHash, TextEqual> entries;
};

Shard &shardOf(std::string_view text) {
  // Never destroyed: tensors with static storage may outlive it.
  static auto &shards = *new std::array<Shard, 64>;
  // The low bits choose the place in a shard.
  return shards[TextHash()(text) >> 20 & 63];
}

/// The holder of the run on this thread.
thread_local StringHolder *current = nullptr;

} // namespace

StringHolder::~StringHolder() {
  for (const auto &[text, handle] : held)
    shardOf(text).release(entryOf(handle));
}

StringHandle StringHolder::hold(std::string_view text) {
  if (text.empty())
    return 0;
  if (const auto at = held.find(text); at != held.end())
    return at->second;
  const StringHandle handle = shardOf(text).hold(text);
  held.emplace(entryOf(handle)->text, handle);
  return handle;
}

void StringHolder::hold(StringHandle handle) {
  if (handle == 0)
    return;
  const std::string_view text = stringOf(handle);
  if (held.emplace(text, handle).second)
    shardOf(text).hold(entryOf(handle));
}

StringScope::StringScope() : isOutermost(!current) {
  if (isOutermost)
    current = &holder;
}

StringScope::~StringScope() {
  if (isOutermost)
    current = nullptr;
}

StringHandle internString(std::string_view text) {
  if (current)
    return current->hold(text);
  return text.empty() ? 0 : shardOf(text).hold(text);
}

std::string_view stringOf(StringHandle handle) {
  return handle == 0 ? std::string_view() : entryOf(handle)->text;
}

namespace {

/// What keeps a tensor's elements and texts.
struct HeldTensor {
  Tensor elements;
  StringHolder holder;
};

template <typename Text>
Tensor tensorOf(Shape shape, std::span<const Text> texts) {
  auto held = std::make_shared<HeldTensor>();
  held->elements = Tensor(ElementType::STRING, shape);
  for (size_t i = 0; i < texts.size(); ++i) {
    const StringHandle handle = held->holder.hold(texts[i]);
    if (current)
      current->hold(handle);
    held->elements.template set<StringHandle>(static_cast<int64_t>(i), handle);
  }
  const std::byte *data = held->elements.data();
  return Tensor::share(ElementType::STRING, std::move(shape), data,
                       std::move(held));
}

} // namespace

Tensor stringTensor(Shape shape, std::span<const std::string_view> texts) {
  return tensorOf(std::move(shape), texts);
}

Tensor stringTensor(Shape shape, std::span<const std::string> texts) {
  return tensorOf(std::move(shape), texts);
}

Tensor holdStrings(Tensor tensor) {
  if (tensor.type() != ElementType::STRING)
    return tensor;
  auto held = std::make_shared<HeldTensor>();
  for (int64_t i = 0; i < tensor.size(); ++i)
    held->holder.hold(tensor.at<StringHandle>(i));
  held->elements = tensor;
  return Tensor::share(ElementType::STRING, tensor.shape(), tensor.data(),
                       std::move(held));
}

void holdStrings(std::span<Tensor> tensors) {
  for (Tensor &tensor : tensors)
    tensor = holdStrings(std::move(tensor));
}

} // namespace sinter
