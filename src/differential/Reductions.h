//===- Reductions.h - ways to make a program smaller ----------------------===//

#ifndef SINTER_DIFFERENTIAL_REDUCTIONS_H
#define SINTER_DIFFERENTIAL_REDUCTIONS_H

#include "graph/Model.h"

namespace sinter {

/// One way to make a program smaller, at one of several places.
struct Reduction {
  const char *name;
  /// How many places of \p model it could be tried at.
  int (*places)(const Model &model);
  /// Tries it at place \p first and the \p count - 1 after it, which all lie
  /// below places(). What it leaves may not verify; false if nothing changed.
  bool (*apply)(Model &model, int first, int count);
};

/// In the order that pays: those that remove most come first.
llvm::ArrayRef<Reduction> allReductions();

/// Removes what nothing uses: operations without effects, arguments of the
/// entry function, functions that are not called.
void removeUnused(Model &model);

/// Operations of all functions, terminators not counted.
int operationCount(const Model &model);

} // namespace sinter

#endif // SINTER_DIFFERENTIAL_REDUCTIONS_H
