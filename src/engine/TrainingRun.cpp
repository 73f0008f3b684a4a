//===- TrainingRun.cpp - runs steps of training ---------------------------===//

#include "engine/TrainingRun.h"

#include "engine/SessionExecutors.h"
#include "runtime/Hash.h"
#include "runtime/HostContextUser.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

namespace sinter {

static std::string keyOf(const Batch &batch) {
  std::string key;
  for (const auto *list : {&batch.inputs, &batch.targets})
    for (const Tensor &tensor : *list)
      key += toString(tensor.type(), tensor.shape()) + ";";
  return key;
}

Result<std::unique_ptr<Executor>>
TrainingRun::executorOf(TrainingProgram program) const {
  auto executor =
      program.interpreted
          ? Result<std::unique_ptr<Executor>>(std::move(program.interpreted))
          : makeExecutor(std::move(program.compiled), how, how.threads);
  if (executor)
    (*executor)->setPrinter(how.print);
  return executor;
}

Result<TrainingProgram> TrainingRun::programOf(const std::string &key,
                                               const Batch &part,
                                               uint32_t taking, bool judges) {
  std::shared_ptr<const Program> &known = programs[key];
  if (known)
    return TrainingProgram{known, nullptr};
  Result<TrainingProgram> program =
      judges ? model->evaluation(part) : model->step(part, taking);
  if (program)
    known = program->compiled;
  return program;
}

/// One for each of this process's parts; null without samples.
Result<std::vector<Executor *>> TrainingRun::executors(const SharedBatch &batch,
                                                       bool judges) {
  std::vector<Executor *> all(replicas.size(), nullptr);
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (processes.rankOf(i) >= batch.taking)
      continue;
    const Batch &part = batch.parts[i];
    const std::string key =
        (judges ? "judge of " : "step of " + std::to_string(batch.taking)) +
        ":" + keyOf(part);
    const auto make = [&]() -> Result<std::unique_ptr<Executor>> {
      Result<TrainingProgram> program =
          programOf(key, part, batch.taking, judges);
      if (!program)
        return program.takeError();
      return executorOf(std::move(*program));
    };
    Result<Executor *> executor =
        judges ? replicas[i].judge(key, make) : replicas[i].step(key, make);
    if (!executor)
      return executor.takeError();
    if (Result<void> good = model->checkLabels(part); !good)
      return good.takeError();
    all[i] = *executor;
  }
  return all;
}

static Result<BatchOutcome> outcomeOf(Executor &executor,
                                      std::span<const Tensor> inputs) {
  Result<std::vector<Tensor>> outputs = executor.run(inputs);
  if (!outputs)
    return outputs.takeError();
  BatchOutcome outcome;
  std::optional<double> labels;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string &name = executor.outputs()[i].name;
    const double number = (*outputs)[i].toDouble(0);
    if (name == "loss")
      outcome.loss = number;
    else if (name == "right")
      outcome.right = number;
    else if (name == "gradient")
      outcome.gradient = number;
    else if (name == "labels")
      labels = number;
    else if (name.starts_with("loss."))
      outcome.losses.push_back(number);
    else
      outcome.count = number;
  }
  if (outcome.right)
    outcome.labels = labels.value_or(outcome.count);
  return outcome;
}

/// The inputs of \p executor, a step.
static std::vector<Tensor> stepInputs(const Executor &executor,
                                      const Batch &batch, double rate,
                                      bool updates) {
  std::vector<Tensor> all = batch.inputs;
  const auto single = static_cast<float>(rate);
  const auto flag = static_cast<uint8_t>(updates);
  size_t targets = 0;
  while (all.size() < executor.inputs().size()) {
    const std::string &name = executor.inputs()[all.size()].name;
    if (name == "random")
      all.push_back(batch.keys);
    else if (name == "learning_rate")
      all.push_back(Tensor::of<float>(ElementType::F32, {}, {&single, 1}));
    else if (name == "update")
      all.push_back(Tensor::of<uint8_t>(ElementType::I1, {}, {&flag, 1}));
    else
      all.push_back(batch.targets[targets++]);
  }
  return all;
}

/// The executor's outcome as one of the processes of \p communicator.
static Result<BatchOutcome> outcomeAmong(Communicator *communicator,
                                         Executor &executor,
                                         std::span<const Tensor> inputs) {
  auto *user = dynamic_cast<HostContextUser *>(&executor);
  if (user)
    user->setHostContext(communicator);
  Result<BatchOutcome> outcome = outcomeOf(executor, inputs);
  if (user)
    user->setHostContext(nullptr);
  return outcome;
}

/// The number of outputs before those of several losses.
static constexpr size_t rowHead = 6;

static std::vector<double> rowOf(const BatchOutcome &outcome) {
  std::vector<double> row = {outcome.loss,
                             outcome.right.value_or(0),
                             outcome.right ? 1.0 : 0.0,
                             outcome.count,
                             outcome.labels,
                             outcome.gradient};
  row.insert(row.end(), outcome.losses.begin(), outcome.losses.end());
  return row;
}

static BatchOutcome outcomeOf(std::span<const double> row) {
  const std::span<const double> losses = row.subspan(rowHead);
  return {row[0], row[2] != 0 ? std::optional(row[1]) : std::nullopt,
          row[3], row[4],
          row[5], {losses.begin(), losses.end()}};
}

/// Copies the states and the outcome of the first process to those without
/// samples.
Result<void> TrainingRun::shareStep(Communicator &communicator, size_t local,
                                    uint32_t taking, BatchOutcome &outcome) {
  constexpr int64_t channel = 0;
  const char *what = "the end of a step";
  const Rank rank = communicator.rank();
  if (rank == 0 && taking < processes.size()) {
    const std::vector<double> row = rowOf(outcome);
    Tensors all = {Tensor::of<double>(ElementType::F64,
                                      {static_cast<int64_t>(row.size())}, row)};
    for (auto &[name, tensor] : replicas[local].states())
      all.push_back(std::move(tensor));
    for (Rank idle = taking; idle < processes.size(); ++idle)
      if (Result<void> sent = communicator.send(channel, idle, all, what);
          !sent)
        return sent;
  }
  if (rank < taking)
    return {};
  Result<Tensors> all = communicator.receive(channel, Rank(0), what);
  if (!all)
    return all.takeError();
  std::vector<double> row;
  for (int64_t i = 0; i < all->front().size(); ++i)
    row.push_back(all->front().toDouble(i));
  outcome = outcomeOf(row);
  all->erase(all->begin());
  return replicas[local].take(std::move(*all));
}

Result<void> TrainingRun::prepare(const SharedBatch &batch) {
  Result<std::vector<Executor *>> ready = executors(batch, /*judges=*/false);
  return ready ? Result<void>() : ready.takeError();
}

Result<BatchOutcome> TrainingRun::step(const SharedBatch &batch, double rate,
                                       bool updates) {
  Result<std::vector<Executor *>> ready = executors(batch, /*judges=*/false);
  if (!ready)
    return ready.takeError();
  // Not while it runs: that would leave weights of half a step.
  if (Result<void> goesOn =
          Cancellation::check(how.passes.cancellation.get(), "the step");
      !goesOn)
    return goesOn.takeError();
  std::vector<BatchOutcome> outcomes(replicas.size());
  Result<void> done = processes.run(
      [&](size_t local, Communicator *communicator) -> Result<void> {
        const Batch &part = batch.parts[local];
        if (Executor *executor = (*ready)[local]) {
          Result<BatchOutcome> outcome =
              outcomeAmong(communicator, *executor,
                           stepInputs(*executor, part, rate, updates));
          if (!outcome)
            return outcome.takeError();
          outcomes[local] = *outcome;
        }
        return communicator ? shareStep(*communicator, local, batch.taking,
                                        outcomes[local])
                            : Result<void>();
      });
  if (!done)
    return done.takeError();
  return outcomes.front();
}

Result<BatchOutcome> TrainingRun::judge(const SharedBatch &batch) {
  Result<std::vector<Executor *>> ready = executors(batch, /*judges=*/true);
  if (!ready)
    return ready.takeError();
  if (Result<void> goesOn =
          Cancellation::check(how.passes.cancellation.get(), "the evaluation");
      !goesOn)
    return goesOn.takeError();
  BatchOutcome nothing;
  nothing.losses.resize(model->lossCount() > 1 ? model->lossCount() : 0);
  std::vector<std::vector<double>> mine(replicas.size(), rowOf(nothing));
  Result<void> done =
      processes.run([&](size_t local, Communicator *) -> Result<void> {
        if (!(*ready)[local])
          return {};
        const Batch &part = batch.parts[local];
        std::vector<Tensor> all = part.inputs;
        all.insert(all.end(), part.targets.begin(), part.targets.end());
        Result<BatchOutcome> outcome = outcomeOf(*(*ready)[local], all);
        if (!outcome)
          return outcome.takeError();
        mine[local] = rowOf(*outcome);
        return {};
      });
  if (!done)
    return done.takeError();
  if (processes.size() == 1)
    return outcomeOf(mine.front());
  auto rows = processes.gather(mine, "a validation");
  if (!rows)
    return rows.takeError();
  BatchOutcome all = nothing;
  double right = 0;
  for (const std::vector<double> &row : *rows) {
    for (size_t i = 0; i < all.losses.size(); ++i)
      all.losses[i] += row[rowHead + i] * row[3];
    all.loss += row[0] * row[3];
    all.count += row[3];
    all.labels += row[4];
    right += row[1];
    if (row[2] != 0)
      all.right = right;
  }
  all.loss /= std::max(all.count, 1.0);
  for (double &each : all.losses)
    each /= std::max(all.count, 1.0);
  return all;
}

/// The bytes of all states, as values that f64 can hold.
static std::vector<double> hashRowOf(const NamedTensors &states) {
  Hasher hasher;
  for (const auto &[name, tensor] : states)
    hasher.add(std::as_bytes(std::span(tensor.data(), tensor.bytes())));
  const Hash128 hash = hasher.finish();
  std::vector<double> row;
  for (uint64_t half : {hash.low, hash.high})
    for (unsigned shift : {0u, 32u})
      row.push_back(static_cast<double>((half >> shift) & 0xffffffff));
  return row;
}

Result<void> TrainingRun::checkAgreement() {
  if (processes.size() == 1)
    return {};
  std::vector<std::vector<double>> mine;
  for (const Replica &replica : replicas)
    mine.push_back(hashRowOf(replica.current()));
  auto rows = processes.gather(mine, "the end of an epoch");
  if (!rows)
    return rows.takeError();
  for (size_t rank = 1; rank < rows->size(); ++rank)
    if ((*rows)[rank] != rows->front())
      return Error{ErrorKind::WrongResult,
                   "process " + std::to_string(rank) +
                       " has other weights than process 0: are all of them "
                       "the same program on processors of one kind?"};
  return {};
}

NamedTensors TrainingRun::valuesAmong(const NamedTensors &states) const {
  std::map<std::string, std::string> wanted;
  for (const std::string &name : model->weights())
    wanted[model->resultOf(name)] = name;
  for (const std::string &name : model->statistics())
    wanted[name] = name;
  NamedTensors values;
  for (const auto &[name, tensor] : states)
    if (auto found = wanted.find(name); found != wanted.end())
      values.emplace_back(found->second, tensor);
  return values;
}

namespace {

/// NaN or infinity in a tensor.
enum class Worst { Finite, Infinite, NotNumber };

} // namespace

static Worst worstOf(const Tensor &tensor) {
  Worst worst = Worst::Finite;
  if (!isFloat(tensor.type()))
    return worst;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const double number = tensor.toDouble(i);
    if (std::isnan(number))
      return Worst::NotNumber;
    if (std::isinf(number))
      worst = Worst::Infinite;
  }
  return worst;
}

static const char *textOf(Worst worst) {
  return worst == Worst::NotNumber ? " holds NaN" : " holds infinity";
}

std::optional<std::string>
TrainingRun::notNumberAmongInputs(const Batch &part) const {
  for (size_t i = 0; i < part.inputs.size(); ++i)
    if (Worst worst = worstOf(part.inputs[i]); worst != Worst::Finite)
      return "the input '" + model->description().inputs[i].spec.name + "'" +
             textOf(worst);
  for (const Tensor &target : part.targets)
    if (Worst worst = worstOf(target); worst != Worst::Finite)
      return std::string("the target") + textOf(worst);
  std::set<std::string> read(model->weights().begin(), model->weights().end());
  read.insert(model->statistics().begin(), model->statistics().end());
  for (const auto &[name, tensor] : states())
    if (!read.contains(name))
      continue;
    else if (Worst worst = worstOf(tensor); worst != Worst::Finite)
      return "the step before left '" + name + "', which" + textOf(worst);
  return std::nullopt;
}

/// The first process's report on its inputs; nothing if all are finite in all
/// processes.
Result<std::optional<std::string>>
TrainingRun::notNumberAmongParts(const SharedBatch &batch) {
  std::vector<std::vector<double>> mine;
  std::optional<std::string> first;
  for (size_t i = 0; i < replicas.size(); ++i) {
    std::optional<std::string> own;
    if (processes.rankOf(i) < batch.taking)
      own = notNumberAmongInputs(batch.parts[i]);
    if (own && processes.size() > 1)
      *own = "in process " + std::to_string(processes.rankOf(i)) + ", " + *own;
    mine.push_back({own ? 1.0 : 0.0});
    if (!first)
      first = own;
  }
  if (replicas.size() == processes.size())
    return first;
  auto rows = processes.gather(mine, "what is not a number");
  if (!rows)
    return rows.takeError();
  for (size_t rank = 0; rank < rows->size(); ++rank)
    if ((*rows)[rank].front() != 0)
      return first ? first
                   : std::optional("process " + std::to_string(rank) +
                                   " was given what is not finite");
  return std::optional<std::string>();
}

namespace {

/// The numbers of the first values with NaN, and with infinity.
struct FirstValues {
  std::mutex mutex;
  std::optional<int64_t> notNumber, infinite;

  void see(std::string_view name, const Tensor &value) {
    const std::optional<int64_t> number = observedNumber(name);
    const Worst worst = number ? worstOf(value) : Worst::Finite;
    if (worst == Worst::Finite)
      return;
    const std::scoped_lock lock(mutex);
    std::optional<int64_t> &first =
        worst == Worst::NotNumber ? notNumber : infinite;
    first = first ? std::min(*first, *number) : *number;
  }

  /// For the other processes, and their results.
  std::vector<double> row() const {
    return {static_cast<double>(notNumber.value_or(-1)),
            static_cast<double>(infinite.value_or(-1))};
  }
  void add(std::span<const double> row) {
    for (auto [first, theirs] :
         {std::pair(&notNumber, row[0]), std::pair(&infinite, row[1])})
      if (theirs >= 0 && (!*first || theirs < static_cast<double>(**first)))
        *first = static_cast<int64_t>(theirs);
  }

  std::string text(const std::vector<std::string> &values) const {
    const auto place = [&](int64_t number) {
      return values[static_cast<size_t>(number)];
    };
    if (notNumber && infinite && *infinite < *notNumber)
      return "the first tensor that holds NaN is " + place(*notNumber) +
             "; before it, " + place(*infinite) +
             " is the first that holds infinity";
    if (notNumber)
      return "the first tensor that holds NaN is " + place(*notNumber);
    if (infinite)
      return "the first tensor that holds infinity is " + place(*infinite);
    return "with each tensor on its own, all are finite";
  }
};

} // namespace

Result<std::string> TrainingRun::firstNotNumber(const SharedBatch &batch) {
  auto given = notNumberAmongParts(batch);
  if (!given)
    return given.takeError();
  if (*given)
    return std::move(**given);
  std::vector<std::unique_ptr<Executor>> steps(replicas.size());
  std::vector<std::string> values;
  // The order of reports depends on the schedule, the number on the graph,
  // which is the same for all.
  FirstValues first;
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (processes.rankOf(i) >= batch.taking)
      continue;
    const Batch &part = batch.parts[i];
    Result<CheckedStep> checked = model->checkedStep(part, batch.taking);
    if (!checked)
      return checked.takeError();
    auto executor = executorOf(std::move(checked->program));
    if (!executor)
      return executor.takeError();
    steps[i] = std::move(*executor);
    values = std::move(checked->values);
    if (Result<void> moved = replicas[i].giveTo(*steps[i]); !moved)
      return moved.takeError();
    steps[i]->setObserver([&](std::string_view name, const Tensor &value) {
      first.see(name, value);
    });
  }
  Result<void> done = processes.run(
      [&](size_t local, Communicator *communicator) -> Result<void> {
        if (!steps[local])
          return {};
        const Batch &part = batch.parts[local];
        Result<BatchOutcome> again = outcomeAmong(
            communicator, *steps[local],
            stepInputs(*steps[local], part, /*rate=*/0, /*updates=*/true));
        return again ? Result<void>() : again.takeError();
      });
  if (!done)
    return done.takeError();
  auto rows = processes.gather(
      std::vector<std::vector<double>>(replicas.size(), first.row()),
      "the first of all values");
  if (!rows)
    return rows.takeError();
  for (const std::vector<double> &row : *rows)
    first.add(row);
  return first.text(values);
}

} // namespace sinter
