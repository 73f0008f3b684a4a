#include "runtime/Communicator.h"

#include <algorithm>

namespace sinter {

std::string processText(const ProcessGrid &grid, Rank rank) {
  return "process " + std::to_string(rank) + " (replica " +
         std::to_string(rank / grid.partitions) + ", partition " +
         std::to_string(rank % grid.partitions) + ")";
}

std::string standstillText(const ProcessGrid &grid,
                           std::span<const std::string> where) {
  std::string text = "no process can go on:";
  for (Rank rank = 0; rank < where.size(); ++rank)
    text +=
        (rank == 0 ? " " : "; ") + processText(grid, rank) + " " + where[rank];
  return text;
}

Result<void> checkSameProgram(Communicator &communicator,
                              const Hash128 &program) {
  const ProcessGrid &grid = communicator.grid();
  RankGroup all;
  for (Rank rank = 0; rank < grid.size(); ++rank)
    all.push_back(rank);
  const uint64_t words[] = {program.low, program.high};
  auto given = communicator.exchange(
      all, {Tensor::of<uint64_t>(ElementType::UI64, {2}, words)},
      "the comparison of programs");
  if (!given)
    return given.takeError();
  for (Rank rank = 0; rank < grid.size(); ++rank)
    for (int64_t i = 0; i < 2; ++i)
      if ((*given)[rank].front().toInteger(i) !=
          given->front().front().toInteger(i))
        return usageError(
            "the processes run different programs: " + processText(grid, rank) +
            " another than " + processText(grid, 0) +
            "; model, bound inputs and options must be the same");
  return {};
}

Result<std::vector<Tensors>> LoneCommunicator::exchange(const RankGroup &,
                                                        const Tensors &mine,
                                                        std::string_view) {
  return std::vector<Tensors>{mine};
}

Result<void> LoneCommunicator::send(int64_t channel, std::optional<Rank>,
                                    const Tensors &values, std::string_view) {
  Tensors kept;
  for (const Tensor &value : values)
    kept.push_back(value.owned());
  sent.emplace_back(channel, std::move(kept));
  return {};
}

Result<Tensors> LoneCommunicator::receive(int64_t channel, std::optional<Rank>,
                                          std::string_view what) {
  const auto found = std::ranges::find_if(
      sent, [&](const auto &message) { return message.first == channel; });
  if (found == sent.end())
    return Error{ErrorKind::WrongResult, std::string(what) +
                                             ": nothing was sent on channel " +
                                             std::to_string(channel)};
  Tensors values = std::move(found->second);
  sent.erase(found);
  return values;
}

} // namespace sinter
