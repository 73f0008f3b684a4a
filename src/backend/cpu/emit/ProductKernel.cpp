//===- ProductKernel.cpp - kernels around a matrix product ----------------===//

#include "backend/cpu/emit/ProductKernel.h"

#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "backend/cpu/precision/MarkAmplified.h"
#include "backend/cpu/precision/SetPrecisions.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Weights are those of all of a batch.
static size_t batchesOf(Operation *product) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(product))
    return dot.getSide(0).batching.size();
  if (auto distances = dyn_cast<ZeroPointProductOp>(product))
    return distances.getLhsBatching().size();
  return 0;
}

ProductKernel::ProductKernel(KernelOp kernel, Operation *root,
                             const Target &target)
    : RootKernel(kernel, root, target), lhs(root->getOperand(0)),
      rhs(root->getOperand(1)), batches(batchesOf(root)) {}

CodeSharing ProductKernel::sharingOfDynamic(bool mayReadDistances) const {
  return isa<stablehlo::DotGeneralOp>(root) && mayReadDistances
             ? CodeSharing::AnyNumbers
             : CodeSharing::SameNumbers;
}

Arithmetic cpu::arithmeticOf(Operation *product, const Target &target) {
  Value lhs = product->getOperand(0), rhs = product->getOperand(1);
  if (auto distances = dyn_cast<ZeroPointProductOp>(product))
    return Arithmetic::ofBytes(*elementTypeOf(tensorOf(lhs).getElementType()),
                               *elementTypeOf(distances.multipliedRhs()),
                               target);
  return Arithmetic::of(lhs, rhs, product->getResult(0), target);
}

std::vector<TileArithmetic>
cpu::tilesOf(Operation *product, const Target &target, bool hasWeights) {
  const Arithmetic arithmetic = arithmeticOf(product, target);
  // Bytes of any sign, as they are.
  if (isa<ZeroPointProductOp>(product)) {
    auto typeOf = [&](unsigned operand) {
      return *elementTypeOf(
          tensorOf(product->getOperand(operand)).getElementType());
    };
    return TileArithmetic::allOf(typeOf(0), typeOf(1), arithmetic.accumulator,
                                 Precision::Default);
  }
  TileOperandTypes numbers{operandTypeOf(product, 0), {}};
  if (!hasWeights)
    numbers.rhs = operandTypeOf(product, 1);
  return TileArithmetic::allOf(arithmetic.lhs, arithmetic.rhs,
                               arithmetic.accumulator,
                               termsPrecisionOf(product), numbers);
}

MatMulZeros ProductKernel::zerosIn(OpBuilder &builder, Location location,
                                   ValueRange memory) const {
  auto distances = dyn_cast<ZeroPointProductOp>(root);
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

MatMulZeros ProductKernel::zerosOfTiles(OpBuilder &builder, Location location,
                                        ValueRange memory) const {
  MatMulZeros zeros = zerosIn(builder, location, memory);
  auto op = dyn_cast<ZeroPointProductOp>(root);
  if (!op || !op.getTurned())
    return zeros;
  const bool wasUnsigned =
      *elementTypeOf(tensorOf(rhs).getElementType()) == ElementType::UI8;
  Value shift = builder.create<arith::ConstantOp>(
      location, builder.getI32IntegerAttr(wasUnsigned ? 128 : -128));
  zeros.rhs = zeros.rhs
                  ? builder.create<arith::AddIOp>(location, zeros.rhs, shift)
                  : shift;
  return zeros;
}

MatMulRequest ProductKernel::requestIn(ValueRange memory) const {
  const size_t result = kernel.getInputs().size();
  return {memory[inputIndex(lhs)], memory[inputIndex(rhs)], memory[result],
          memory.size() > result + 1 ? memory[result + 1] : Value(),
          epilogueIn(memory)};
}

MatMulEpilogue ProductKernel::epilogueIn(ValueRange memory) const {
  MatMulEpilogue epilogue;
  if (hasEpilogue())
    epilogue = [this, memory](OpBuilder &builder, Location location,
                              Value vector, const MatMulPosition &at) {
      return epilogueAt(
          builder, location, vector, at.offset,
          [&](KernelBuilder &e) { return coordinatesOf(e, at); }, memory);
    };
  epilogue.isLong = hasLongEpilogue();
  return epilogue;
}

/// The coordinates of batch, row and column in the product's result.
SmallVector<Value>
ProductKernel::coordinatesOf(KernelBuilder &e, const MatMulPosition &at) const {
  ArrayRef<Dim> shape = dimsOf(root->getResult(0));
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
