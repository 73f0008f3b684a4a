//===- TargetDescription.cpp - what generators decide by ------------------===//

#include "backend/cpu/target/TargetDescription.h"

#include "runtime/CpuFeatures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/ARMTargetParser.h"
#include "llvm/TargetParser/Triple.h"

#include <array>

using namespace sinter;
using namespace sinter::cpu;

//===----------------------------------------------------------------------===//
// Architectures
//===----------------------------------------------------------------------===//

static void describeX86(Target &target, const llvm::MCSubtargetInfo &info) {
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
  target.hasMatrixUnits = avx512 && llvm::Triple(target.triple).isArch64Bit() &&
                          info.checkFeatures("+amx-tile") &&
                          info.checkFeatures("+amx-bf16") &&
                          info.checkFeatures("+amx-int8");
}

static void describeAArch64(Target &target, const llvm::MCSubtargetInfo &info) {
  target.f32Lanes = 4;
  target.vectorRegisters = 32;
  target.hasFma = true;
  target.convertsF16 = true;
  target.hasSignedDotProduct = info.checkFeatures("+dotprod");
  target.hasLongPairSum = info.checkFeatures("+neon");
  target.hasByteMatrices = info.checkFeatures("+i8mm");
  target.convertsBF16 = target.hasBF16Matrices = info.checkFeatures("+bf16");
}

/// Without vectors, groups of four scalars stand for them: their loops are
/// unrolled that much, and each is in a register of its own.
static constexpr int64_t scalarsOfGroup = 4;

static void describeArm(Target &target, const llvm::MCSubtargetInfo &info) {
  const bool hasNeon = info.checkFeatures("+neon");
  const bool hasMve = info.checkFeatures("+mve.fp");
  const bool hasFloats = info.checkFeatures("+vfp2sp");
  target.hasFloats = hasFloats;
  target.hasVectors = hasNeon || hasMve;
  target.f32Lanes = scalarsOfGroup;
  target.vectorRegisters = hasNeon ? 16 : hasFloats ? 8 : 4;
  // The first FPU of Cortex-M has it, that of Cortex-A9 has not.
  target.hasFma = hasFloats && info.checkFeatures("+vfp4d16sp");
  target.multiplyAdds = 1;
  target.hasLongPairSum = hasNeon;
  target.flushesAlways = hasNeon;
}

static void describeRiscV(Target &target, const llvm::MCSubtargetInfo &info) {
  target.hasFloats = info.checkFeatures("+f");
  target.hasVectors = info.checkFeatures("+zve32f");
  target.hasFma = target.hasFloats;
  target.multiplyAdds = 1;
  target.f32Lanes = scalarsOfGroup;
  target.vectorRegisters = target.hasVectors ? 32 : target.hasFloats ? 8 : 4;
  // What the registers have at least: longer ones are not filled.
  if (target.hasVectors)
    for (const auto &[feature, lanes] :
         {std::pair<const char *, int64_t>{"+zvl256b", 8}, {"+zvl512b", 16}})
      if (info.checkFeatures(feature))
        target.f32Lanes = lanes;
}

//===----------------------------------------------------------------------===//
// Rates
//===----------------------------------------------------------------------===//

/// Small CPUs: 100 MHz, no caches, a float a time.
static Rates ratesOfScalars(const Target &target) {
  constexpr double clock = 0.1e9;
  Rates rates;
  // The functions that stand for an FPU take some forty cycles.
  rates.f32 = 2 * clock * (target.hasFloats ? 0.5 : 0.025);
  rates.f64 = rates.f32 / 8;
  rates.i8 = 2 * clock * 0.5;
  rates.cache = 4 * clock;
  rates.memory = 2 * clock;
  return rates;
}

/// Multiply-adds of vectors at 3 GHz, and caches and memory as servers of these
/// years have them.
static Rates typicalRates(const Target &target) {
  if (!target.hasVectors || !target.hasFloats)
    return ratesOfScalars(target);
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
  // One of bfmmla is issued where a multiply-add is, and has four times its
  // products.
  if (target.hasBF16Matrices)
    rates.bf16 = 4 * rates.f32;
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

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

/// The instruction sets of other architectures than those that programs are run
/// on, as documents of their CPUs name them.
static constexpr std::array<std::string_view, 17> armFeatures = {
    "crc",    "dotprod",   "dsp",       "fp-armv8d16sp", "fp16",   "fp64",
    "hwdiv",  "hwdiv-arm", "i8mm",      "mve",           "mve.fp", "neon",
    "vfp2sp", "vfp3d16sp", "vfp4d16sp", "fullfp16",      "bf16"};
static constexpr std::array<std::string_view, 14> riscvFeatures = {
    "a",   "c",   "d",   "f",    "m",       "v",       "zba",
    "zbb", "zbs", "zfh", "zvfh", "zvl128b", "zvl256b", "zvl512b"};

static std::vector<std::string_view> namedFeatures(const llvm::Triple &triple) {
  const auto all = [](const auto &names) {
    return std::vector<std::string_view>(names.begin(), names.end());
  };
  if (isArm32(triple))
    return all(armFeatures);
  if (triple.isRISCV())
    return all(riscvFeatures);
  return knownCpuFeatures(
      llvm::Triple::getArchTypeName(triple.getArch()).str());
}

static bool passesFloatsInRegisters(const llvm::Triple &triple) {
  return triple.getEnvironment() == llvm::Triple::EABIHF ||
         triple.getEnvironment() == llvm::Triple::GNUEABIHF ||
         triple.getEnvironment() == llvm::Triple::MuslEABIHF;
}

/// The FPU of \p cpu, a 32-bit Arm.
static std::string customaryFpu(llvm::StringRef cpu) {
  const llvm::ARM::ArchKind kind = llvm::ARM::parseCPUArch(cpu);
  std::vector<llvm::StringRef> features;
  llvm::ARM::getFPUFeatures(llvm::ARM::getDefaultFPU(cpu, kind), features);
  return llvm::join(features, ",");
}

std::string cpu::customaryFeatures(llvm::StringRef name, llvm::StringRef cpu) {
  const llvm::Triple triple(name);
  if (!cpu.empty())
    return passesFloatsInRegisters(triple) && triple.isOSLinux()
               ? customaryFpu(cpu)
               : "";
  if (triple.getArch() == llvm::Triple::riscv64)
    return "+m,+a,+f,+d,+c";
  if (triple.getArch() == llvm::Triple::riscv32)
    return "+m,+c";
  if (!passesFloatsInRegisters(triple))
    return "";
  switch (triple.getSubArch()) {
  case llvm::Triple::ARMSubArch_v7:
    return "+neon";
  case llvm::Triple::ARMSubArch_v7em:
    return "+vfp4d16sp";
  case llvm::Triple::ARMSubArch_v8m_mainline:
  case llvm::Triple::ARMSubArch_v8_1m_mainline:
    return "+fp-armv8d16sp";
  case llvm::Triple::NoSubArch:
    // Debian's armhf: the name says no version, and means the seventh.
    return "+armv7-a,+neon";
  default:
    return "";
  }
}

Result<void> cpu::checkBaseline(const Target &target,
                                const llvm::MCSubtargetInfo &info) {
  const llvm::Triple triple(target.triple);
  const std::string of =
      " code for '" + target.triple + "'" +
      (target.cpu.empty() ? "" : ", CPU '" + target.cpu + "'");
  std::vector<const char *> needs, excludes;
  if (triple.isX86() && triple.isArch64Bit()) {
    needs = {"64bit", "64bit-mode", "sse2"};
    excludes = {"16bit-mode", "32bit-mode", "soft-float"};
  } else if (isArm32(triple)) {
    if (passesFloatsInRegisters(triple)) {
      needs = {"vfp2sp"};
      excludes = {"soft-float"};
    }
  } else if (triple.isRISCV()) {
    needs = {triple.isArch64Bit() ? "64bit" : "32bit"};
    excludes = {"e"};
  }
  for (const char *needed : needs)
    if (!info.checkFeatures(std::string("+") + needed))
      return usageError("there is no" + of + ", without the feature '" +
                        needed + "'");
  for (const char *other : excludes)
    if (info.checkFeatures(std::string("+") + other))
      return usageError("there is no" + of + ", with the feature '" + other +
                        "'");
  return {};
}

void cpu::describe(Target &target, const llvm::MCSubtargetInfo &info) {
  const llvm::Triple triple(target.triple);
  target.pointerBits = triple.isArch64Bit() ? 64 : 32;
  if (triple.isX86())
    describeX86(target, info);
  else if (isArm32(triple))
    describeArm(target, info);
  else if (triple.isRISCV())
    describeRiscV(target, info);
  else if (triple.isAArch64())
    describeAArch64(target, info);
  target.rates = typicalRates(target);
  const std::vector<std::string_view> named = namedFeatures(triple);
  for (const llvm::SubtargetFeatureKV &feature :
       info.getEnabledProcessorFeatures())
    if (llvm::is_contained(named, std::string_view(feature.Key)))
      target.instructionSets.emplace_back(feature.Key);
}
