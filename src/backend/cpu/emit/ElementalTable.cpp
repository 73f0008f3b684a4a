//===- ElementalTable.cpp - constants that lie in the code ----------------===//

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/kernels/common/SmallFloat.h"

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The elements of \p dense as they lie in memory, complex ones in two parts.
static DenseElementsAttr storedElements(DenseElementsAttr dense) {
  Type element = dense.getElementType();
  auto rowOf = [&](int64_t size, Type type) {
    return RankedTensorType::get({size}, type);
  };
  if (auto complexType = dyn_cast<ComplexType>(element)) {
    SmallVector<APFloat> parts;
    for (const std::complex<APFloat> &value :
         dense.getValues<std::complex<APFloat>>())
      parts.append({value.real(), value.imag()});
    return DenseElementsAttr::get(
        rowOf(parts.size(), complexType.getElementType()), parts);
  }
  const int64_t size = dense.getNumElements();
  if (isa<FloatType>(element) && !isFloat8(element))
    return dense.reshape(rowOf(size, element));
  const unsigned width = storageType(element).getIntOrFloatBitWidth();
  const bool isSigned = isa<IntegerType>(element) &&
                        !element.isUnsignedInteger() && !element.isInteger(1);
  SmallVector<APInt> integers;
  if (isFloat8(element))
    for (const APFloat &value : dense.getValues<APFloat>())
      integers.push_back(value.bitcastToAPInt());
  else
    for (const APInt &value : dense.getValues<APInt>())
      integers.push_back(isSigned ? value.sextOrTrunc(width)
                                  : value.zextOrTrunc(width));
  return DenseElementsAttr::get(rowOf(size, storageType(element)), integers);
}

/// A constant of the function's module, which \p builder stands in.
static memref::GlobalOp createTable(OpBuilder &builder, Location location,
                                    DenseElementsAttr elements) {
  auto function =
      builder.getBlock()->getParent()->getParentOfType<func::FuncOp>();
  auto module = function->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
    name = (function.getName() + ".table" + Twine(i)).str();
  auto type =
      MemRefType::get(elements.getType().getShape(), elements.getElementType());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  constexpr int64_t alignment = 64;
  return builder.create<memref::GlobalOp>(
      location, name, builder.getStringAttr("private"), type, elements,
      /*constant=*/true, builder.getI64IntegerAttr(alignment));
}

Value Elemental::tableAt(stablehlo::ConstantOp op, Value offset) {
  auto dense = cast<DenseElementsAttr>(op.getValue());
  Value &table = buffers[op.getResult()];
  if (!table) {
    OpBuilder::InsertionGuard guard(code.builder);
    code.toEntry();
    memref::GlobalOp global =
        createTable(code.builder, code.loc, storedElements(dense));
    table =
        code.create<memref::GetGlobalOp>(global.getType(), global.getSymName());
  }
  auto complexType = dyn_cast<ComplexType>(dense.getElementType());
  if (!complexType)
    return load(table, offset, dense.getElementType());
  Type part = complexType.getElementType();
  Value first = code.mul(offset, 2);
  return code.create<complex::CreateOp>(complexType, load(table, first, part),
                                        load(table, code.add(first, 1), part));
}
