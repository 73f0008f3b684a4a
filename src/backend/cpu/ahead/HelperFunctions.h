//===- HelperFunctions.h - what code generators call, as code -------------===//
//
// LLVM calls functions for what a processor lacks: copies of memory, and
// conversions of half-precision floats. Libraries that have them differ, and on
// some systems there are none, so that a bundle has its own, as local functions
// of the names that LLVM knows:
//
//     memcpy memmove memset, and __aeabi_mem...   bytes
//     __extendhfsf2 __gnu_h2f_ieee __aeabi_h2f    f16 -> f32
//     __truncsfhf2 __gnu_f2h_ieee __aeabi_f2h     f32 -> f16
//     __truncdfhf2 __aeabi_d2h                    f64 -> f16
//
// They give the bits of runtime/ExternalSymbols.h.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_AHEAD_HELPERFUNCTIONS_H
#define SINTER_BACKEND_CPU_AHEAD_HELPERFUNCTIONS_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace sinter::cpu {

/// Adds to \p module those of the functions \p names that are known here, for
/// code that was optimised already. Returns whether it has added one.
bool addHelperFunctions(llvm::Module &module,
                        llvm::ArrayRef<std::string> names);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_AHEAD_HELPERFUNCTIONS_H
