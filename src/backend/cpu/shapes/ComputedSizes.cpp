//===- ComputedSizes.cpp - sizes that the program computes ----------------===//

#include "backend/cpu/shapes/ComputedSizes.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Chains of operations on numbers are followed as far as this.
static constexpr unsigned deepestChain = 32;

/// Whether a Size step reads \p numbers as they are.
static bool isReadable(Value numbers) {
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  return type && type.hasStaticShape() && type.getRank() <= 1 &&
         (type.getElementType().isSignlessInteger(32) ||
          type.getElementType().isSignlessInteger(64));
}

bool ComputedSizes::isCount(Value numbers, unsigned depth) {
  using namespace stablehlo;
  const std::vector<Known> known = values.elementsOf(numbers);
  if (!known.empty() &&
      llvm::all_of(known, [](const Known &each) { return each.has_value(); }))
    return true;
  Operation *op = numbers.getDefiningOp();
  if (!op || depth == deepestChain)
    return false;
  if (auto found = counts.find(numbers); found != counts.end())
    return found->second;
  auto areCounts = [&] {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return isCount(operand, depth + 1);
    });
  };
  auto call = dyn_cast<HostCallOp>(op);
  bool is = isa<GetDimensionSizeOp>(op) ||
            (call && (call.getFunction() == "sinter.count_rows" ||
                      call.getFunction() == "sinter.nested_size"));
  if (isa<ConvertOp>(op))
    is = getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1) ||
         areCounts();
  else if (isa<ReshapeOp, BroadcastInDimOp, SliceOp, ConcatenateOp, AddOp,
               SubtractOp, MulOp>(op))
    // What a difference is of is not negative; if it is itself shows when it
    // is a size.
    is = areCounts();
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    is = soleOperation(reduce.getBody()) == AddOp::getOperationName() &&
         areCounts();
  return counts[numbers] = is;
}

SizeExpression ComputedSizes::define(Value numbers, size_t i, Operation *user) {
  std::string node = user->getName().getStringRef().str();
  if (auto name = user->getLoc()->findInstanceOf<NameLoc>())
    node = name.getName().str();
  const size_t number = facts.table.parameters.size() - facts.inputs();
  return define(numbers, i, user,
                "size " + std::to_string(number) + " of '" + node + "'");
}

SizeExpression ComputedSizes::define(Value numbers, size_t i, Operation *user,
                                     std::string name) {
  const auto parameter = static_cast<uint32_t>(facts.table.parameters.size());
  facts.table.parameters.push_back(std::move(name));
  // Where the number is computed, if not in a branch or a loop that needs it.
  Operation *before = numbers.getParentBlock()->findAncestorOpInBlock(*user);
  OpBuilder builder(before ? before : user);
  builder.create<DefineSizesOp>(user->getLoc(), numbers,
                                ArrayRef<int64_t>(static_cast<int64_t>(i)),
                                ArrayRef<int64_t>(parameter));
  return SizeExpression::parameter(parameter);
}

/// What is said of the number where it comes from; nothing where that is no
/// number that can be read there.
Known ComputedSizes::sizeThrough(Value numbers, size_t i, Operation *user,
                                 unsigned depth) {
  using namespace stablehlo;
  Operation *op = numbers.getDefiningOp();
  if (!op || depth == deepestChain)
    return std::nullopt;
  auto operand = [&](unsigned number, size_t at) -> Known {
    Value value = op->getOperand(number);
    return isReadable(value) ? sizeFrom(value, at, user, depth + 1) : Known();
  };
  if (isa<ConvertOp, ReshapeOp>(op))
    return operand(0, i);
  if (isa<BroadcastInDimOp>(op) && isReadable(op->getOperand(0)) &&
      tensorOf(op->getOperand(0)).getNumElements() == 1)
    return operand(0, 0);
  if (isa<ConcatenateOp>(op)) {
    for (unsigned part = 0; part < op->getNumOperands(); ++part) {
      const auto count =
          static_cast<size_t>(tensorOf(op->getOperand(part)).getNumElements());
      if (i < count)
        return operand(part, i);
      i -= count;
    }
    return std::nullopt;
  }
  if (auto slice = dyn_cast<SliceOp>(op);
      slice && tensorOf(slice).getRank() == 1)
    return operand(0, slice.getStartIndices()[0] +
                          i * static_cast<size_t>(slice.getStrides()[0]));
  // Of numbers that may be negative only the result is a size.
  if (!isa<AddOp, SubtractOp, MulOp>(op) || !isCount(op->getOperand(0)) ||
      !isCount(op->getOperand(1)))
    return std::nullopt;
  const Known a = operand(0, i), b = operand(1, i);
  if (!a || !b)
    return std::nullopt;
  if (isa<AddOp>(op))
    return SizeExpression::sumOf(*a, *b);
  if (isa<MulOp>(op))
    return SizeExpression::productOf(*a, *b);
  const Known less = SizeExpression::productOf(*b, -1);
  return less ? SizeExpression::sumOf(*a, *less) : Known();
}

Known ComputedSizes::sizeFrom(Value numbers, size_t i, Operation *user,
                              unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > 1 ||
      static_cast<int64_t>(i) >= type.getNumElements())
    return std::nullopt;
  std::vector<Known> known = values.elementsOf(numbers);
  known.resize(type.getNumElements());
  if (known[i] || !facts.mayDefine)
    return known[i];
  Known size = sizeThrough(numbers, i, user, depth);
  if (!size && isReadable(numbers))
    size = define(numbers, i, user);
  // What was found on the way has its own entries.
  if (size)
    values.setElement(numbers, i, type.getNumElements(), *size);
  return size;
}

SmallVector<Known> ComputedSizes::sizesFrom(Value numbers, OpResult result) {
  SmallVector<Known> sizes;
  for (auto [i, size] : llvm::enumerate(tensorOf(result).getShape()))
    sizes.push_back(ShapedType::isDynamic(size)
                        ? sizeFrom(numbers, i, result.getOwner())
                        : Known(size));
  return sizes;
}
