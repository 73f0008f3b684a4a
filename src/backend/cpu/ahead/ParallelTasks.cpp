//===- ParallelTasks.cpp - steps on the caller's threads, as code ---------===//

#include "backend/cpu/ahead/ParallelTasks.h"

#include "backend/cpu/ahead/EntryAlloca.h"

#include "llvm/IR/Module.h"

using namespace sinter;
using namespace sinter::cpu;

ParallelTasks::ParallelTasks(llvm::Module &module, std::string name,
                             Denormals denormals, bool hasFloats,
                             size_t mostBuffers)
    : module(module), denormals(denormals), hasFloats(hasFloats),
      mostBuffers(mostBuffers),
      pointer(llvm::PointerType::getUnqual(module.getContext())),
      size(module.getDataLayout().getIntPtrType(module.getContext())),
      i64(llvm::Type::getInt64Ty(module.getContext())) {
  llvm::Type *nothing = llvm::Type::getVoidTy(module.getContext());
  // In the order of Field.
  jobType = llvm::StructType::get(
      module.getContext(),
      {pointer, pointer, size, pointer, size, i64, i64, size, size});
  runType = llvm::FunctionType::get(nothing, {pointer, pointer, pointer, size},
                                    false);
  kernelType = llvm::FunctionType::get(nothing, {pointer, i64, i64}, false);
  task = llvm::Function::Create(
      llvm::FunctionType::get(nothing, {pointer, size}, false),
      llvm::GlobalValue::InternalLinkage, name + ".task", module);
  task->setDoesNotThrow();
}

llvm::Value *ParallelTasks::loadField(llvm::IRBuilder<> &builder, Field field) {
  return builder.CreateLoad(jobType->getElementType(field),
                            builder.CreateStructGEP(jobType, job, field));
}

void ParallelTasks::storeField(llvm::IRBuilder<> &builder, Field field,
                               llvm::Value *value) {
  builder.CreateStore(value, builder.CreateStructGEP(jobType, job, field));
}

void ParallelTasks::begin(llvm::IRBuilder<> &builder, llvm::Value *threads,
                          const FloatModeCode &modeOfFunction) {
  mode = &modeOfFunction;
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  job = allocaInEntry(builder, jobType, "job");
  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::LLVMContext &context = module.getContext();
  auto *some = llvm::BasicBlock::Create(context, "threads", function);
  auto *joined = llvm::BasicBlock::Create(context, "steps", function);
  builder.CreateCondBr(builder.CreateIsNull(threads), joined, some);

  // struct NAME_threads { size_t count; NAME_parallel run; void *pool; }
  builder.SetInsertPoint(some);
  auto *type = llvm::StructType::get(context, {size, pointer, pointer});
  const auto load = [&](unsigned field) {
    return builder.CreateLoad(type->getElementType(field),
                              builder.CreateStructGEP(type, threads, field));
  };
  llvm::Value *given = load(0), *function0 = load(1), *pool0 = load(2);
  llvm::Constant *one = llvm::ConstantInt::get(size, 1);
  given = builder.CreateSelect(builder.CreateIsNull(function0), one, given);
  builder.CreateBr(joined);

  builder.SetInsertPoint(joined);
  const auto join = [&](llvm::Value *none, llvm::Value *value) {
    llvm::PHINode *phi = builder.CreatePHI(value->getType(), 2);
    phi->addIncoming(none, before);
    phi->addIncoming(value, some);
    return phi;
  };
  llvm::Constant *null = llvm::ConstantPointerNull::get(pointer);
  count = join(one, given);
  run = join(null, function0);
  pool = join(null, pool0);
}

void ParallelTasks::add(llvm::IRBuilder<> &builder, const KernelCall &call) {
  const auto callKernel = [&] {
    builder.CreateCall(call.kernel,
                       {call.table, call.firstTask,
                        builder.CreateAdd(call.firstTask, call.tasks)});
  };
  llvm::Constant *one = llvm::ConstantInt::get(size, 1);
  if (call.worthwhile == one)
    return callKernel();
  kernels.insert(call.kernel);
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  const auto block = [&](const char *name) {
    return llvm::BasicBlock::Create(module.getContext(), name, function);
  };
  llvm::BasicBlock *alone = block("alone"), *parallel = block("parallel"),
                   *after = block("after");
  llvm::Value *parts = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                                     count, call.worthwhile);
  builder.CreateCondBr(builder.CreateICmpUGT(parts, one), parallel, alone);

  builder.SetInsertPoint(alone);
  callKernel();
  builder.CreateBr(after);

  builder.SetInsertPoint(parallel);
  storeField(builder, Kernel, call.kernel);
  storeField(builder, Table, call.table);
  // Without scratch, a slot that no kernel reads.
  storeField(
      builder, Slot,
      llvm::ConstantInt::get(size, call.scratchSlot.value_or(mostBuffers)));
  storeField(builder, Scratch, call.scratch);
  storeField(builder, Stride, call.scratchStride);
  storeField(builder, FirstTask, call.firstTask);
  storeField(builder, Tasks, call.tasks);
  storeField(builder, Parts, parts);
  storeField(builder, Buffers, llvm::ConstantInt::get(size, call.buffers));
  // The caller's function may do anything, also other work.
  mode->restore(builder);
  builder.CreateCall(runType, run, {pool, task, job, parts});
  mode->set(builder);
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

void ParallelTasks::finish() {
  // Where no step is worth two threads.
  if (kernels.empty())
    return task->eraseFromParent();
  llvm::LLVMContext &context = module.getContext();
  const auto block = [&](const char *name) {
    return llvm::BasicBlock::Create(context, name, task);
  };
  llvm::IRBuilder<> builder(block("entry"));
  job = task->getArg(0);
  llvm::Value *index = task->getArg(1);
  auto *addresses = llvm::ArrayType::get(pointer, mostBuffers + 1);
  llvm::Value *table = allocaInEntry(builder, addresses, "buffers");
  const FloatModeCode ofKernels(builder, llvm::Triple(module.getTargetTriple()),
                                hasFloats, denormals);
  const auto slot = [&](llvm::Value *of, llvm::Value *number) {
    return builder.CreateInBoundsGEP(pointer, of, number);
  };

  // The addresses, and that of this part's scratch.
  llvm::Value *from = loadField(builder, Table),
              *buffers = loadField(builder, Buffers);
  llvm::BasicBlock *entry = builder.GetInsertBlock(), *copy = block("copy"),
                   *work = block("work");
  builder.CreateBr(copy);
  builder.SetInsertPoint(copy);
  llvm::Constant *zero = llvm::ConstantInt::get(size, 0),
                 *one = llvm::ConstantInt::get(size, 1);
  llvm::PHINode *i = builder.CreatePHI(size, 2);
  i->addIncoming(zero, entry);
  builder.CreateStore(builder.CreateLoad(pointer, slot(from, i)),
                      slot(table, i));
  llvm::Value *next = builder.CreateAdd(i, one);
  i->addIncoming(next, copy);
  builder.CreateCondBr(builder.CreateICmpULT(next, buffers), copy, work);
  builder.SetInsertPoint(work);
  llvm::Value *offset = builder.CreateMul(index, loadField(builder, Stride));
  builder.CreateStore(builder.CreateInBoundsGEP(builder.getInt8Ty(),
                                                loadField(builder, Scratch),
                                                offset),
                      slot(table, loadField(builder, Slot)));

  // Parts whose sizes differ by at most one, larger ones first.
  llvm::Value *tasks = loadField(builder, Tasks),
              *parts = builder.CreateZExt(loadField(builder, Parts), i64),
              *part = builder.CreateZExt(index, i64);
  llvm::Value *each = builder.CreateUDiv(tasks, parts),
              *rest = builder.CreateURem(tasks, parts);
  llvm::Value *begin = builder.CreateAdd(
      builder.CreateAdd(loadField(builder, FirstTask),
                        builder.CreateMul(each, part)),
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, part, rest));
  llvm::Value *end = builder.CreateAdd(
      builder.CreateAdd(begin, each),
      builder.CreateZExt(builder.CreateICmpULT(part, rest), i64));
  llvm::CallInst *call = builder.CreateCall(
      kernelType, loadField(builder, Kernel), {table, begin, end});
  llvm::SmallVector<llvm::Metadata *> callees;
  for (llvm::Function *kernel : kernels)
    callees.push_back(llvm::ConstantAsMetadata::get(kernel));
  call->setMetadata(llvm::LLVMContext::MD_callees,
                    llvm::MDNode::get(context, callees));
  ofKernels.restore(builder);
  builder.CreateRetVoid();
}

llvm::Value *ParallelTasks::workspaceSize(llvm::IRBuilder<> &builder,
                                          llvm::Value *threads,
                                          llvm::Value *first,
                                          llvm::Value *scratchStride) {
  llvm::Type *type = threads->getType();
  llvm::Value *more = builder.CreateBinaryIntrinsic(
      llvm::Intrinsic::usub_sat, threads, llvm::ConstantInt::get(type, 1));
  llvm::Value *product = builder.CreateBinaryIntrinsic(
      llvm::Intrinsic::umul_with_overflow, more, scratchStride);
  llvm::Value *bytes =
      builder.CreateSelect(builder.CreateExtractValue(product, 1),
                           llvm::ConstantInt::getAllOnesValue(type),
                           builder.CreateExtractValue(product, 0));
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::uadd_sat, bytes, first);
}
