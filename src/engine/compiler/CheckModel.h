//===- CheckModel.h - checks of all models after reading ------------------===//

#ifndef SINTER_ENGINE_COMPILER_CHECKMODEL_H
#define SINTER_ENGINE_COMPILER_CHECKMODEL_H

#include "graph/Model.h"

namespace sinter {

/// Checks \p model after reading: it has a function to run or to call, the byte
/// count of every static tensor fits into 63 bits, and its states satisfy the
/// rules of Storage. The InvalidModel error names the file, the location and
/// what is wrong. A System error names a constant that does not fit into this
/// machine's memory.
Result<void> checkModel(const Model &model);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_CHECKMODEL_H
