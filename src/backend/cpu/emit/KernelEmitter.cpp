//===- KernelEmitter.cpp - from a cpu.kernel to a function ----------------===//

#include "backend/cpu/emit/KernelEmitter.h"

#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/DynamicKernel.h"
#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/ir/Scans.h"
#include "graph/ArithmeticCount.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static Error keepsNoSize(KernelOp kernel, Operation *closed) {
  return unsupported(nodeAndKind(closed, kernel.getLoc()) +
                     " has no kernel for dynamic shapes");
}

Result<void> cpu::checkDynamic(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front().without_terminator())
    // RootKernels read and store parts themselves.
    if (hasNamedSizes(&op) && !isRoot(&op) &&
        !isa<SplitTermsOp, RecombineTermsOp>(op) &&
        !cast<ElementalOpInterface>(op).keepsDynamicSizes())
      return keepsNoSize(kernel, &op);
  return {};
}

Result<void> cpu::checkDynamic(KernelOp kernel, const KernelPlan &plan) {
  if (!isDynamic(kernel) || plan.isDynamic())
    return {};
  Operation *root = kernel.rootOp();
  for (Operation &op : kernel.getBody().front())
    if (isRoot(&op))
      root = &op;
  return keepsNoSize(kernel, root ? root : kernel);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double cpu::nominalCount(ArrayRef<Dim> sizes) {
  double count = 1;
  for (Dim size : sizes)
    count *= double(nominalOf(size));
  return count;
}

/// A copy of \p kernel with sizes in the place of names, to count by. It is
/// not sound, and for whoever asks to erase.
static KernelOp asNominal(KernelOp kernel) {
  auto copy = cast<KernelOp>(kernel->clone());
  auto setSizes = [](Value value) {
    RankedTensorType type = tensorOf(value);
    if (!hasNamedSizes(type))
      return;
    value.setType(RankedTensorType::get(
        llvm::map_to_vector(dimsOf(type), nominalOf), type.getElementType()));
  };
  for (Value argument : copy.getBody().front().getArguments())
    setSizes(argument);
  for (Operation &op : copy.getBody().front())
    for (Value result : op.getResults())
      setSizes(result);
  return copy;
}

/// Of a kernel whose sizes are known inside of it.
static double countedFlops(KernelOp kernel) {
  double flops = 0;
  for (Operation &op : kernel.getBody().front()) {
    auto window = dyn_cast<stablehlo::ReduceWindowOp>(op);
    // A scan does not go over its windows.
    flops += window && scanOf(window)
                 ? double(tensorOf(window.getResults()[0]).getNumElements())
                 : arithmeticCount(op);
  }
  return flops;
}

static double countedElementCost(KernelOp kernel) {
  const Value result = kernel.getBody().front().getTerminator()->getOperand(0);
  const double size = std::max<int64_t>(1, tensorOf(result).getNumElements());
  return std::max(1.0, countedFlops(kernel) / size);
}

/// What \p count says of \p kernel, or of a copy with sizes for names.
static double counted(KernelOp kernel, double (*count)(KernelOp)) {
  if (!isDynamic(kernel))
    return count(kernel);
  KernelOp nominal = asNominal(kernel);
  const double number = count(nominal);
  nominal->erase();
  return number;
}

double cpu::flopsOf(KernelOp kernel) { return counted(kernel, countedFlops); }

double cpu::elementCostOf(KernelOp kernel) {
  return counted(kernel, countedElementCost);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::unique_ptr<KernelBody> cpu::createWholeKernel(Operation *op) {
  if (auto sort = dyn_cast<stablehlo::SortOp>(op))
    return createSortKernel(sort);
  if (auto scatter = dyn_cast<stablehlo::ScatterOp>(op))
    return createScatterKernel(scatter, /*inPlace=*/false);
  if (auto scatter = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    return createSelectAndScatterKernel(scatter);
  return nullptr;
}

std::unique_ptr<KernelBody> KernelBody::create(KernelOp kernel) {
  Operation *root =
      kernel.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  const bool isUpdate = kernel.getUpdated().has_value();
  if (auto scatter = dyn_cast_or_null<stablehlo::ScatterOp>(root))
    return createScatterKernel(scatter, isUpdate);
  if (root)
    if (std::unique_ptr<KernelBody> whole = createWholeKernel(root))
      return whole;
  if (auto window = dyn_cast_or_null<stablehlo::ReduceWindowOp>(root);
      window && scanOf(window))
    return createScanKernel(kernel);
  // What replaces all elements does so one by one, as others do.
  if (isUpdate && !kernel.readsWhereItWrites(*kernel.getUpdated()))
    return createUpdateKernel(kernel);
  if (std::optional<int64_t> rows = kernel.getRows())
    return createRowKernel(kernel, *rows);
  return createLoopKernel(kernel);
}

/// Whether \p kernel, of known sizes, is one loop over elements that each
/// follow from those at the same place, and from numbers. Its code does not say
/// how large buffers are, so that such kernels of several sizes may have the
/// same.
static bool isPlainLoop(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  Operation *yield = body.getTerminator();
  ArrayRef<Dim> shape = dimsOf(yield->getOperand(0));
  auto isCovered = [&](Value value) {
    return dimsOf(value).empty() || dimsOf(value) == shape;
  };
  return shape.size() == 1 && !isDynamic(kernel) && !kernel.getUpdated() &&
         !kernel.getRows() && llvm::all_of(body.getArguments(), isCovered) &&
         llvm::all_of(yield->getOperands(), isCovered) &&
         llvm::all_of(body.without_terminator(), [&](Operation &op) {
           return (isElementwise(&op) ||
                   isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp>(
                       op)) &&
                  llvm::all_of(op.getResults(), isCovered);
         });
}

/// Whether \p kernel, of known sizes, does nothing but find the least or the
/// greatest numbers of tensors, which takes the machine as long where the code
/// does not know how many there are: it reads that from a table.
static bool findsMinMax(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto reduce = dyn_cast_or_null<stablehlo::ReduceOp>(kernel.rootOp());
  return reduce && !isDynamic(kernel) && !kernel.getUpdated() &&
         !kernel.getRows() &&
         llvm::equal(reduce.getResults(),
                     body.getTerminator()->getOperands()) &&
         llvm::all_of(body.without_terminator(),
                      [&](Operation &op) {
                        return &op == reduce || isa<stablehlo::ConstantOp>(op);
                      }) &&
         llvm::all_of(reduce.getBody().front().without_terminator(),
                      llvm::IsaPred<stablehlo::MaxOp, stablehlo::MinOp>);
}

static CodeSharing sharingOfLoops(KernelOp kernel) {
  if (isDynamic(kernel) || findsMinMax(kernel))
    return CodeSharing::AnyNumbers;
  return isPlainLoop(kernel) ? CodeSharing::SameNumbers : CodeSharing::None;
}

/// Of \p kernel, which is computed by \p body.
static KernelPlan planLoops(KernelOp kernel, const KernelBody &body) {
  KernelPlan plan;
  plan.name = "loops";
  plan.scratch = body.scratch();
  plan.sharing = sharingOfLoops(kernel);
  std::vector<TaskExtent> extents;
  if (isDynamic(kernel))
    extents = body.taskExtents();
  if (extents.empty())
    plan.work = TaskLoop{body.tasks(), flopsOf(kernel)};
  else
    plan.work = DynamicTaskLoop{std::move(extents), elementCostOf(kernel)};
  return plan;
}

KernelPlan cpu::planKernel(KernelOp kernel, const Target &target) {
  if (auto anchored = createRootKernel(kernel, target))
    return anchored->plan();
  return planLoops(kernel, *KernelBody::create(kernel));
}

/// The code of \p kernel, whatever it is worth.
static std::vector<KernelContract> writeKernel(KernelOp kernel,
                                               const Target &target,
                                               ModuleOp module,
                                               StringRef name) {
  if (auto anchored = createRootKernel(kernel, target))
    return anchored->emit(module, name);
  Block &body = kernel.getBody().front();
  SmallVector<KernelBuffer> buffers;
  SmallVector<Value> inputs;
  for (BlockArgument argument : body.getArguments())
    if (argument.getArgNumber() != kernel.getUpdated())
      inputs.push_back(argument);
  for (Value input : inputs)
    buffers.push_back(bufferOf(input, false));
  for (Value result : body.getTerminator()->getOperands())
    buffers.push_back(bufferOf(result, true));
  std::unique_ptr<KernelBody> way = KernelBody::create(kernel);
  const KernelPlan plan = planLoops(kernel, *way);
  if (plan.sharing != CodeSharing::None)
    llvm::for_each(buffers, leaveSize);
  const bool hasScratch = !plan.scratch.isNone();
  if (hasScratch) {
    KernelBuffer scratch;
    scratch.isDynamic = plan.scratch.isDynamic();
    scratch.type = MemRefType::get(
        {scratch.isDynamic ? mostTensorBytes : int64_t(plan.scratch.bytes)},
        IntegerType::get(module.getContext(), 8));
    scratch.isWritten = true;
    buffers.push_back(scratch);
  }
  if (plan.readsTable())
    buffers.push_back(tableOfSizes(module.getContext()));
  KernelContract contract = createKernel(
      module, UnknownLoc::get(module.getContext()), name, buffers,
      [&](OpBuilder &builder, Location location, Value task,
          ValueRange memory) {
        KernelBuilder code(builder, location);
        Elemental elemental(code, way->lanes());
        for (auto [input, where] : llvm::zip(inputs, memory))
          elemental.bindMemory(input, where);
        size_t outputs = body.getTerminator()->getNumOperands();
        if (std::optional<uint64_t> updated = kernel.getUpdated())
          elemental.bindMemory(body.getArgument(*updated),
                               memory[inputs.size()]);
        way->emit(elemental, task, memory.slice(inputs.size(), outputs),
                  hasScratch ? memory[inputs.size() + outputs] : Value());
      });
  contract.tasks = plan.tasksOf(0);
  return {std::move(contract)};
}

Result<std::vector<KernelContract>> cpu::emitKernel(KernelOp kernel,
                                                    const Target &target,
                                                    ModuleOp module,
                                                    StringRef name) {
  tellMachine(module, target);
  std::vector<KernelContract> contracts =
      writeKernel(kernel, target, module, name);
  const bool isWrong = module
                           .walk([](func::FuncOp function) {
                             return function->hasAttr(usesNoSize)
                                        ? WalkResult::interrupt()
                                        : WalkResult::advance();
                           })
                           .wasInterrupted();
  if (isWrong)
    return unsupported("a kernel of " +
                       kernel.rootOp()->getName().getStringRef().str() +
                       " is for known sizes only");
  return contracts;
}
