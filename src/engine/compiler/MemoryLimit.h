//===- MemoryLimit.h - recomputes values within a memory limit ------------===//

#ifndef SINTER_ENGINE_COMPILER_MEMORYLIMIT_H
#define SINTER_ENGINE_COMPILER_MEMORYLIMIT_H

#include "engine/Compiler.h"
#include "graph/Model.h"

#include <functional>

namespace sinter {

/// A version of \p step, whose first result is the loss, that recomputes as
/// little in the backward pass as keeps its planned peak (ProgramMemory) at \p
/// limit bytes or less; \p note gets the peak. A Usage error with the least
/// peak if no plan fits.
Result<Model>
withinMemory(const Model &step, uint64_t limit, const CompileRequest &how,
             const std::function<void(const std::string &)> &note);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_MEMORYLIMIT_H
