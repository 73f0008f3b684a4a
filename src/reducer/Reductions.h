//===- Reductions.h - ways to make a program smaller ----------------------===//

#ifndef SINTER_REDUCER_REDUCTIONS_H
#define SINTER_REDUCER_REDUCTIONS_H

#include "graph/Model.h"

namespace sinter {

/// One way to make a program smaller, at one of several positions.
struct Reduction {
  const char *name;
  /// At how many positions of \p model it can be tried.
  int (*places)(const Model &model);
  /// Tries it at position \p first and the \p count - 1 after it, which are all
  /// below places(). The result may not verify; false if nothing changed.
  bool (*apply)(Model &model, int first, int count);
};

/// Ordered by effect: those that remove most come first.
llvm::ArrayRef<Reduction> allReductions();

/// Removes dead code: operations without side effects and uses, unused
/// arguments of the entry function, functions that are not called.
void removeDeadCode(Model &model);

/// Operations of all functions, terminators not counted.
int operationCount(const Model &model);

} // namespace sinter

#endif // SINTER_REDUCER_REDUCTIONS_H
