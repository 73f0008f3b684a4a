//===- CodeFormat.h - what the code of kernels is kept as -----------------===//

#ifndef SINTER_BACKEND_CPU_TARGET_CODEFORMAT_H
#define SINTER_BACKEND_CPU_TARGET_CODEFORMAT_H

#include <cstdint>

namespace sinter::cpu {

/// Relocatable object files, or LLVM's bitcode after the optimiser: what is
/// left then is the code generator, which works function by function.
enum class CodeFormat : uint8_t { Object, Bitcode };

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_TARGET_CODEFORMAT_H
