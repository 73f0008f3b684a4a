//===- EntryPoints.cpp - the C functions of a bundle ----------------------===//

#include "backend/cpu/ahead/EntryPoints.h"

#include "backend/cpu/ahead/EntryAlloca.h"
#include "backend/cpu/ahead/EntryBuilder.h"
#include "backend/cpu/ahead/MatrixPermission.h"

#include "llvm/Support/Endian.h"

using namespace sinter;
using namespace sinter::cpu;

/// The largest number of buffers of a kernel in \p steps, with a table of
/// sizes.
static size_t mostBuffers(llvm::ArrayRef<Step> steps) {
  size_t most = 0;
  for (const Step &step : steps) {
    if (step.kind == StepKind::Kernel)
      most = std::max(most, step.buffers.size() + 1);
    for (const std::vector<Step> &body : step.bodies)
      most = std::max(most, mostBuffers(body));
  }
  return most;
}

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
// The bundle
//===----------------------------------------------------------------------===//

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
