//===- KernelCompilation.cpp - the code of a program's kernels ------------===//

#include "backend/cpu/program/KernelCompilation.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/codegen/Subroutine.h"
#include "backend/cpu/emit/KernelEmitter.h"
#include "backend/cpu/pipeline/Registration.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"

#include <fstream>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

std::string cpu::serialize(KernelOp kernel) {
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

/// Has every dialect that passes would load on the way.
MLIRContext *CodeContexts::of(unsigned thread) {
  std::unique_ptr<MLIRContext> &context = contexts[thread];
  if (!context) {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    registerCpuDialect(registry);
    registry.insert<func::FuncDialect>();
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  return context.get();
}

namespace {

/// A kernel with its subroutines taken out.
struct WrittenKernel {
  /// Of each stage where these are separate, which have no subroutines then.
  std::vector<WrittenCode> code;
  SmallVector<OwningOpRef<ModuleOp>> subroutines = {};
  CodeSharing sharing = CodeSharing::None;
};

/// What the names of functions begin with until their code has one.
constexpr StringRef templateName = "kernel";

/// The stages of a kernel, whose \p code has a function of each: modules as of
/// kernels of one stage.
std::vector<WrittenCode> stagesOf(WrittenCode code) {
  std::vector<WrittenCode> stages;
  for (auto [number, contract] : llvm::enumerate(code.contracts)) {
    WrittenCode stage{ModuleOp::create(code.module->getLoc()),
                      {std::move(contract)},
                      code.thread};
    (*stage.module)->setAttrs((*code.module)->getAttrDictionary());
    const std::string name = stageName(templateName, number);
    for (const std::string &function : {name + bodySuffix.str(), name})
      code.module->lookupSymbol<func::FuncOp>(function)->moveBefore(
          stage.module->getBody(), stage.module->getBody()->end());
    rename(*stage.module, name, templateName);
    stages.push_back(std::move(stage));
  }
  return stages;
}

/// The Cancelled error if \p cancellation, which may be null, is cancelled.
Result<void> goesOn(const Cancellation *cancellation) {
  return Cancellation::check(cancellation, "the compilation");
}

Result<WrittenKernel> write(const std::string &bytecode, const Target &target,
                            CodeContexts &contexts, unsigned thread) {
  MLIRContext *context = contexts.of(thread);
  OwningOpRef<ModuleOp> source = parseSourceString<ModuleOp>(bytecode, context);
  if (!source)
    return systemError("a kernel cannot be handed to the code generator");
  WrittenKernel written;
  WrittenCode code{ModuleOp::create(UnknownLoc::get(context)), {}, thread};
  std::optional<Error> refused;
  bool hasSeparateStages = false;
  source->walk([&](KernelOp op) {
    const KernelPlan plan = planKernel(op, target);
    written.sharing = plan.sharing;
    hasSeparateStages = plan.hasSeparateStages();
    Result<std::vector<KernelContract>> contracts =
        emitKernel(op, target, *code.module, templateName);
    if (contracts)
      code.contracts = std::move(*contracts);
    else
      refused = contracts.takeError();
  });
  if (refused)
    return std::move(*refused);
  written.subroutines = takeSubroutines(*code.module);
  if (hasSeparateStages)
    written.code = stagesOf(std::move(code));
  else
    written.code.push_back(std::move(code));
  return written;
}

std::vector<KernelTemplate> templatesOf(WrittenKernel written) {
  std::vector<KernelTemplate> templates;
  for (WrittenCode &code : written.code) {
    KernelTemplate &made = templates.emplace_back();
    made.form = formOf(*code.module);
    if (written.sharing != CodeSharing::AnyNumbers || made.form.leavesOrder)
      made.form.keepNumbers();
    made.code = std::make_shared<WrittenCode>(std::move(code));
  }
  KernelTemplate &made = templates.front();
  const unsigned thread = made.code->thread;
  for (OwningOpRef<ModuleOp> &subroutine : written.subroutines) {
    CodeForm form = formOf(*subroutine);
    form.keepNumbers();
    made.form.text += form.text;
    made.subroutines.push_back(
        {std::make_shared<WrittenCode>(std::move(subroutine),
                                       std::vector<KernelContract>(), thread),
         std::move(form.text)});
  }
  return templates;
}

} // namespace

Result<std::vector<std::vector<KernelTemplate>>>
cpu::writeTemplates(ArrayRef<std::string> all, const Target &target,
                    CodeContexts &contexts, const Cancellation *cancellation) {
  std::vector<std::vector<KernelTemplate>> templates(all.size());
  std::vector<std::optional<Error>> errors(all.size());
  std::atomic<size_t> next = 0;
  auto work = [&](unsigned thread) {
    for (size_t i = next++; i < all.size(); i = next++) {
      if (Result<void> wanted = goesOn(cancellation); !wanted) {
        errors[i] = wanted.takeError();
        return;
      }
      Result<WrittenKernel> written = write(all[i], target, contexts, thread);
      if (written)
        templates[i] = templatesOf(std::move(*written));
      else
        errors[i] = written.takeError();
    }
  };
  std::vector<GuardedThread> workers;
  for (unsigned i = 0; i < std::min<size_t>(contexts.threads(), all.size());
       ++i)
    workers.emplace_back([&work, i] { work(i); }, GuardedThread::usualStack);
  std::optional<Error> stopped;
  for (GuardedThread &worker : workers)
    if (Result<void> ended = worker.join(); !ended)
      stopped = ended.takeError();
  if (stopped)
    return std::move(*stopped);
  for (std::optional<Error> &error : errors)
    if (error)
      return std::move(*error);
  return templates;
}

KernelCompilation::KernelCompilation(ArrayRef<KernelSource> kernels,
                                     const KernelCache &cache,
                                     const Target &target,
                                     const CpuOptions &options,
                                     CodeContexts &contexts)
    : kernels(kernels), cache(cache), target(target), options(options),
      contexts(contexts), compiled(kernels.size()) {
  if (options.stages)
    observer = [this](const CompileStage &stage) {
      std::lock_guard<std::mutex> lock(mutex);
      this->options.stages(stage);
    };
}

KernelCompilation::~KernelCompilation() {
  failed = true;
  workers.clear();
}

void KernelCompilation::start() {
  for (auto [i, kernel] : llvm::enumerate(kernels)) {
    if (auto known = cache.lookup(kernel.key, kernel.functions()))
      compiled[i] = std::move(*known);
    else
      missing.push_back(i);
  }
  done = kernels.size() - missing.size();
  if (done != 0 && options.progress)
    options.progress(done, kernels.size());
  for (unsigned i = 1; i < std::min<size_t>(contexts.threads(), missing.size());
       ++i)
    startWorker(i);
}

void KernelCompilation::startWorker(unsigned thread) {
  workers.emplace_back([this, thread] { work(thread); },
                       GuardedThread::usualStack);
}

Result<std::vector<KernelCode>> KernelCompilation::finish() {
  if (!missing.empty())
    startWorker(0);
  join();
  if (error)
    return std::move(*error);
  return std::move(compiled);
}

void KernelCompilation::join() {
  for (GuardedThread &worker : workers)
    if (Result<void> ended = worker.join(); !ended) {
      failed = true;
      const std::lock_guard<std::mutex> lock(mutex);
      error = ended.takeError();
    }
  workers.clear();
}

void KernelCompilation::work(unsigned thread) {
  for (size_t i = next++; i < missing.size() && !failed; i = next++) {
    const KernelSource &kernel = kernels[missing[i]];
    Result<KernelCode> code = compileKernel(kernel, thread);
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

/// The functions of \p kernel, with their names.
Result<WrittenCode> KernelCompilation::writtenOf(const KernelSource &kernel,
                                                 unsigned thread) {
  const auto *functions = std::get_if<KernelFunctions>(&kernel.part);
  const bool isThere = kernel.written && kernel.written->thread == thread;
  WrittenCode code;
  SmallVector<OwningOpRef<ModuleOp>> subroutines;
  if (isThere) {
    code = std::move(*kernel.written);
    if (functions)
      for (const CalledSubroutine &each : functions->subroutines)
        subroutines.push_back(each.written ? std::move(each.written->module)
                                           : OwningOpRef<ModuleOp>());
  } else {
    Result<WrittenKernel> written =
        write(kernel.bytecode, target, contexts, thread);
    if (!written)
      return written.takeError();
    subroutines = std::move(written->subroutines);
    if (functions)
      code = std::move(written->code[functions->stage]);
    else
      code.module = std::move(
          subroutines[std::get<SubroutineOfKernel>(kernel.part).number]);
  }
  if (!functions) {
    nameSubroutine(*code.module, kernel.name);
    return code;
  }
  rename(*code.module, templateName, kernel.name);
  readFromTable(*code.module, functions->places);
  std::vector<std::string> names;
  for (auto [number, each] : llvm::enumerate(functions->subroutines)) {
    if (each.name.empty())
      putBack(*code.module, number, *subroutines[number]);
    names.push_back(each.name);
  }
  callByNames(*code.module, names);
  return code;
}

Result<KernelCode> KernelCompilation::compileKernel(const KernelSource &kernel,
                                                    unsigned thread) {
  if (Result<void> wanted = goesOn(options.passes.cancellation.get()); !wanted)
    return wanted.takeError();
  CompileStages stages(observer, kernel.layer, thread);
  Result<WrittenCode> written = writtenOf(kernel, thread);
  if (!written)
    return written.takeError();
  ModuleOp module = *written->module;
  KernelCode code;
  code.contracts = std::move(written->contracts);
  if (options.onCode)
    options.onCode(module);
  stages.end("emit");
  std::string mlir, llvmIr, assembly;
  const bool dumps = !options.dumpFolder.empty();
  Result<ObjectFile> object =
      compile(module, target,
              dumps ? CodegenDumps{&mlir, &llvmIr, &assembly} : CodegenDumps(),
              &code.features, &stages, options.format);
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
