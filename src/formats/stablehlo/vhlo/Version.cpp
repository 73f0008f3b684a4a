//===- Version.cpp - versions of portable artifacts -----------------------===//

#include "formats/stablehlo/vhlo/Version.h"

#include <charconv>

namespace sinter::vhlo {

std::string Version::str() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch);
}

int Version::bytecodeVersion() const {
  struct Change {
    Version until;
    int bytecode;
  };
  static constexpr Change changes[] = {
      {{0, 10, 0}, 0}, {{0, 12, 0}, 1}, {{0, 14, 0}, 3}, {{0, 15, 0}, 4}};
  for (const Change &change : changes)
    if (*this < change.until)
      return change.bytecode;
  return 6;
}

/// Parses exactly three integers separated by points.
static bool parse(std::string_view text, Version &version) {
  const char *at = text.data(), *end = at + text.size();
  int *const parts[] = {&version.major, &version.minor, &version.patch};
  for (int index = 0; index < 3; ++index) {
    if (index > 0 && (at == end || *at++ != '.'))
      return false;
    const auto [next, error] = std::from_chars(at, end, *parts[index]);
    if (error != std::errc() || *parts[index] < 0)
      return false;
    at = next;
  }
  return at == end;
}

Result<Version> parseTargetVersion(std::string_view text) {
  Version version;
  if (!parse(text, version))
    return usageError("'" + std::string(text) +
                      "' is no version of StableHLO: three numbers such as "
                      "1.2.0 are");
  if (version < minimumVersion || version > currentVersion)
    return usageError("artifacts are written for versions " +
                      minimumVersion.str() + " to " + currentVersion.str() +
                      " of StableHLO, not " + version.str());
  return version;
}

} // namespace sinter::vhlo
