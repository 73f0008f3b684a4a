#include "runtime/ProcessGroups.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace sinter {

/// The number of ids.
static uint32_t idCount(Grouping grouping, const ProcessGrid &grid) {
  switch (grouping) {
  case Grouping::CrossPartition:
    return grid.partitions;
  case Grouping::FlattenedIds:
    return grid.size();
  default:
    return grid.replicas;
  }
}

/// The ranks of a row of ids, in the one of its groups that could contain \p
/// rank.
static RankGroup ranksOf(Rank rank, const std::vector<int64_t> &ids,
                         Grouping grouping, const ProcessGrid &grid) {
  const uint32_t replica = rank / grid.partitions,
                 partition = rank % grid.partitions;
  RankGroup group;
  const auto addEach = [&](auto &&rankOfId) {
    for (const int64_t id : ids)
      if (id >= 0)
        group.push_back(rankOfId(static_cast<uint32_t>(id)));
  };
  switch (grouping) {
  case Grouping::CrossReplica:
    addEach([&](uint32_t id) { return grid.rankOf(id, partition); });
    break;
  case Grouping::CrossPartition:
    addEach([&](uint32_t id) { return grid.rankOf(replica, id); });
    break;
  case Grouping::CrossReplicaAndPartition:
    for (uint32_t other = 0; other < grid.partitions; ++other)
      addEach([&](uint32_t id) { return grid.rankOf(id, other); });
    break;
  case Grouping::FlattenedIds:
    addEach([](uint32_t id) { return id; });
    break;
  }
  return group;
}

Result<std::vector<RankGroup>> groupsAround(Rank rank, const Groups &groups,
                                            const ProcessGrid &grid) {
  const uint32_t count = idCount(groups.grouping, grid);
  std::vector<std::vector<int64_t>> rows = groups.ids;
  if (rows.empty()) {
    rows.emplace_back(count);
    std::iota(rows.front().begin(), rows.front().end(), 0);
  }
  std::vector<RankGroup> around;
  for (const std::vector<int64_t> &row : rows) {
    for (const int64_t id : row)
      if (id >= count)
        return invalidModel("names the process id " + std::to_string(id) +
                            "; the grid of " + std::to_string(grid.replicas) +
                            " replicas and " + std::to_string(grid.partitions) +
                            " partitions has " + std::to_string(count));
    around.push_back(ranksOf(rank, row, groups.grouping, grid));
  }
  return around;
}

Result<RankGroup> groupOf(Rank rank, const Groups &groups,
                          const ProcessGrid &grid) {
  Result<std::vector<RankGroup>> around = groupsAround(rank, groups, grid);
  if (!around)
    return around.takeError();
  for (RankGroup &group : *around)
    if (std::ranges::find(group, rank) != group.end())
      return std::move(group);
  return RankGroup();
}

std::string idsText(const std::vector<std::vector<int64_t>> &ids) {
  std::string text;
  for (size_t row = 0; row < ids.size(); ++row) {
    text += row == 0 ? "" : "/";
    for (size_t i = 0; i < ids[row].size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(ids[row][i]);
  }
  return text;
}

std::optional<std::vector<std::vector<int64_t>>>
parseIds(std::string_view text) {
  std::vector<std::vector<int64_t>> ids;
  if (text.empty())
    return ids;
  ids.emplace_back();
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    int64_t id = 0;
    const auto [stop, error] = std::from_chars(at, end, id);
    if (error != std::errc())
      return std::nullopt;
    ids.back().push_back(id);
    if (stop == end)
      return ids;
    if (*stop == '/')
      ids.emplace_back();
    else if (*stop != ',')
      return std::nullopt;
    at = stop + 1;
  }
}

} // namespace sinter
