//===- ProductKernel.cpp - kernels around a matrix product ----------------===//

#include "backend/cpu/emit/ProductKernel.h"

#include "backend/cpu/emit/KernelBuilder.h"
#include "graph/Types.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Arithmetic cpu::arithmeticOf(Operation *product, const Target &target) {
  Value lhs = product->getOperand(0), rhs = product->getOperand(1);
  if (auto distances = dyn_cast<DistanceProductOp>(product))
    return Arithmetic::ofBytes(*elementTypeOf(tensorOf(lhs).getElementType()),
                               *elementTypeOf(distances.multipliedRhs()),
                               target);
  return Arithmetic::of(lhs, rhs, product->getResult(0), target);
}

MatMulZeros ProductKernel::zerosIn(OpBuilder &builder, Location location,
                                   ValueRange memory) const {
  auto distances = dyn_cast<DistanceProductOp>(anchor);
  if (!distances)
    return {};
  VectorBuilder code(builder, location);
  auto numberIn = [&](Value tensor) -> Value {
    if (!tensor)
      return {};
    return code.create<memref::LoadOp>(code.flatten(memory[inputIndex(tensor)]),
                                       code.index(0));
  };
  return {numberIn(distances.getLhsZero()), numberIn(distances.getRhsZero())};
}

MatMulEpilogue ProductKernel::epilogueIn(ValueRange memory) const {
  MatMulEpilogue epilogue;
  if (hasEpilogue())
    epilogue = [this, memory](OpBuilder &builder, Location location,
                              Value vector, const MatMulPosition &at) {
      return epilogueAt(
          builder, location, vector, at.offset,
          [&](KernelBuilder &e) { return placeOf(e, at); }, memory);
    };
  epilogue.isLong = hasLongEpilogue();
  return epilogue;
}

/// Batch, row and column as a place in the product's result.
SmallVector<Value> ProductKernel::placeOf(KernelBuilder &e,
                                          const MatMulPosition &at) const {
  ArrayRef<int64_t> shape = shapeOf(anchor->getResult(0));
  SmallVector<Value> place;
  size_t next = 0;
  for (size_t i = 0; i < batches; ++i)
    place.push_back(shape[i] != 1 ? at.batch[next++] : e.index(0));
  // The row number, taken apart from the last dimension on.
  SmallVector<Value> rows;
  Value rest = at.row;
  for (size_t i = shape.size() - 1; i-- > batches;) {
    const bool isFirst = i == batches;
    rows.push_back(isFirst ? rest : e.rem(rest, shape[i]));
    if (!isFirst)
      rest = e.div(rest, shape[i]);
  }
  place.append(rows.rbegin(), rows.rend());
  place.push_back(at.column);
  return place;
}
