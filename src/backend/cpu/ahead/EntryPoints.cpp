//===- EntryPoints.cpp - the C functions of a bundle ----------------------===//

#include "backend/cpu/ahead/EntryPoints.h"

#include "backend/cpu/ahead/FloatModeCode.h"
#include "backend/cpu/ahead/ParallelTasks.h"
#include "backend/cpu/ahead/StepLines.h"
#include "runtime/StepThreads.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Endian.h"

using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Builds the functions of one bundle.
class EntryBuilder {
public:
  EntryBuilder(llvm::Module &module, const EntryRequest &request)
      : module(module), request(request), program(request.program),
        layout(request.layout), builder(module.getContext()),
        pointer(builder.getPtrTy()), triple(module.getTargetTriple()) {}

  Result<void> build() {
    addWeights();
    addCopy();
    addWorkspaceSize();
    addStateInit();
    return addRun();
  }

private:
  // Functions.
  void addWeights();
  void addCopy();
  void addWorkspaceSize();
  void addStateInit();
  Result<void> addRun();
  llvm::Function *addFunction(const char *suffix, llvm::Type *result,
                              llvm::ArrayRef<llvm::Type *> arguments);

  // Checks of what the caller passes.
  void checkPointer(llvm::Value *address, uint64_t alignment);
  std::vector<llvm::Value *> loadPointers(llvm::Value *table,
                                          llvm::ArrayRef<BundleTensor> tensors);
  void checkWeights(llvm::Value *base);
  void returnIf(llvm::Value *isWrong, BundleStatus status);
  void finishChecks();

  // Steps.
  Result<void> addSteps(llvm::ArrayRef<Step> steps);
  void locate(const Step &step);
  Result<void> addStep(const Step &step);
  Result<void> addKernel(const Step &step);
  Result<void> addParallelKernel(const Step &step, llvm::Function *kernel);
  Result<void> addIf(const Step &step);
  Result<void> addWhile(const Step &step);
  llvm::Value *address(const BufferReference &buffer);
  llvm::Value *at(llvm::Value *base, uint64_t offset) {
    return offset == 0 ? base
                       : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(),
                                                            base, offset);
  }
  llvm::BasicBlock *block(const char *name) {
    return llvm::BasicBlock::Create(module.getContext(), name,
                                    builder.GetInsertBlock()->getParent());
  }
  void copy(llvm::Value *to, llvm::Value *from, uint64_t bytes) {
    if (bytes != 0)
      builder.CreateCall(copyFunction, {to, from, builder.getInt64(bytes)});
  }

  llvm::Module &module;
  const EntryRequest &request;
  const Program &program;
  const BundleLayout &layout;
  llvm::IRBuilder<> builder;
  llvm::PointerType *pointer;
  llvm::Triple triple;
  llvm::Function *copyFunction = nullptr;

  /// Of the function that is being built: what its arguments are.
  llvm::Value *weights = nullptr, *state = nullptr, *workspace = nullptr;
  std::vector<llvm::Value *> inputs, outputs;
  /// The addresses of a kernel's buffers, for all kernels.
  llvm::Value *buffers = nullptr;
  /// With BundleOptions::isParallel.
  std::optional<ParallelTasks> parallel;
  /// Whether a pointer is null, and the low bits that should be 0.
  llvm::Value *anyNull = nullptr, *lowBits = nullptr;
};

/// The largest number of buffers of a kernel in \p steps.
size_t mostBuffers(llvm::ArrayRef<Step> steps) {
  size_t most = 0;
  for (const Step &step : steps) {
    if (step.kind == StepKind::Kernel)
      most = std::max(most, step.buffers.size());
    for (const std::vector<Step> &body : step.bodies)
      most = std::max(most, mostBuffers(body));
  }
  return most;
}

} // namespace

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

llvm::Function *
EntryBuilder::addFunction(const char *suffix, llvm::Type *result,
                          llvm::ArrayRef<llvm::Type *> arguments) {
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(result, arguments, false),
                             llvm::GlobalValue::ExternalLinkage,
                             request.options.name + suffix, module);
  function->setDSOLocal(true);
  function->setDoesNotThrow();
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  return function;
}

/// The weights as a constant in a section of their own, or as the array of
/// another object of the same program or library.
void EntryBuilder::addWeights() {
  if (request.options.weights == BundleWeights::InFile)
    return;
  if (request.options.weights == BundleWeights::InArray) {
    auto *array = new llvm::GlobalVariable(
        module,
        llvm::ArrayType::get(builder.getInt8Ty(), layout.weights.size()),
        /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, nullptr,
        request.options.name + "_weights");
    array->setAlignment(llvm::Align(bundleAlignment));
    array->setVisibility(llvm::GlobalValue::HiddenVisibility);
    weights = array;
    return;
  }
  const std::string name = request.options.name + ".weights";
  llvm::Constant *bytes = llvm::ConstantDataArray::getRaw(
      llvm::StringRef(layout.weights.data(), layout.weights.size()),
      layout.weights.size(), builder.getInt8Ty());
  auto *variable =
      new llvm::GlobalVariable(module, bytes->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::InternalLinkage, bytes, name);
  variable->setAlignment(llvm::Align(bundleAlignment));
  variable->setSection(".rodata." + name);
  weights = variable;
}

/// Copies from the first byte on, sixteen at a time: the C library is not
/// needed for that.
void EntryBuilder::addCopy() {
  llvm::Type *i64 = builder.getInt64Ty();
  copyFunction =
      addFunction(".copy", builder.getVoidTy(), {pointer, pointer, i64});
  copyFunction->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::Value *to = copyFunction->getArg(0), *from = copyFunction->getArg(1),
              *bytes = copyFunction->getArg(2);
  llvm::Value *whole = builder.CreateAnd(bytes, builder.getInt64(~15ull));
  // A loop from `begin` to `end` in steps of `type`.
  const auto loop = [&](llvm::Value *begin, llvm::Value *end, llvm::Type *type,
                        uint64_t step) {
    llvm::BasicBlock *before = builder.GetInsertBlock();
    llvm::BasicBlock *head = block("head"), *body = block("body"),
                     *after = block("after");
    builder.CreateBr(head);
    builder.SetInsertPoint(head);
    llvm::PHINode *i = builder.CreatePHI(i64, 2);
    i->addIncoming(begin, before);
    builder.CreateCondBr(builder.CreateICmpULT(i, end), body, after);
    builder.SetInsertPoint(body);
    const auto of = [&](llvm::Value *base) {
      return builder.CreateInBoundsGEP(builder.getInt8Ty(), base, i);
    };
    builder.CreateAlignedStore(
        builder.CreateAlignedLoad(type, of(from), llvm::Align(1)), of(to),
        llvm::Align(1));
    i->addIncoming(builder.CreateAdd(i, builder.getInt64(step)), body);
    builder.CreateBr(head);
    builder.SetInsertPoint(after);
  };
  loop(builder.getInt64(0), whole,
       llvm::FixedVectorType::get(builder.getInt8Ty(), 16), 16);
  loop(whole, bytes, builder.getInt8Ty(), 1);
  builder.CreateRetVoid();
}

void EntryBuilder::addWorkspaceSize() {
  llvm::Type *size = module.getDataLayout().getIntPtrType(module.getContext());
  llvm::Constant *ofOne = llvm::ConstantInt::get(size, layout.workspaceBytes);
  if (!request.options.isParallel) {
    addFunction("_workspace_size", size, {});
    builder.CreateRet(ofOne);
    return;
  }
  llvm::Function *function = addFunction("_workspace_size", size, {size});
  builder.CreateRet(ParallelTasks::workspaceSize(
      builder, function->getArg(0), ofOne,
      llvm::ConstantInt::get(size, layout.scratchBytes)));
}

/// int NAME_state_init(NAME_state *state[, const void *weights])
void EntryBuilder::addStateInit() {
  const bool inFile = request.options.weights == BundleWeights::InFile;
  std::vector<llvm::Type *> arguments(inFile ? 2 : 1, pointer);
  llvm::Function *function =
      addFunction("_state_init", builder.getInt32Ty(), arguments);
  state = function->getArg(0);
  anyNull = builder.getFalse();
  lowBits = builder.getInt64(0);
  if (layout.stateBytes != 0)
    checkPointer(state, bundleAlignment);
  if (inFile)
    checkPointer(weights = function->getArg(1), bundleAlignment);
  finishChecks();
  if (request.options.weights != BundleWeights::InCode)
    checkWeights(weights);
  for (auto [tensor, source] : llvm::zip_equal(layout.states, program.states))
    copy(at(state, tensor.offset),
         at(weights, *layout.constants[source.initial]), tensor.bytes);
  builder.CreateRet(builder.getInt32(int(BundleStatus::Done)));
}

/// int NAME_run(const NAME_inputs *inputs, const NAME_outputs *outputs,
///              NAME_state *state, void *workspace[, const void *weights]
///              [, const NAME_threads *threads])
Result<void> EntryBuilder::addRun() {
  const bool inFile = request.options.weights == BundleWeights::InFile;
  const bool isParallel = request.options.isParallel;
  std::vector<llvm::Type *> arguments(4 + inFile + isParallel, pointer);
  llvm::Function *function =
      addFunction("_run", builder.getInt32Ty(), arguments);
  state = function->getArg(2);
  workspace = function->getArg(3);
  anyNull = builder.getFalse();
  lowBits = builder.getInt64(0);
  if (layout.stateBytes != 0)
    checkPointer(state, bundleAlignment);
  if (layout.workspaceBytes != 0)
    checkPointer(workspace, bundleAlignment);
  if (inFile)
    checkPointer(weights = function->getArg(4), bundleAlignment);
  const size_t most = std::max<size_t>(1, mostBuffers(program.steps));
  buffers = builder.CreateAlloca(llvm::ArrayType::get(pointer, most), nullptr,
                                 "buffers");
  inputs = loadPointers(function->getArg(0), layout.inputs);
  outputs = loadPointers(function->getArg(1), layout.outputs);
  finishChecks();
  if (request.options.weights != BundleWeights::InCode)
    checkWeights(weights);
  const FloatModeCode mode(builder, triple, request.denormals);
  if (isParallel) {
    parallel.emplace(module, request.options.name, request.denormals, most,
                     layout.scratchBytes);
    parallel->begin(builder, function->getArg(arguments.size() - 1), mode);
  }
  if (Result<void> added = addSteps(program.steps); !added)
    return added;
  builder.SetCurrentDebugLocation({});
  mode.restore(builder);
  builder.CreateRet(builder.getInt32(int(BundleStatus::Done)));
  if (isParallel)
    parallel->finish();
  return {};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Adds \p address to what finishChecks() checks.
void EntryBuilder::checkPointer(llvm::Value *address, uint64_t alignment) {
  anyNull = builder.CreateOr(anyNull, builder.CreateIsNull(address));
  llvm::Value *bits = builder.CreatePtrToInt(address, builder.getInt64Ty());
  lowBits = builder.CreateOr(
      lowBits, builder.CreateAnd(bits, builder.getInt64(alignment - 1)));
}

/// The pointers in the struct \p table, checked unless a tensor is empty.
std::vector<llvm::Value *>
EntryBuilder::loadPointers(llvm::Value *table,
                           llvm::ArrayRef<BundleTensor> tensors) {
  if (tensors.empty())
    return {};
  returnIf(builder.CreateIsNull(table), BundleStatus::NullPointer);
  std::vector<llvm::Value *> pointers;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    pointers.push_back(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, table, i)));
    if (tensor.bytes != 0)
      checkPointer(pointers.back(), tensor.alignment);
  }
  return pointers;
}

/// Returns from the function if \p isWrong.
void EntryBuilder::returnIf(llvm::Value *isWrong, BundleStatus status) {
  llvm::BasicBlock *wrong = block("wrong"), *good = block("good");
  builder.CreateCondBr(isWrong, wrong, good);
  builder.SetInsertPoint(wrong);
  builder.CreateRet(builder.getInt32(int(status)));
  builder.SetInsertPoint(good);
}

void EntryBuilder::finishChecks() {
  returnIf(anyNull, BundleStatus::NullPointer);
  returnIf(builder.CreateIsNotNull(lowBits), BundleStatus::Misaligned);
}

/// Compares the header of the weights with that of this bundle's. Targets are
/// little-endian, as the header is.
void EntryBuilder::checkWeights(llvm::Value *base) {
  llvm::Value *isOther = builder.getFalse();
  for (uint64_t offset = 0; offset < 32; offset += 8)
    isOther = builder.CreateOr(
        isOther,
        builder.CreateICmpNE(builder.CreateAlignedLoad(builder.getInt64Ty(),
                                                       at(base, offset),
                                                       llvm::Align(8)),
                             builder.getInt64(llvm::support::endian::read64le(
                                 layout.weights.data() + offset))));
  returnIf(isOther, BundleStatus::WrongWeights);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

llvm::Value *EntryBuilder::address(const BufferReference &buffer) {
  switch (buffer.space) {
  case BufferSpace::Arena:
    return at(workspace, buffer.offset);
  case BufferSpace::Scratch:
    return at(workspace, layout.scratchOffset);
  case BufferSpace::Constant:
    return at(weights, *layout.constants[buffer.index] + buffer.offset);
  case BufferSpace::Input:
    return at(inputs[buffer.index], buffer.offset);
  case BufferSpace::Output:
    return at(outputs[buffer.index], buffer.offset);
  case BufferSpace::State:
    return at(state, layout.states[buffer.index].offset + buffer.offset);
  }
  llvm_unreachable("a space of BufferSpace");
}

Result<void> EntryBuilder::addSteps(llvm::ArrayRef<Step> steps) {
  for (const Step &step : steps)
    if (Result<void> added = addStep(step); !added)
      return added;
  return {};
}

/// What is built from now on is code of \p step.
void EntryBuilder::locate(const Step &step) {
  if (request.lines)
    builder.SetCurrentDebugLocation(request.lines->locationOf(
        step, *builder.GetInsertBlock()->getParent()));
}

Result<void> EntryBuilder::addStep(const Step &step) {
  locate(step);
  switch (step.kind) {
  case StepKind::Kernel:
    return addKernel(step);
  case StepKind::Copy:
    copy(address(step.buffers[1]), address(step.buffers[0]),
         step.buffers[0].bytes);
    return {};
  case StepKind::If:
    return addIf(step);
  case StepKind::While:
    return addWhile(step);
  case StepKind::HostCall:
  case StepKind::Size:
    break;
  }
  return systemError("layer '" + step.layer + "' needs a runtime library");
}

Result<void> EntryBuilder::addKernel(const Step &step) {
  const std::string name =
      request.options.name + "." + request.kernels[step.kernel];
  llvm::Function *kernel = module.getFunction(name);
  if (!kernel || kernel->isDeclaration())
    return systemError("cannot link kernels: no function " + name);
  for (auto [i, buffer] : llvm::enumerate(step.buffers))
    builder.CreateStore(address(buffer), builder.CreateConstInBoundsGEP1_64(
                                             pointer, buffers, i));
  if (parallel)
    return addParallelKernel(step, kernel);
  builder.CreateCall(kernel, {buffers, builder.getInt64(step.firstTask),
                              builder.getInt64(step.firstTask + step.tasks)});
  return {};
}

Result<void> EntryBuilder::addParallelKernel(const Step &step,
                                             llvm::Function *kernel) {
  std::optional<size_t> scratchSlot;
  for (auto [i, buffer] : llvm::enumerate(step.buffers))
    if (buffer.space == BufferSpace::Scratch) {
      if (scratchSlot)
        return systemError("layer '" + step.layer +
                           "' has two scratch buffers");
      scratchSlot = i;
    }
  constexpr unsigned most = 4096;
  llvm::Type *size = module.getDataLayout().getIntPtrType(module.getContext());
  parallel->add(builder,
                {kernel, buffers, step.buffers.size(), scratchSlot,
                 at(workspace, layout.scratchOffset),
                 builder.getInt64(step.firstTask), builder.getInt64(step.tasks),
                 llvm::ConstantInt::get(size, worthwhileThreads(step, most))});
  return {};
}

Result<void> EntryBuilder::addIf(const Step &step) {
  const bool isFlag = step.selector == ElementType::I1;
  llvm::IntegerType *type = isFlag ? builder.getInt8Ty() : builder.getInt32Ty();
  llvm::Value *selector =
      builder.CreateAlignedLoad(type, address(step.buffers[0]), llvm::Align(1));
  // The last body is that of all other values; of a flag, that of 0.
  llvm::BasicBlock *after = block("endif");
  std::vector<llvm::BasicBlock *> entries;
  for (size_t i = 0; i < step.bodies.size(); ++i)
    entries.push_back(block("branch"));
  if (isFlag) {
    builder.CreateCondBr(builder.CreateIsNotNull(selector), entries[0],
                         entries[1]);
  } else {
    llvm::SwitchInst *choice =
        builder.CreateSwitch(selector, entries.back(), entries.size() - 1);
    for (size_t i = 0; i + 1 < entries.size(); ++i)
      choice->addCase(builder.getInt32(i), entries[i]);
  }
  for (auto [entry, body] : llvm::zip_equal(entries, step.bodies)) {
    builder.SetInsertPoint(entry);
    if (Result<void> added = addSteps(body); !added)
      return added;
    locate(step);
    builder.CreateBr(after);
  }
  builder.SetInsertPoint(after);
  return {};
}

Result<void> EntryBuilder::addWhile(const Step &step) {
  llvm::BasicBlock *head = block("while"), *body = block("do"),
                   *after = block("done");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  if (Result<void> added = addSteps(step.bodies[0]); !added)
    return added;
  locate(step);
  llvm::Value *goesOn = builder.CreateAlignedLoad(
      builder.getInt8Ty(), address(step.buffers[0]), llvm::Align(1));
  builder.CreateCondBr(builder.CreateIsNotNull(goesOn), body, after);
  builder.SetInsertPoint(body);
  if (Result<void> added = addSteps(step.bodies[1]); !added)
    return added;
  locate(step);
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
  return {};
}

Result<void> cpu::addEntryPoints(llvm::Module &module,
                                 const EntryRequest &request) {
  return EntryBuilder(module, request).build();
}

void cpu::addHashFunction(llvm::Module &module, llvm::StringRef name,
                          llvm::StringRef text) {
  llvm::IRBuilder<> builder(module.getContext());
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(builder.getPtrTy(), false),
      llvm::GlobalValue::ExternalLinkage, name + "_hash", module);
  function->setDSOLocal(true);
  function->setDoesNotThrow();
  builder.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  builder.CreateRet(builder.CreateGlobalString(text, name + ".hash"));
}
