//===- Replica.cpp - data-parallel processes of training ------------------===//

#include "engine/Replica.h"

#include "runtime/ThreadGroup.h"

#include <semaphore>

namespace sinter {

/// Copies the states that both have from \p from to \p to.
static Result<void> moveStates(const Executor &from, Executor &to) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < from.states().size(); ++i)
    places[from.states()[i].name] = i;
  for (size_t i = 0; i < to.states().size(); ++i)
    if (auto place = places.find(to.states()[i].name); place != places.end())
      if (Result<void> done = to.setState(i, from.state(place->second)); !done)
        return done;
  return {};
}

/// Sets the states of \p executor from a checkpoint, which must have exactly
/// these.
static Result<void> giveStates(const NamedTensors &states, Executor &executor) {
  std::map<std::string, const Tensor *> byName;
  for (const auto &[name, tensor] : states)
    byName[name] = &tensor;
  for (size_t i = 0; i < executor.states().size(); ++i) {
    const TensorSpec &spec = executor.states()[i];
    auto found = byName.find(spec.name);
    if (found == byName.end())
      return usageError("the checkpoint has no state '" + spec.name + "'");
    if (Result<void> given = executor.setState(i, *found->second); !given)
      return given;
  }
  return {};
}

Result<Executor *> Replica::step(const std::string &key, const Make &make) {
  std::unique_ptr<Executor> &place = steps[key];
  if (!place) {
    auto executor = make();
    if (!executor)
      return executor.takeError();
    place = std::move(*executor);
  }
  if (!latest && !restored.empty())
    if (Result<void> given = giveStates(restored, *place); !given)
      return given.takeError();
  if (latest && latest != place.get())
    if (Result<void> moved = moveStates(*latest, *place); !moved)
      return moved.takeError();
  latest = place.get();
  return place.get();
}

Result<Executor *> Replica::judge(const std::string &key, const Make &make) {
  std::unique_ptr<Executor> &place = judges[key];
  if (!place) {
    auto executor = make();
    if (!executor)
      return executor.takeError();
    place = std::move(*executor);
  }
  if (Result<void> given = giveTo(*place); !given)
    return given.takeError();
  return place.get();
}

Result<void> Replica::giveTo(Executor &executor) const {
  return latest ? moveStates(*latest, executor) : Result<void>();
}

NamedTensors Replica::states() const {
  NamedTensors all;
  for (size_t i = 0; latest && i < latest->states().size(); ++i)
    all.emplace_back(latest->states()[i].name, latest->state(i));
  return all;
}

Result<void> Replica::take(std::vector<Tensor> states) {
  const size_t wanted = latest ? latest->states().size() : restored.size();
  if (states.size() != wanted)
    return systemError("the processes keep different states");
  for (size_t i = 0; i < states.size(); ++i)
    if (!latest)
      restored[i].second = std::move(states[i]);
    else if (Result<void> given = latest->setState(i, states[i]); !given)
      return given;
  return {};
}

Result<void> Processes::run(
    const std::function<Result<void>(size_t local, Communicator *)> &work) {
  if (own || count == 1)
    return work(0, own.get());
  ThreadGroup group({count, 1});
  // No mutex: the interpreter, which waits inside, has a thread of its own.
  std::binary_semaphore turn(1);
  if (takesTurns)
    group.setTurns([&] { turn.release(); }, [&] { turn.acquire(); });
  return group.run([&](Communicator &communicator) {
    if (takesTurns)
      turn.acquire();
    Result<void> done = work(communicator.rank(), &communicator);
    if (takesTurns)
      turn.release();
    return done;
  });
}

Result<std::vector<std::vector<double>>>
Processes::gather(const std::vector<std::vector<double>> &mine,
                  std::string_view what) {
  if (!own)
    return mine;
  RankGroup all;
  for (Rank rank = 0; rank < count; ++rank)
    all.push_back(rank);
  Tensors row;
  row.push_back(Tensor::of<double>(ElementType::F64,
                                   {static_cast<int64_t>(mine.front().size())},
                                   mine.front()));
  auto given = own->exchange(all, row, what);
  if (!given)
    return given.takeError();
  std::vector<std::vector<double>> rows;
  for (const Tensors &theirs : *given) {
    std::vector<double> &numbers = rows.emplace_back();
    for (int64_t i = 0; i < theirs.front().size(); ++i)
      numbers.push_back(theirs.front().toDouble(i));
  }
  return rows;
}

} // namespace sinter
