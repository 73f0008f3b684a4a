//===- CpuFeatures.h - what this machine's processor can do ---------------===//
//
// A compiled program says which instruction sets it uses; it must be refused,
// not crash, where they are missing. Names are LLVM's ("avx512f"), so that the
// compiler and this table speak of the same things without the runtime knowing
// LLVM.
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

/// The names that the table has for \p architecture, those of instruction sets
/// that a compiler may use of its own accord; none for one it does not know.
std::vector<std::string_view> knownCpuFeatures(std::string_view architecture);

/// Whether \p feature is one of the matrix units of x86 ("amx-tile"), which a
/// compiler does not use of its own accord.
bool isMatrixFeature(std::string_view feature);

/// The features of this processor that the operating system has enabled, by
/// LLVM's names, sorted. Features outside our table are left out, and those of
/// matrix units where the process may not use them (MatrixUnits.h), for which
/// it is asked here.
const std::vector<std::string> &hostCpuFeatures();

/// Whether code for \p triple that uses \p features runs here. A feature that
/// the table does not know counts as missing. The Unsupported error lists what
/// is missing.
Result<void> checkHost(std::string_view triple,
                       std::span<const std::string> features);

} // namespace sinter

#endif // SINTER_RUNTIME_CPUFEATURES_H
