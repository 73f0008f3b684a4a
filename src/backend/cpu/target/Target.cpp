//===- Target.cpp - the machine that code is made for ---------------------===//

#include "backend/cpu/target/Target.h"

#include "runtime/CpuFeatures.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>
#include <unistd.h>

using namespace sinter;
using namespace sinter::cpu;

extern "C" {
#define SINTER_CPU_TARGET(NAME)                                                \
  void LLVMInitialize##NAME##TargetInfo();                                     \
  void LLVMInitialize##NAME##Target();                                         \
  void LLVMInitialize##NAME##TargetMC();                                       \
  void LLVMInitialize##NAME##AsmPrinter();
#include "backend/cpu/target/CpuTargets.def"
#undef SINTER_CPU_TARGET
}

static void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
#define SINTER_CPU_TARGET(NAME)                                                \
  LLVMInitialize##NAME##TargetInfo();                                          \
  LLVMInitialize##NAME##Target();                                              \
  LLVMInitialize##NAME##TargetMC();                                            \
  LLVMInitialize##NAME##AsmPrinter();
#include "backend/cpu/target/CpuTargets.def"
#undef SINTER_CPU_TARGET
  });
}

Result<std::unique_ptr<llvm::TargetMachine>> Target::createMachine() const {
  initializeTargets();
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return usageError("unknown target '" + triple + "': " + message);
  llvm::TargetOptions options;
  options.FunctionSections = false;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
  if (!machine)
    return usageError("no code generator for target '" + triple + "'");
  return machine;
}

/// The part of a ceiling that kernels reach around their products: measured
/// with direct and fast convolutions of ResNets (Zen 5).
static constexpr double reachedArithmetic = 0.71, reachedCache = 0.33,
                        reachedMemory = 0.77;

/// Multiply-adds of vectors at 3 GHz, and caches and memory as servers of these
/// years have them.
static Rates typicalRates(const Target &target) {
  Rates rates;
  rates.f32 = 2 * double(target.multiplyAdds) * 3e9 * double(target.f32Lanes);
  rates.f64 = rates.f32 / 2;
  const bool hasDots = target.hasVnni || target.hasSignedDotProduct;
  // Of smull and sadalp two take eight products.
  rates.i8 = rates.f32 * (hasDots ? 4 : target.hasPairSum ? 2 : 1);
  // One dot product a cycle, two multiply-adds a lane, wherever it was
  // measured.
  if (target.hasBF16Dot)
    rates.bf16 = 4 * 3e9 * double(target.f32Lanes);
  rates.cache = 80e9;
  rates.memory = 30e9;
  // Sapphire Rapids: the ceiling of tdpbf16ps from registers, and what loops of
  // one and of three products a pair of loads reach beside it.
  if (target.hasMatrixUnits) {
    rates.tiles = 3100e9;
    rates.tileLoads = 248e9;
  }
  return rates;
}

void Target::setRates(const MachineCeilings &measured) {
  const std::pair<llvm::StringRef, double *> arithmetic[] = {
      {"f32", &rates.f32},
      {"f64", &rates.f64},
      {"i8", &rates.i8},
      {"bf16", &rates.bf16}};
  for (const ArithmeticCeiling &each : measured.arithmetic)
    for (auto [name, rate] : arithmetic)
      if (name == each.name && each.gops > 0)
        *rate = each.gops * 1e9 * reachedArithmetic;
  // What products of tiles reach is what loading them leaves of the ceiling.
  if (hasMatrixUnits)
    for (const ArithmeticCeiling &each : measured.arithmetic)
      if (each.name == "tiles-bf16" && each.gops > 0)
        rates.tiles = each.gops * 1e9;
  for (const BandwidthCeiling &each : measured.bandwidth) {
    if (each.level == "L2" && each.gbPerSecond > 0)
      rates.cache = each.gbPerSecond * 1e9 * reachedCache;
    if (each.level == "DRAM" && each.gbPerSecond > 0)
      rates.memory = each.gbPerSecond * 1e9 * reachedMemory;
    if (hasMatrixUnits && each.level == "tiles" && each.gbPerSecond > 0)
      rates.tileLoads = each.gbPerSecond * 1e9;
  }
}

/// Whether \p generic, a machine like the target, knows the features \p wanted:
/// LLVM warns of others and goes on.
static Result<void> checkFeatures(const Target &target, llvm::StringRef wanted,
                                  const llvm::TargetMachine &generic) {
  const llvm::MCSubtargetInfo &info = *generic.getMCSubtargetInfo();
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
      return usageError("unknown feature '" + name.str() + "' for target '" +
                        target.triple + "'");
  }
  return {};
}

/// Whether \p target, of the architecture of the machine \p generic, has what
/// all code for that takes for granted, and runs in no other mode: LLVM ends
/// the process otherwise, or makes no code for floats.
static Result<void> checkBaseline(const Target &target,
                                  const llvm::TargetMachine &generic) {
  const llvm::Triple triple(target.triple);
  if (!triple.isX86() || !triple.isArch64Bit())
    return {};
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      generic.getTarget().createMCSubtargetInfo(target.triple, target.cpu,
                                                target.features));
  const std::string of =
      " code for '" + target.triple + "'" +
      (target.cpu.empty() ? "" : ", CPU '" + target.cpu + "'");
  for (const char *needed : {"64bit", "64bit-mode", "sse2"})
    if (!info->checkFeatures(std::string("+") + needed))
      return usageError("there is no" + of + ", without the feature '" +
                        needed + "'");
  for (const char *other : {"16bit-mode", "32bit-mode", "soft-float"})
    if (info->checkFeatures(std::string("+") + other))
      return usageError("there is no" + of + ", with the feature '" + other +
                        "'");
  return {};
}

/// Derives what the generators ask for from the features LLVM knows, of which
/// the user named those that are \p wanted or not.
static Result<void> describe(Target &target, llvm::StringRef wanted) {
  // A machine for no CPU in particular knows the names of all of them; asking
  // for an unknown one straight away makes LLVM print a warning.
  Target generic;
  generic.triple = target.triple;
  Result<std::unique_ptr<llvm::TargetMachine>> machine =
      generic.createMachine();
  if (!machine)
    return machine.takeError();
  if (!target.cpu.empty() &&
      !(*machine)->getMCSubtargetInfo()->isCPUStringValid(target.cpu))
    return usageError("unknown CPU '" + target.cpu + "' for target '" +
                      target.triple + "'");
  if (Result<void> known = checkFeatures(target, wanted, **machine); !known)
    return known;
  if (Result<void> has = checkBaseline(target, **machine); !has)
    return has;
  machine = target.createMachine();
  if (!machine)
    return machine.takeError();
  const llvm::MCSubtargetInfo &info = *(*machine)->getMCSubtargetInfo();
  llvm::Triple triple(target.triple);
  if (triple.isX86()) {
    bool avx512 =
        info.checkFeatures("+avx512f") && info.checkFeatures("+avx512vl") &&
        info.checkFeatures("+avx512bw") && info.checkFeatures("+avx512dq");
    bool avx = info.checkFeatures("+avx");
    target.hasAvx512 = avx512;
    target.f32Lanes = avx512 ? 16 : avx ? 8 : 4;
    target.vectorRegisters = avx512 ? 32 : 16;
    target.hasFma = avx512 || info.checkFeatures("+fma");
    target.hasTableOf16 = avx512;
    // Intel's divide 16 f32 in 16 cycles, AMD's in 3.5 (Zen 5).
    target.dividesSlowly =
        avx512 && !llvm::StringRef(target.cpu).starts_with("znver");
    // Zen 4 takes 512 bits in halves.
    if (avx512 && target.cpu == "znver4")
      target.multiplyAdds = 1;
    target.hasVnni = info.checkFeatures(avx512 ? "+avx512vnni" : "+avxvnni");
    target.permutesBytes = avx512 && info.checkFeatures("+avx512vbmi");
    target.shuffledBytes = avx512                         ? 64
                           : info.checkFeatures("+avx2")  ? 32
                           : info.checkFeatures("+ssse3") ? 16
                                                          : 0;
    target.hasPairSum = avx512 || info.checkFeatures(avx ? "+avx2" : "+sse2");
    target.convertsF16 = avx512 || info.checkFeatures("+f16c");
    target.convertsBF16 = avx512 && info.checkFeatures("+avx512bf16");
    target.hasBF16Dot = target.convertsBF16;
    target.hasMatrixUnits =
        avx512 && triple.isArch64Bit() && info.checkFeatures("+amx-tile") &&
        info.checkFeatures("+amx-bf16") && info.checkFeatures("+amx-int8");
  } else {
    target.f32Lanes = 4;
    target.vectorRegisters = 32;
    target.hasFma = true;
    target.convertsF16 = triple.isAArch64();
    target.hasSignedDotProduct =
        triple.isAArch64() && info.checkFeatures("+dotprod");
    target.hasLongPairSum = triple.isAArch64() && info.checkFeatures("+neon");
  }
  target.rates = typicalRates(target);
  const std::vector<std::string_view> known =
      knownCpuFeatures(llvm::Triple::getArchTypeName(triple.getArch()).str());
  for (const llvm::SubtargetFeatureKV &feature :
       info.getEnabledProcessorFeatures())
    if (llvm::is_contained(known, std::string_view(feature.Key)))
      target.instructionSets.emplace_back(feature.Key);
  return {};
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
#ifdef _SC_LEVEL1_DCACHE_SIZE
  target.l1Bytes = hostCacheSize(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
  target.l2Bytes = hostCacheSize(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
#endif
  if (Result<void> described = describe(target, wanted); !described)
    return described.takeError();
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
  if (Result<void> described = describe(target, wanted); !described)
    return described.takeError();
  return target;
}
