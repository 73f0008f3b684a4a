// What the verifiers share, and elementwise operations.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

bool isWithin(ArrayRef<int64_t> list, int64_t rank) {
  return llvm::all_of(list, [&](int64_t dimension) {
    return dimension >= 0 && dimension < rank;
  });
}

bool isUnique(ArrayRef<int64_t> list) {
  SmallVector<int64_t> sorted(list);
  llvm::sort(sorted);
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool sameBaselineElement(Type lhs, Type rhs) {
  return baselineElementType(getElementTypeOrSelf(lhs)) ==
         baselineElementType(getElementTypeOrSelf(rhs));
}

SmallVector<Type> twice(TypeRange types) {
  SmallVector<Type> result(types);
  result.append(types.begin(), types.end());
  return result;
}

LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                 TypeRange arguments, TypeRange results,
                                 StringRef label) {
  Block &block = region.front();
  auto fits = [](Type written, Type tensor) {
    auto type = dyn_cast<RankedTensorType>(written);
    return type && type.getRank() == 0 && sameBaselineElement(type, tensor);
  };
  auto error = [&]() { return op->emitOpError(label); };
  if (block.getNumArguments() != arguments.size())
    return error() << " the region takes " << block.getNumArguments()
                   << " arguments instead of " << arguments.size();
  for (auto [argument, type] : llvm::zip_equal(block.getArguments(), arguments))
    if (!fits(argument.getType(), type))
      return error() << " the region's argument " << argument.getType()
                     << " is not a scalar of " << getElementTypeOrSelf(type);
  if (block.empty() || !isa<ReturnOp>(block.back()))
    return error() << " the region does not end in stablehlo.return";
  Operation *terminator = &block.back();
  if (terminator->getNumOperands() != results.size())
    return error() << " the region returns " << terminator->getNumOperands()
                   << " values instead of " << results.size();
  for (auto [value, type] : llvm::zip_equal(terminator->getOperands(), results))
    if (!fits(value.getType(), type))
      return error() << " the region returns " << value.getType()
                     << ", not a scalar of " << getElementTypeOrSelf(type);
  return success();
}

/// The specification's is_promotable: to a type of the same class that is not
/// narrower.
static bool isPromotable(Type from, Type to) {
  from = getElementTypeOrSelf(from), to = getElementTypeOrSelf(to);
  auto fromQuantized = dyn_cast<quant::QuantizedType>(from);
  auto toQuantized = dyn_cast<quant::QuantizedType>(to);
  if (fromQuantized || toQuantized)
    return fromQuantized && toQuantized &&
           fromQuantized.getExpressedType() == toQuantized.getExpressedType() &&
           fromQuantized.getStorageTypeIntegralWidth() <=
               toQuantized.getStorageTypeIntegralWidth();
  if (from == to)
    return true;
  auto fromComplex = dyn_cast<ComplexType>(from);
  auto toComplex = dyn_cast<ComplexType>(to);
  if (fromComplex || toComplex)
    return fromComplex && toComplex &&
           isPromotable(fromComplex.getElementType(),
                        toComplex.getElementType());
  if (!from.isIntOrFloat() || !to.isIntOrFloat() ||
      isa<FloatType>(from) != isa<FloatType>(to) || from.isInteger(1) ||
      to.isInteger(1))
    return false;
  return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

LogicalResult verifyReductionRegion(Operation *op, Region &region,
                                    TypeRange operands, TypeRange results,
                                    StringRef label) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (!isPromotable(operands[i], results[i % results.size()]))
      return op->emitOpError(label)
             << " " << getElementTypeOrSelf(operands[i])
             << " cannot be promoted to "
             << getElementTypeOrSelf(results[i % results.size()]);
  return verifyScalarRegion(op, region, twice(results), results, label);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult verifySameBaselineType(Operation *op) {
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  auto first = dyn_cast<RankedTensorType>(values.front().getType());
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!first || !type || failed(verifyCompatibleShape(first, type)))
      return op->emitOpError("(C1) operands and results differ in shape");
    if (!sameBaselineElement(first, type))
      return op->emitOpError("(C1) operands and results differ in element "
                             "type");
  }
  return success();
}

LogicalResult AddOp::verify() { return verifySameBaselineType(*this); }

LogicalResult CompareOp::verify() {
  if (!sameBaselineElement(getLhs().getType(), getRhs().getType()))
    return emitOpError("(C1) lhs and rhs have different element types");
  return success();
}

LogicalResult UniformQuantizeOp::verify() { return success(); }

LogicalResult BitcastConvertOp::verify() {
  auto bits = [](RankedTensorType type) -> int64_t {
    Type element = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  };
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  int64_t fromBits = bits(from), toBits = bits(to);
  if (!fromBits || !toBits)
    return emitOpError("takes integers, floats and complex numbers");
  auto narrow = fromBits < toBits ? from : to;
  auto wide = fromBits < toBits ? to : from;
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  bool same = ratio == 1;
  if (narrow.getRank() != wide.getRank() + (same ? 0 : 1) ||
      failed(verifyCompatibleShape(same ? narrow.getShape()
                                        : narrow.getShape().drop_back(),
                                   wide.getShape())) ||
      (!same && differ(narrow.getShape().back(), ratio)))
    return emitOpError("(C1) the shapes do not fit the elements' widths");
  return success();
}

} // namespace sinter::stablehlo
