//===- MachineReport.cpp - sinter bench --machine -------------------------===//

#include "driver/MachineReport.h"

#include "driver/Machine.h"
#include "driver/Summary.h"
#include "driver/Text.h"
#include "engine/CompilerLibrary.h"
#include "interface/KeptCeilings.h"
#include "interface/OutputFiles.h"
#include "runtime/Cache.h"
#include "runtime/CpuFeatures.h"
#include "runtime/MappedFile.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace sinter::driver {

/// With what the rates are of.
static nlohmann::json reportJson(const MachineCeilings &ceilings) {
  nlohmann::json all = asJson(ceilings);
  all["cpu"] = cpuModel();
  all["isa"] = instructionSet();
  all["threads"] = 1;
  return all;
}

static void print(const MachineCeilings &ceilings) {
  printTo(stdout, "%s (%s), one thread\n", cpuModel().c_str(),
          instructionSet().c_str());
  for (const ArithmeticCeiling &each : ceilings.arithmetic)
    printTo(stdout, "%-10s %9.1f %s  by %s\n", each.name.c_str(), each.gops,
            each.name.find('f') != std::string::npos ? "GFLOP/s" : "Gop/s  ",
            each.instruction.c_str());
  for (const BandwidthCeiling &each : ceilings.bandwidth)
    printTo(stdout, "%-10s %9.1f GB/s     read from %s\n", each.level.c_str(),
            each.gbPerSecond,
            bytesText(static_cast<double>(each.bytes)).c_str());
}

static Result<std::string> keep(const nlohmann::json &told,
                                const std::string &folder) {
  if (Result<void> made = prepareFolder("--cache-dir", folder); !made)
    return made.takeError();
  const std::string path = ceilingsPath(folder);
  if (Result<void> written =
          writeFileAtomically(path, told.dump(1) + "\n", Access::OwnerOnly);
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
  nlohmann::json told = reportJson(*measured);
  Result<std::string> kept = std::string();
  if (!cacheFolder.empty())
    kept = keep(told, cacheFolder);
  if (!kept)
    printNote("the measurement is not stored: " + kept.error().message());
  else if (!kept->empty())
    told["kept"] = *kept;
  if (json) {
    printJsonLine(told);
    return 0;
  }
  print(*measured);
  if (told.contains("kept"))
    printTo(stdout, "stored in %s\n", kept->c_str());
  return 0;
}

Result<MachineCeilings> machineCeilings(const std::string &cacheFolder) {
  if (std::optional<MachineCeilings> known =
          keptCeilings(cacheFolder, printNote))
    return *known;
  Result<Compiler *> compiler = loadCompiler();
  if (!compiler)
    return compiler.takeError();
  Result<MachineCeilings> measured = (*compiler)->measureMachine(1);
  if (measured && !cacheFolder.empty())
    if (Result<std::string> kept = keep(reportJson(*measured), cacheFolder);
        !kept)
      printNote("the measurement is not stored: " + kept.error().message());
  return measured;
}

} // namespace sinter::driver
