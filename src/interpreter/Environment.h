//===- Environment.h - the state of a run besides tensors -----------------===//

#ifndef SINTER_INTERPRETER_ENVIRONMENT_H
#define SINTER_INTERPRETER_ENVIRONMENT_H

#include "runtime/Cancellation.h"
#include "runtime/Communicator.h"
#include "runtime/Printer.h"
#include "runtime/ValueObserver.h"

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

/// The values that interpreter.probe recorded under each name, in order.
using Probes = std::map<std::string, std::vector<Tensor>>;

/// The state that the operations of one run share besides tensors. Processes
/// that run together have one environment each, and share the objects behind
/// its pointers; they alternate, so that at most one of them uses these at any
/// time.
struct Environment {
  /// Receives the text of interpreter.print.
  Printer print = printToStandardOutput;
  std::shared_ptr<Probes> probes = std::make_shared<Probes>();
  /// Called with the values of interpreter.probe. Those with names that begin
  /// with `observedPrefix` are only passed to it, and not recorded.
  ValueObserver observer;
  /// How this process communicates with others; by default it is the only one.
  std::shared_ptr<Communicator> communicator =
      std::make_shared<LoneCommunicator>();
  /// The nesting depth of interpreter.run_parallel of this process.
  unsigned parallelDepth = 0;
  /// The seed of stablehlo.rng, and how many words were drawn.
  uint64_t seed = 0;
  uint64_t randomWords = 0;
  /// How many iterations of stablehlo.while are left, nested ones included.
  uint64_t roundsLeft = std::numeric_limits<uint64_t>::max();
  /// Ends the run before its next operation; may be null.
  const Cancellation *cancellation = nullptr;
};

} // namespace sinter

#endif // SINTER_INTERPRETER_ENVIRONMENT_H
