//===- FallbackExecutor.cpp - a program for all values, or one for some ---===//

#include "engine/FallbackExecutor.h"

#include "engine/ModelDescription.h"

#include <algorithm>
#include <cstring>

namespace sinter {

Result<void> carryStates(const Executor &from, Executor &to) {
  const auto before = from.states(), after = to.states();
  if (!std::ranges::equal(before, after))
    return {};
  for (size_t i = 0; i < after.size(); ++i)
    if (Result<void> done = to.setState(i, from.state(i)); !done)
      return done;
  return {};
}

/// The values of \p input, if a program may be made for them.
static std::optional<Tensor> valuesOf(const Tensor &input) {
  if (!mayFeedShapes({"", input.type(), input.shape()}))
    return std::nullopt;
  Tensor copy(input.type(), input.shape());
  if (copy.bytes() != 0)
    std::memcpy(copy.mutableBytes(), input.data(), copy.bytes());
  return copy;
}

/// Whether `special` was made for \p inputs.
bool FallbackExecutor::isFor(std::span<const Tensor> inputs) const {
  if (!special || !checkInputs(special->inputs(), inputs))
    return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (values[i] && values[i]->bytes() != 0 &&
        std::memcmp(values[i]->data(), inputs[i].data(), inputs[i].bytes()) !=
            0)
      return false;
  return true;
}

/// \p next goes on with what the one before has left.
Result<void> FallbackExecutor::use(Executor &next) {
  if (&next == current)
    return {};
  Result<void> carried = carryStates(*current, next);
  if (carried)
    current = &next;
  return carried;
}

Result<std::vector<Tensor>>
FallbackExecutor::runSpecial(std::span<const Tensor> inputs) {
  if (Result<void> done = use(*special); !done)
    return done.takeError();
  return special->run(inputs);
}

Result<std::vector<Tensor>>
FallbackExecutor::run(std::span<const Tensor> inputs) {
  Result<Turns::Turn> turn = turns.take();
  if (!turn)
    return turn.takeError();
  if (isFor(inputs))
    return runSpecial(inputs);
  if (Result<void> done = use(*general); !done)
    return done.takeError();
  auto results = general->run(inputs);
  if (results || !general->wasBeyondLimits() || hostContext)
    return results;
  if (Result<void> made = makeSpecial(inputs, results.error()); !made)
    return made.takeError();
  return runSpecial(inputs);
}

Result<void> FallbackExecutor::makeSpecial(std::span<const Tensor> inputs,
                                           const Error &why) {
  special.reset();
  auto other = make(inputs, why);
  if (!other)
    return Error(why.kind, why.message + "; for these values alone: " +
                               other.error().message);
  special = std::move(*other);
  values.clear();
  for (const Tensor &input : inputs)
    values.push_back(valuesOf(input));
  special->setProfiling(profiling);
  special->setObserver(observer);
  return {};
}

Tensor FallbackExecutor::state(size_t index) const {
  const auto look = turns.look();
  return current->state(index);
}

void FallbackExecutor::replaceState(size_t index, Tensor value) {
  const auto look = turns.look();
  // It fits: whoever calls has checked it.
  static_cast<void>(current->setState(index, value));
}

void FallbackExecutor::resetStates() {
  const auto look = turns.look();
  current->resetStates();
}

void FallbackExecutor::setObserver(const ValueObserver &told) {
  observer = told;
  general->setObserver(told);
  if (special)
    special->setObserver(told);
}

void FallbackExecutor::setProfiling(bool enabled) {
  profiling = enabled;
  general->setProfiling(enabled);
  if (special)
    special->setProfiling(enabled);
}

std::span<const LayerTime> FallbackExecutor::layerTimes() const {
  return current->layerTimes();
}

void FallbackExecutor::setHostContext(HostContext *context) {
  hostContext = context;
  general->setHostContext(context);
}

} // namespace sinter
