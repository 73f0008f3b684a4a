//===- Snapshot.cpp - values of states of the C interface -----------------===//
//
// As bytes: the text "SINTER STATES", the number of the format, the states as a
// list of name, type, sizes and elements, and a hash of all that.
//
//===----------------------------------------------------------------------===//

#include "bindings/c/Snapshot.h"

#include "bindings/c/Session.h"
#include "engine/ExecutorStates.h"
#include "runtime/ByteStream.h"
#include "runtime/Hash.h"

#include <algorithm>

namespace sinter::c {

static constexpr std::string_view magic = "SINTER STATES";
static constexpr uint32_t format = 1;

Result<void> takeSnapshot(const Executor &executor,
                          sinter_snapshot **snapshot) {
  if (Result<void> good = checkPointer(snapshot, "snapshot"); !good)
    return good;
  if (!executor.hasDefinedStates())
    return undefinedStates();
  auto made = std::make_unique<sinter_snapshot>();
  std::vector<Tensor> values = statesOf(executor);
  for (size_t i = 0; i < values.size(); ++i)
    made->states.emplace_back(executor.states()[i].name, std::move(values[i]));
  *snapshot = made.release();
  return {};
}

/// The state of \p snapshot for each of those of \p executor, in their order.
static Result<std::vector<const Tensor *>>
statesFor(const Executor &executor, const sinter_snapshot &snapshot) {
  std::vector<const Tensor *> values;
  for (const TensorSpec &spec : executor.states()) {
    const auto found =
        std::ranges::find(snapshot.states, spec.name,
                          [](const auto &each) { return each.first; });
    if (found == snapshot.states.end())
      return usageError("the snapshot has no state '" + spec.name + "'");
    const Tensor &value = found->second;
    if (value.type() != spec.type || value.shape() != spec.shape)
      return usageError("state '" + spec.name + "': the snapshot has " +
                        toString(value.type(), value.shape()) + ", the model " +
                        toString(spec.type, spec.shape));
    values.push_back(&value);
  }
  if (values.size() != snapshot.states.size())
    return usageError("the snapshot has " +
                      std::to_string(snapshot.states.size()) +
                      " states, the model " + std::to_string(values.size()));
  return values;
}

Result<void> restoreSnapshot(Executor &executor,
                             const sinter_snapshot *snapshot) {
  Result<Use> use = Use::of(snapshot, Handle::Kind::Snapshot);
  if (!use)
    return use.takeError();
  auto values = statesFor(executor, *snapshot);
  if (!values)
    return values.takeError();
  for (size_t i = 0; i < values->size(); ++i)
    if (Result<void> done = executor.setState(i, *(*values)[i]); !done)
      return done;
  return {};
}

static std::vector<std::byte> encode(const sinter_snapshot &snapshot) {
  ByteWriter out;
  out.raw(bytesOf(magic));
  out.number(format);
  out.list(snapshot.states, [&](const auto &state) {
    const Tensor &value = state.second;
    out.text(state.first);
    out.text(name(value.type()));
    out.list(value.shape(), [&](int64_t size) { out.number(size); });
    out.raw({value.data(), value.bytes()});
  });
  out.number(shortHashOf(out.bytes()));
  return {out.bytes().begin(), out.bytes().end()};
}

static Error damaged() {
  return systemError("the bytes are no snapshot of states, or are damaged");
}

/// Reads one state; \p in fails if that is none.
static std::pair<std::string, Tensor> decodeState(ByteReader &in) {
  std::string stateName = in.text();
  const std::optional<ElementType> type = parseElementType(in.text());
  Shape shape = in.list(sizeof(int64_t), [&] { return in.number<int64_t>(); });
  const std::optional<int64_t> bytes =
      type ? byteCount(*type, shape) : std::nullopt;
  if (!bytes) {
    in.fail();
    return {};
  }
  const auto elements = in.raw(static_cast<uint64_t>(*bytes));
  if (in.failed())
    return {};
  Tensor value(*type, std::move(shape));
  if (!elements.empty())
    std::memcpy(value.mutableBytes(), elements.data(), elements.size());
  return {std::move(stateName), std::move(value)};
}

static Result<std::unique_ptr<sinter_snapshot>>
decode(std::span<const std::byte> bytes) {
  const auto *text = reinterpret_cast<const char *>(bytes.data());
  if (!std::string_view(text, bytes.size()).starts_with(magic) ||
      bytes.size() < magic.size() + sizeof(uint64_t))
    return damaged();
  const auto content = bytes.first(bytes.size() - sizeof(uint64_t));
  if (ByteReader(bytes.subspan(content.size())).number<uint64_t>() !=
      shortHashOf(content))
    return damaged();
  ByteReader in(content.subspan(magic.size()));
  if (const auto number = in.number<uint32_t>(); number != format)
    return unsupported("the snapshot is in format " + std::to_string(number) +
                       " of a newer Sinter");
  auto made = std::make_unique<sinter_snapshot>();
  // Two lengths and a number of sizes at the least.
  made->states = in.list(3 * sizeof(uint64_t), [&] { return decodeState(in); });
  if (in.failed() || !in.atEnd())
    return damaged();
  return made;
}

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

sinter_status sinter_snapshot_open(const void *bytes, size_t size,
                                   sinter_snapshot **snapshot,
                                   sinter_error **error) {
  return guarded(error, [&]() -> Result<void> {
    if (Result<void> good = checkPointer(bytes, "bytes"); !good)
      return good;
    if (Result<void> good = checkPointer(snapshot, "snapshot"); !good)
      return good;
    auto made = decode({static_cast<const std::byte *>(bytes), size});
    if (!made)
      return made.takeError();
    *snapshot = made->release();
    return {};
  });
}

const void *sinter_snapshot_data(const sinter_snapshot *snapshot,
                                 size_t *size) {
  if (size)
    *size = 0;
  const void *data = nullptr;
  const sinter_status done =
      guarded(snapshot, Handle::Kind::Snapshot, nullptr, [&]() -> Result<void> {
        std::call_once(snapshot->isEncoded,
                       [&] { snapshot->encoded = encode(*snapshot); });
        data = snapshot->encoded.data();
        if (size)
          *size = snapshot->encoded.size();
        return {};
      });
  return done == SINTER_OK ? data : nullptr;
}

size_t sinter_snapshot_state_count(const sinter_snapshot *snapshot) {
  return Use::of(snapshot, Handle::Kind::Snapshot) ? snapshot->states.size()
                                                   : 0;
}

const char *sinter_snapshot_state_name(const sinter_snapshot *snapshot,
                                       size_t index) {
  return index < sinter_snapshot_state_count(snapshot)
             ? snapshot->states[index].first.c_str()
             : nullptr;
}

sinter_status sinter_snapshot_state(const sinter_snapshot *snapshot,
                                    size_t index, sinter_tensor *tensor,
                                    sinter_error **error) {
  return guarded(
      snapshot, Handle::Kind::Snapshot, error, [&]() -> Result<void> {
        if (index >= snapshot->states.size())
          return usageError("there is no state " + std::to_string(index) +
                            ", but " + std::to_string(snapshot->states.size()));
        sinter_tensor all = {};
        describe(snapshot->states[index].second, all);
        return giveStruct(all, tensor, "tensor");
      });
}

void sinter_snapshot_free(sinter_snapshot *snapshot) {
  if (check(snapshot, Handle::Kind::Snapshot))
    delete snapshot;
}

} // extern "C"
