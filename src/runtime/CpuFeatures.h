//===- CpuFeatures.h - features of this machine's processor ---------------===//
//
// A compiled program lists the instruction sets it uses; a machine without them
// must refuse it, not crash. Names are LLVM's ("avx512f"), so that the compiler
// and this table agree although the runtime does not know LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_CPUFEATURES_H
#define SINTER_RUNTIME_CPUFEATURES_H

#include "runtime/Result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// The architecture as the first part of an LLVM triple: "x86_64", "aarch64".
std::string_view hostArchitecture();

/// The features in the table for \p architecture that a compiler may use by
/// default; none for an unknown one.
std::vector<std::string_view> knownCpuFeatures(std::string_view architecture);

/// Whether \p feature is of the matrix units of x86 ("amx-tile"), which
/// compilers do not use by default.
bool isMatrixFeature(std::string_view feature);

/// The features of this processor that the operating system has enabled, by
/// LLVM's names, sorted. Features outside the table are left out, and those of
/// matrix units if the process may not use them (MatrixUnits.h); this requests
/// the permission.
const std::vector<std::string> &hostCpuFeatures();

/// Whether code for \p triple that uses \p features runs here. A feature
/// outside the table counts as missing. The Unsupported error lists the missing
/// ones.
Result<void> checkHost(std::string_view triple,
                       std::span<const std::string> features);

/// The processor's name, from /proc/cpuinfo; else that of its architecture.
std::string cpuModel();

} // namespace sinter

#endif // SINTER_RUNTIME_CPUFEATURES_H
