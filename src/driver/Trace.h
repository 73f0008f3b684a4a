//===- Trace.h - what --trace writes --------------------------------------===//

#ifndef SINTER_DRIVER_TRACE_H
#define SINTER_DRIVER_TRACE_H

#include "driver/CommonOptions.h"
#include "runtime/Executor.h"

namespace sinter::driver {

/// Writes the file of --trace, if that is given: a row with the stages of
/// reading and compiling, one for the kernels of each thread that compiled,
/// and, behind all that, one with the layers of the last run of \p executor.
Result<void> writeTrace(const CommonOptions &options, const Executor &executor);

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRACE_H
