//===- BundleCompiler.cpp - from a model to a bundle ----------------------===//

#include "backend/cpu/ahead/BundleCompiler.h"

#include "backend/cpu/ahead/CodeFile.h"
#include "backend/cpu/ahead/EntryPoints.h"
#include "backend/cpu/ahead/FloatModeCode.h"
#include "backend/cpu/ahead/KernelModule.h"
#include "backend/cpu/ahead/StepLines.h"
#include "backend/cpu/program/Compiler.h"
#include "runtime/OptionNames.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace sinter;
using namespace sinter::cpu;

/// Code refers to its constants by offsets of 32 bits.
static constexpr uint64_t mostWeightsInCode = uint64_t(1) << 30;

static Result<void> checkTarget(const Target &target) {
  const llvm::Triple triple(target.triple);
  if (FloatModeCode::knows(triple) && triple.isOSBinFormatELF())
    return {};
  return unsupported("code without a runtime library can be made for ELF "
                     "systems on x86_64 and aarch64, not for '" +
                     target.triple + "'");
}

static Result<void> checkWeights(const BundleLayout &layout,
                                 const BundleOptions &options) {
  if (options.weights == BundleWeights::InFile ||
      layout.weights.size() <= mostWeightsInCode)
    return {};
  return withHint(optionText("weights") + " file gives them a file",
                  usageError(std::to_string(layout.weights.size()) +
                             " bytes of weights are too many to be in code"));
}

/// A hash of all that the bundle is: \p module before it has the hash, without
/// debug information, the weights and the tensors.
static Hash128 bundleHash(const llvm::Module &module, const Target &target,
                          const BundleLayout &layout) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  const std::unique_ptr<llvm::Module> bare = StepLines::strip(module);
  llvm::WriteBitcodeToFile(bare ? *bare : module, stream);
  Hasher hasher;
  hasher.add(SINTER_VERSION).add(target.triple).add(target.cpu);
  hasher.add(std::as_bytes(std::span(bitcode.data(), bitcode.size())));
  hasher.add(std::as_bytes(std::span(layout.weights)));
  for (const auto *tensors : {&layout.inputs, &layout.outputs, &layout.states})
    for (const BundleTensor &tensor : *tensors) {
      hasher.add(tensor.spec.name).add(name(tensor.spec.type));
      hasher.add(std::as_bytes(std::span(tensor.spec.shape)));
    }
  return hasher.finish();
}

static Result<Target> targetOf(const CpuOptions &options) {
  return options.target ? *options.target : Target::host();
}

Result<Bundle> cpu::compileBundle(const Model &model, CpuOptions options,
                                  const BundleOptions &bundle) {
  Result<Target> target = targetOf(options);
  if (!target)
    return target.takeError();
  if (Result<void> known = checkTarget(*target); !known)
    return known.takeError();
  options.format = CodeFormat::Bitcode;
  options.accepts = checkNeedsNoRuntime;
  Result<Compiled> compiled = compileToObjects(model, options);
  if (!compiled)
    return compiled.takeError();
  // Entries stand for functions that are not linked yet.
  Program &program = compiled->program;
  program.code.entries.assign(compiled->names.size(), 0);
  if (Result<void> sound = verifySteps(program, program.steps); !sound)
    return sound.takeError();
  Result<BundleLayout> layout = BundleLayout::of(program, bundle.weights);
  if (!layout)
    return layout.takeError();
  if (Result<void> fit = checkWeights(*layout, bundle); !fit)
    return fit.takeError();

  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module =
      joinKernels(context, compiled->objects, bundle.name, *target);
  if (!module)
    return module.takeError();
  std::optional<StepLines> lines;
  if (!bundle.listing.empty()) {
    lines.emplace(**module, bundle.name, bundle.listing);
    lines->addSteps(program.steps, compiled->names);
  }
  if (Result<void> added = addEntryPoints(
          **module, {program, *layout, bundle, options.denormals,
                     compiled->names, lines ? &*lines : nullptr});
      !added)
    return added.takeError();
  Bundle made;
  made.hash = bundleHash(**module, *target, *layout);
  addHashFunction(**module, bundle.name, made.hash.text());
  if (lines)
    made.listing = lines->finish();
  Result<CodeFile> file =
      emitCodeFile(**module, *target, usesMatrixUnits(&program), bundle);
  if (!file)
    return file.takeError();

  made.name = bundle.name;
  made.version = SINTER_VERSION;
  made.triple = target->triple;
  made.cpu = target->cpu;
  made.features = program.features;
  made.denormals = options.denormals;
  made.workspaceBytes = layout->workspaceBytes;
  made.isParallel = bundle.isParallel;
  made.threadBytes = bundle.isParallel ? layout->scratchBytes : 0;
  made.stateBytes = layout->stateBytes;
  made.weightBytes = layout->weights.size();
  made.inputs = std::move(layout->inputs);
  made.outputs = std::move(layout->outputs);
  made.states = std::move(layout->states);
  made.codeBytes = file->facts.codeBytes;
  made.dataBytes = file->facts.dataBytes;
  made.stackBytes = file->stackBytes;
  made.externals = std::move(file->facts.undefined);
  std::erase(made.externals, bundle.name + "_weights");
  made.form = bundle.code;
  made.weightsIn = bundle.weights;
  made.code = std::move(file->bytes);
  made.also = std::move(file->also);
  if (bundle.weights == BundleWeights::InCode)
    made.dataBytes -= made.weightBytes;
  else
    made.weights = std::move(layout->weights);
  return made;
}
