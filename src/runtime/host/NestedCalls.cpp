//===- NestedCalls.cpp - loops and branches as nested programs ------------===//
//
// A loop whose sizes change between iterations, or a branch that computes
// sizes, runs a program of its own (Program::nested): the sizes of its results
// are known after it has run, so its caller asks for them before it takes the
// results.
//
//===----------------------------------------------------------------------===//

#include "runtime/host/Builtin.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace sinter::host {

static Error damaged(const char *what) {
  return systemError(std::string("damaged program: ") + what);
}

static std::vector<Tensor> *resultsOf(const HostCall &call) {
  return call.programs
             ? &call.programs->results(
                   HostConfiguration(call.configuration).number("call"))
             : nullptr;
}

/// The requested result of a call; null if there is none.
static Tensor *resultOf(const HostCall &call) {
  std::vector<Tensor> *all = resultsOf(call);
  const auto number = static_cast<uint64_t>(
      HostConfiguration(call.configuration).number("result", -1));
  return all && number < all->size() ? &(*all)[number] : nullptr;
}

Result<void> runLoop(const HostCall &call) {
  std::vector<Tensor> *results = resultsOf(call);
  if (!results)
    return damaged("it has no nested ones");
  const HostConfiguration configuration(call.configuration);
  const auto condition =
                 static_cast<size_t>(configuration.number("condition", -1)),
             body = static_cast<size_t>(configuration.number("body", -1));
  std::vector<Tensor> values(call.inputs.begin(), call.inputs.end());
  const auto carried = static_cast<uint64_t>(configuration.number("carried"));
  if (carried > values.size())
    return damaged("a loop carries more values than it has inputs");
  for (;;) {
    if (Result<void> goesOn = Cancellation::check(call.cancellation); !goesOn)
      return goesOn;
    Result<std::vector<Tensor>> goesOn = call.programs->run(condition, values);
    if (!goesOn)
      return goesOn.takeError();
    if (goesOn->size() != 1 || (*goesOn)[0].bytes() != 1)
      return damaged("a loop's condition is no boolean");
    if (*(*goesOn)[0].data() == std::byte(0))
      break;
    Result<std::vector<Tensor>> next = call.programs->run(body, values);
    if (!next)
      return next.takeError();
    if (next->size() != carried)
      return damaged("a loop's body does not return the carried values");
    std::ranges::move(*next, values.begin());
  }
  // Inputs that were never replaced are views of the caller's memory.
  results->clear();
  for (uint64_t i = 0; i < carried; ++i)
    results->push_back(values[i].owned());
  return {};
}

Result<void> runBranch(const HostCall &call) {
  std::vector<Tensor> *results = resultsOf(call);
  if (!results || call.inputs.empty() || call.inputs[0].bytes() == 0)
    return damaged("a branch is chosen by nothing");
  const HostConfiguration configuration(call.configuration);
  const int64_t first = configuration.number("first", -1),
                count = configuration.number("count");
  const Tensor &selector = call.inputs[0];
  int64_t chosen = 0;
  if (selector.type() == ElementType::I1) {
    chosen = *selector.data() != std::byte(0) ? 0 : 1;
  } else if (selector.type() == ElementType::I32) {
    chosen = selector.at<int32_t>(0);
    if (chosen < 0 || chosen >= count)
      chosen = count - 1;
  } else {
    return damaged("a branch is chosen by no integer");
  }
  if (first < 0 || chosen >= count)
    return damaged("a branch is not there");
  Result<std::vector<Tensor>> done = call.programs->run(
      static_cast<size_t>(first + chosen), call.inputs.subspan(1));
  if (!done)
    return done.takeError();
  *results = std::move(*done);
  return {};
}

Result<void> nestedSize(const HostCall &call) {
  const Tensor *result = resultOf(call);
  const int64_t dimension =
      HostConfiguration(call.configuration).number("dimension", -1);
  if (!result || dimension < 0 || dimension >= result->rank())
    return damaged("a nested program lacks the requested result");
  call.outputs[0].set<int64_t>(0, result->dim(dimension));
  return {};
}

Result<void> takeNested(const HostCall &call) {
  Tensor *result = resultOf(call);
  Tensor &taken = call.outputs[0];
  if (!result || result->type() != taken.type() ||
      result->shape() != taken.shape())
    return damaged("a nested program returns another shape than was counted");
  if (taken.bytes() != 0)
    std::memcpy(taken.mutableBytes(), result->data(), taken.bytes());
  *result = Tensor();
  return {};
}

} // namespace sinter::host
