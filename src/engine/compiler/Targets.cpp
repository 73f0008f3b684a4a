//===- Targets.cpp - what is known of CPUs to compile for -----------------===//

#include "backend/cpu/ahead/BundleCompiler.h"
#include "backend/cpu/target/KnownCpus.h"
#include "backend/cpu/target/Target.h"
#include "engine/compiler/MlirCompiler.h"

using namespace sinter;

static TargetFacts factsOf(const cpu::Target &target, const std::string &triple,
                           const std::string &name) {
  TargetFacts facts;
  facts.triple = triple;
  facts.cpu = name;
  facts.features = target.instructionSets;
  facts.pointerBits = target.pointerBits;
  facts.hasFpu = target.hasFloats;
  facts.fuses = target.hasFma;
  if (target.hasVectors) {
    facts.vectorBits = target.vectorBytes() * 8;
    facts.vectorRegisters = target.vectorRegisters;
  }
  const bool hasInt8 = target.hasVnni || target.hasPairSum ||
                       target.hasSignedDotProduct || target.hasLongPairSum;
  for (const auto &[isThere, type] :
       {std::pair{hasInt8, "int8"},
        std::pair{target.hasBF16Dot || target.hasBF16Matrices, "bf16"}})
    if (isThere)
      facts.lowPrecision.emplace_back(type);
  facts.hasMatrixUnits = target.hasMatrixUnits;
  facts.l1Bytes = target.l1Bytes;
  facts.l2Bytes = target.l2Bytes;
  return facts;
}

/// Adds \p cpu of \p triple to \p all.
static Result<void> addFacts(const std::string &triple, const std::string &name,
                             std::vector<TargetFacts> &all) {
  Result<cpu::Target> target = cpu::Target::named(triple, name, "");
  if (!target)
    return target.takeError();
  all.push_back(factsOf(*target, triple, name));
  return {};
}

Result<std::vector<TargetFacts>>
MlirCompiler::targets(const std::string &triple) {
  std::vector<TargetFacts> all;
  if (triple.empty()) {
    for (const cpu::KnownCpu &row : cpu::knownCpus())
      if (Result<void> added = addFacts(row.triple, row.cpu, all); !added)
        return added.takeError();
    return all;
  }
  Result<std::vector<std::string>> names = cpu::Target::cpusOf(triple);
  if (!names)
    return names.takeError();
  if (Result<void> known = cpu::checkBundleTarget(triple); !known)
    return known.takeError();
  if (Result<void> added = addFacts(triple, "", all); !added)
    return added.takeError();
  // Some CPUs of an architecture lack what code for this target relies on.
  for (const std::string &name : *names)
    (void)addFacts(triple, name, all);
  return all;
}
