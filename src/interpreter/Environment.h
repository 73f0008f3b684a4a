//===- Environment.h - what a run has beside tensors ----------------------===//

#ifndef SINTER_INTERPRETER_ENVIRONMENT_H
#define SINTER_INTERPRETER_ENVIRONMENT_H

#include "runtime/Tensor.h"

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sinter {

/// What the operations of one run, or of the processes that run together, share
/// beside tensors. At any time one of them at most uses it.
struct Environment {
  /// Gets what interpreter.print prints.
  std::function<void(const std::string &text)> print =
      [](const std::string &text) { std::fputs(text.c_str(), stdout); };
  /// What interpreter.probe saw under each name, in order.
  std::map<std::string, std::vector<Tensor>> probes;
  /// What the numbers of stablehlo.rng follow from, and how many words were
  /// drawn.
  uint64_t seed = 0;
  uint64_t randomWords = 0;
};

} // namespace sinter

#endif // SINTER_INTERPRETER_ENVIRONMENT_H
