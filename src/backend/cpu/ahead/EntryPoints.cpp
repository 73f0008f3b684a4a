//===- EntryPoints.cpp - the C functions of a bundle ----------------------===//

#include "backend/cpu/ahead/EntryPoints.h"

#include "backend/cpu/ahead/EntryAlloca.h"
#include "backend/cpu/ahead/FloatModeCode.h"
#include "backend/cpu/ahead/MatrixPermission.h"
#include "backend/cpu/ahead/ParallelTasks.h"
#include "backend/cpu/ahead/RuntimeCalls.h"
#include "backend/cpu/ahead/SizeFunctions.h"
#include "backend/cpu/ahead/SizePlan.h"
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
        pointer(builder.getPtrTy()), triple(module.getTargetTriple()),
        prefix(request.name) {}

  /// What all entry points of a bundle share.
  struct Shared {
    llvm::Value *weights = nullptr;
    llvm::Function *copy = nullptr;
    const char *weightsHeader = nullptr;
  };

  /// Adds it; of the first entry point.
  Shared buildShared() {
    prefix = request.options.name;
    addWeights();
    addCopy();
    shared = {weights, copyFunction, layout.weights.data()};
    addStateInit();
    return shared;
  }

  Result<void> build(const Shared &with) {
    shared = with;
    weights = shared.weights;
    copyFunction = shared.copy;
    if (layout.dynamic) {
      plan.emplace(module, prefix, program, *layout.dynamic,
                   request.options.isParallel);
      addSizeFunctions(module, prefix, *plan);
    } else {
      addWorkspaceSize();
    }
    return addRun();
  }

private:
  /// Units of a round: the first one, and how many.
  struct Turn {
    llvm::Value *first, *count;
  };

  // Functions.
  void addWeights();
  void addCopy();
  void addWorkspaceSize();
  void addStateInit();
  Result<void> addRun();
  void makePlan(llvm::Value *sizes);
  llvm::Function *addFunction(const char *suffix, llvm::Type *result,
                              llvm::ArrayRef<llvm::Type *> arguments);

  // Checks of what the caller passes.
  void checkPointer(llvm::Value *address, uint64_t alignment,
                    llvm::Value *bytes = nullptr);
  using TensorNumbers = std::vector<SizePlan::TensorNumbers>;
  std::vector<llvm::Value *> loadPointers(llvm::Value *table,
                                          llvm::ArrayRef<BundleTensor> tensors,
                                          TensorNumbers SizePlan::*numbers);
  void checkWeights(llvm::Value *base);
  void returnIf(llvm::Value *isWrong, BundleStatus status);
  void finishChecks();

  // Steps.
  /// Of a dynamic program each step has its sizes; of a static one, none has.
  using Sizes = llvm::ArrayRef<DynamicStep>;
  Result<void> addSteps(llvm::ArrayRef<Step> steps, Sizes sizes);
  void locate(const Step &step);
  Result<void> addTurns(llvm::ArrayRef<Step> steps, Sizes sizes);
  Result<void> addStep(const Step &step, const DynamicStep *sizes);
  Result<void> addKernel(const Step &step, const DynamicStep *sizes,
                         const Turn *turn);
  Result<void> addCall(const Step &step, const DynamicStep *sizes,
                       llvm::Function *kernel, llvm::Value *first,
                       llvm::Value *tasks);
  void addHostCall(const Step &step);
  Result<void> addIf(const Step &step, const DynamicStep *sizes);
  Result<void> addWhile(const Step &step, const DynamicStep *sizes);
  void addCopyOf(const Step &step);
  llvm::Value *address(const BufferReference &buffer);
  llvm::Value *scratch();
  llvm::Value *inWorkspace(const PlanNumber &offset);
  llvm::Value *planned(const PlanNumber &number) {
    return plan->load(builder, number, made);
  }
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
  /// What the names of functions begin with.
  std::string prefix;
  Shared shared;
  llvm::Function *copyFunction = nullptr;
  /// Of a dynamic program.
  std::optional<SizePlan> plan;

  /// Of the function that is being built: what its arguments are.
  llvm::Value *weights = nullptr, *state = nullptr, *workspace = nullptr;
  /// What the plan has for the sizes of the caller.
  llvm::Value *made = nullptr;
  std::vector<llvm::Value *> inputs, outputs;
  /// The addresses of a kernel's buffers, for all kernels.
  llvm::Value *buffers = nullptr;
  std::optional<FloatModeCode> mode;
  /// Where the steps have host calls.
  std::optional<RuntimeCalls> calls;
  /// With BundleOptions::isParallel.
  std::optional<ParallelTasks> parallel;
  /// Whether a pointer is null, and the low bits that should be 0.
  llvm::Value *anyNull = nullptr, *lowBits = nullptr;
};

/// The largest number of buffers of a kernel in \p steps, with a table of
/// sizes.
size_t mostBuffers(llvm::ArrayRef<Step> steps) {
  size_t most = 0;
  for (const Step &step : steps) {
    if (step.kind == StepKind::Kernel)
      most = std::max(most, step.buffers.size() + 1);
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
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(result, arguments, false),
      llvm::GlobalValue::ExternalLinkage, prefix + suffix, module);
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
  // Their bytes follow: until then they need not be in memory twice.
  auto *bytes = llvm::ConstantAggregateZero::get(
      llvm::ArrayType::get(builder.getInt8Ty(), layout.weights.size()));
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
  llvm::Constant *ofOne = llvm::ConstantInt::get(size, *layout.workspaceBytes);
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

/// Makes the plan of a run, which ends unless all sizes are good.
void EntryBuilder::makePlan(llvm::Value *sizes) {
  returnIf(builder.CreateIsNull(sizes), BundleStatus::NullPointer);
  const SizePlan::Made whole = plan->make(builder, sizes);
  made = whole.plan;
  returnIf(whole.isBad, BundleStatus::BadSizes);
}

/// int NAME_run([const NAME_sizes *sizes,] const NAME_inputs *inputs,
///              const NAME_outputs *outputs, NAME_state *state,
///              void *workspace[, const void *weights]
///              [, const NAME_threads *threads])
Result<void> EntryBuilder::addRun() {
  const bool inFile = request.options.weights == BundleWeights::InFile;
  const bool isParallel = request.options.isParallel;
  const bool isSized = plan.has_value();
  std::vector<llvm::Type *> types(4 + isSized + inFile + isParallel, pointer);
  llvm::Function *function = addFunction("_run", builder.getInt32Ty(), types);
  llvm::Argument *argument = function->arg_begin();
  const size_t most = std::max<size_t>(1, mostBuffers(program.steps));
  buffers =
      allocaInEntry(builder, llvm::ArrayType::get(pointer, most), "buffers");
  if (plan)
    makePlan(argument++);
  llvm::Value *inputTable = argument++, *outputTable = argument++;
  state = argument++;
  workspace = argument++;
  anyNull = builder.getFalse();
  lowBits = builder.getInt64(0);
  if (layout.stateBytes != 0)
    checkPointer(state, bundleAlignment);
  if (plan)
    checkPointer(workspace, bundleAlignment, planned(plan->workspaceBytes));
  else if (layout.workspaceBytes != 0)
    checkPointer(workspace, bundleAlignment);
  if (inFile)
    checkPointer(weights = argument, bundleAlignment);
  inputs = loadPointers(inputTable, layout.inputs, &SizePlan::inputs);
  outputs = loadPointers(outputTable, layout.outputs, &SizePlan::outputs);
  finishChecks();
  if (request.options.weights != BundleWeights::InCode)
    checkWeights(weights);
  if (usesMatrixUnits(&program) && needsMatrixPermission(triple))
    returnIf(isMatrixPermissionRefused(builder), BundleStatus::NoMatrixUnits);
  mode.emplace(builder, triple, request.target.hasFloats, request.denormals);
  if (const size_t tensors = mostTensorsOfCalls(program.steps))
    calls.emplace(builder, tensors);
  if (isParallel) {
    parallel.emplace(module, prefix, request.denormals,
                     request.target.hasFloats, most);
    parallel->begin(builder, function->getArg(types.size() - 1), *mode);
  }
  if (Result<void> added = addSteps(
          program.steps, plan ? Sizes(program.dynamic->steps) : Sizes());
      !added)
    return added;
  builder.SetCurrentDebugLocation({});
  mode->restore(builder);
  builder.CreateRet(builder.getInt32(int(BundleStatus::Done)));
  if (isParallel)
    parallel->finish();
  return {};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Adds \p address to what finishChecks() checks; not where the \p bytes there,
/// if they are known at run time only, are none.
void EntryBuilder::checkPointer(llvm::Value *address, uint64_t alignment,
                                llvm::Value *bytes) {
  llvm::Value *isNull = builder.CreateIsNull(address);
  llvm::Value *bits = builder.CreatePtrToInt(address, builder.getInt64Ty());
  bits = builder.CreateAnd(bits, builder.getInt64(alignment - 1));
  if (bytes) {
    llvm::Value *isMemory = builder.CreateIsNotNull(bytes);
    isNull = builder.CreateAnd(isMemory, isNull);
    bits = builder.CreateSelect(isMemory, bits, builder.getInt64(0));
  }
  anyNull = builder.CreateOr(anyNull, isNull);
  lowBits = builder.CreateOr(lowBits, bits);
}

/// The pointers in the struct \p table, checked unless a tensor is empty.
std::vector<llvm::Value *>
EntryBuilder::loadPointers(llvm::Value *table,
                           llvm::ArrayRef<BundleTensor> tensors,
                           TensorNumbers SizePlan::*numbers) {
  if (tensors.empty())
    return {};
  returnIf(builder.CreateIsNull(table), BundleStatus::NullPointer);
  std::vector<llvm::Value *> pointers;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    pointers.push_back(builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, table, i)));
    if (tensor.isDynamic())
      checkPointer(pointers.back(), tensor.alignment,
                   planned(((*plan).*numbers)[i].bytes));
    else if (tensor.bytes != 0)
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
                                 shared.weightsHeader + offset))));
  returnIf(isOther, BundleStatus::WrongWeights);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

llvm::Value *EntryBuilder::inWorkspace(const PlanNumber &offset) {
  return offset.element ? builder.CreateInBoundsGEP(builder.getInt8Ty(),
                                                    workspace, planned(offset))
                        : at(workspace, static_cast<uint64_t>(offset.number));
}

/// Scratch memory of the first thread.
llvm::Value *EntryBuilder::scratch() {
  return plan ? inWorkspace(plan->scratchOffset)
              : at(workspace, layout.scratchOffset);
}

/// The memory of a step's \p buffer; of a dynamic program, of its slot.
llvm::Value *EntryBuilder::address(const BufferReference &buffer) {
  const BufferReference place = placeOf(program, buffer);
  switch (place.space) {
  case BufferSpace::Arena:
    return plan ? inWorkspace(plan->offsets[buffer.offset])
                : at(workspace, place.offset);
  case BufferSpace::Scratch:
    return scratch();
  case BufferSpace::Constant:
    return at(weights, *layout.constants[place.index] + place.offset);
  case BufferSpace::Input:
    return at(inputs[place.index], place.offset);
  case BufferSpace::Output:
    return at(outputs[place.index], place.offset);
  case BufferSpace::State:
    return at(state, layout.states[place.index].offset + place.offset);
  }
  llvm_unreachable("a space of BufferSpace");
}

Result<void> EntryBuilder::addSteps(llvm::ArrayRef<Step> steps, Sizes sizes) {
  for (size_t i = 0; i < steps.size();) {
    const size_t turns = sizes.empty() ? 0 : sizes[i].inTurns;
    Result<void> added =
        turns != 0 ? addTurns(steps.slice(i, turns), sizes.slice(i, turns))
                   : addStep(steps[i], sizes.empty() ? nullptr : &sizes[i]);
    if (!added)
      return added;
    i += std::max<size_t>(1, turns);
  }
  return {};
}

/// What is built from now on is code of \p step.
void EntryBuilder::locate(const Step &step) {
  if (request.lines)
    builder.SetCurrentDebugLocation(request.lines->locationOf(
        step, *builder.GetInsertBlock()->getParent()));
}

/// A loop over the rounds in which \p steps alternate.
Result<void> EntryBuilder::addTurns(llvm::ArrayRef<Step> steps, Sizes sizes) {
  llvm::Type *i64 = builder.getInt64Ty();
  llvm::Value *units = planned(plan->of(sizes[0]).units),
              *most = builder.getInt64(sizes[0].round.block);
  llvm::BasicBlock *before = builder.GetInsertBlock(), *head = block("round"),
                   *body = block("turn"), *after = block("rounds.end");
  locate(steps.front());
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  llvm::PHINode *first = builder.CreatePHI(i64, 2);
  first->addIncoming(builder.getInt64(0), before);
  builder.CreateCondBr(builder.CreateICmpULT(first, units), body, after);
  builder.SetInsertPoint(body);
  llvm::Value *left = builder.CreateSub(units, first);
  const Turn turn = {first, builder.CreateSelect(
                                builder.CreateICmpULT(left, most), left, most)};
  for (auto [step, own] : llvm::zip_equal(steps, sizes)) {
    if (step.kind != StepKind::Kernel)
      return systemError("layer '" + step.layer + "' has no rounds");
    locate(step);
    if (Result<void> added = addKernel(step, &own, &turn); !added)
      return added;
  }
  first->addIncoming(builder.CreateAdd(first, turn.count),
                     builder.GetInsertBlock());
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
  return {};
}

Result<void> EntryBuilder::addStep(const Step &step, const DynamicStep *sizes) {
  locate(step);
  switch (step.kind) {
  case StepKind::Kernel:
    return addKernel(step, sizes, nullptr);
  case StepKind::Copy:
    addCopyOf(step);
    return {};
  case StepKind::If:
    return addIf(step, sizes);
  case StepKind::While:
    return addWhile(step, sizes);
  case StepKind::Concurrent:
    for (size_t i = 0; i < step.bodies.size(); ++i)
      if (Result<void> added = addSteps(
              step.bodies[i], sizes ? Sizes(sizes->bodies[i]) : Sizes());
          !added)
        return added;
    return {};
  case StepKind::HostCall:
    addHostCall(step);
    return {};
  case StepKind::Size:
    break;
  }
  return systemError("layer '" + step.layer + "' needs a runtime library");
}

void EntryBuilder::addCopyOf(const Step &step) {
  const BufferReference &from = step.buffers[0], &to = step.buffers[1];
  if (!plan)
    return copy(address(to), address(from), from.bytes);
  if (from.offset != to.offset)
    builder.CreateCall(copyFunction, {address(to), address(from),
                                      planned(plan->bytes[from.offset])});
}

/// Of a dynamic program: as of DynamicInstance::setWork().
Result<void> EntryBuilder::addKernel(const Step &step, const DynamicStep *sizes,
                                     const Turn *turn) {
  const std::string name =
      request.options.name + "." + request.kernels[step.kernel];
  llvm::Function *kernel = module.getFunction(name);
  if (!kernel || kernel->isDeclaration())
    return systemError("cannot link kernels: no function " + name);
  llvm::BasicBlock *after = nullptr;
  llvm::Value *first = builder.getInt64(step.firstTask),
              *tasks = builder.getInt64(step.tasks);
  if (sizes) {
    tasks = planned(plan->of(*sizes).tasks);
    if (turn) {
      first = builder.CreateAdd(first, builder.CreateMul(turn->first, tasks));
      tasks = builder.CreateMul(turn->count, tasks);
    }
    llvm::BasicBlock *call = block("kernel");
    after = block("kernel.end");
    builder.CreateCondBr(builder.CreateIsNotNull(tasks), call, after);
    builder.SetInsertPoint(call);
  }
  const auto pass = [&](llvm::Value *buffer, size_t i) {
    builder.CreateStore(
        buffer, builder.CreateConstInBoundsGEP1_64(pointer, buffers, i));
  };
  for (auto [i, buffer] : llvm::enumerate(step.buffers))
    pass(address(buffer), i);
  if (sizes && sizes->sizeCount != 0)
    pass(plan->tableOf(builder, *sizes, made), step.buffers.size());
  if (Result<void> added = addCall(step, sizes, kernel, first, tasks); !added)
    return added;
  if (after) {
    builder.CreateBr(after);
    builder.SetInsertPoint(after);
  }
  return {};
}

/// Calls \p kernel, whose buffers have been stored.
Result<void> EntryBuilder::addCall(const Step &step, const DynamicStep *sizes,
                                   llvm::Function *kernel, llvm::Value *first,
                                   llvm::Value *tasks) {
  if (!parallel) {
    builder.CreateCall(kernel,
                       {buffers, first, builder.CreateAdd(first, tasks)});
    return {};
  }
  std::optional<size_t> scratchSlot;
  for (auto [i, buffer] : llvm::enumerate(step.buffers))
    if (placeOf(program, buffer).space == BufferSpace::Scratch) {
      if (scratchSlot)
        return systemError("layer '" + step.layer +
                           "' has two scratch buffers");
      scratchSlot = i;
    }
  llvm::Type *size = module.getDataLayout().getIntPtrType(module.getContext());
  KernelCall call = {kernel,
                     buffers,
                     step.buffers.size() + (sizes && sizes->sizeCount != 0),
                     scratchSlot,
                     nullptr,
                     llvm::ConstantInt::get(size, layout.scratchBytes),
                     first,
                     tasks,
                     nullptr};
  call.scratch = scratch();
  if (sizes) {
    call.scratchStride = builder.CreateTrunc(planned(plan->scratchBytes), size);
    call.worthwhile = builder.CreateTrunc(
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, tasks,
                                      planned(plan->of(*sizes).worthwhile)),
        size);
  } else {
    call.worthwhile =
        llvm::ConstantInt::get(size, worthwhileThreads(step, mostThreads));
  }
  parallel->add(builder, call);
  return {};
}

/// Calls the library in the caller's float mode, and returns if that fails.
void EntryBuilder::addHostCall(const Step &step) {
  std::vector<llvm::Value *> addresses;
  for (const BufferReference &buffer : step.buffers)
    addresses.push_back(address(buffer));
  mode->restore(builder);
  llvm::Value *failed = calls->add(builder, step, addresses);
  returnIf(failed, BundleStatus::Failed);
  mode->set(builder);
}

Result<void> EntryBuilder::addIf(const Step &step, const DynamicStep *sizes) {
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
  for (size_t i = 0; i < entries.size(); ++i) {
    builder.SetInsertPoint(entries[i]);
    // A body for other sizes is not run.
    if (sizes) {
      llvm::BasicBlock *taken = block("taken");
      builder.CreateCondBr(
          builder.CreateIsNotNull(planned(plan->of(*sizes).fits[i])), taken,
          after);
      builder.SetInsertPoint(taken);
    }
    if (Result<void> added =
            addSteps(step.bodies[i], sizes ? Sizes(sizes->bodies[i]) : Sizes());
        !added)
      return added;
    locate(step);
    builder.CreateBr(after);
  }
  builder.SetInsertPoint(after);
  return {};
}

Result<void> EntryBuilder::addWhile(const Step &step,
                                    const DynamicStep *sizes) {
  const auto bodyOf = [&](size_t i) {
    return addSteps(step.bodies[i], sizes ? Sizes(sizes->bodies[i]) : Sizes());
  };
  llvm::BasicBlock *head = block("while"), *body = block("do"),
                   *after = block("done");
  builder.CreateBr(head);
  builder.SetInsertPoint(head);
  if (Result<void> added = bodyOf(0); !added)
    return added;
  locate(step);
  llvm::Value *goesOn = builder.CreateAlignedLoad(
      builder.getInt8Ty(), address(step.buffers[0]), llvm::Align(1));
  builder.CreateCondBr(builder.CreateIsNotNull(goesOn), body, after);
  builder.SetInsertPoint(body);
  if (Result<void> added = bodyOf(1); !added)
    return added;
  locate(step);
  builder.CreateBr(head);
  builder.SetInsertPoint(after);
  return {};
}

Result<void> cpu::addEntryPoints(llvm::Module &module,
                                 llvm::ArrayRef<EntryRequest> requests) {
  const EntryBuilder::Shared shared =
      EntryBuilder(module, requests.front()).buildShared();
  for (const EntryRequest &request : requests)
    if (Result<void> added = EntryBuilder(module, request).build(shared);
        !added)
      return added;
  return {};
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

void cpu::setWeights(llvm::Module &module, llvm::StringRef name,
                     llvm::ArrayRef<char> weights) {
  llvm::GlobalVariable *variable = module.getGlobalVariable(
      (name + ".weights").str(), /*AllowInternal=*/true);
  if (!variable)
    return;
  variable->setInitializer(llvm::ConstantDataArray::getRaw(
      llvm::StringRef(weights.data(), weights.size()), weights.size(),
      llvm::Type::getInt8Ty(module.getContext())));
}
