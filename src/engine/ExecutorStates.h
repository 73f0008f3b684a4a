//===- ExecutorStates.h - the states of an executor -----------------------===//

#ifndef SINTER_ENGINE_EXECUTORSTATES_H
#define SINTER_ENGINE_EXECUTORSTATES_H

#include "runtime/Executor.h"

#include <vector>

namespace sinter {

/// The present values of the states of \p executor, in order.
inline std::vector<Tensor> statesOf(const Executor &executor) {
  std::vector<Tensor> states;
  for (size_t i = 0; i < executor.states().size(); ++i)
    states.push_back(executor.state(i));
  return states;
}

} // namespace sinter

#endif // SINTER_ENGINE_EXECUTORSTATES_H
