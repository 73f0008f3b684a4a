//===- Environment.h - what a run has beside tensors ----------------------===//

#ifndef SINTER_INTERPRETER_ENVIRONMENT_H
#define SINTER_INTERPRETER_ENVIRONMENT_H

#include "runtime/Communicator.h"
#include "runtime/ValueObserver.h"

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

/// What interpreter.probe saw under each name, in order.
using Probes = std::map<std::string, std::vector<Tensor>>;

/// What the operations of one run share beside tensors. Processes that run
/// together have an environment each, of which they share what is pointed to;
/// they take turns, so that one of them at most uses it at any time.
struct Environment {
  /// Gets what interpreter.print prints.
  std::function<void(const std::string &text)> print =
      [](const std::string &text) { std::fputs(text.c_str(), stdout); };
  std::shared_ptr<Probes> probes = std::make_shared<Probes>();
  /// Told of what interpreter.probe sees. Names with `observedPrefix` are for
  /// it alone and not kept.
  ValueObserver observer;
  /// How this process talks to others; a grid of its own where there is none.
  std::shared_ptr<Communicator> communicator =
      std::make_shared<LoneCommunicator>();
  /// How many interpreter.run_parallel this process is inside of.
  unsigned parallelDepth = 0;
  /// What the numbers of stablehlo.rng follow from, and how many words were
  /// drawn.
  uint64_t seed = 0;
  uint64_t randomWords = 0;
};

} // namespace sinter

#endif // SINTER_INTERPRETER_ENVIRONMENT_H
