//===- KeptCeilings.cpp - peak rates of this machine, in the cache --------===//

#include "interface/KeptCeilings.h"

#include "runtime/Cache.h"
#include "runtime/CpuFeatures.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sinter {

nlohmann::json asJson(const MachineCeilings &ceilings) {
  nlohmann::json arithmetic = nlohmann::json::array();
  for (const ArithmeticCeiling &each : ceilings.arithmetic)
    arithmetic.push_back({{"name", each.name},
                          {"instruction", each.instruction},
                          {"gops", each.gops}});
  nlohmann::json bandwidth = nlohmann::json::array();
  for (const BandwidthCeiling &each : ceilings.bandwidth)
    bandwidth.push_back({{"level", each.level},
                         {"bytes", each.bytes},
                         {"gb_per_s", each.gbPerSecond}});
  return {{"arithmetic", arithmetic}, {"bandwidth", bandwidth}};
}

/// Nothing if \p text is not of asJson.
static std::optional<MachineCeilings> fromJson(const std::string &text) {
  const nlohmann::json told =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  MachineCeilings ceilings;
  try {
    for (const nlohmann::json &each : told.at("arithmetic"))
      ceilings.arithmetic.push_back({each.at("name"), each.at("instruction"),
                                     each.at("gops").get<double>()});
    for (const nlohmann::json &each : told.at("bandwidth"))
      ceilings.bandwidth.push_back({each.at("level"),
                                    each.at("bytes").get<int64_t>(),
                                    each.at("gb_per_s").get<double>()});
  } catch (const nlohmann::json::exception &) {
    return std::nullopt;
  }
  // Impossible rates mean damage.
  const auto isRate = [](double rate) { return rate > 1e-3 && rate < 1e9; };
  if (!std::ranges::all_of(ceilings.arithmetic, isRate,
                           &ArithmeticCeiling::gops) ||
      !std::ranges::all_of(ceilings.bandwidth, isRate,
                           &BandwidthCeiling::gbPerSecond))
    return std::nullopt;
  return ceilings;
}

std::string ceilingsPath(const std::string &cacheFolder) {
  const Hash128 machine = ProgramKey().addOptions(cpuModel()).finish();
  return cacheFolder + "/machine-" + machine.text() + ".json";
}

std::optional<MachineCeilings>
keptCeilings(const std::string &cacheFolder,
             const std::function<void(const std::string &)> &note) {
  if (cacheFolder.empty())
    return std::nullopt;
  Result<std::shared_ptr<const MappedFile>> file =
      openEntry(ceilingsPath(cacheFolder));
  if (file)
    return *file ? fromJson(std::string((*file)->text())) : std::nullopt;
  note("the measurement is not used: " + file.error().message());
  return std::nullopt;
}

} // namespace sinter
