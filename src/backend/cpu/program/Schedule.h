//===- Schedule.h - from kernels to a program's steps ---------------------===//

#ifndef SINTER_BACKEND_CPU_PROGRAM_SCHEDULE_H
#define SINTER_BACKEND_CPU_PROGRAM_SCHEDULE_H

#include "backend/cpu/program/KernelTable.h"
#include "graph/ConstantScope.h"
#include "graph/Model.h"
#include "runtime/Program.h"

#include <memory>

namespace sinter::cpu {

/// Fills in \p program's steps, constants and arena for the formed kernels of
/// \p model, which the program's constants keep alive where they share its
/// bytes. Constants that are packed are freed where \p constantScope, which
/// may be null, has them.
Result<void> schedule(std::shared_ptr<Model> model, const KernelTable &kernels,
                      ConstantScope *constantScope, Program &program);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_PROGRAM_SCHEDULE_H
