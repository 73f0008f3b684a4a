//===- NamedTarget.cpp - targets by what names them -----------------------===//

#include "backend/cpu/target/KnownCpus.h"
#include "backend/cpu/target/TargetDescription.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include <unistd.h>

using namespace sinter;
using namespace sinter::cpu;

/// The names that LLVM has in a table.
template <typename Row>
static std::vector<std::string> namesIn(llvm::ArrayRef<Row> table) {
  std::vector<std::string> names;
  for (const Row &row : table)
    names.emplace_back(row.Key);
  return names;
}

/// Whether \p info, of a machine like the target, knows the features \p wanted:
/// LLVM warns of others and goes on.
static Result<void> checkFeatures(const Target &target, llvm::StringRef wanted,
                                  const llvm::MCSubtargetInfo &info) {
  const llvm::SubtargetFeatures features(wanted);
  for (const std::string &feature : features.getFeatures()) {
    const llvm::StringRef name = llvm::SubtargetFeatures::StripFlag(feature);
    if (!llvm::SubtargetFeatures::hasFlag(feature))
      return usageError("feature '" + feature +
                        "': expected + or - and its name, as in -amx-tile");
    const auto isNamed = [&](const llvm::SubtargetFeatureKV &known) {
      return name == known.Key;
    };
    if (llvm::none_of(info.getAllProcessorFeatures(), isNamed))
      return withHint(didYouMean(name, namesIn(info.getAllProcessorFeatures())),
                      usageError("unknown feature '" + name.str() +
                                 "' for target '" + target.triple + "'"));
  }
  return {};
}

/// Checks \p target, of which the user named the features that are \p wanted
/// or not, and describes it.
static Result<void> complete(Target &target, llvm::StringRef wanted) {
  // A machine for no CPU in particular knows the names of all of them; asking
  // for an unknown one straight away makes LLVM print a warning.
  Target generic;
  generic.triple = target.triple;
  Result<std::unique_ptr<llvm::TargetMachine>> machine =
      generic.createMachine();
  if (!machine)
    return machine.takeError();
  const llvm::MCSubtargetInfo &known = *(*machine)->getMCSubtargetInfo();
  if (!target.cpu.empty() && !known.isCPUStringValid(target.cpu))
    return withHint(
        didYouMean(target.cpu, namesIn(known.getAllProcessorDescriptions())),
        usageError("unknown CPU '" + target.cpu + "' for target '" +
                   target.triple + "'"));
  if (Result<void> good = checkFeatures(target, wanted, known); !good)
    return good;
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      (*machine)->getTarget().createMCSubtargetInfo(target.triple, target.cpu,
                                                    target.features));
  if (Result<void> has = checkBaseline(target, *info); !has)
    return has;
  describe(target, *info);
  return {};
}

Result<std::vector<std::string>> Target::cpusOf(const std::string &triple) {
  Target generic;
  generic.triple = llvm::Triple::normalize(triple);
  Result<std::unique_ptr<llvm::TargetMachine>> machine =
      generic.createMachine();
  if (!machine)
    return machine.takeError();
  return namesIn(
      (*machine)->getMCSubtargetInfo()->getAllProcessorDescriptions());
}

/// Sets the caches of \p target by its names.
static void setKnownCaches(Target &target) {
  const KnownCpu *known = knownCpu(llvm::Triple(target.triple), target.cpu);
  if (!known)
    return;
  target.l1Bytes = known->l1Bytes;
  target.l2Bytes = known->l2Bytes;
}

/// The size of a cache of the host, or \p otherwise if the system does not say.
static int64_t hostCacheSize(int name, int64_t otherwise) {
  long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

Result<Target> Target::host(llvm::StringRef wanted) {
  Target target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  llvm::SubtargetFeatures features;
  for (const auto &entry : llvm::sys::getHostCPUFeatures()) {
    // LLVM does not know what the system lets this process use.
    const llvm::StringRef name = entry.first();
    const bool isRefused =
        isMatrixFeature(name) &&
        !llvm::is_contained(hostCpuFeatures(), std::string_view(name));
    features.AddFeature(name, entry.second && !isRefused);
  }
  features.AddFeature("prefer-256-bit", false);
  if (!llvm::Triple(target.triple).isX86())
    features = llvm::SubtargetFeatures();
  target.features = features.getString();
  if (!wanted.empty())
    target.features += (target.features.empty() ? "" : ",") + wanted.str();
  setKnownCaches(target);
#ifdef _SC_LEVEL1_DCACHE_SIZE
  target.l1Bytes = hostCacheSize(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
  target.l2Bytes = hostCacheSize(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
#endif
  if (Result<void> completed = complete(target, wanted); !completed)
    return completed.takeError();
  // What the runtime does not see, it would miss; what the user asked for it
  // shall miss.
  const std::vector<std::string> added =
      llvm::SubtargetFeatures(wanted).getFeatures();
  std::erase_if(target.instructionSets, [&](const std::string &name) {
    return !llvm::is_contained(hostCpuFeatures(), name) &&
           !llvm::is_contained(added, "+" + name);
  });
  return target;
}

Result<Target> Target::named(const std::string &triple, std::string cpu,
                             std::string features) {
  Target target;
  target.triple = triple.empty() ? llvm::sys::getProcessTriple()
                                 : llvm::Triple::normalize(triple);
  target.cpu = std::move(cpu);
  const std::string wanted = features;
  target.features = std::move(features);
  if (llvm::Triple(target.triple).isX86()) {
    if (!target.features.empty())
      target.features += ",";
    target.features += "-prefer-256-bit";
  }
  if (const std::string customary =
          customaryFeatures(target.triple, target.cpu);
      !customary.empty())
    target.features =
        customary + (target.features.empty() ? "" : "," + target.features);
  setKnownCaches(target);
  if (Result<void> completed = complete(target, wanted); !completed)
    return completed.takeError();
  return target;
}
