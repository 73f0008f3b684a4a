//===- Trace.h - the file of --trace --------------------------------------===//

#ifndef SINTER_DRIVER_TRACE_H
#define SINTER_DRIVER_TRACE_H

#include "driver/CommonOptions.h"
#include "runtime/Executor.h"

namespace sinter::driver {

/// Writes the file of --trace, if given: a row for the stages of reading and
/// compiling, one for the kernels of each compiling thread, and after these one
/// for the layers of the last run of \p executor.
Result<void> writeTrace(const CommonOptions &options, const Executor &executor);

} // namespace sinter::driver

#endif // SINTER_DRIVER_TRACE_H
