//===- Machine.cpp - the machine of a measurement -------------------------===//

#include "driver/Machine.h"

#include "runtime/CpuFeatures.h"

#include <algorithm>
#include <string>
#include <sys/resource.h>

namespace sinter::driver {

std::string instructionSet() {
  const std::vector<std::string> &features = hostCpuFeatures();
  const auto has = [&](const char *feature) {
    return std::ranges::find(features, feature) != features.end();
  };
  // Features by LLVM's names and their common names; the best first.
  constexpr std::pair<const char *, const char *> sets[] = {
      {"avx512f", "avx512"}, {"avx2", "avx2"}, {"avx", "avx"},
      {"sse4.2", "sse4.2"},  {"sve2", "sve2"}, {"sve", "sve"},
      {"neon", "neon"}};
  for (const auto &[feature, known] : sets)
    if (has(feature))
      return known;
  return hostArchitecture() == "aarch64" ? "neon" : "sse2";
}

double peakMemoryMb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

} // namespace sinter::driver
