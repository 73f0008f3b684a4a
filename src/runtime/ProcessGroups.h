//===- ProcessGroups.h - which processes work together --------------------===//
//
// The four ways in which a collective operation of StableHLO splits a grid
// (specification, "Collective ops").
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_PROCESSGROUPS_H
#define SINTER_RUNTIME_PROCESSGROUPS_H

#include "runtime/Communicator.h"

namespace sinter {

enum class Grouping : uint8_t {
  /// The ids are replicas; a group for each partition.
  CrossReplica,
  /// The ids are partitions; a group for each replica.
  CrossPartition,
  /// The ids are replicas; a group has all their partitions.
  CrossReplicaAndPartition,
  /// The ids are ranks.
  FlattenedIds,
};

/// How a collective operation splits the grid: rows of ids, of which negative
/// ones only fill rows up. No rows stand for one of all ids.
struct Groups {
  Grouping grouping = Grouping::CrossReplica;
  std::vector<std::vector<int64_t>> ids;
};

/// The group of \p rank; empty if it is in none. InvalidModel for ids that the
/// grid does not have.
Result<RankGroup> groupOf(Rank rank, const Groups &groups,
                          const ProcessGrid &grid);

/// All rows of \p groups as ranks, of those groups that are with \p rank on one
/// side of the grid (of its partition, say, for CrossReplica). Errors as above.
Result<std::vector<RankGroup>> groupsAround(Rank rank, const Groups &groups,
                                            const ProcessGrid &grid);

/// The ids as text "0,1/2,3", and back; nothing for a text that is none.
std::string idsText(const std::vector<std::vector<int64_t>> &ids);
std::optional<std::vector<std::vector<int64_t>>>
parseIds(std::string_view text);

} // namespace sinter

#endif // SINTER_RUNTIME_PROCESSGROUPS_H
