//===- Elementwise.cpp - the values of elementwise operations -------------===//

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/ElementwiseWriter.h"
#include "graph/stablehlo/ElementOrder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value cpu::emitElementwise(KernelBuilder &code, Operation *op,
                           ArrayRef<Value> operands, bool reassociate) {
  using namespace stablehlo;
  ElementwiseWriter w(code, operands.front().getType(), reassociate);
  Type from = elementOf(op->getOperand(0));
  Type to = elementOf(op->getResult(0));
  // What changes the type or works on any.
  if (isa<ConvertOp>(op))
    return emitConvert(code, operands[0], from, to);
  if (auto compare = dyn_cast<CompareOp>(op))
    return w.compare(compare.getComparisonDirection(), compare.getCompareType(),
                     operands[0], operands[1],
                     stablehlo::comparedType(compare));
  if (isa<SelectOp>(op))
    return code.create<arith::SelectOp>(operands[0], operands[1], operands[2]);
  if (auto clamp = dyn_cast<ClampOp>(op))
    return w.clamp(operands[0], operands[1], operands[2], from);
  if (isa<ComplexOp, RealOp, ImagOp>(op) || isa<ComplexType>(from))
    return w.complexOperation(op, operands, to);
  if (isa<IntegerType, IndexType>(from))
    return w.integerOperation(op, operands, from);
  return w.floatOperation(op, operands, from);
}
