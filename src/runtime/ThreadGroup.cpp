#include "runtime/ThreadGroup.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>

namespace sinter {

namespace {

/// A collective of a group that its processes enter.
struct Meeting {
  std::string what;
  Rank firstToCome = 0;
  /// By index in the group.
  std::vector<std::optional<Tensors>> given;
  size_t arrived = 0, left = 0;
};

struct Message {
  std::optional<Rank> from, to;
  Tensors values;
};

/// Why a process is blocked, and whether it could continue by now.
struct Wait {
  std::string where;
  std::function<bool()> isOver;
};

} // namespace

//===----------------------------------------------------------------------===//
// What the processes share
//===----------------------------------------------------------------------===//

class ThreadGroup::State {
public:
  explicit State(ProcessGrid grid)
      : grid(grid), waits(grid.size()), hasEnded(grid.size()) {}

  using MeetingKey = std::pair<RankGroup, size_t>;

  /// Waits, in \p lock, until \p isOver or until all are blocked.
  Result<void> wait(std::unique_lock<std::mutex> &lock, Rank rank,
                    std::string where, std::function<bool()> isOver) {
    if (stuck)
      return *stuck;
    if (isOver())
      return {};
    waits[rank] = Wait{std::move(where), isOver};
    noticeStandstill();
    if (release)
      release();
    changed.wait(lock, [&] { return stuck || isOver(); });
    waits[rank].reset();
    if (acquire) {
      // The same lock order everywhere: the caller's lock first, then this.
      lock.unlock();
      acquire();
      lock.lock();
    }
    if (stuck)
      return *stuck;
    return {};
  }

  void end(Rank rank) {
    std::lock_guard<std::mutex> lock(mutex);
    hasEnded[rank] = true;
    noticeStandstill();
  }

  static Error failed(std::string message) {
    return {ErrorKind::WrongResult, std::move(message)};
  }

  const ProcessGrid grid;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<MeetingKey, Meeting> meetings;
  std::map<int64_t, std::deque<Message>> channels;
  std::function<void()> release, acquire;
  /// The error for all waiting processes.
  std::optional<Error> stuck;

private:
  void noticeStandstill() {
    bool anybody = false;
    for (Rank rank = 0; rank < grid.size(); ++rank) {
      if (hasEnded[rank])
        continue;
      anybody = true;
      if (!waits[rank] || waits[rank]->isOver())
        return;
    }
    if (!anybody || stuck)
      return;
    std::vector<std::string> where;
    for (Rank rank = 0; rank < grid.size(); ++rank)
      where.push_back(hasEnded[rank] ? "has ended" : waits[rank]->where);
    stuck = failed(standstillText(grid, where));
    changed.notify_all();
  }

  std::vector<std::optional<Wait>> waits;
  std::vector<bool> hasEnded;
};

//===----------------------------------------------------------------------===//
// A process
//===----------------------------------------------------------------------===//

class ThreadGroup::Process : public Communicator {
public:
  Process(State &state, Rank rank)
      : Communicator(state.grid, rank), state(state) {}

  Result<std::vector<Tensors>> exchange(const RankGroup &group,
                                        const Tensors &mine,
                                        std::string_view what) override {
    const size_t position = std::ranges::find(group, rank()) - group.begin();
    std::unique_lock<std::mutex> lock(state.mutex);
    const State::MeetingKey key{group, visits[group]++};
    Meeting &meeting = state.meetings[key];
    if (Result<void> joined = join(meeting, group, position, mine, what);
        !joined)
      return joined.takeError();
    if (Result<void> met = state.wait(
            lock, rank(), "waits in " + std::string(what) + " for others",
            [&meeting, size = group.size()] {
              return meeting.arrived == size;
            });
        !met)
      return met.takeError();
    std::vector<Tensors> all;
    for (const std::optional<Tensors> &given : meeting.given)
      all.push_back(*given);
    if (++meeting.left == group.size())
      state.meetings.erase(key);
    return all;
  }

  Result<void> send(int64_t channel, std::optional<Rank> to,
                    const Tensors &values, std::string_view) override {
    std::lock_guard<std::mutex> lock(state.mutex);
    Message message{rank(), to, {}};
    for (const Tensor &value : values)
      message.values.push_back(value.owned());
    state.channels[channel].push_back(std::move(message));
    state.changed.notify_all();
    return {};
  }

  Result<Tensors> receive(int64_t channel, std::optional<Rank> from,
                          std::string_view what) override {
    std::unique_lock<std::mutex> lock(state.mutex);
    std::deque<Message> &messages = state.channels[channel];
    const auto find = [this, from, &messages] {
      return std::ranges::find_if(messages, [&](const Message &message) {
        return (!from || message.from == from) &&
               (!message.to || message.to == rank());
      });
    };
    if (Result<void> come =
            state.wait(lock, rank(),
                       "waits in " + std::string(what) + " for channel " +
                           std::to_string(channel),
                       [&] { return find() != messages.end(); });
        !come)
      return come.takeError();
    const auto message = find();
    Tensors values = std::move(message->values);
    messages.erase(message);
    return values;
  }

private:
  /// Enters a collective, which must be the one that the others entered.
  Result<void> join(Meeting &meeting, const RankGroup &group, size_t position,
                    const Tensors &mine, std::string_view what) {
    if (meeting.given.empty()) {
      meeting.given.resize(group.size());
      meeting.what = what;
      meeting.firstToCome = rank();
    }
    if (meeting.what != what)
      return disagree(processText(grid(), meeting.firstToCome) + " is in " +
                      meeting.what + ", " + processText(grid(), rank()) +
                      " in " + std::string(what));
    Tensors owned;
    for (const Tensor &tensor : mine)
      owned.push_back(tensor.owned());
    meeting.given[position] = std::move(owned);
    if (++meeting.arrived == group.size())
      state.changed.notify_all();
    return {};
  }

  /// All are blocked after that.
  Error disagree(const std::string &message) {
    if (!state.stuck)
      state.stuck = state.failed("the processes do not agree: " + message);
    state.changed.notify_all();
    return *state.stuck;
  }

  State &state;
  /// The number of collectives of this process in each group.
  std::map<RankGroup, size_t> visits;
};

//===----------------------------------------------------------------------===//
// The group
//===----------------------------------------------------------------------===//

ThreadGroup::ThreadGroup(ProcessGrid grid)
    : state(std::make_unique<State>(grid)) {
  for (Rank rank = 0; rank < grid.size(); ++rank)
    processes.push_back(std::make_unique<Process>(*state, rank));
}

ThreadGroup::~ThreadGroup() = default;

Communicator &ThreadGroup::communicator(Rank rank) { return *processes[rank]; }

void ThreadGroup::setTurns(std::function<void()> release,
                           std::function<void()> acquire) {
  state->release = std::move(release);
  state->acquire = std::move(acquire);
}

Result<void>
ThreadGroup::run(const std::function<Result<void>(Communicator &)> &work) {
  std::vector<Result<void>> results(processes.size());
  const auto live = [&](Rank rank) {
    results[rank] = work(*processes[rank]);
    state->end(rank);
  };
  std::vector<std::thread> threads;
  std::optional<Error> refused;
  for (Rank rank = 0; rank < processes.size(); ++rank) {
    try {
      threads.emplace_back(live, rank);
    } catch (const std::system_error &) {
      refused = systemError("the system refuses a thread for each of " +
                            std::to_string(processes.size()) + " processes");
      // Running processes must not wait for finished ones.
      for (; rank < processes.size(); ++rank)
        state->end(rank);
    }
  }
  for (std::thread &thread : threads)
    thread.join();
  if (refused)
    return *refused;
  // Prefer the error of a process that did not fail because of others.
  const auto isVictim = [&](const Result<void> &result) {
    return state->stuck && result.error().message().find(
                               state->stuck->message()) != std::string::npos;
  };
  const Result<void> *worst = nullptr;
  for (const Result<void> &result : results)
    if (!result && (!worst || (isVictim(*worst) && !isVictim(result))))
      worst = &result;
  if (worst)
    return worst->error();
  return {};
}

} // namespace sinter
