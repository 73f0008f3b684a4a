#include "formats/import/MatMul.h"

#include "graph/Broadcast.h"
#include "graph/Types.h"

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

/// What is broadcast to \p value, aligned at the last dimension; null if its
/// dimensions are in another order, or nothing is broadcast.
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
  // One of the two says how many batches there are.
  rhs = withoutBatches(rhs);
  if (rhs == op.getRhs())
    lhs = withoutBatches(lhs);
  return {lhs, rhs};
}

} // namespace sinter::formats
