//===- OperationKind.cpp - how an operation is computed -------------------===//

#include "backend/cpu/ir/OperationKind.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::hasComplexNumbers(Operation *op) {
  auto isComplex = [](Type type) {
    return isa<ComplexType>(getElementTypeOrSelf(type));
  };
  return llvm::any_of(op->getOperandTypes(), isComplex) ||
         llvm::any_of(op->getResultTypes(), isComplex);
}

bool cpu::isConstant(Operation *op) {
  return isa_and_nonnull<stablehlo::ConstantOp, ComputedConstantOp>(op);
}

bool cpu::isAlias(Operation *op) {
  // Elements narrower than a byte do not lie as their bits do.
  auto isByte = [](Type type) {
    return bitWidth(*elementTypeOf(getElementTypeOrSelf(type))) >= 8;
  };
  if (isa<stablehlo::BitcastConvertOp>(op))
    return isByte(op->getOperand(0).getType()) &&
           isByte(op->getResult(0).getType());
  return isa<stablehlo::ReshapeOp>(op);
}

Value cpu::memoryOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isAlias(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool cpu::isControlFlow(Operation *op) {
  return isa<stablehlo::IfOp, stablehlo::CaseOp, stablehlo::WhileOp>(op);
}

std::string cpu::nodeAndKind(Operation *op, Location location) {
  std::string node;
  if (auto name = location->findInstanceOf<NameLoc>())
    node = "'" + name.getName().str() + "': ";
  return node + op->getName().getStringRef().str();
}

Kind cpu::kindOf(Operation *op) {
  auto elemental = dyn_cast<ElementalOpInterface>(op);
  return elemental ? elemental.kind() : Kind::Unknown;
}

bool cpu::isElementwise(Operation *op) {
  return kindOf(op) == Kind::Elementwise && op->getNumRegions() == 0;
}

bool cpu::isCheap(Operation *op) {
  auto elemental = dyn_cast<ElementalOpInterface>(op);
  return elemental && elemental.isCheap();
}

int64_t cpu::sizeOf(Value value) {
  ArrayRef<Dim> shape = dimsOf(value);
  if (!hasNamedDim(shape))
    return tensorOf(value).getNumElements();
  // The same for the same sizes in any order, and more than tensors have that
  // are not as large.
  uint64_t product = 1;
  for (Dim size : shape)
    product *= size.key();
  return static_cast<int64_t>(product >> 3 | uint64_t(1) << 61);
}

bool cpu::hasNamedSizes(Operation *op) {
  auto isNamed = [](Type type) { return sinter::hasNamedSizes(type); };
  return llvm::any_of(op->getOperandTypes(), isNamed) ||
         llvm::any_of(op->getResultTypes(), isNamed);
}

bool cpu::isSplatConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}
