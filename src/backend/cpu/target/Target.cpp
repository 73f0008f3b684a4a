//===- Target.cpp - the machine that code is made for ---------------------===//

#include "backend/cpu/target/Target.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

#include <mutex>

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
// For the assembly of FloatModeCode and MatrixPermission; that of kernels has
// no text.
void LLVMInitializeRISCVAsmParser();
void LLVMInitializeX86AsmParser();
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
    LLVMInitializeRISCVAsmParser();
    LLVMInitializeX86AsmParser();
  });
}

bool cpu::isArm32(const llvm::Triple &triple) {
  return triple.isARM() || triple.isThumb();
}

Result<std::unique_ptr<llvm::TargetMachine>> Target::createMachine() const {
  initializeTargets();
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return withHint("`sinter targets` lists targets",
                    usageError("unknown target '" + triple + "': " + message));
  llvm::TargetOptions options;
  options.FunctionSections = false;
  // Where nothing loads code, its addresses are known when it is linked.
  const llvm::Triple parsed(triple);
  const bool isPlaced =
      parsed.getOS() == llvm::Triple::UnknownOS && isArm32(parsed);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu, features, options,
      isPlaced ? llvm::Reloc::Static : llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine)
    return usageError("no code generator for target '" + triple + "'");
  return machine;
}

/// The part of a ceiling that kernels reach around their products: measured
/// with direct and fast convolutions of ResNets (Zen 5).
static constexpr double reachedArithmetic = 0.71, reachedCache = 0.33,
                        reachedMemory = 0.77;

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
