//===- ElementalRegion.cpp - the regions of reductions and the like -------===//
//
// A region becomes code at the place of each call: scalars are values, tensors
// lie in buffers of the stack. What only moves elements is read through.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/ir/RegionUse.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value Elemental::stackBuffer(Type element, int64_t size) {
  constexpr int64_t alignment = 64;
  OpBuilder::InsertionGuard guard(code.builder);
  code.toEntry();
  return code.create<memref::AllocaOp>(
      MemRefType::get({std::max<int64_t>(1, size)}, element),
      code.builder.getI64IntegerAttr(alignment));
}

Value Elemental::bufferOf(Value tensor) {
  Value &buffer = buffers[tensor];
  if (!buffer)
    buffer = stackBuffer(storageType(elementOf(tensor)),
                         tensorOf(tensor).getNumElements());
  return buffer;
}

void Elemental::copyTo(Value tensor, Value buffer) {
  ArrayRef<Dim> shape = dimsOf(tensor);
  code.loops(shape, [&](ArrayRef<Value> position) {
    Coordinates place(position.begin(), position.end());
    store(at(tensor, place), buffer, linearize(place, shape),
          elementOf(tensor));
  });
}

void Elemental::computeInBuffers(Operation *op) {
  ArrayRef<Dim> shape = dimsOf(op->getResult(0));
  code.loops(shape, [&](ArrayRef<Value> position) {
    Coordinates place(position.begin(), position.end());
    Value offset = linearize(place, shape);
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), allAt(op, place)))
      store(value, bufferOf(result), offset, elementOf(result));
  });
  for (Value result : op->getResults())
    bindMemory(result, bufferOf(result));
}

void Elemental::computeWhole(Operation *op) {
  std::unique_ptr<KernelBody> body = createWholeKernel(op);
  Values outputs;
  for (Value result : op->getResults())
    outputs.push_back(bufferOf(result));
  Value scratch;
  if (uint64_t bytes = body->scratch().bytes)
    scratch = stackBuffer(code.builder.getI8Type(), bytes);
  code.loop(code.index(0), code.index(body->tasks()), 1,
            [&](Value task) { body->emit(*this, task, outputs, scratch); });
  for (auto [result, buffer] : llvm::zip_equal(op->getResults(), outputs))
    bindMemory(result, buffer);
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

void Elemental::computeInOrder(Block &block) {
  for (Operation &op : block.without_terminator())
    switch (regionUse(&op)) {
    case RegionUse::Value:
      allAt(&op, Place());
      break;
    case RegionUse::ReadThrough:
      break;
    case RegionUse::Buffer:
      computeInBuffers(&op);
      break;
    case RegionUse::Whole:
      computeWhole(&op);
      break;
    case RegionUse::Control:
      computeControl(&op);
      break;
    }
}

Values Elemental::inlineRegion(Region &region, ValueRange arguments,
                               bool mayReassociate) {
  KernelBuilder::Scope scope(code);
  Block &block = region.front();
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    bind(argument, [value = value](Place) { return value; });
  bool outer = std::exchange(reassociate, mayReassociate);
  computeInOrder(block);
  Values results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(at(result, Place()));
  reassociate = outer;
  return results;
}
