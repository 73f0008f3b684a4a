//===- MachineReport.cpp - sinter bench --machine -------------------------===//

#include "driver/MachineReport.h"

#include "driver/Machine.h"
#include "driver/OutputFiles.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "runtime/Cache.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {

static nlohmann::json asJson(const MachineCeilings &ceilings) {
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
  return {{"cpu", cpuModel()},
          {"isa", instructionSet()},
          {"threads", 1},
          {"arithmetic", arithmetic},
          {"bandwidth", bandwidth}};
}

/// Nothing where \p text is not what asJson made.
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
  // Rates that no machine has are damage.
  const auto isRate = [](double rate) { return rate > 1e-3 && rate < 1e9; };
  if (!std::ranges::all_of(ceilings.arithmetic, isRate,
                           &ArithmeticCeiling::gops) ||
      !std::ranges::all_of(ceilings.bandwidth, isRate,
                           &BandwidthCeiling::gbPerSecond))
    return std::nullopt;
  return ceilings;
}

static void print(const MachineCeilings &ceilings) {
  std::printf("%s (%s), one thread\n", cpuModel().c_str(),
              instructionSet().c_str());
  for (const ArithmeticCeiling &each : ceilings.arithmetic)
    std::printf("%-10s %9.1f %s  by %s\n", each.name.c_str(), each.gops,
                each.name.find('f') != std::string::npos ? "GFLOP/s"
                                                         : "Gop/s  ",
                each.instruction.c_str());
  for (const BandwidthCeiling &each : ceilings.bandwidth)
    std::printf("%-10s %9.1f GB/s     read from %s\n", each.level.c_str(),
                each.gbPerSecond,
                bytesText(static_cast<double>(each.bytes)).c_str());
}

/// Where what was measured is kept in \p folder. The file's name says which
/// machine: a folder may be shared by several.
static std::string keptPath(const std::string &folder) {
  const Hash128 machine = ProgramKey().addOptions(cpuModel()).finish();
  return folder + "/machine-" + machine.text() + ".json";
}

static Result<std::string> keep(const nlohmann::json &told,
                                const std::string &folder) {
  if (Result<void> made = prepareFolder("--cache-dir", folder); !made)
    return made.takeError();
  const std::string path = keptPath(folder);
  if (Result<void> written = writeFileAtomically(path, told.dump(1) + "\n");
      !written)
    return written.takeError();
  return path;
}

Result<int> reportMachine(double seconds, const std::string &cacheFolder,
                          bool json) {
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  Result<MachineCeilings> measured = (*compiler)->measureMachine(seconds);
  if (!measured)
    return measured.takeError();
  nlohmann::json told = asJson(*measured);
  Result<std::string> kept = std::string();
  if (!cacheFolder.empty())
    kept = keep(told, cacheFolder);
  if (!kept)
    printNote("what was measured is not kept: " + kept.error().message);
  else if (!kept->empty())
    told["kept"] = *kept;
  if (json) {
    printJsonLine(told);
    return 0;
  }
  print(*measured);
  if (told.contains("kept"))
    std::printf("kept in %s\n", kept->c_str());
  return 0;
}

std::optional<MachineCeilings> keptCeilings(const std::string &cacheFolder) {
  constexpr size_t mostBytes = 1 << 20;
  if (cacheFolder.empty())
    return std::nullopt;
  Result<std::string> text = readFile(keptPath(cacheFolder), mostBytes);
  return text ? fromJson(*text) : std::nullopt;
}

Result<MachineCeilings> machineCeilings(const std::string &cacheFolder) {
  if (std::optional<MachineCeilings> known = keptCeilings(cacheFolder))
    return *known;
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  Result<MachineCeilings> measured = (*compiler)->measureMachine(1);
  if (measured && !cacheFolder.empty())
    if (Result<std::string> kept = keep(asJson(*measured), cacheFolder); !kept)
      printNote("what was measured is not kept: " + kept.error().message);
  return measured;
}

} // namespace sinter::driver
