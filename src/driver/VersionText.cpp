#include "driver/VersionText.h"

#include "driver/BuildFacts.h"
#include "driver/Text.h"
#include "runtime/Cache.h"
#include "runtime/CpuCount.h"
#include "runtime/CpuFeatures.h"

namespace sinter::driver {

std::string versionText() {
  std::string features;
  for (const std::string &feature : hostCpuFeatures())
    features += (features.empty() ? "" : ",") + feature;
  const unsigned count = usableCpuCount();
  const std::string cache = defaultCacheFolder();
  return text("sinter " SINTER_VERSION "\n"
              "commit    %s\n"
              "LLVM      %s\n"
              "CPU       %s (%s), %u processor%s\n"
              "features  %s\n"
              "cache     %s\n",
              buildCommit, buildLlvm, cpuModel().c_str(),
              std::string(hostArchitecture()).c_str(), count,
              count == 1 ? "" : "s", features.c_str(),
              cache.empty() ? "none: HOME is not set" : cache.c_str());
}

} // namespace sinter::driver
