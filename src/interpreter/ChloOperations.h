//===- ChloOperations.h - chlo operations of dynamic shape ----------------===//

#ifndef SINTER_INTERPRETER_CHLOOPERATIONS_H
#define SINTER_INTERPRETER_CHLOOPERATIONS_H

#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// scan and ragged_dot: the others are decomposed before anything runs, these
/// only where their shapes are static then.
void registerChloOperations(Registry &registry);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_CHLOOPERATIONS_H
