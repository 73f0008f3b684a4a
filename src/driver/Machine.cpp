//===- Machine.cpp - what a measurement was made on -----------------------===//

#include "driver/Machine.h"

#include "runtime/CpuFeatures.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <sys/resource.h>

namespace sinter::driver {

std::string cpuModel() {
  const Result<std::string> facts = readFile("/proc/cpuinfo");
  const std::string unknown(hostArchitecture());
  if (!facts)
    return unknown;
  const size_t key = facts->find("model name");
  const size_t colon = facts->find(": ", key);
  if (key == std::string::npos || colon == std::string::npos)
    return unknown;
  return facts->substr(colon + 2, facts->find('\n', colon) - colon - 2);
}

std::string instructionSet() {
  const std::vector<std::string> &features = hostCpuFeatures();
  const auto has = [&](const char *feature) {
    return std::ranges::find(features, feature) != features.end();
  };
  // Feature by LLVM's name, and what people call it; the best first.
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
