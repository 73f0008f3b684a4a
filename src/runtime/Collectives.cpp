#include "runtime/Collectives.h"

#include <algorithm>
#include <limits>

namespace sinter {

namespace {

/// The channel of collective_permute, which programs cannot name.
constexpr int64_t permuteChannel = std::numeric_limits<int64_t>::min();

/// Sizes before, of, and behind an axis, the last in bytes.
struct AxisBytes {
  int64_t outer = 1, size = 1, inner = 1;
  AxisBytes(const Tensor &tensor, int64_t axis) {
    for (int64_t i = 0; i < tensor.rank(); ++i)
      (i < axis ? outer : i == axis ? size : inner) *= tensor.dim(i);
    inner *= static_cast<int64_t>(byteSize(tensor.type()));
  }
};

} // namespace

Result<Tensor> joined(std::span<const Tensor> tensors, int64_t axis) {
  const Tensor &first = tensors.front();
  if (axis < 0 || axis >= first.rank())
    return usageError("there is no axis " + std::to_string(axis));
  Shape shape = first.shape();
  shape[axis] = 0;
  for (const Tensor &tensor : tensors) {
    Shape others = tensor.shape();
    if (tensor.type() != first.type() || others.size() != shape.size())
      return usageError("the processes have tensors of different types");
    const int64_t size = std::exchange(others[axis], first.dim(axis));
    if (others != first.shape())
      return usageError("the processes have tensors of different shapes");
    shape[axis] += size;
  }
  if (!byteCount(first.type(), shape))
    return usageError("the result is too large");
  Tensor result(first.type(), shape);
  const AxisBytes whole(result, axis);
  int64_t offset = 0;
  for (const Tensor &tensor : tensors) {
    const AxisBytes part(tensor, axis);
    const int64_t bytes = part.size * part.inner;
    for (int64_t i = 0; i < part.outer; ++i)
      std::memcpy(result.mutableBytes() + i * whole.size * whole.inner + offset,
                  tensor.data() + i * bytes, bytes);
    offset += bytes;
  }
  return result;
}

Result<Tensor> partOf(const Tensor &tensor, int64_t axis, int64_t index,
                      int64_t count) {
  if (axis < 0 || axis >= tensor.rank() || count < 1 || index < 0 ||
      index >= count || tensor.dim(axis) % count != 0)
    return usageError("cannot be cut into " + std::to_string(count) +
                      " slices along axis " + std::to_string(axis));
  Shape shape = tensor.shape();
  shape[axis] /= count;
  Tensor result(tensor.type(), shape);
  const AxisBytes whole(tensor, axis), part(result, axis);
  const int64_t bytes = part.size * part.inner;
  for (int64_t i = 0; i < part.outer; ++i)
    std::memcpy(result.mutableBytes() + i * bytes,
                tensor.data() + i * whole.size * whole.inner + index * bytes,
                bytes);
  return result;
}

Result<Gathered> gather(Communicator &communicator, const Groups &groups,
                        const Tensors &mine, std::string_view what) {
  Result<RankGroup> group =
      groupOf(communicator.rank(), groups, communicator.grid());
  if (!group)
    return inside(what, group.takeError());
  if (group->empty())
    return invalidModel(std::string(what) + ": " +
                        processText(communicator.grid(), communicator.rank()) +
                        " is in none of its groups");
  Result<std::vector<Tensors>> all = communicator.exchange(*group, mine, what);
  if (!all)
    return all.takeError();
  const auto place = std::ranges::find(*group, communicator.rank());
  return Gathered{std::move(*all), static_cast<size_t>(place - group->begin())};
}

Result<Tensors> allGather(Communicator &communicator, const Groups &groups,
                          const Tensors &operands, int64_t axis,
                          std::string_view what) {
  Result<Gathered> gathered = gather(communicator, groups, operands, what);
  if (!gathered)
    return gathered.takeError();
  Tensors results;
  for (size_t i = 0; i < operands.size(); ++i) {
    Tensors parts;
    for (const Tensors &given : gathered->all)
      parts.push_back(given[i]);
    Result<Tensor> whole = joined(parts, axis);
    if (!whole)
      return inside(what, whole.takeError());
    results.push_back(std::move(*whole));
  }
  return results;
}

Result<Tensors> allToAll(Communicator &communicator, const Groups &groups,
                         const Tensors &operands, int64_t splitAxis,
                         int64_t joinAxis, int64_t count,
                         std::string_view what) {
  Result<Gathered> gathered = gather(communicator, groups, operands, what);
  if (!gathered)
    return gathered.takeError();
  Tensors results;
  for (size_t i = 0; i < operands.size(); ++i) {
    Tensors parts;
    for (const Tensors &given : gathered->all) {
      Result<Tensor> part = partOf(
          given[i], splitAxis, static_cast<int64_t>(gathered->place), count);
      if (!part)
        return inside(what, part.takeError());
      parts.push_back(std::move(*part));
    }
    Result<Tensor> whole = joined(parts, joinAxis);
    if (!whole)
      return inside(what, whole.takeError());
    results.push_back(std::move(*whole));
  }
  return results;
}

Result<std::optional<Tensors>>
collectiveBroadcast(Communicator &communicator, const Groups &groups,
                    const Tensors &operands, std::span<const int64_t> roots,
                    std::string_view what) {
  Result<RankGroup> group =
      groupOf(communicator.rank(), groups, communicator.grid());
  if (!group)
    return inside(what, group.takeError());
  if (group->empty())
    return std::optional<Tensors>();
  Result<std::vector<Tensors>> all =
      communicator.exchange(*group, operands, what);
  if (!all)
    return all.takeError();
  Tensors results;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int64_t root = roots.empty() ? 0 : roots[i];
    if (root < 0 || root >= static_cast<int64_t>(group->size()))
      return Error{ErrorKind::WrongResult, std::string(what) + ": the root " +
                                               std::to_string(root) +
                                               " is not in a group of " +
                                               std::to_string(group->size())};
    results.push_back((*all)[root][i]);
  }
  return std::optional<Tensors>(std::move(results));
}

/// Sends and receives over a channel along the pairs of ranks.
static Result<std::optional<Tensors>>
transfer(Communicator &communicator, int64_t channel, const Groups &pairs,
         const Tensors *outgoing, bool receives, std::string_view what) {
  if (pairs.ids.empty())
    return std::optional<Tensors>();
  Result<std::vector<RankGroup>> around =
      groupsAround(communicator.rank(), pairs, communicator.grid());
  if (!around)
    return inside(what, around.takeError());
  std::optional<Rank> source;
  for (const RankGroup &pair : *around) {
    if (pair.size() != 2)
      return invalidModel(std::string(what) + ": a pair has not two ids");
    if (pair[1] == communicator.rank())
      source = pair[0];
    if (outgoing && pair[0] == communicator.rank())
      if (Result<void> sent =
              communicator.send(channel, pair[1], *outgoing, what);
          !sent)
        return sent.takeError();
  }
  if (!source || !receives)
    return std::optional<Tensors>();
  Result<Tensors> values = communicator.receive(channel, source, what);
  if (!values)
    return values.takeError();
  return std::optional<Tensors>(std::move(*values));
}

Result<std::optional<Tensors>> collectivePermute(Communicator &communicator,
                                                 const Groups &pairs,
                                                 const Tensors &operands,
                                                 std::string_view what) {
  return transfer(communicator, permuteChannel, pairs, &operands, true, what);
}

/// A channel's ids are partitions or, if there is only one, replicas.
static void chooseIds(Groups &pairs, const ProcessGrid &grid) {
  pairs.grouping =
      grid.partitions > 1 ? Grouping::CrossPartition : Grouping::CrossReplica;
}

Result<void> sendValues(Communicator &communicator, int64_t channel,
                        Groups pairs, const Tensors &values,
                        std::string_view what) {
  if (pairs.ids.empty())
    return communicator.send(channel, std::nullopt, values, what);
  chooseIds(pairs, communicator.grid());
  auto sent = transfer(communicator, channel, pairs, &values, false, what);
  return sent ? Result<void>() : sent.takeError();
}

Result<std::optional<Tensors>> receiveValues(Communicator &communicator,
                                             int64_t channel, Groups pairs,
                                             std::string_view what) {
  if (pairs.ids.empty()) {
    Result<Tensors> values = communicator.receive(channel, std::nullopt, what);
    if (!values)
      return values.takeError();
    return std::optional<Tensors>(std::move(*values));
  }
  chooseIds(pairs, communicator.grid());
  return transfer(communicator, channel, pairs, nullptr, true, what);
}

Result<Tensors> takeInfeed(Communicator &communicator, std::string_view what) {
  if (communicator.infeed.empty())
    return Error{ErrorKind::WrongResult,
                 std::string(what) + ": the infeed has no more values"};
  Tensors values = std::move(communicator.infeed.front());
  communicator.infeed.pop_front();
  return values;
}

} // namespace sinter
