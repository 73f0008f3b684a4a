//===- DynamicKernel.cpp - kernels of sizes that are not known ------------===//

#include "backend/cpu/emit/DynamicKernel.h"

#include "backend/cpu/emit/Elemental.h"
#include "graph/Types.h"
#include "runtime/Program.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isDynamic(KernelOp kernel) {
  auto isNamed = [](Type type) { return sinter::hasNamedSizes(type); };
  if (hasNamedSizes(kernel.getOperation()))
    return true;
  Block &body = kernel.getBody().front();
  return llvm::any_of(body.getArgumentTypes(), isNamed) ||
         llvm::any_of(body, [](Operation &op) { return hasNamedSizes(&op); });
}

KernelBuffer cpu::bufferOf(Value tensor, bool isWritten) {
  RankedTensorType type = tensorOf(tensor);
  KernelBuffer buffer;
  buffer.isDynamic = sinter::hasNamedSizes(type);
  buffer.type = MemRefType::get(
      {buffer.isDynamic ? mostTensorBytes : type.getNumElements()},
      storageType(type.getElementType()));
  buffer.isWritten = isWritten;
  // It may be an input or output of the program, wherever its caller has it.
  // Aligned addresses are as fast by instructions that take any.
  if (auto element = elementTypeOf(buffer.type.getElementType()))
    buffer.alignment = static_cast<int64_t>(alignmentOf(*element));
  return buffer;
}

KernelBuffer cpu::tableOfSizes(MLIRContext *context) {
  KernelBuffer buffer;
  constexpr int64_t most = int64_t(1) << 20;
  buffer.type = MemRefType::get({most}, IntegerType::get(context, 64));
  buffer.isDynamic = buffer.isSizes = true;
  buffer.alignment = sizeof(int64_t);
  return buffer;
}

void cpu::leaveSize(KernelBuffer &buffer) {
  if (buffer.isDynamic)
    return;
  buffer.bytes = contractBytes(buffer);
  buffer.type =
      MemRefType::get({mostTensorBytes}, buffer.type.getElementType());
  buffer.isDynamic = true;
}
