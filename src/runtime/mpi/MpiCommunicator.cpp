#include "runtime/mpi/MpiCommunicator.h"

#include <algorithm>
#include <climits>
#include <list>
#include <map>
#include <mpi.h>

namespace sinter {

namespace {

constexpr int messageTag = 1;

//===----------------------------------------------------------------------===//
// Values as bytes
//===----------------------------------------------------------------------===//

template <typename T> void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Takes numbers and bytes off the front; all zero once there are too few.
class Unpacker {
public:
  explicit Unpacker(std::string_view bytes) : rest(bytes) {}
  template <typename T> T take() {
    T value{};
    const std::string_view bytes = takeBytes(sizeof value);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(&value));
    return value;
  }
  std::string_view takeBytes(size_t count) {
    isGood &= count <= rest.size();
    const std::string_view bytes = rest.substr(0, isGood ? count : 0);
    rest.remove_prefix(bytes.size());
    return bytes;
  }
  bool isGood = true;

private:
  std::string_view rest;
};

std::string pack(std::string_view what, const Tensors &values) {
  std::string bytes;
  append<uint64_t>(bytes, what.size());
  bytes += what;
  append<uint64_t>(bytes, values.size());
  for (const Tensor &value : values) {
    append(bytes, value.type());
    append<uint64_t>(bytes, value.shape().size());
    for (const int64_t size : value.shape())
      append(bytes, size);
    bytes.append(reinterpret_cast<const char *>(value.data()), value.bytes());
  }
  return bytes;
}

Result<Tensors> unpack(std::string_view bytes, std::string &what) {
  Unpacker unpacker(bytes);
  what = unpacker.takeBytes(unpacker.take<uint64_t>());
  const auto count = unpacker.take<uint64_t>();
  Tensors values;
  for (uint64_t i = 0; i < count && unpacker.isGood; ++i) {
    const auto type = unpacker.take<ElementType>();
    Shape shape(std::min<uint64_t>(unpacker.take<uint64_t>(), 64));
    for (int64_t &size : shape)
      size = unpacker.take<int64_t>();
    const std::optional<int64_t> size = byteCount(type, shape);
    if (!size || !unpacker.isGood)
      break;
    const std::string_view data = unpacker.takeBytes(*size);
    if (!unpacker.isGood)
      break;
    values.push_back(Tensor::of<char>(type, shape, data));
  }
  if (!unpacker.isGood || values.size() != count)
    return systemError("a message of another process is damaged");
  return values;
}

//===----------------------------------------------------------------------===//
// The communicator
//===----------------------------------------------------------------------===//

class MpiCommunicator : public Communicator {
public:
  MpiCommunicator(ProcessGrid grid, Rank rank) : Communicator(grid, rank) {}

  Result<std::vector<Tensors>> exchange(const RankGroup &group,
                                        const Tensors &mine,
                                        std::string_view what) override {
    const std::string bytes = pack(what, mine);
    if (bytes.size() > INT_MAX / group.size())
      return unsupported(std::string(what) +
                         ": more than 2 GB in one exchange over MPI");
    MPI_Comm members = communicatorOf(group);
    const int size = static_cast<int>(bytes.size());
    std::vector<int> sizes(group.size()), offsets(group.size());
    MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, members);
    int total = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      offsets[i] = total;
      if (__builtin_add_overflow(total, sizes[i], &total))
        return unsupported(std::string(what) +
                           ": more than 2 GB in one exchange over MPI");
    }
    std::string all(total, '\0');
    MPI_Allgatherv(bytes.data(), size, MPI_BYTE, all.data(), sizes.data(),
                   offsets.data(), MPI_BYTE, members);
    std::vector<Tensors> results;
    for (size_t i = 0; i < group.size(); ++i) {
      std::string theirs;
      Result<Tensors> values =
          unpack(std::string_view(all).substr(offsets[i], sizes[i]), theirs);
      if (!values)
        return values.takeError();
      if (theirs != what)
        return Error{
            ErrorKind::WrongResult,
            "the processes do not agree: " + processText(grid(), group[i]) +
                " is in " + theirs + ", " + processText(grid(), rank()) +
                " in " + std::string(what)};
      results.push_back(std::move(*values));
    }
    return results;
  }

  Result<void> send(int64_t channel, std::optional<Rank> to,
                    const Tensors &values, std::string_view what) override {
    std::string bytes;
    append(bytes, channel);
    bytes += pack(what, values);
    if (bytes.size() > INT_MAX)
      return unsupported(std::string(what) +
                         ": more than 2 GB in one message over MPI");
    for (Rank other = 0; other < grid().size(); ++other)
      if (to ? *to == other : other != rank() || grid().size() == 1)
        post(other, bytes);
    return {};
  }

  Result<Tensors> receive(int64_t channel, std::optional<Rank> from,
                          std::string_view what) override {
    while (true) {
      const auto found =
          std::ranges::find_if(arrived, [&](const Arrived &message) {
            return message.channel == channel &&
                   (!from || message.from == *from);
          });
      if (found != arrived.end()) {
        std::string theirs;
        Result<Tensors> values = unpack(found->bytes, theirs);
        arrived.erase(found);
        return values;
      }
      MPI_Status status;
      MPI_Probe(MPI_ANY_SOURCE, messageTag, MPI_COMM_WORLD, &status);
      take(status);
    }
  }

  /// All processes come here. What was sent and not asked for is taken, so that
  /// nobody waits for its being delivered.
  Result<void> finish() override {
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool isBarred = false, isOver = false;
    while (!isOver) {
      int isThere = 0, isDone = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, messageTag, MPI_COMM_WORLD, &isThere, &status);
      if (isThere)
        take(status);
      if (isBarred) {
        MPI_Test(&barrier, &isDone, MPI_STATUS_IGNORE);
        isOver = isDone;
        continue;
      }
      while (!sent.empty()) {
        MPI_Test(&sent.front().request, &isDone, MPI_STATUS_IGNORE);
        if (!isDone)
          break;
        sent.pop_front();
      }
      if (sent.empty()) {
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        isBarred = true;
      }
    }
    MPI_Finalize();
    return {};
  }

private:
  struct Sent {
    std::string bytes;
    MPI_Request request;
  };
  struct Arrived {
    Rank from;
    int64_t channel;
    std::string bytes;
  };

  void post(Rank to, const std::string &bytes) {
    sent.push_back({bytes, MPI_REQUEST_NULL});
    Sent &message = sent.back();
    MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()),
              MPI_BYTE, static_cast<int>(to), messageTag, MPI_COMM_WORLD,
              &message.request);
  }

  void take(const MPI_Status &status) {
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    std::string bytes(size, '\0');
    MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, messageTag,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Unpacker unpacker(bytes);
    const auto channel = unpacker.take<int64_t>();
    arrived.push_back({static_cast<Rank>(status.MPI_SOURCE), channel,
                       bytes.substr(std::min(sizeof channel, bytes.size()))});
  }

  /// MPI's communicator of the group, which its members make together.
  MPI_Comm communicatorOf(const RankGroup &group) {
    const auto [known, isNew] = communicators.try_emplace(group, MPI_COMM_NULL);
    if (!isNew)
      return known->second;
    const std::vector<int> ranks(group.begin(), group.end());
    MPI_Group world, members;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(),
                   &members);
    MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &known->second);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    return known->second;
  }

  std::map<RankGroup, MPI_Comm> communicators;
  /// Messages on their way, at addresses that stay.
  std::list<Sent> sent;
  std::list<Arrived> arrived;
};

} // namespace

/// See MpiEntry.
extern "C" [[gnu::visibility("default")]] void
sinterMpi(const ProcessGrid &grid,
          Result<std::unique_ptr<Communicator>> &result) {
  int isStarted = 0;
  MPI_Initialized(&isStarted);
  if (!isStarted && MPI_Init(nullptr, nullptr) != MPI_SUCCESS) {
    result = systemError("MPI cannot be started");
    return;
  }
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (static_cast<uint32_t>(size) != grid.size()) {
    result = usageError("mpirun started " + std::to_string(size) +
                        " processes, but " + std::to_string(grid.replicas) +
                        " replicas of " + std::to_string(grid.partitions) +
                        " partitions are " + std::to_string(grid.size()));
    return;
  }
  result = std::unique_ptr<Communicator>(
      std::make_unique<MpiCommunicator>(grid, static_cast<Rank>(rank)));
}

} // namespace sinter
