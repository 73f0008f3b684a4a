//===- Machine.cpp - what a measurement was made on -----------------------===//

#include "driver/Machine.h"

#include "runtime/CpuFeatures.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/resource.h>

namespace sinter::driver {

std::string cpuModel() {
  // All processors are listed, hundreds on a server: the first one will do.
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return std::string(hostArchitecture());
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
