//===- RootKernel.cpp - kernels around a generated one --------------------===//

#include "backend/cpu/emit/RootKernel.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/DynamicKernel.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/Math.h"
#include "graph/Types.h"
#include <numeric>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// What lies in memory of it.
static Value storedBy(KernelOp kernel) {
  return cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues()[0];
}

Value RootKernel::yielded() const {
  Value stored = storedBy(kernel);
  auto cut = stored.getDefiningOp<SplitTermsOp>();
  return cut ? cut.getOperand() : stored;
}

unsigned RootKernel::inputIndex(Value operand) const {
  if (auto join = operand.getDefiningOp<RecombineTermsOp>())
    operand = join.getOperand();
  return cast<BlockArgument>(operand).getArgNumber();
}

static MinMaxOp minMaxOf(KernelOp kernel) {
  auto found = kernel.getBody().front().getOps<MinMaxOp>();
  return found.empty() ? MinMaxOp() : *found.begin();
}

bool RootKernel::hasMinMax() const { return bool(minMaxOf(kernel)); }

bool cpu::isConstantInput(KernelOp kernel, Value operand) {
  std::optional<ArrayRef<int64_t>> constants = kernel.getConstantInputs();
  return constants &&
         llvm::is_contained(
             *constants, int64_t(cast<BlockArgument>(operand).getArgNumber()));
}

/// Whether \p op rounds f32 to bf16.
static bool roundsToBF16(Operation *op) {
  return isa<stablehlo::AddOp, stablehlo::ConvertOp, stablehlo::DivOp,
             stablehlo::MulOp, stablehlo::SubtractOp>(op) &&
         tensorOf(op->getResult(0)).getElementType().isBF16();
}

/// Whether \p op makes f32 of f16 or bf16: of what was rounded in registers it
/// is what lies there, of memory a way to load.
static bool widensHalf(Operation *op) {
  if (!isa<stablehlo::ConvertOp>(op) ||
      !tensorOf(op->getResult(0)).getElementType().isF32())
    return false;
  const Type from = tensorOf(op->getOperand(0)).getElementType();
  return from.isF16() || from.isBF16();
}

bool RootKernel::hasLongEpilogue() const {
  // A chain of so many, a rescale say, takes no longer in a loop, whose code is
  // a fraction.
  constexpr int64_t manyOperations = 6;
  // Integers round to bf16 where no instruction does.
  constexpr int64_t besidesRounding = 4;
  // One each, and two that remember a NaN.
  constexpr int64_t ofMinMax = 4;
  int64_t operations = 0;
  for (Operation &op : kernel.getBody().front()) {
    if (isFunction(&op))
      return true;
    operations += &op != root &&
                  !isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp,
                       RecombineTermsOp, SplitTermsOp, MinMaxOp, YieldOp>(op) &&
                  !widensHalf(&op);
    if (isa<MinMaxOp>(op))
      operations += ofMinMax;
    if (!convertsBF16 && roundsToBF16(&op))
      operations += besidesRounding;
  }
  return operations >= manyOperations;
}

Value RootKernel::epilogueAt(
    OpBuilder &builder, Location location, Value vector, Value offset,
    llvm::function_ref<SmallVector<Value>(KernelBuilder &)> coordinatesOf,
    ValueRange memory) const {
  if (!hasEpilogue())
    return vector;
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  KernelBuilder code(builder, location);
  Elemental elemental(code, lanes);
  Coordinates place;
  for (Value index : coordinatesOf(code))
    place.push_back(index);
  place.back().lanes = true;

  RankedTensorType resultType = tensorOf(root->getResult(0));
  auto isHere = [place](ArrayRef<Coordinate> other) {
    return llvm::equal(place, other, [](const auto &a, const auto &b) {
      return a.value == b.value && a.lanes == b.lanes;
    });
  };
  for (auto [argument, buffer] :
       llvm::zip(kernel.getBody().front().getArguments(), memory)) {
    elemental.bindMemory(argument, buffer);
    if (dimsOf(argument) != dimsOf(resultType))
      continue;
    // What lies as the result does is read without taking the place apart.
    auto other = std::make_shared<Elemental>(code, lanes);
    other->bindMemory(argument, buffer);
    elemental.bind(argument, [=, &elemental, argument = argument,
                              buffer = buffer](ArrayRef<Coordinate> at) {
      if (!isHere(at))
        return other->at(argument, at);
      return elemental.load(buffer, offset, tensorOf(argument).getElementType(),
                            /*asVector=*/true);
    });
  }
  elemental.bind(root->getResult(0),
                 [vector](ArrayRef<Coordinate>) { return vector; });
  Value result =
      elemental.stored(elemental.splat(elemental.at(yielded(), place)),
                       tensorOf(yielded()).getElementType());
  if (minMax)
    minMax->add(builder, location, result);
  return result;
}

void RootKernel::emitWithMinMax(OpBuilder &builder, Location location,
                                Value task, ValueRange memory,
                                int64_t tasks) const {
  const auto results = tensorOf(minMaxOf(kernel).getLeast());
  const size_t inputs = kernel.getInputs().size();
  SmallVector<Value> own(memory.take_front(inputs + 1));
  llvm::append_range(own, memory.drop_front(inputs + 3));
  minMax.emplace(builder, location, results.getDimSize(1));
  emitTask(/*stage=*/0, builder, location, task, own);
  minMax->store(builder, location, memory[inputs + 1], memory[inputs + 2], task,
                tasks, results.getDimSize(0));
  minMax.reset();
}

KernelPlan RootKernel::plan() const {
  KernelPlan plan = planRoot();
  if (!isDynamic(kernel))
    return plan;
  plan.sharing = std::max(plan.sharing, CodeSharing::SameNumbers);
  auto result = tensorOf(yielded());
  const auto *loop = std::get_if<TaskLoop>(&plan.work);
  if (!loop || sinter::hasNamedSizes(Type(result)) || hasNamedSizes(root))
    return plan;
  const auto elements = double(std::max<int64_t>(1, result.getNumElements()));
  plan.work = DynamicTaskLoop{{{{loop->tasks}, 1}}, loop->flops / elements};
  return plan;
}

std::vector<KernelContract> RootKernel::emit(ModuleOp module,
                                             StringRef name) const {
  Block &body = kernel.getBody().front();
  SmallVector<KernelBuffer> buffers;
  auto add = [&](int64_t elements, Type element, bool isWritten) {
    KernelBuffer buffer;
    buffer.type = MemRefType::get({elements}, storageType(element));
    buffer.isWritten = isWritten;
    buffers.push_back(buffer);
  };
  const KernelPlan wanted = plan();
  for (BlockArgument argument : body.getArguments()) {
    Type element = tensorOf(argument).getElementType();
    const auto packing = wanted.packings.find(argument.getArgNumber());
    if (packing != wanted.packings.end())
      add(int64_t(packing->second.bytes / byteSize(*elementTypeOf(element))),
          element, false);
    else
      buffers.push_back(bufferOf(argument, false));
  }
  buffers.push_back(bufferOf(storedBy(kernel), true));
  if (MinMaxOp minMax = minMaxOf(kernel))
    for (Value result : minMax.getResults())
      buffers.push_back(bufferOf(result, true));
  auto addMemory = [&](uint64_t bytes, ElementType type, bool isDynamic) {
    add(int64_t(bytes / byteSize(type)), mlirTypeOf(type, module.getContext()),
        true);
    if (isDynamic)
      buffers.back().bytes = 0;
  };
  const auto *dynamicStages = std::get_if<DynamicStages>(&wanted.work);
  if (const Scratch &scratch = wanted.scratch; !scratch.isNone())
    addMemory(scratch.bytes, scratch.type, scratch.isDynamic());
  if (const Workspace shared = wanted.workspace(); shared.bytes != 0)
    addMemory(shared.bytes, shared.type, dynamicStages != nullptr);
  const bool hasTable = wanted.readsTable();
  if (hasTable)
    llvm::for_each(buffers, leaveSize);
  std::vector<KernelContract> contracts;
  for (size_t stage = 0; stage < wanted.functions(); ++stage) {
    std::vector<unsigned> own(buffers.size());
    std::iota(own.begin(), own.end(), 0);
    if (dynamicStages)
      own = dynamicStages->stages[stage].buffers;
    SmallVector<KernelBuffer> ofStage;
    for (unsigned buffer : own)
      ofStage.push_back(buffers[buffer]);
    if (hasTable)
      ofStage.push_back(tableOfSizes(module.getContext()));
    contracts.push_back(
        createKernel(module, UnknownLoc::get(module.getContext()),
                     stageName(name, stage), ofStage,
                     [&](OpBuilder &builder, Location location, Value task,
                         ValueRange given) {
                       SmallVector<Value> memory(buffers.size());
                       for (auto [buffer, value] : llvm::zip(own, given))
                         memory[buffer] = value;
                       if (hasTable)
                         memory.push_back(given.back());
                       if (hasMinMax())
                         emitWithMinMax(builder, location, task, memory,
                                        wanted.tasksOf(stage));
                       else
                         emitTask(stage, builder, location, task, memory);
                     }));
    contracts.back().tasks = wanted.tasksOf(stage);
  }
  return contracts;
}
