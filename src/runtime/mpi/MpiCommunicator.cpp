#include "runtime/mpi/MpiCommunicator.h"

#include "runtime/LibraryContract.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <mpi.h>
#include <span>
#include <thread>

namespace sinter {

namespace {

//===----------------------------------------------------------------------===//
// Values as bytes
//===----------------------------------------------------------------------===//

template <typename T> void append(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Reads integers and bytes from the front; all zero once there are too few.
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
// Messages
//===----------------------------------------------------------------------===//

enum class Kind : uint8_t {
  /// Values over a channel.
  Channel,
  /// Values for a collective of a group.
  Meeting,
  /// The state of a process that waits or has ended; see Standing.
  Standing,
};

/// A message without its kind.
struct Message {
  Rank from;
  std::string bytes;
};

/// Sends and receives messages of any size, in chunks of a size that MPI can
/// count.
class Post {
public:
  explicit Post(Rank self) : self(self) {}

  /// Does not block.
  void send(std::span<const Rank> receivers, Kind kind,
            std::string_view bytes) {
    std::string whole;
    append<uint64_t>(whole, headBytes + bytes.size());
    append(whole, kind);
    whole += bytes;
    auto shared = std::make_shared<const std::string>(std::move(whole));
    for (const Rank receiver : receivers)
      if (receiver == self)
        own.push_back({kind, {self, std::string(bytes)}});
      else
        start(receiver, shared);
  }

  /// The next message that has arrived, if any.
  std::optional<std::pair<Kind, Message>> take() {
    if (!own.empty()) {
      auto message = std::move(own.front());
      own.pop_front();
      return message;
    }
    forgetDelivered();
    int isThere = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, firstTag, MPI_COMM_WORLD, &isThere, &status);
    if (!isThere)
      return std::nullopt;
    std::string whole(pieceBytes, '\0');
    int size = 0;
    receive(whole.data(), pieceBytes, status.MPI_SOURCE, firstTag, &size);
    Unpacker head(std::string_view(whole).substr(0, size));
    const auto total = head.take<uint64_t>();
    const auto kind = head.take<Kind>();
    whole.resize(std::max<uint64_t>(total, headBytes));
    for (uint64_t done = size; done < total; done += size)
      receive(whole.data() + done,
              static_cast<int>(std::min<uint64_t>(total - done, pieceBytes)),
              status.MPI_SOURCE, restTag, &size);
    whole.erase(0, headBytes);
    return std::pair(
        kind, Message{static_cast<Rank>(status.MPI_SOURCE), std::move(whole)});
  }

  /// Whether all messages sent were received.
  bool isEmpty() {
    forgetDelivered();
    return sent.empty();
  }

private:
  static constexpr int firstTag = 1, restTag = 2;
  static constexpr uint64_t headBytes = sizeof(uint64_t) + sizeof(Kind);
  static constexpr int pieceBytes = 16 << 20;

  struct Sent {
    std::shared_ptr<const std::string> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void start(Rank receiver, const std::shared_ptr<const std::string> &bytes) {
    for (size_t done = 0; done < bytes->size(); done += pieceBytes) {
      Sent &piece = sent.emplace_back(Sent{bytes});
      MPI_Isend(
          bytes->data() + done,
          static_cast<int>(std::min<size_t>(bytes->size() - done, pieceBytes)),
          MPI_BYTE, static_cast<int>(receiver), done == 0 ? firstTag : restTag,
          MPI_COMM_WORLD, &piece.request);
    }
  }

  static void receive(char *to, int room, int from, int tag, int *size) {
    MPI_Status status;
    MPI_Recv(to, room, MPI_BYTE, from, tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, size);
  }

  void forgetDelivered() {
    std::erase_if(sent, [](Sent &piece) {
      int isDone = 0;
      MPI_Test(&piece.request, &isDone, MPI_STATUS_IGNORE);
      return isDone != 0;
    });
  }

  const Rank self;
  /// Being sent, at stable addresses.
  std::list<Sent> sent;
  std::deque<std::pair<Kind, Message>> own;
};

/// What a blocked process sends the others, with the numbers of messages that
/// it has sent to and received from each. If all are blocked and every message
/// was received, it is a deadlock: the first process to continue would have had
/// to receive a message that is not counted.
struct Standing {
  std::string where;
  std::vector<uint64_t> sent, taken;

  bool operator==(const Standing &) const = default;

  std::string pack() const {
    std::string bytes;
    for (const std::vector<uint64_t> *counts : {&sent, &taken})
      for (const uint64_t count : *counts)
        append(bytes, count);
    return bytes + where;
  }
  static Standing unpack(std::string_view bytes, size_t processes) {
    Standing standing;
    Unpacker unpacker(bytes);
    for (std::vector<uint64_t> *counts : {&standing.sent, &standing.taken})
      for (size_t i = 0; i < processes; ++i)
        counts->push_back(unpacker.take<uint64_t>());
    standing.where =
        bytes.substr(std::min(bytes.size(), 2 * processes * sizeof(uint64_t)));
    return standing;
  }
};

//===----------------------------------------------------------------------===//
// The communicator
//===----------------------------------------------------------------------===//

class MpiCommunicator : public Communicator {
public:
  MpiCommunicator(ProcessGrid grid, Rank rank)
      : Communicator(grid, rank), post(rank), standings(grid.size()) {
    mine.sent.resize(grid.size());
    mine.taken.resize(grid.size());
    for (Rank other = 0; other < grid.size(); ++other)
      if (other != rank)
        others.push_back(other);
  }

  Result<std::vector<Tensors>> exchange(const RankGroup &group,
                                        const Tensors &values,
                                        std::string_view what) override {
    std::string key;
    append<uint64_t>(key, group.size());
    for (const Rank member : group)
      append(key, member);
    append<uint64_t>(key, visits[group]++);
    sendData(group, Kind::Meeting, key + pack(what, values));
    Meeting &meeting = meetings[key];
    if (Result<void> met = wait("waits in " + std::string(what) + " for others",
                                [&] { return meeting.size() == group.size(); });
        !met)
      return met.takeError();
    std::vector<Tensors> results;
    for (const Rank member : group) {
      std::string theirs;
      Result<Tensors> given = unpack(meeting.at(member), theirs);
      if (!given)
        return given.takeError();
      if (theirs != what)
        return Error{
            ErrorKind::WrongResult,
            "the processes do not agree: " + processText(grid(), member) +
                " is in " + theirs + ", " + processText(grid(), rank()) +
                " in " + std::string(what)};
      results.push_back(std::move(*given));
    }
    meetings.erase(key);
    return results;
  }

  Result<void> send(int64_t channel, std::optional<Rank> to,
                    const Tensors &values, std::string_view what) override {
    std::string bytes;
    append(bytes, channel);
    bytes += pack(what, values);
    RankGroup receivers = others;
    if (to || others.empty())
      receivers = {to.value_or(rank())};
    sendData(receivers, Kind::Channel, bytes);
    return {};
  }

  Result<Tensors> receive(int64_t channel, std::optional<Rank> from,
                          std::string_view what) override {
    auto found = arrived.end();
    if (Result<void> come =
            wait("waits in " + std::string(what) + " for channel " +
                     std::to_string(channel),
                 [&] {
                   found = std::ranges::find_if(
                       arrived, [&](const Arrived &message) {
                         return message.channel == channel &&
                                (!from || message.from == *from);
                       });
                   return found != arrived.end();
                 });
        !come)
      return come.takeError();
    std::string theirs;
    Result<Tensors> values = unpack(found->bytes, theirs);
    arrived.erase(found);
    return values;
  }

  /// All processes come here and receive messages until all have ended and no
  /// message is in flight.
  Result<void> finish() override {
    mine.where = ended;
    Patience patience;
    for (;; patience.rest()) {
      takeAll();
      // The others must know before this process may leave, even if it knows of
      // all of them.
      tell();
      if (hasEverybodyEnded() && post.isEmpty())
        break;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return {};
  }

private:
  /// The values of each sender.
  using Meeting = std::map<Rank, std::string>;
  struct Arrived {
    Rank from;
    int64_t channel;
    std::string bytes;
  };

  /// Polls without sleeping at first, then yields the processor.
  class Patience {
  public:
    bool isOver() const { return Clock::now() - begin > atOnce; }
    void rest() const {
      if (isOver())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds atOnce{50};
    const Clock::time_point begin = Clock::now();
  };

  void sendData(std::span<const Rank> receivers, Kind kind,
                std::string_view bytes) {
    for (const Rank receiver : receivers)
      ++mine.sent[receiver];
    post.send(receivers, kind, bytes);
  }

  void takeAll() {
    while (auto message = post.take()) {
      auto &[kind, content] = *message;
      if (kind == Kind::Standing) {
        standings[content.from] =
            Standing::unpack(content.bytes, grid().size());
        continue;
      }
      ++mine.taken[content.from];
      Unpacker unpacker(content.bytes);
      if (kind == Kind::Channel) {
        const auto channel = unpacker.take<int64_t>();
        content.bytes.erase(0, sizeof channel);
        arrived.push_back({content.from, channel, std::move(content.bytes)});
        continue;
      }
      const auto members = unpacker.take<uint64_t>();
      const size_t keyBytes = std::min<uint64_t>(
          2 * sizeof(uint64_t) + members * sizeof(Rank), content.bytes.size());
      meetings[content.bytes.substr(0, keyBytes)][content.from] =
          content.bytes.substr(keyBytes);
    }
  }

  /// Receives messages until \p isOver or until all are blocked.
  Result<void> wait(std::string where, const std::function<bool()> &isOver) {
    mine.where = std::move(where);
    Patience patience;
    for (takeAll(); !isOver(); takeAll()) {
      if (patience.isOver()) {
        tell();
        if (nobodyCanGoOn())
          return Error{ErrorKind::WrongResult, standstill()};
      }
      patience.rest();
    }
    return {};
  }

  /// Sends the state of this process to the others, unless they have it.
  void tell() {
    if (mine == told)
      return;
    told = mine;
    post.send(others, Kind::Standing, mine.pack());
  }

  /// The others' states are the last received; this one's is current.
  bool nobodyCanGoOn() {
    standings[rank()] = mine;
    for (const std::optional<Standing> &standing : standings)
      if (!standing)
        return false;
    for (Rank from = 0; from < standings.size(); ++from)
      for (Rank to = 0; to < standings.size(); ++to)
        if (standings[from]->sent[to] != standings[to]->taken[from])
          return false;
    return true;
  }

  bool hasEverybodyEnded() {
    return nobodyCanGoOn() &&
           std::ranges::all_of(standings, [](const auto &standing) {
             return standing->where == ended;
           });
  }

  std::string standstill() const {
    std::vector<std::string> where;
    for (const std::optional<Standing> &standing : standings)
      where.push_back(standing->where);
    return standstillText(grid(), where);
  }

  static constexpr std::string_view ended = "has ended";

  Post post;
  RankGroup others;
  Standing mine, told;
  std::vector<std::optional<Standing>> standings;
  /// The number of collectives of this process in each group.
  std::map<RankGroup, uint64_t> visits;
  std::map<std::string, Meeting> meetings;
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

/// See MpiContractEntry.
extern "C" [[gnu::visibility("default")]] const char *sinterMpiContract() {
  return libraryContract;
}

} // namespace sinter
