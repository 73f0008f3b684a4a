//===- CheckModel.h - what every command asks of a model that was read ----===//

#ifndef SINTER_ENGINE_COMPILER_CHECKMODEL_H
#define SINTER_ENGINE_COMPILER_CHECKMODEL_H

#include "graph/Model.h"

namespace sinter {

/// Whether \p model, as it came from a reader, is one at all: there is a
/// function to run or to call, the bytes of every tensor whose sizes are known
/// can be counted in 63 bits, and its states keep the rules of Storage. The
/// InvalidModel error names the file, the place and what is wrong there. A
/// System error names a constant that this machine's memory cannot hold.
Result<void> checkModel(const Model &model);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_CHECKMODEL_H
