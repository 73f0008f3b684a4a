//===- OpenKernel.cpp - kernels of sizes that are not known ---------------===//

#include "backend/cpu/emit/OpenKernel.h"

#include "backend/cpu/emit/Elemental.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isOpen(KernelOp kernel) {
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
  buffer.isOpen = sinter::hasNamedSizes(type);
  buffer.type =
      MemRefType::get({buffer.isOpen ? mostOpenBytes : type.getNumElements()},
                      storageType(type.getElementType()));
  buffer.isWritten = isWritten;
  return buffer;
}

KernelBuffer cpu::tableOfSizes(MLIRContext *context) {
  KernelBuffer buffer;
  constexpr int64_t most = int64_t(1) << 20;
  buffer.type = MemRefType::get({most}, IntegerType::get(context, 64));
  buffer.isOpen = buffer.isSizes = true;
  buffer.alignment = sizeof(int64_t);
  return buffer;
}

void cpu::leaveSize(KernelBuffer &buffer) {
  if (buffer.isOpen)
    return;
  buffer.bytes = contractBytes(buffer);
  buffer.type = MemRefType::get({mostOpenBytes}, buffer.type.getElementType());
  buffer.isOpen = true;
}
