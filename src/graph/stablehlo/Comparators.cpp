#include "graph/stablehlo/Comparators.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/Combination.h"
#include "graph/stablehlo/ElementOrder.h"
#include "llvm/ADT/DenseMap.h"

#include <cmath>

using namespace mlir;

namespace sinter::stablehlo {

/// Whether \p value is a splat of a float that satisfies \p holds.
template <typename Predicate>
static bool isFloatWhich(Value value, Predicate holds) {
  auto tensor = constantTensor(value);
  return tensor && tensor->size() == 1 &&
         isa<FloatType>(tensorOf(value).getElementType()) &&
         holds(tensor->toDouble(0));
}

/// Strips `x == 0 ? 0 : x` and `x != x ? NaN : x`, nested or alone, which
/// frameworks put before a comparison in the total order: returns x.
static Value withoutUnification(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  auto compare =
      select ? select.getPred().getDefiningOp<CompareOp>() : CompareOp();
  if (!compare || compare.getCompareType() == ComparisonType::TOTALORDER)
    return value;
  const Value inner = withoutUnification(select.getOnFalse());
  auto isInner = [&](Value each) { return withoutUnification(each) == inner; };
  auto isZero = [](Value each) {
    return isFloatWhich(each, [](double x) { return x == 0; });
  };
  if (!isInner(compare.getLhs()))
    return value;
  const ComparisonDirection direction = compare.getComparisonDirection();
  const bool unifiesZeros = direction == ComparisonDirection::EQ &&
                            isZero(compare.getRhs()) &&
                            isZero(select.getOnTrue());
  const bool unifiesNan =
      direction == ComparisonDirection::NE && isInner(compare.getRhs()) &&
      isFloatWhich(select.getOnTrue(), [](double x) { return std::isnan(x); });
  return unifiesZeros || unifiesNan ? inner : value;
}

/// The argument of \p body that \p value, an operand of a comparison, is or is
/// made from; else null.
static BlockArgument comparedArgument(Block &body, Value value) {
  auto argument = dyn_cast<BlockArgument>(withoutUnification(value));
  return argument && argument.getOwner() == &body ? argument : BlockArgument();
}

/// Whether \p compare distinguishes -0 from 0.
static bool ordersZeros(CompareOp compare) {
  return compare.getCompareType() == ComparisonType::TOTALORDER &&
         isa<FloatType>(tensorOf(compare.getLhs()).getElementType()) &&
         isa<BlockArgument>(compare.getLhs());
}

std::optional<SortKey> soleSortKey(SortOp op) {
  Block &body = op.getComparator().front();
  auto compare = body.getTerminator()->getOperand(0).getDefiningOp<CompareOp>();
  auto left =
      compare ? comparedArgument(body, compare.getLhs()) : BlockArgument();
  auto right =
      compare ? comparedArgument(body, compare.getRhs()) : BlockArgument();
  if (!left || !right || left.getArgNumber() / 2 != right.getArgNumber() / 2 ||
      left == right || comparesOtherwise(compare))
    return std::nullopt;
  const ComparisonDirection direction = compare.getComparisonDirection();
  if (direction == ComparisonDirection::EQ ||
      direction == ComparisonDirection::NE)
    return std::nullopt;
  const bool isLess = direction == ComparisonDirection::LT ||
                      direction == ComparisonDirection::LE;
  const bool isSwapped = left.getArgNumber() > right.getArgNumber();
  return SortKey{left.getArgNumber() / 2, isLess == isSwapped,
                 ordersZeros(compare)};
}

//===----------------------------------------------------------------------===//
// Several keys
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates a comparator for one order of each pair of elements.
class ComparatorRun {
public:
  /// \p signs are the signs of the first element minus the second, for each
  /// input.
  ComparatorRun(Block &block, ArrayRef<int> signs)
      : block(block), signs(signs) {}

  /// The comparator's result; nothing if it does not depend on the orders
  /// alone.
  std::optional<bool> run() {
    return run(block.getTerminator()->getOperand(0));
  }

private:
  static constexpr unsigned mostOps = 256;

  std::optional<bool> run(Value value) {
    if (auto known = values.find(value); known != values.end())
      return known->second;
    mlir::Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || ++count > mostOps)
      return std::nullopt;
    return values[value] = compute(op);
  }

  std::optional<bool> compute(mlir::Operation *op) {
    if (auto compare = dyn_cast<CompareOp>(op))
      return computeCompare(compare);
    if (!isa<AndOp, OrOp, XorOp, NotOp, SelectOp>(op))
      return std::nullopt;
    SmallVector<bool> operands;
    for (Value operand : op->getOperands()) {
      std::optional<bool> value = run(operand);
      if (!value)
        return std::nullopt;
      operands.push_back(*value);
    }
    if (isa<SelectOp>(op))
      return operands[operands[0] ? 1 : 2];
    if (isa<AndOp>(op))
      return operands[0] && operands[1];
    if (isa<OrOp>(op))
      return operands[0] || operands[1];
    return isa<XorOp>(op) ? operands[0] != operands[1] : !operands[0];
  }

  std::optional<bool> computeCompare(CompareOp op) {
    BlockArgument left = comparedArgument(block, op.getLhs()),
                  right = comparedArgument(block, op.getRhs());
    if (!left || !right || left == right ||
        left.getArgNumber() / 2 != right.getArgNumber() / 2 ||
        ordersZeros(op) || comparesOtherwise(op))
      return std::nullopt;
    const int order = signs[left.getArgNumber() / 2];
    const int sign =
        left.getArgNumber() < right.getArgNumber() ? order : -order;
    switch (op.getComparisonDirection()) {
    case ComparisonDirection::EQ:
      return sign == 0;
    case ComparisonDirection::NE:
      return sign != 0;
    case ComparisonDirection::GE:
      return sign >= 0;
    case ComparisonDirection::GT:
      return sign > 0;
    case ComparisonDirection::LE:
      return sign <= 0;
    case ComparisonDirection::LT:
      return sign < 0;
    }
    return std::nullopt;
  }

  Block &block;
  ArrayRef<int> signs;
  unsigned count = 0;
  llvm::DenseMap<Value, std::optional<bool>> values;
};
} // namespace

/// The most inputs that are tried as keys: the number of orders is a power of
/// 3.
static constexpr size_t mostKeys = 6;

/// The comparator's result for all orders of the inputs \p open, with \p signs
/// for the others; nothing if it is not always the same.
static std::optional<bool> answerForAll(Block &body, ArrayRef<unsigned> open,
                                        SmallVector<int> &signs) {
  if (open.empty())
    return ComparatorRun(body, signs).run();
  std::optional<bool> answer;
  for (int sign : {-1, 0, 1}) {
    signs[open.front()] = sign;
    auto each = answerForAll(body, open.drop_front(), signs);
    if (!each || (answer && *answer != *each)) {
      signs[open.front()] = 0;
      return std::nullopt;
    }
    answer = each;
  }
  signs[open.front()] = 0;
  return answer;
}

std::optional<SmallVector<SortKey>> sortKeys(SortOp op) {
  if (auto sole = soleSortKey(op))
    return SmallVector<SortKey>{*sole};
  Block &body = op.getComparator().front();
  SmallVector<unsigned> open;
  for (CompareOp compare : body.getOps<CompareOp>())
    if (auto argument = dyn_cast<BlockArgument>(compare.getLhs());
        argument && argument.getOwner() == &body &&
        !llvm::is_contained(open, argument.getArgNumber() / 2))
      open.push_back(argument.getArgNumber() / 2);
  if (open.size() > mostKeys)
    return std::nullopt;
  SmallVector<int> signs(op.getInputs().size(), 0);
  SmallVector<SortKey> keys;
  while (answerForAll(body, open, signs) != false) {
    // A key that decides whatever the orders of the others.
    std::optional<SortKey> next;
    SmallVector<unsigned> rest;
    for (unsigned candidate : open) {
      rest = open;
      llvm::erase(rest, candidate);
      std::optional<bool> less, greater;
      signs[candidate] = -1;
      less = answerForAll(body, rest, signs);
      signs[candidate] = 1;
      greater = answerForAll(body, rest, signs);
      signs[candidate] = 0;
      if (less && greater && *less != *greater) {
        next = SortKey{candidate, *greater};
        break;
      }
    }
    if (!next)
      return std::nullopt;
    keys.push_back(*next);
    open = rest;
  }
  return keys.empty() ? std::nullopt : std::optional(keys);
}

//===----------------------------------------------------------------------===//
// Arg-min and arg-max
//===----------------------------------------------------------------------===//

namespace {
/// Evaluates a region on two pairs, each of a number and a companion, for one
/// order of the numbers and one of the companions. Values are booleans, or one
/// of the arguments.
class OrderRun {
public:
  OrderRun(Block &block, unsigned number, int order, int companionOrder)
      : block(block), number(number), order(order),
        companionOrder(companionOrder) {}

  /// The index of the argument that is result \p result; nothing if it does not
  /// depend on the orders alone.
  std::optional<unsigned> argumentFor(unsigned result) {
    std::optional<int> value = run(block.getTerminator()->getOperand(result));
    if (!value || *value < firstArgument)
      return std::nullopt;
    return *value - firstArgument;
  }
  bool comparesCompanions = false;

private:
  static constexpr int firstArgument = 2;
  static constexpr unsigned mostOps = 256;

  std::optional<int> run(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &block)
        return std::nullopt;
      return firstArgument + int(argument.getArgNumber());
    }
    if (auto known = values.find(value); known != values.end())
      return known->second;
    if (++count > mostOps || value.getParentBlock() != &block)
      return std::nullopt;
    return values[value] = compute(value.getDefiningOp());
  }

  std::optional<int> compute(mlir::Operation *op) {
    SmallVector<int> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int> value = run(operand);
      if (!value)
        return std::nullopt;
      operands.push_back(*value);
    }
    if (auto compare = dyn_cast<CompareOp>(op))
      return computeCompare(compare, operands);
    if (isa<SelectOp>(op) && operands[0] < firstArgument)
      return operands[operands[0] ? 1 : 2];
    if (isa<MaxOp, MinOp>(op))
      return computeMinMax(operands[0], operands[1], isa<MaxOp>(op));
    if (llvm::any_of(operands,
                     [](int operand) { return operand >= firstArgument; }))
      return std::nullopt;
    if (isa<AndOp>(op))
      return operands[0] & operands[1];
    if (isa<OrOp>(op))
      return operands[0] | operands[1];
    if (isa<XorOp>(op))
      return operands[0] ^ operands[1];
    if (isa<NotOp>(op))
      return 1 - operands[0];
    return std::nullopt;
  }

  /// The sign of one argument minus another of the same kind.
  std::optional<int> orderOf(int a, int b) {
    a -= firstArgument;
    b -= firstArgument;
    if (a < 0 || b < 0 || a % 2 != b % 2)
      return std::nullopt;
    if (a == b)
      return 0;
    const bool areNumbers = unsigned(a % 2) == number;
    comparesCompanions |= !areNumbers;
    const int sign = areNumbers ? order : companionOrder;
    return a < b ? sign : -sign;
  }

  std::optional<int> computeCompare(CompareOp op, ArrayRef<int> operands) {
    std::optional<int> sign = orderOf(operands[0], operands[1]);
    if (!sign || op.getCompareType() == ComparisonType::TOTALORDER ||
        comparesOtherwise(op))
      return std::nullopt;
    switch (op.getComparisonDirection()) {
    case ComparisonDirection::EQ:
      return *sign == 0;
    case ComparisonDirection::NE:
      return *sign != 0;
    case ComparisonDirection::GE:
      return *sign >= 0;
    case ComparisonDirection::GT:
      return *sign > 0;
    case ComparisonDirection::LE:
      return *sign <= 0;
    case ComparisonDirection::LT:
      return *sign < 0;
    }
    return std::nullopt;
  }

  /// Of equal floats either zero may be the result, so it is undefined which.
  std::optional<int> computeMinMax(int a, int b, bool isGreatest) {
    std::optional<int> sign = orderOf(a, b);
    const Type element = tensorOf(block.getArgument(number)).getElementType();
    if (!sign || (*sign == 0 && isa<FloatType>(element)))
      return std::nullopt;
    return (*sign >= 0) == isGreatest ? a : b;
  }

  Block &block;
  unsigned number;
  int order, companionOrder;
  unsigned count = 0;
  llvm::DenseMap<Value, std::optional<int>> values;
};
} // namespace

std::optional<KeptPair> keptPair(Block &block, unsigned numberPlace, int order,
                                 int companionOrder) {
  OrderRun run(block, numberPlace, order, companionOrder);
  auto number = run.argumentFor(numberPlace),
       companion = run.argumentFor(1 - numberPlace);
  if (!number || !companion || *number % 2 != numberPlace ||
      *companion % 2 == numberPlace)
    return std::nullopt;
  return KeptPair{*number / 2, *companion / 2, run.comparesCompanions};
}

bool countsAlong(Value value, int64_t dimension) {
  while (auto broadcast = Broadcast::of(value)) {
    auto place = llvm::find(broadcast->dimensions, dimension);
    if (place == broadcast->dimensions.end())
      return false;
    dimension = place - broadcast->dimensions.begin();
    value = broadcast->operand;
  }
  auto type = tensorOf(value);
  if (!isa<IntegerType>(type.getElementType()))
    return false;
  const bool isWide = type.getElementType().getIntOrFloatBitWidth() >= 32;
  if (auto iota = value.getDefiningOp<IotaOp>())
    return isWide && int64_t(iota.getIotaDimension()) == dimension;
  if (auto iota = value.getDefiningOp<DynamicIotaOp>())
    return isWide && int64_t(iota.getIotaDimension()) == dimension;
  auto tensor = constantTensor(value);
  if (!tensor)
    return false;
  int64_t inner = 1;
  for (int64_t i = dimension + 1; i < type.getRank(); ++i)
    inner *= type.getDimSize(i);
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (tensor->toInteger(i) != i / inner % type.getDimSize(dimension))
      return false;
  return true;
}

/// Whether \p body only compares and selects.
static bool onlyChooses(Block &body) {
  return llvm::all_of(body.without_terminator(), [](mlir::Operation &op) {
    return isa<CompareOp, SelectOp, MaxOp, MinOp, AndOp, OrOp, XorOp, NotOp>(
        op);
  });
}

/// Whether \p body keeps the right pair for all orders.
static bool keeps(Block &body, bool isGreatest, bool selectsLast) {
  for (int order : {-1, 0, 1})
    for (int placeOrder : {-1, 1}) {
      const bool firstWins = order != 0 ? (order > 0) == isGreatest
                                        : (placeOrder > 0) == selectsLast;
      const unsigned wanted = firstWins ? 0 : 1;
      auto kept = keptPair(body, /*numberPlace=*/0, order, placeOrder);
      // It does not matter which of equal numbers is kept.
      if (!kept || kept->companion != wanted ||
          (order != 0 && kept->number != wanted))
        return false;
    }
  return true;
}

/// Whether the initial index of the search is never its result.
static bool losesIndex(Value value, bool selectsLast) {
  auto tensor = constantTensor(value);
  return tensor && tensor->size() == 1 &&
         (selectsLast ? tensor->toInteger(0) <= 0 : tensor->toInteger(0) >= 0);
}

std::optional<ArgReduction> argReductionOf(ReduceOp op) {
  if (op.getInputs().size() != 2 || op.getDimensions().size() != 1 ||
      !op.getBody().hasOneBlock())
    return std::nullopt;
  Type element = tensorOf(op.getInputs()[0]).getElementType();
  Type place = tensorOf(op.getInputs()[1]).getElementType();
  const int64_t dimension = op.getDimensions()[0];
  if (!isa<FloatType, IntegerType>(element) || !isa<IntegerType>(place) ||
      place.isInteger(1) || element.isInteger(1) ||
      !countsAlong(op.getInputs()[1], dimension))
    return std::nullopt;
  Block &body = op.getBody().front();
  if (!onlyChooses(body))
    return std::nullopt;
  for (bool isGreatest : {true, false})
    for (bool selectsLast : {true, false})
      if (keeps(body, isGreatest, selectsLast) &&
          isNeutral(op.getInitValues()[0],
                    isGreatest ? Combination::Max : Combination::Min) &&
          losesIndex(op.getInitValues()[1], selectsLast))
        return ArgReduction{dimension, isGreatest, selectsLast};
  return std::nullopt;
}

} // namespace sinter::stablehlo
