#include "formats/import/MatMul.h"

#include "graph/Broadcast.h"
#include "graph/ExactSums.h"
#include "graph/Types.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;

namespace sinter::formats {

bool isMatMul(stablehlo::DotGeneralOp op) {
  auto numbers = op.getDotDimensionNumbers();
  auto lhsContracting = numbers.getLhsContractingDimensions();
  auto rhsContracting = numbers.getRhsContractingDimensions();
  const int64_t lhsRank = tensorOf(op.getLhs()).getRank(),
                rhsRank = tensorOf(op.getRhs()).getRank(),
                batch = numbers.getLhsBatchingDimensions().size();
  const auto leading = llvm::seq<int64_t>(0, batch);
  return llvm::equal(numbers.getLhsBatchingDimensions(), leading) &&
         llvm::equal(numbers.getRhsBatchingDimensions(), leading) &&
         lhsContracting.size() == 1 && lhsContracting[0] == lhsRank - 1 &&
         rhsContracting[0] == batch && (lhsRank == batch + 2 || batch == 0) &&
         rhsRank == batch + 2 && lhsRank >= 1;
}

/// The value that is broadcast to \p value, aligned at the last dimension; null
/// if its dimensions are in another order, or \p value is no broadcast.
static Value alignedOperand(Value value) {
  const auto broadcast = Broadcast::of(value);
  if (!broadcast)
    return {};
  const int64_t rank = tensorOf(value).getRank(),
                own = tensorOf(broadcast->operand).getRank();
  return llvm::equal(broadcast->dimensions,
                     llvm::seq<int64_t>(rank - own, rank))
             ? broadcast->operand
             : Value();
}

static Value withoutBatches(Value value) {
  Value operand = alignedOperand(value);
  if (!operand || tensorOf(operand).getRank() < 2)
    return value;
  const auto matrix = tensorOf(operand).getShape().take_back(2);
  // An unknown size may be a 1 that is repeated.
  return !ShapedType::isDynamicShape(matrix) &&
                 matrix == tensorOf(value).getShape().take_back(2)
             ? operand
             : value;
}

std::pair<Value, Value> matMulOperands(stablehlo::DotGeneralOp op) {
  Value lhs = op.getLhs(), rhs = op.getRhs();
  if (op.getDotDimensionNumbers().getLhsBatchingDimensions().empty())
    return {lhs, rhs};
  // One of the two must have the batch count.
  rhs = withoutBatches(rhs);
  if (rhs == op.getRhs())
    lhs = withoutBatches(lhs);
  return {lhs, rhs};
}

IntegerRange accumulatorRange(Operation *op) {
  return IntegerRange::ofSums(IntegerRange::of(op->getOperand(0)),
                              IntegerRange::of(op->getOperand(1)),
                              productsPerSum(op).value_or(0x1p16));
}

std::optional<Type> typeOfProducts(Operation *op) {
  const Value values[] = {op->getOperand(0), op->getOperand(1),
                          op->getResult(0)};
  for (Value value : values)
    if (isa<ComplexType, quant::QuantizedType>(
            tensorOf(value).getElementType()))
      return std::nullopt;
  Type element = tensorOf(op->getResult(0)).getElementType();
  if (isa<FloatType>(element))
    return element;
  for (Value value : {op->getOperand(0), op->getOperand(1)})
    if (!isa<IntegerType>(tensorOf(value).getElementType()))
      return std::nullopt;
  Type f64 = Float64Type::get(op->getContext());
  const IntegerRange sums = accumulatorRange(op);
  return holds(f64, sums) && holds(element, sums) ? std::optional(f64)
                                                  : std::nullopt;
}

} // namespace sinter::formats
