//===- Compiler.cpp - from a model to a program for the CPU ---------------===//

#include "backend/cpu/Compiler.h"

#include "backend/cpu/Prepare.h"
#include "backend/cpu/Registration.h"
#include "backend/cpu/Schedule.h"
#include "backend/cpu/codegen/Image.h"
#include "backend/cpu/emit/KernelEmitter.h"

#include "graph/nn/NnOps.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
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
  KernelOp kernel;
  KernelPlan plan;
  std::string name;
  /// The kernel, for the thread that compiles it.
  std::string bytecode;
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
/// context to another.
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
  builder.clone(*kernel, mapping);
  builder.create<func::ReturnOp>(location);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(*module, stream)))
    bytes.clear();
  return bytes;
}

/// Kernels that go through the compiler together: its passes cost some time
/// however small a module is.
constexpr size_t kernelsPerModule = 4;

class ParallelCompilation {
public:
  ParallelCompilation(ArrayRef<DistinctKernel> kernels, const Target &target,
                      const CpuOptions &options)
      : kernels(kernels), target(target), options(options),
        objects((kernels.size() + kernelsPerModule - 1) / kernelsPerModule),
        contracts(kernels.size()) {}

  struct Outcome {
    std::vector<ObjectFile> objects;
    /// One a function, in the order of the kernels and their stages.
    std::vector<KernelContract> contracts;
  };

  Result<Outcome> run(unsigned threads) {
    std::vector<std::thread> workers;
    for (unsigned i = 1; i < std::min<size_t>(threads, objects.size()); ++i)
      workers.emplace_back([this] { work(); });
    work();
    for (std::thread &worker : workers)
      worker.join();
    if (error)
      return std::move(*error);
    Outcome outcome{std::move(objects), {}};
    for (std::vector<KernelContract> &ofKernel : contracts)
      std::move(ofKernel.begin(), ofKernel.end(),
                std::back_inserter(outcome.contracts));
    return outcome;
  }

private:
  /// Each thread has a context of its own: dialects are loaded and messages
  /// handled per context.
  void work() {
    std::unique_ptr<MLIRContext> context = makeCodeContext();
    for (size_t i = next++; i < objects.size() && !failed; i = next++) {
      ArrayRef<DistinctKernel> batch = kernels.drop_front(i * kernelsPerModule);
      batch = batch.take_front(kernelsPerModule);
      Result<ObjectFile> object =
          compileBatch(context.get(), batch, i * kernelsPerModule);
      std::lock_guard<std::mutex> lock(mutex);
      if (!object) {
        failed = true;
        error = object.takeError();
        return;
      }
      objects[i] = std::move(*object);
      done += batch.size();
      if (options.progress)
        options.progress(done, kernels.size());
    }
  }

  /// \p first is the number of the batch's first kernel.
  Result<ObjectFile> compileBatch(MLIRContext *context,
                                  ArrayRef<DistinctKernel> batch,
                                  size_t first) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    for (const auto &[i, distinct] : llvm::enumerate(batch)) {
      OwningOpRef<ModuleOp> source =
          parseSourceString<ModuleOp>(distinct.bytecode, context);
      if (!source)
        return systemError("a kernel cannot be handed to the code generator");
      source->walk([&](KernelOp kernel) {
        contracts[first + i] =
            emitKernel(kernel, target, *module, distinct.name);
      });
    }
    if (options.dumpFolder.empty())
      return compile(*module, target);
    std::string mlir, llvmIr, assembly;
    CodegenDumps dumps{&mlir, &llvmIr, &assembly};
    Result<ObjectFile> object = compile(*module, target, dumps);
    const std::string stem = options.dumpFolder + "/" + batch.front().name;
    std::ofstream(stem + ".mlir") << mlir;
    std::ofstream(stem + ".ll") << llvmIr;
    std::ofstream(stem + ".s") << assembly;
    return object;
  }

  ArrayRef<DistinctKernel> kernels;
  const Target &target;
  const CpuOptions &options;
  std::vector<ObjectFile> objects;
  std::vector<std::vector<KernelContract>> contracts;
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::mutex mutex;
  size_t done = 0;
  std::optional<Error> error;
};

/// What decides a kernel's code, as text.
std::string structureOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, OpPrintingFlags().useLocalScope().printGenericOpForm());
  return text;
}

bool hasElements(KernelOp kernel) {
  return llvm::any_of(kernel.getResultTypes(), [](Type type) {
    return cast<RankedTensorType>(type).getNumElements() != 0;
  });
}

unsigned threadCount(unsigned wanted) {
  return wanted ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

Result<void> compileKernels(func::FuncOp function, const Target &target,
                            const CpuOptions &options,
                            std::vector<DistinctKernel> &distinct,
                            KernelTable &table, Compiled &compiled) {
  llvm::StringMap<uint32_t> known;
  SmallVector<std::pair<Operation *, uint32_t>> uses;
  function.walk([&](KernelOp kernel) {
    if (!hasElements(kernel))
      return;
    auto [entry, isNew] =
        known.try_emplace(structureOf(kernel), distinct.size());
    if (isNew)
      distinct.push_back({kernel, planKernel(kernel, target),
                          "kernel" + std::to_string(distinct.size()),
                          serialize(kernel)});
    uses.push_back({kernel, entry->second});
  });
  std::vector<uint32_t> firstEntries;
  for (const DistinctKernel &kernel : distinct) {
    firstEntries.push_back(compiled.names.size());
    for (size_t i = 0; i < std::max<size_t>(1, kernel.plan.stages.size()); ++i)
      compiled.names.push_back(stageName(kernel.name, i));
  }
  for (auto [kernel, index] : uses)
    table[kernel] = {firstEntries[index], &distinct[index].plan};

  const unsigned threads = threadCount(options.threads);
  Result<ParallelCompilation::Outcome> outcome =
      ParallelCompilation(distinct, target, options).run(threads);
  if (!outcome)
    return outcome.takeError();
  compiled.objects = std::move(outcome->objects);
  compiled.program.kernels = std::move(outcome->contracts);
  return {};
}

} // namespace

Result<Compiled> cpu::compileToObjects(const Model &original,
                                       const CpuOptions &options) {
  Result<Target> target = options.target ? *options.target : Target::host();
  if (!target)
    return target.takeError();
  // vcvtneps2bf16 takes denormal numbers for zero whatever the mode says.
  if (options.denormals == Denormals::Keep)
    target->convertsBF16 = false;
  auto model = std::make_shared<Model>(original.clone());
  loadCpuDialect(model->context());
  SimplifyOptions passes = options.passes;
  passes.verifiesWhatRuns = true;
  SimplifyReport report;
  if (Result<void> done =
          prepare(*model, {*target, options.fastConvolution}, passes, report);
      !done)
    return done.takeError();
  if (options.onPrepared)
    options.onPrepared(report);

  Compiled compiled;
  Program &program = compiled.program;
  program.triple = target->triple;
  program.features = target->instructionSets;
  program.producer = "sinter " SINTER_VERSION;
  program.inputs = original.inputs();
  program.outputs = original.outputs();
  std::vector<DistinctKernel> distinct;
  KernelTable table;
  if (Result<void> done = compileKernels(model->entry(), *target, options,
                                         distinct, table, compiled);
      !done)
    return done.takeError();
  if (Result<void> done = schedule(model, table, program); !done)
    return done.takeError();
  return compiled;
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
