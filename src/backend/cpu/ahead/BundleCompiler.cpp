//===- BundleCompiler.cpp - from a model to a bundle ----------------------===//

#include "backend/cpu/ahead/BundleCompiler.h"

#include "backend/cpu/ahead/CodeFile.h"
#include "backend/cpu/ahead/EntryPoints.h"
#include "backend/cpu/ahead/FloatModeCode.h"
#include "backend/cpu/ahead/KernelModule.h"
#include "backend/cpu/ahead/RuntimeCalls.h"
#include "backend/cpu/ahead/SharedWeights.h"
#include "backend/cpu/ahead/StepLines.h"
#include "runtime/OptionNames.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <limits>

using namespace sinter;
using namespace sinter::cpu;

/// Code refers to its constants by offsets of 32 bits.
static constexpr uint64_t mostWeightsInCode = uint64_t(1) << 30;

Result<void> cpu::checkBundleTarget(const std::string &name) {
  const llvm::Triple triple(name);
  if (FloatModeCode::knows(triple) && triple.isOSBinFormatELF())
    return {};
  return withHint("`sinter targets` lists targets",
                  unsupported("code without a runtime library cannot be made "
                              "for '" +
                              name + "'"));
}

static Result<void> checkTarget(const Target &target,
                                const CpuOptions &options) {
  if (Result<void> good = checkBundleTarget(target.triple); !good)
    return good;
  if (target.flushesAlways && options.denormals == Denormals::Keep)
    return unsupported("vectors of floats on '" + target.triple +
                       "' make zeros of denormal numbers in every mode");
  return {};
}

/// Checks that the parts of \p layout can be addressed by \p target.
static Result<void> checkSizes(const BundleLayout &layout,
                               const Target &target) {
  if (target.pointerBits == 64)
    return {};
  // Numbers of bytes are computed with 64 bits at run time.
  if (!layout.workspaceBytes)
    return withHint(optionText("max") + " bounds them",
                    unsupported("sizes without a bound may be too large for "
                                "the pointers of '" +
                                target.triple + "', which have 32 bits"));
  const auto fits = [](uint64_t bytes) {
    return bytes <= uint64_t(std::numeric_limits<int32_t>::max());
  };
  const uint64_t workspace = *layout.workspaceBytes;
  bool allFit =
      fits(workspace) && fits(layout.stateBytes) && fits(layout.weights.size());
  uint64_t all = workspace + layout.stateBytes + layout.weights.size();
  for (const auto *tensors : {&layout.inputs, &layout.outputs})
    for (const BundleTensor &tensor : *tensors) {
      allFit &= fits(tensor.bytes);
      all += tensor.bytes;
    }
  if (allFit && all <= std::numeric_limits<uint32_t>::max())
    return {};
  return unsupported("the model needs " + std::to_string(all) +
                     " bytes of memory, too many for the pointers of '" +
                     target.triple + "', which have 32 bits");
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

/// Adds the interface of \p layout to \p hasher.
static void addInterface(Hasher &hasher, const BundleLayout &layout) {
  for (const auto *tensors : {&layout.inputs, &layout.outputs, &layout.states})
    for (const BundleTensor &tensor : *tensors) {
      hasher.add(tensor.spec.name).add(name(tensor.spec.type));
      hasher.add(std::as_bytes(std::span(tensor.spec.shape)));
      for (const std::string &dimension : tensor.dimensions)
        hasher.add(dimension);
    }
  if (layout.dynamic)
    for (const BundleSize &size : layout.dynamic->sizes)
      hasher.add(size.name);
}

/// A hash of all that the bundle is: \p module before it has the hash, without
/// debug information, the weights and the interfaces.
static Hash128 bundleHash(const llvm::Module &module, const Target &target,
                          llvm::ArrayRef<BundleLayout> layouts) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*StepLines::strip(module), stream);
  Hasher hasher;
  hasher.add(SINTER_VERSION).add(target.triple).add(target.cpu);
  hasher.add(std::as_bytes(std::span(bitcode.data(), bitcode.size())));
  hasher.add(std::as_bytes(std::span(layouts.front().weights)));
  for (const BundleLayout &layout : layouts)
    addInterface(hasher, layout);
  return hasher.finish();
}

static Result<Target> targetOf(const CpuOptions &options) {
  return options.target ? *options.target : Target::host();
}

Result<BundlePart> cpu::compilePart(const std::string &name, const Model &model,
                                    CpuOptions options, bool mayCallRuntime) {
  Result<Target> target = targetOf(options);
  if (!target)
    return target.takeError();
  if (Result<void> known = checkTarget(*target, options); !known)
    return known.takeError();
  options.format = CodeFormat::Bitcode;
  options.accepts = [mayCallRuntime](const Program &program) {
    return checkNeedsNoRuntime(program, mayCallRuntime);
  };
  Result<Compiled> compiled = compileToObjects(model, options);
  if (!compiled)
    return compiled.takeError();
  // Entries stand for functions that are not linked yet.
  Program &program = compiled->program;
  program.code.entries.assign(compiled->names.size(), 0);
  if (!program.dynamic)
    if (Result<void> sound = verifySteps(program, program.steps); !sound)
      return sound.takeError();
  return BundlePart{name, std::move(*compiled)};
}

/// Where all that \p parts use is; the weights of all are in the first.
static Result<std::vector<BundleLayout>>
layOut(llvm::ArrayRef<BundlePart> parts, const Target &target,
       const BundleOptions &options) {
  std::vector<const Program *> programs;
  std::vector<BundleLayout> layouts;
  for (const BundlePart &part : parts) {
    programs.push_back(&part.compiled.program);
    Result<BundleLayout> layout =
        BundleLayout::of(part.compiled.program, options.most);
    if (!layout)
      return layout.takeError();
    layouts.push_back(std::move(*layout));
  }
  if (Result<void> same = checkSameStates(programs); !same)
    return same.takeError();
  std::vector<LaidOut> all;
  for (auto [program, layout] : llvm::zip_equal(programs, layouts))
    all.push_back({program, &layout});
  layOutWeights(all, options.weights);
  for (const BundleLayout &layout : layouts)
    if (Result<void> fit = checkSizes(layout, target); !fit)
      return fit.takeError();
  if (Result<void> fit = checkWeights(layouts.front(), options); !fit)
    return fit.takeError();
  return layouts;
}

/// The kernels of all parts; those of one name are the same.
static std::vector<ObjectFile> kernelsOf(std::vector<BundlePart> &parts) {
  std::vector<ObjectFile> kernels;
  llvm::StringSet<> known;
  for (BundlePart &part : parts)
    for (ObjectFile &object : part.compiled.objects)
      if (known.insert(llvm::StringRef(object.data(), object.size())).second)
        kernels.push_back(std::move(object));
  return kernels;
}

static BundleInterface interfaceOf(const std::string &name, bool isParallel,
                                   BundleLayout &layout) {
  BundleInterface made;
  made.name = name;
  made.threadBytes = isParallel ? layout.scratchBytes : 0;
  made.workspaceBytes = layout.workspaceBytes;
  if (layout.dynamic)
    made.sizes = std::move(layout.dynamic->sizes);
  made.inputs = std::move(layout.inputs);
  made.outputs = std::move(layout.outputs);
  return made;
}

/// Adds what a processor must have for \p parts. Returns whether one uses AMX.
static bool addFeatures(llvm::ArrayRef<BundlePart> parts, Bundle &made) {
  bool usesTiles = false;
  for (const BundlePart &part : parts) {
    usesTiles |= usesMatrixUnits(&part.compiled.program);
    for (const std::string &feature : part.compiled.program.features)
      if (!llvm::is_contained(made.features, feature))
        made.features.push_back(feature);
  }
  return usesTiles;
}

Result<Bundle> cpu::makeBundle(std::vector<BundlePart> parts,
                               const CpuOptions &options,
                               const BundleOptions &bundle) {
  Result<Target> target = targetOf(options);
  if (!target)
    return target.takeError();
  Result<std::vector<BundleLayout>> layouts = layOut(parts, *target, bundle);
  if (!layouts)
    return layouts.takeError();
  // The layouts have what is used of them.
  for (BundlePart &part : parts)
    part.compiled.program.constants = {};
  llvm::LLVMContext context;
  Result<std::unique_ptr<llvm::Module>> module =
      joinKernels(context, kernelsOf(parts), bundle.name, *target);
  if (!module)
    return module.takeError();
  std::optional<StepLines> lines;
  if (!bundle.listing.empty()) {
    lines.emplace(**module, bundle.name, bundle.listing);
    for (const BundlePart &part : parts)
      lines->addSteps(part.compiled.program.steps, part.compiled.names);
  }
  std::vector<EntryRequest> requests;
  for (auto [part, layout] : llvm::zip_equal(parts, *layouts))
    requests.push_back({part.name, part.compiled.program, layout, *target,
                        bundle, options.denormals, part.compiled.names,
                        lines ? &*lines : nullptr});
  if (Result<void> added = addEntryPoints(**module, requests); !added)
    return added.takeError();
  Bundle made;
  made.hash = bundleHash(**module, *target, *layouts);
  addHashFunction(**module, bundle.name, made.hash.text());
  // The weights of all.
  BundleLayout &first = layouts->front();
  made.weightBytes = first.weights.size();
  if (bundle.weights == BundleWeights::InCode) {
    setWeights(**module, bundle.name, first.weights);
    first.weights = {};
  }
  if (lines)
    made.listing = lines->finish();
  const bool usesTiles = addFeatures(parts, made);
  Result<CodeFile> file = emitCodeFile(**module, *target, usesTiles, bundle);
  if (!file)
    return file.takeError();

  made.version = SINTER_VERSION;
  made.triple = target->triple;
  made.cpu = target->cpu;
  made.denormals = options.denormals;
  made.isParallel = bundle.isParallel;
  made.needsRuntime = llvm::any_of(parts, [](const BundlePart &part) {
    return mostTensorsOfCalls(part.compiled.program.steps) != 0;
  });
  made.stateBytes = first.stateBytes;
  made.states = std::move(first.states);
  made.name = bundle.name;
  for (auto [part, layout] : llvm::zip_equal(parts, *layouts))
    made.entries.push_back(interfaceOf(part.name, bundle.isParallel, layout));
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
    made.weights = std::move(first.weights);
  return made;
}
