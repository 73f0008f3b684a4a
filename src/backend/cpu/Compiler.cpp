//===- Compiler.cpp - from a model to a program for the CPU ---------------===//

#include "backend/cpu/Compiler.h"

#include "backend/cpu/KernelCache.h"
#include "backend/cpu/NameSizes.h"
#include "backend/cpu/Prepare.h"
#include "backend/cpu/Registration.h"
#include "backend/cpu/Schedule.h"
#include "backend/cpu/codegen/Image.h"
#include "backend/cpu/emit/KernelEmitter.h"

#include "graph/nn/NnOps.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "runtime/CpuFeatures.h"
#include "llvm/ADT/StringMap.h"

#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Kernels with the same code.
struct DistinctKernel {
  KernelPlan plan;
  std::string name;
  /// The kernel, for the thread that compiles it, and the hash of that.
  std::string bytecode;
  Hash128 key;
  /// A layer that it computes.
  std::string layer;

  /// A stage is a function.
  size_t functions() const { return std::max<size_t>(1, plan.stages.size()); }
};

/// A context for code, with every dialect that passes would load on the way.
std::unique_ptr<MLIRContext> makeCodeContext() {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  registerCpuDialect(registry);
  registry.insert<func::FuncDialect>();
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// \p kernel alone, in a function of its inputs, as bytecode: the way from one
/// context to another. Where it stands in the user's file is left out.
std::string serialize(KernelOp kernel) {
  OpBuilder builder(kernel.getContext());
  Location location = UnknownLoc::get(kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(
      location, "kernel",
      builder.getFunctionType(kernel->getOperandTypes(), {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  mapping.map(kernel->getOperands(), body->getArguments());
  builder.clone(*kernel, mapping)->walk([&](Operation *op) {
    op->setLoc(location);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(location);
  });
  builder.create<func::ReturnOp>(location);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(*module, stream)))
    bytes.clear();
  return bytes;
}

/// Compiles kernels, or finds their code where it was kept. Other threads work
/// from start() on, and that of the caller in finish(), too.
class ParallelCompilation {
public:
  ParallelCompilation(ArrayRef<DistinctKernel> kernels,
                      const KernelCache &cache, const Target &target,
                      const CpuOptions &options)
      : kernels(kernels), cache(cache), target(target), options(options),
        compiled(kernels.size()) {
    if (options.stages)
      observer = [this](const CompileStage &stage) {
        std::lock_guard<std::mutex> lock(mutex);
        this->options.stages(stage);
      };
  }

  ParallelCompilation(const ParallelCompilation &) = delete;
  ParallelCompilation &operator=(const ParallelCompilation &) = delete;

  /// Stops early if nobody waited for the code.
  ~ParallelCompilation() {
    failed = true;
    join();
  }

  void start(unsigned threads) {
    for (auto [i, kernel] : llvm::enumerate(kernels)) {
      if (auto known = cache.lookup(kernel.key, kernel.functions()))
        compiled[i] = std::move(*known);
      else
        missing.push_back(i);
    }
    done = kernels.size() - missing.size();
    if (done != 0 && options.progress)
      options.progress(done, kernels.size());
    for (unsigned i = 1; i < std::min<size_t>(threads, missing.size()); ++i)
      workers.emplace_back([this, i] { work(i); });
  }

  /// The code of all kernels, in their order.
  Result<std::vector<KernelCode>> finish() {
    if (!missing.empty())
      work(0);
    join();
    if (error)
      return std::move(*error);
    return std::move(compiled);
  }

private:
  void join() {
    for (std::thread &worker : workers)
      worker.join();
    workers.clear();
  }

  /// Each thread has a context of its own: dialects are loaded and messages
  /// handled per context.
  void work(unsigned thread) {
    std::unique_ptr<MLIRContext> context = makeCodeContext();
    for (size_t i = next++; i < missing.size() && !failed; i = next++) {
      const DistinctKernel &kernel = kernels[missing[i]];
      Result<KernelCode> code = compileKernel(context.get(), kernel, thread);
      if (code)
        cache.store(kernel.key, *code);
      std::lock_guard<std::mutex> lock(mutex);
      if (!code) {
        failed = true;
        error = code.takeError();
        return;
      }
      compiled[missing[i]] = std::move(*code);
      ++done;
      if (options.progress)
        options.progress(done, kernels.size());
    }
  }

  Result<KernelCode> compileKernel(MLIRContext *context,
                                   const DistinctKernel &kernel,
                                   unsigned thread) {
    CompileStages stages(observer, kernel.layer, thread);
    OwningOpRef<ModuleOp> source =
        parseSourceString<ModuleOp>(kernel.bytecode, context);
    if (!source)
      return systemError("a kernel cannot be handed to the code generator");
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    KernelCode code;
    std::optional<Error> refused;
    source->walk([&](KernelOp op) {
      Result<std::vector<KernelContract>> contracts =
          emitKernel(op, target, *module, kernel.name);
      if (contracts)
        code.contracts = std::move(*contracts);
      else
        refused = contracts.takeError();
    });
    if (refused)
      return std::move(*refused);
    if (options.onCode)
      options.onCode(*module);
    stages.end("emit");
    std::string mlir, llvmIr, assembly;
    const bool dumps = !options.dumpFolder.empty();
    Result<ObjectFile> object = compile(
        *module, target,
        dumps ? CodegenDumps{&mlir, &llvmIr, &assembly} : CodegenDumps(),
        &code.features, &stages);
    if (!object)
      return object.takeError();
    code.object = std::move(*object);
    if (dumps) {
      const std::string stem = options.dumpFolder + "/" + kernel.name;
      std::ofstream(stem + ".mlir") << mlir;
      std::ofstream(stem + ".ll") << llvmIr;
      std::ofstream(stem + ".s") << assembly;
    }
    return code;
  }

  ArrayRef<DistinctKernel> kernels;
  const KernelCache &cache;
  const Target &target;
  const CpuOptions &options;
  std::vector<KernelCode> compiled;
  /// The numbers of those that are not in the cache.
  std::vector<size_t> missing;
  std::vector<std::thread> workers;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  /// Tells of stages, one thread at a time.
  CompileObserver observer;
  size_t done = 0;
  std::optional<Error> error;
};

bool hasElements(KernelOp kernel) {
  return llvm::any_of(kernel.getResults(), [](Value result) {
    return !llvm::is_contained(shapeOf(result), 0);
  });
}

unsigned threadCount(unsigned wanted) {
  return wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

/// What a program needs of \p target if no kernel uses matrix units: LLVM may
/// use everything else wherever it likes.
std::vector<std::string> commonFeatures(const Target &target) {
  std::vector<std::string> features = target.instructionSets;
  std::erase_if(features, isMatrixFeature);
  return features;
}

/// Lets \p program need \p features, too.
void addFeatures(Program &program, const std::vector<std::string> &features) {
  for (const std::string &feature : features)
    if (!llvm::is_contained(program.features, feature))
      program.features.push_back(feature);
}

/// Plans the kernels of \p function.
Result<void> planKernels(func::FuncOp function, const Target &target,
                         const KernelCache &cache, const CpuOptions &options,
                         std::vector<DistinctKernel> &distinct,
                         KernelTable &table, Compiled &compiled) {
  llvm::StringMap<uint32_t> known;
  SmallVector<std::pair<Operation *, uint32_t>> uses;
  Result<void> isKept = {};
  function.walk([&](KernelOp kernel) {
    if (isKept)
      isKept = checkOpen(kernel);
  });
  if (!isKept)
    return isKept;
  function.walk([&](KernelOp kernel) {
    if (!hasElements(kernel))
      return;
    auto [entry, isNew] =
        known.try_emplace(kernel.structure(), distinct.size());
    if (isNew) {
      std::string bytecode = serialize(kernel);
      const Hash128 key = cache.keyOf(bytecode);
      distinct.push_back({planKernel(kernel, target), "kernel_" + key.text(),
                          std::move(bytecode), key, layerOf(kernel->getLoc())});
    }
    uses.push_back({kernel, entry->second});
  });
  std::vector<uint32_t> firstEntries;
  for (const DistinctKernel &kernel : distinct) {
    firstEntries.push_back(compiled.names.size());
    for (size_t i = 0; i < kernel.functions(); ++i)
      compiled.names.push_back(stageName(kernel.name, i));
  }
  for (auto [kernel, index] : uses)
    if (Result<void> open =
            checkOpen(cast<KernelOp>(kernel), distinct[index].plan);
        !open)
      return open;
  for (auto [kernel, index] : uses) {
    const KernelPlan &plan = distinct[index].plan;
    table[kernel] = {firstEntries[index], &plan};
    if (options.onChoice && !plan.alternatives.empty())
      options.onChoice(layerOf(kernel->getLoc()), plan.alternatives);
  }
  return {};
}

void addCode(std::vector<KernelCode> code, Compiled &compiled) {
  for (KernelCode &kernel : code) {
    compiled.objects.push_back(std::move(kernel.object));
    addFeatures(compiled.program, kernel.features);
    std::move(kernel.contracts.begin(), kernel.contracts.end(),
              std::back_inserter(compiled.program.kernels));
  }
}

} // namespace

static PassSetting settingOf(const CpuOptions &options, const Target &target,
                             PassSetting::UnknownSizes unknown) {
  PassSetting setting{target, options.precision, unknown, nullptr};
  if (options.onChoice)
    setting.onChoice = [&](Location location, const Alternatives &all) {
      options.onChoice(layerOf(location), all);
    };
  return setting;
}

static Result<Compiled> compileTo(const Model &original,
                                  const CpuOptions &options, bool withCode) {
  Result<Target> target = options.target ? *options.target : Target::host();
  if (!target)
    return target.takeError();
  // vcvtneps2bf16 takes denormal numbers for zero whatever the mode says.
  if (options.denormals == Denormals::Keep)
    target->convertsBF16 = false;
  if (options.ceilings && !options.target)
    target->setRates(*options.ceilings);
  auto model = std::make_shared<Model>(original.clone());
  loadCpuDialect(model->context());
  SimplifyOptions passes = options.passes;
  passes.verifiesWhatRuns = true;
  SimplifyReport report;
  using enum PassSetting::UnknownSizes;
  const PassSetting::UnknownSizes unknown = isOpen(original) ? OfInputs
                                            : hasUnknownSizes(original.entry())
                                                ? Computed
                                                : None;
  if (Result<void> done =
          prepare(*model, settingOf(options, *target, unknown), passes, report);
      !done)
    return done.takeError();
  if (options.onPrepared)
    options.onPrepared(report);

  Compiled compiled;
  Program &program = compiled.program;
  program.triple = target->triple;
  program.features = commonFeatures(*target);
  program.producer = "sinter " SINTER_VERSION;
  program.isOfProcess = static_cast<bool>(options.onCode);
  program.inputs = original.inputs();
  program.outputs = original.outputs();
  std::vector<DistinctKernel> distinct;
  KernelTable table;
  const KernelCache cache(options.kernelFolder, options.compiler, *target);
  if (Result<void> done = planKernels(model->entry(), *target, cache, options,
                                      distinct, table, compiled);
      !done)
    return done.takeError();
  // Weights are packed by this thread while others compile.
  ParallelCompilation compilation(distinct, cache, *target, options);
  if (withCode)
    compilation.start(threadCount(options.threads));
  if (Result<void> done = schedule(model, table, program); !done)
    return done.takeError();
  if (!withCode)
    return compiled;
  Result<std::vector<KernelCode>> code = compilation.finish();
  if (!code)
    return code.takeError();
  addCode(std::move(*code), compiled);
  return compiled;
}

Result<Compiled> cpu::compileToObjects(const Model &model,
                                       const CpuOptions &options) {
  return compileTo(model, options, /*withCode=*/true);
}

Result<Program> cpu::planForCpu(const Model &model, const CpuOptions &options) {
  Result<Compiled> compiled = compileTo(model, options, /*withCode=*/false);
  if (!compiled)
    return compiled.takeError();
  return std::move(compiled->program);
}

Result<Program> cpu::linkProgram(Compiled compiled) {
  Result<CodeImage> image = link(compiled.objects, compiled.names);
  if (!image)
    return image.takeError();
  compiled.program.code = std::move(*image);
  return std::move(compiled.program);
}

Result<Program> cpu::compileForCpu(const Model &model,
                                   const CpuOptions &options) {
  Result<Compiled> compiled = compileToObjects(model, options);
  if (!compiled)
    return compiled.takeError();
  return linkProgram(std::move(*compiled));
}
