//===- FallbackExecutor.cpp - a generic program, or one for given values --===//

#include "engine/FallbackExecutor.h"

#include "engine/ModelDescription.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <cstring>

namespace sinter {

Result<void> carryStates(const Executor &from, Executor &to) {
  const auto before = from.states(), after = to.states();
  if (!std::ranges::equal(before, after))
    return {};
  if (!from.hasDefinedStates())
    return undefinedStates();
  return catchingOutOfMemory("the states", [&]() -> Result<void> {
    for (size_t i = 0; i < after.size(); ++i)
      if (Result<void> done = to.setState(i, from.state(i)); !done)
        return done;
    return {};
  });
}

/// The values of \p input, if a program may be specialised to them.
static std::optional<Tensor> valuesOf(const Tensor &input) {
  if (!mayFeedShapes({"", input.type(), input.shape()}))
    return std::nullopt;
  Tensor copy(input.type(), input.shape());
  if (copy.bytes() != 0)
    std::memcpy(copy.mutableBytes(), input.data(), copy.bytes());
  return copy;
}

/// Whether `special` is specialised to \p inputs.
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

/// \p next continues with the states of the previous one.
Result<void> FallbackExecutor::use(Executor &next) {
  if (&next == current)
    return {};
  Result<void> carried = carryStates(*current, next);
  if (carried)
    current = &next;
  return carried;
}

Result<std::vector<Tensor>>
FallbackExecutor::runSpecial(const RunRequest &request) {
  // A sequence, say, has as many tensors as values ask for.
  if (!request.places.empty() &&
      request.places.size() != special->outputs().size())
    return Error{ErrorKind::Unsupported,
                 "the model has " + std::to_string(special->outputs().size()) +
                     " outputs for these values, and " +
                     std::to_string(request.places.size()) +
                     " for those that it was compiled for"};
  if (Result<void> done = use(*special); !done)
    return done.takeError();
  return special->runOn(request);
}

Result<std::vector<Tensor>> FallbackExecutor::runOn(const RunRequest &request) {
  const std::span<const Tensor> inputs = request.inputs;
  Result<Turns::Turn> turn = turns.take();
  if (!turn)
    return turn.takeError();
  if (isFor(inputs))
    return runSpecial(request);
  if (Result<void> done = use(*general); !done)
    return done.takeError();
  auto results = general->runOn(request);
  if (results || !general->wasBeyondLimits() || hostContext)
    return results;
  if (Result<void> made = makeSpecial(inputs, results.error()); !made)
    return made.takeError();
  return runSpecial(request);
}

Result<std::vector<std::optional<Shape>>>
FallbackExecutor::outputShapes(std::span<const Shape> shapes) const {
  auto known = general->outputShapes(shapes);
  return known || known.error().kind != ErrorKind::InvalidModel
             ? std::move(known)
             : Executor::outputShapes(shapes);
}

Result<void> FallbackExecutor::makeSpecial(std::span<const Tensor> inputs,
                                           const Error &why) {
  special.reset();
  auto other = make(inputs, why);
  if (!other && other.error().kind == ErrorKind::Cancelled)
    return other.takeError();
  if (!other)
    return Error(
        other.error().kind == ErrorKind::InvalidModel ? ErrorKind::InvalidModel
                                                      : why.kind,
        why.message() + "; for these values alone: " + other.error().message());
  special = std::move(*other);
  values.clear();
  for (const Tensor &input : inputs)
    values.push_back(valuesOf(input));
  special->setProfiling(profiling);
  special->setObserver(observer);
  special->setPrinter(printer);
  return {};
}

bool FallbackExecutor::hasDefinedStates() const {
  const auto look = turns.look();
  return current->hasDefinedStates();
}

Tensor FallbackExecutor::state(size_t index) const {
  const auto look = turns.look();
  return current->state(index);
}

void FallbackExecutor::replaceState(size_t index, Tensor value) {
  const auto look = turns.look();
  // Checked by the caller.
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

void FallbackExecutor::setPrinter(const Printer &printing) {
  printer = printing;
  general->setPrinter(printing);
  if (special)
    special->setPrinter(printing);
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
