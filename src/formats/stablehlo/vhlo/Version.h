//===- Version.h - versions of portable artifacts -------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_VERSION_H
#define SINTER_FORMATS_STABLEHLO_VHLO_VERSION_H

#include "runtime/Result.h"

#include <compare>
#include <string>
#include <string_view>

namespace sinter::vhlo {

/// A version of StableHLO. The format changes only with the minor version.
struct Version {
  int major = 0, minor = 0, patch = 0;

  auto operator<=>(const Version &) const = default;
  std::string str() const;
  /// The version of MLIR's bytecode that its artifacts are written in.
  int bytecodeVersion() const;
  /// The version without its patch number.
  Version withoutPatch() const { return {major, minor, 0}; }
};

/// The oldest artifacts that may be written and read, and the newest known.
inline constexpr Version minimumVersion{0, 9, 0};
inline constexpr Version currentVersion{1, 20, 0};

/// Parses a version ("1.2.0"). A Usage error if it is malformed, or not between
/// the oldest and the newest.
Result<Version> parseTargetVersion(std::string_view text);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_VERSION_H
