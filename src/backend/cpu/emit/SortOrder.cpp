//===- SortOrder.cpp - the sort key of a comparator -----------------------===//

#include "backend/cpu/emit/SortOrder.h"

#include "backend/cpu/emit/FloatOrder.h"
#include "graph/stablehlo/ElementOrder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// Whether two values of a comparator are computed alike, one from the elements
/// of one side and one from those of the other.
class Mirror {
public:
  explicit Mirror(Block &block) : block(block) {}

  /// \p first is the side of \p a: 0 for the arguments 0, 2, ...
  bool holds(Value a, Value b, unsigned first) {
    if (a.getParentBlock() != &block || b.getParentBlock() != &block)
      return false;
    if (auto argument = dyn_cast<BlockArgument>(a)) {
      auto other = dyn_cast<BlockArgument>(b);
      return other && argument.getArgNumber() % 2 == first &&
             other.getArgNumber() == (argument.getArgNumber() ^ 1);
    }
    Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
    if (!right || visits == mostVisits || left->getName() != right->getName() ||
        left->getAttrDictionary() != right->getAttrDictionary() ||
        left->getResultTypes() != right->getResultTypes() ||
        left->getNumOperands() != right->getNumOperands())
      return false;
    ++visits;
    bool isPlain = isElementwise(left) || isa<stablehlo::ConstantOp>(left);
    return isPlain &&
           llvm::all_of(llvm::zip(left->getOperands(), right->getOperands()),
                        [&](auto pair) {
                          return holds(std::get<0>(pair), std::get<1>(pair),
                                       first);
                        });
  }

private:
  /// A graph may have more paths than operations.
  static constexpr unsigned mostVisits = 256;
  Block &block;
  unsigned visits = 0;
};

} // namespace

std::optional<SortOrder> SortOrder::of(stablehlo::SortOp op) {
  using Direction = stablehlo::ComparisonDirection;
  Block &block = op.getComparator().front();
  Operation *terminator = block.getTerminator();
  auto compare =
      terminator->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || (compare.getComparisonDirection() != Direction::LT &&
                   compare.getComparisonDirection() != Direction::GT))
    return std::nullopt;
  Type element = elementOf(compare.getLhs());
  if (!isa<IntegerType>(element) && !hasIntegerOrder(element))
    return std::nullopt;
  SortOrder order;
  order.op = op;
  order.number = compare.getLhs();
  order.isFirstSide =
      Mirror(block).holds(compare.getLhs(), compare.getRhs(), 0);
  if (!order.isFirstSide &&
      !Mirror(block).holds(compare.getLhs(), compare.getRhs(), 1))
    return std::nullopt;
  const bool isGreater = compare.getComparisonDirection() == Direction::GT;
  order.isDescending = isGreater == order.isFirstSide;
  order.isTotal =
      compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  order.compared = stablehlo::comparedType(compare);
  return order;
}

unsigned SortOrder::width() const {
  return storageType(elementOf(number)).getIntOrFloatBitWidth();
}

bool SortOrder::hasUnordered() const {
  return !isTotal && isa<FloatType>(elementOf(number));
}

SortOrder::Key SortOrder::emit(Elemental &elemental,
                               ValueRange elements) const {
  KernelBuilder &e = elemental.code;
  KernelBuilder::Scope scope(e);
  stablehlo::SortOp sort = op;
  for (BlockArgument argument : sort.getComparator().getArguments())
    elemental.bind(argument, [value = elements[argument.getArgNumber() / 2]](
                                 ArrayRef<Coordinate>) { return value; });
  Value value = elemental.at(number, ArrayRef<Coordinate>());
  Type element = elementOf(number);
  auto type = e.builder.getIntegerType(width());
  auto constant = [&](const APInt &bits) -> Value {
    return e.create<arith::ConstantOp>(e.builder.getIntegerAttr(type, bits));
  };
  Key key;
  bool isSigned = !compared.isUnsignedInteger() && !element.isInteger(1);
  if (auto floating = dyn_cast<FloatType>(element)) {
    Value bits = e.create<arith::BitcastOp>(type, value);
    key.bits = emitTotalOrder(e, bits);
    if (hasUnordered()) {
      // Both zeros are equal.
      Value isMinusZero =
          e.create<arith::CmpIOp>(arith::CmpIPredicate::eq, key.bits,
                                  constant(APInt::getAllOnes(width())));
      key.bits = e.create<arith::SelectOp>(
          isMinusZero, constant(APInt::getZero(width())), key.bits);
      Value magnitude = e.create<arith::AndIOp>(
          bits, constant(APInt::getSignedMaxValue(width())));
      APInt infinity =
          APFloat::getInf(floating.getFloatSemantics()).bitcastToAPInt();
      key.unordered = e.create<arith::CmpIOp>(arith::CmpIPredicate::ugt,
                                              magnitude, constant(infinity));
    }
  } else if (value.getType() == type) {
    key.bits = value;
  } else {
    key.bits = isSigned ? e.create<arith::ExtSIOp>(type, value)
                        : e.create<arith::ExtUIOp>(type, value);
  }
  APInt flipped = isSigned ? APInt::getSignMask(width()) : APInt(width(), 0);
  if (isDescending)
    flipped.flipAllBits();
  key.bits = e.create<arith::XOrIOp>(key.bits, constant(flipped));
  return key;
}
