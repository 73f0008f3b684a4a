//===- KernelBuilder.cpp - builds the code of a kernel --------------------===//

#include "backend/cpu/kernels/common/KernelBuilder.h"

#include "backend/cpu/target/Target.h"

using namespace mlir;
using namespace sinter::cpu;

static constexpr const char *avx512Attribute = "sinter.avx512";
static constexpr const char *fmaAttribute = "sinter.fma";
static constexpr const char *divisionAttribute = "sinter.slow_division";
static constexpr const char *permutationAttribute = "sinter.byte_permutation";
static constexpr const char *shuffleAttribute = "sinter.byte_shuffle";
static constexpr const char *indexAttribute = "sinter.index_bits";

void sinter::cpu::tellMachine(ModuleOp module, const Target &target) {
  auto yes = UnitAttr::get(module.getContext());
  if (target.hasAvx512)
    module->setAttr(avx512Attribute, yes);
  if (target.hasFma)
    module->setAttr(fmaAttribute, yes);
  if (target.dividesSlowly)
    module->setAttr(divisionAttribute, yes);
  if (target.permutesBytes)
    module->setAttr(permutationAttribute, yes);
  if (target.pointerBits != 64)
    module->setAttr(
        indexAttribute,
        Builder(module.getContext()).getI64IntegerAttr(target.pointerBits));
  if (target.shuffledBytes > 0)
    module->setAttr(
        shuffleAttribute,
        Builder(module.getContext()).getI64IntegerAttr(target.shuffledBytes));
}

static ModuleOp moduleOf(OpBuilder &builder) {
  return builder.getInsertionBlock()
      ->getParentOp()
      ->getParentOfType<ModuleOp>();
}

/// The value of the integer attribute; 0 if there is none.
static int64_t numberIn(ModuleOp module, StringRef name) {
  auto number = module->getAttrOfType<IntegerAttr>(name);
  return number ? number.getInt() : 0;
}

unsigned sinter::cpu::indexBitsOf(ModuleOp module) {
  const int64_t bits = numberIn(module, indexAttribute);
  return bits == 0 ? 64 : unsigned(bits);
}

KernelBuilder::KernelBuilder(OpBuilder &builder, Location location)
    : IndexBuilder(builder, location),
      hasAvx512(moduleOf(builder)->hasAttr(avx512Attribute)),
      hasFma(moduleOf(builder)->hasAttr(fmaAttribute)),
      dividesSlowly(moduleOf(builder)->hasAttr(divisionAttribute)),
      permutesBytes(moduleOf(builder)->hasAttr(permutationAttribute)),
      shuffledBytes(numberIn(moduleOf(builder), shuffleAttribute)) {}
