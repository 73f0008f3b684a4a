//===- ProgramOptions.h - a request, as the backend takes it --------------===//

#ifndef SINTER_ENGINE_COMPILER_PROGRAMOPTIONS_H
#define SINTER_ENGINE_COMPILER_PROGRAMOPTIONS_H

#include "backend/cpu/target/CpuOptions.h"
#include "engine/Compiler.h"

namespace sinter {

/// The backend's options for \p request, which lives longer than they do.
/// Errors: Usage for an unknown CPU or feature.
Result<cpu::CpuOptions> cpuOptionsOf(const CompileRequest &request);

/// "conv1: winograd 0.120 ms, direct 0.200 ms", "fc: matmul, no tiles (sizes
/// are dynamic)".
std::string textOf(const std::string &layer,
                   const cpu::Alternatives &alternatives);

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_PROGRAMOPTIONS_H
