//===- SizeFunctions.h - the sizes of a bundle's memory, as C functions ---===//
//
//     size_t NAME_workspace_size(const NAME_sizes *sizes[, size_t threads])
//     int NAME_input_shape(const NAME_sizes *sizes, int input, int64_t *shape)
//     size_t NAME_input_size(const NAME_sizes *sizes, int input)
//
// and the last two for outputs.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_SIZEFUNCTIONS_H
#define SINTER_BACKEND_CPU_AHEAD_SIZEFUNCTIONS_H

#include "backend/cpu/ahead/SizePlan.h"

namespace sinter::cpu {

/// Adds these functions of the dynamic bundle \p name to \p module. A size is
/// the greatest of size_t where there is none: for sizes that the program is
/// not for, a tensor that it does not have, and a null pointer.
void addSizeFunctions(llvm::Module &module, const std::string &name,
                      const SizePlan &plan);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_SIZEFUNCTIONS_H
