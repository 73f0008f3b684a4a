//===- KernelEmitter.cpp - from a cpu.kernel to a function ----------------===//

#include "backend/cpu/emit/KernelEmitter.h"

#include "backend/cpu/Scans.h"
#include "backend/cpu/codegen/KernelFunction.h"
#include "backend/cpu/emit/Anchors.h"
#include "backend/cpu/emit/KernelBody.h"
#include "graph/ArithmeticCount.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double cpu::flopsOf(KernelOp kernel) {
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

double cpu::elementCostOf(KernelOp kernel) {
  const Value result = kernel.getBody().front().getTerminator()->getOperand(0);
  const double size = std::max<int64_t>(1, tensorOf(result).getNumElements());
  return std::max(1.0, flopsOf(kernel) / size);
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
  if (isUpdate)
    return createUpdateKernel(kernel);
  if (std::optional<int64_t> rows = kernel.getRows())
    return createRowKernel(kernel, *rows);
  return createLoopKernel(kernel);
}

KernelPlan cpu::planKernel(KernelOp kernel, const Target &target) {
  if (auto anchored = createAnchorKernel(kernel, target))
    return anchored->plan();
  KernelPlan plan;
  plan.name = "loops";
  plan.flops = flopsOf(kernel);
  std::unique_ptr<KernelBody> body = KernelBody::create(kernel);
  plan.tasks = body->tasks();
  plan.scratchBytes = body->scratchBytes();
  plan.packings.resize(kernel.getInputs().size());
  plan.updated = kernel.getUpdated();
  return plan;
}

/// A tensor as a kernel's buffer.
static KernelBuffer bufferOf(Value tensor, bool isWritten) {
  RankedTensorType type = tensorOf(tensor);
  KernelBuffer buffer;
  buffer.type = MemRefType::get({type.getNumElements()},
                                storageType(type.getElementType()));
  buffer.isWritten = isWritten;
  return buffer;
}

std::vector<KernelContract> cpu::emitKernel(KernelOp kernel,
                                            const Target &target,
                                            ModuleOp module, StringRef name) {
  tellMachine(module, target);
  if (auto anchored = createAnchorKernel(kernel, target))
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
  if (uint64_t bytes = way->scratchBytes()) {
    KernelBuffer scratch;
    scratch.type = MemRefType::get({int64_t(bytes)},
                                   IntegerType::get(module.getContext(), 8));
    scratch.isWritten = true;
    buffers.push_back(scratch);
  }
  KernelContract contract = createKernel(
      module, UnknownLoc::get(module.getContext()), name, buffers,
      [&](OpBuilder &builder, Location location, Value task,
          ValueRange memory) {
        KernelBuilder code(builder, location);
        Elemental elemental(code, way->lanes());
        for (auto [input, where] : llvm::zip(inputs, memory))
          elemental.bindMemory(input, where);
        size_t outputs = body.getTerminator()->getNumOperands();
        way->emit(elemental, task, memory.slice(inputs.size(), outputs),
                  way->scratchBytes() ? memory.back() : Value());
      });
  contract.tasks = way->tasks();
  return {std::move(contract)};
}
