#include "backend/cpu/ir/ProductSides.h"

using namespace mlir;

namespace sinter::cpu {

Value withContractedLast(nn::TensorBuilder &emit, Value value,
                         const stablehlo::ProductSide &side) {
  SmallVector<int64_t> order = side.free();
  llvm::append_range(order, side.contracting);
  return llvm::is_sorted(order) ? value : emit.transpose(value, order);
}

bool isMatrix(const stablehlo::ProductSide &side) {
  auto isInOrder = [](SmallVector<int64_t> first, ArrayRef<int64_t> second) {
    llvm::append_range(first, second);
    return llvm::is_sorted(first);
  };
  return isInOrder(side.free(), side.contracting) ||
         isInOrder(llvm::to_vector(side.contracting), side.free());
}

} // namespace sinter::cpu
