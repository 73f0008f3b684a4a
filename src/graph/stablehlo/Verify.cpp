// Helpers of all verifiers, and verifiers of elementwise operations.

#include "graph/stablehlo/Verify.h"
#include "graph/Quantization.h"

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

bool isPromotable(Type from, Type to) {
  auto width = [](Type type) -> unsigned {
    return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  };
  if (auto lhs = dyn_cast<ComplexType>(from)) {
    auto rhs = dyn_cast<ComplexType>(to);
    return rhs && width(lhs.getElementType()) <= width(rhs.getElementType());
  }
  if (auto lhs = dyn_cast<quant::QuantizedType>(from)) {
    auto rhs = dyn_cast<quant::QuantizedType>(to);
    return rhs && lhs.getExpressedType() == rhs.getExpressedType() &&
           lhs.getStorageTypeIntegralWidth() <=
               rhs.getStorageTypeIntegralWidth();
  }
  bool isPred = from.isInteger(1), isInteger = isa<IntegerType>(from);
  bool sameKind = isPred || to.isInteger(1) ? isPred && to.isInteger(1)
                  : isInteger
                      ? isa<IntegerType>(to) &&
                            from.isUnsignedInteger() == to.isUnsignedInteger()
                      : isa<FloatType>(from) && isa<FloatType>(to);
  return sameKind && width(from) <= width(to);
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto numbers = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                          : DenseIntElementsAttr();
  if (!numbers || !hasAtMost(numbers, mostDimensions))
    return std::nullopt;
  SmallVector<int64_t> result;
  for (const APInt &number : numbers.getValues<APInt>())
    result.push_back(number.getBitWidth() > 64 ? 0 : number.getSExtValue());
  return result;
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

LogicalResult verifyReducer(Operation *op, Region &region, TypeRange inputs,
                            TypeRange results, StringRef label,
                            StringRef resultLabel) {
  TypeRange returned = returnedTypes(region);
  if (returned.size() != inputs.size() || results.size() != inputs.size())
    return op->emitOpError(label) << " the region returns " << returned.size()
                                  << " values instead of " << inputs.size();
  if (failed(verifyScalarRegion(op, region, twice(returned), returned, label)))
    return failure();
  for (auto [input, result, element] :
       llvm::zip_equal(inputs, results, returned)) {
    if (!isPromotable(getElementTypeOrSelf(input),
                      getElementTypeOrSelf(element)))
      return op->emitOpError(label)
             << " elements of " << input << " cannot be promoted to those of "
             << element;
    if (!sameBaselineElement(result, element))
      return op->emitOpError(resultLabel)
             << " elements of the result " << result << " are not those of "
             << element;
  }
  return success();
}

LogicalResult verifyMovedElements(Operation *op, Value operand, Value result,
                                  bool keepsScales) {
  Type from = tensorOf(operand).getElementType();
  Type to = tensorOf(result).getElementType();
  auto fromAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(from);
  auto toAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(to);
  bool fits = from == to;
  if (fromAxis)
    fits =
        toAxis && sameBaselineElement(from, to) &&
        (!keepsScales || (fromAxis.getScales() == toAxis.getScales() &&
                          fromAxis.getZeroPoints() == toAxis.getZeroPoints()));
  if (!fits)
    return op->emitOpError("(C1) operand and result differ in element type: ")
           << from << " and " << to;
  return success();
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

LogicalResult AddOp::verify() {
  auto elementOf = [](Value value) { return tensorOf(value).getElementType(); };
  Type types[] = {elementOf(getLhs()), elementOf(getRhs()),
                  elementOf(getResult())};
  auto quantised = [](Type type) {
    return dyn_cast<quant::QuantizedType>(type);
  };
  if (llvm::none_of(types, quantised)) {
    if (!llvm::all_equal(types))
      return emitOpError("(C1) operands and result differ in element type");
    return success();
  }
  if (!llvm::all_of(types, quantised))
    return emitOpError("(C2) only some of operands and result are quantised");
  auto storage = [&](Type type) {
    auto of = quantised(type);
    return std::tuple(of.getStorageType(), of.isSigned(),
                      of.getStorageTypeMin(), of.getStorageTypeMax());
  };
  if (storage(types[0]) != storage(types[1]) ||
      storage(types[0]) != storage(types[2]))
    return emitOpError("(C3) operands and result differ in storage type");
  auto expressed = [&](Type type) {
    return quantised(type).getExpressedType();
  };
  if (expressed(types[0]) != expressed(types[1]) ||
      expressed(types[0]) != expressed(types[2]))
    return emitOpError("(C4) operands and result differ in expressed type");
  auto perAxis = [](Type type) {
    return dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  };
  auto lhs = perAxis(types[0]), rhs = perAxis(types[1]),
       result = perAxis(types[2]);
  if ((lhs || rhs) != static_cast<bool>(result))
    return emitOpError("(C5) the result is quantised per axis and no operand "
                       "is, or the other way round");
  if (lhs && lhs.getQuantizedDimension() != result.getQuantizedDimension())
    return emitOpError("(C6) lhs and result are quantised along different "
                       "axes");
  if (rhs && rhs.getQuantizedDimension() != result.getQuantizedDimension())
    return emitOpError("(C7) rhs and result are quantised along different "
                       "axes");
  return success();
}

LogicalResult CompareOp::verify() {
  if (!sameBaselineElement(getLhs().getType(), getRhs().getType()))
    return emitOpError("(C1) lhs and rhs have different element types");
  std::optional<ComparisonType> type = getCompareType();
  Type element = tensorOf(getLhs()).getElementType();
  if (isStringType(element) &&
      getComparisonDirection() != ComparisonDirection::EQ &&
      getComparisonDirection() != ComparisonDirection::NE)
    return emitOpError("strings are equal or not; they have no order");
  if (!type || *type == ComparisonType::NOTYPE)
    return success();
  bool fits = true;
  if (element.isInteger(1) || element.isUnsignedInteger())
    fits = *type == ComparisonType::UNSIGNED;
  else if (isa<IntegerType>(element))
    // Signless integers may be compared as signed or unsigned.
    fits = *type == ComparisonType::SIGNED || *type == ComparisonType::UNSIGNED;
  else if (isa<ComplexType>(element))
    fits = *type == ComparisonType::FLOAT;
  else if (isStringType(element))
    fits = false;
  // Published artifacts compare floats as SIGNED and UNSIGNED, too, and mean
  // FLOAT: for floats only TOTALORDER makes a difference.
  if (!fits)
    return emitOpError("(C3) compares ")
           << element << " as " << stringifyComparisonType(*type);
  return success();
}

LogicalResult verifyExpressedType(Operation *op) {
  auto result = quantizedOf(op->getResult(0).getType());
  Type element = getElementTypeOrSelf(op->getOperand(0));
  if (auto quantised = dyn_cast<quant::QuantizedType>(element))
    element = quantised.getExpressedType();
  if (result.getExpressedType() != element)
    return op->emitOpError("(C2) the result expresses ")
           << result.getExpressedType() << ", not " << element;
  return success();
}

LogicalResult UniformQuantizeOp::verify() { return verifyExpressedType(*this); }

LogicalResult BitcastConvertOp::verify() {
  auto bits = [](RankedTensorType type) -> int64_t {
    Type element = type.getElementType();
    if (auto complex = dyn_cast<ComplexType>(element))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    if (auto quantised = dyn_cast<quant::QuantizedType>(element))
      return quantised.getStorageTypeIntegralWidth();
    return element.getIntOrFloatBitWidth();
  };
  auto from = tensorOf(getOperand()), to = tensorOf(getResult());
  if (isa<ComplexType>(from.getElementType()) !=
      isa<ComplexType>(to.getElementType()))
    return emitOpError("(C2) only one of operand and result is complex");
  int64_t fromBits = bits(from), toBits = bits(to);
  auto narrow = fromBits < toBits ? from : to;
  auto wide = fromBits < toBits ? to : from;
  int64_t ratio = std::max(fromBits, toBits) / std::min(fromBits, toBits);
  bool same = fromBits == toBits;
  if (narrow.getRank() != wide.getRank() + (same ? 0 : 1) ||
      failed(verifyCompatibleShape(same ? narrow.getShape()
                                        : narrow.getShape().drop_back(),
                                   wide.getShape())) ||
      (!same && (std::max(fromBits, toBits) % std::min(fromBits, toBits) ||
                 differ(narrow.getShape().back(), ratio))))
    return emitOpError("(C1) the shapes do not fit the elements' widths");
  return success();
}

} // namespace sinter::stablehlo
