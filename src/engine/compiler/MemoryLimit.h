//===- MemoryLimit.h - a step of training within a limit of memory --------===//

#ifndef SINTER_ENGINE_COMPILER_MEMORYLIMIT_H
#define SINTER_ENGINE_COMPILER_MEMORYLIMIT_H

#include "engine/Compiler.h"
#include "graph/Model.h"

#include <functional>

namespace sinter {

/// \p step, of which the first result is the loss, such that it computes again
/// on the way back as little as it can for its planned peak (ProgramMemory) to
/// be \p limit bytes at most; \p note is told how much it needs. Usage where no
/// plan needs as little, with the least that one does.
Result<Model>
withinMemory(const Model &step, uint64_t limit, const CompileRequest &how,
             const std::function<void(const std::string &)> &note);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_MEMORYLIMIT_H
