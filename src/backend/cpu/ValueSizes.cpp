//===- ValueSizes.cpp - sizes that are computed ---------------------------===//

#include "backend/cpu/SizeNamer.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Chains of operations on numbers are followed as far as this.
static constexpr unsigned deepestChain = 32;

bool SizeNamer::isComputed(const SizeExpression &size) const {
  return mayDefine && llvm::any_of(size.terms(), [&](const auto &term) {
           return llvm::any_of(term.parameters, [&](uint32_t parameter) {
             return parameter >= firstComputed;
           });
         });
}

bool SizeNamer::mustBeSame(const SizeExpression &a, const SizeExpression &b) {
  if (a == b)
    return true;
  if (!isComputed(a) && !isComputed(b))
    return false;
  const Known minusA = SizeExpression::productOf(a, -1),
              minusB = SizeExpression::productOf(b, -1);
  const Known more = minusB ? SizeExpression::sumOf(a, *minusB) : Known(),
              less = minusA ? SizeExpression::sumOf(b, *minusA) : Known();
  if (!more || !less)
    return false;
  for (const SizeExpression &left : {*more, *less})
    if (!llvm::is_contained(table.limits, left))
      table.limits.push_back(left);
  return true;
}

/// Whether a Size step reads \p numbers as they are.
static bool isReadable(Value numbers) {
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  return type && type.hasStaticShape() && type.getRank() <= 1 &&
         (type.getElementType().isSignlessInteger(32) ||
          type.getElementType().isSignlessInteger(64));
}

SizeExpression SizeNamer::define(Value numbers, size_t i, Operation *user) {
  const auto parameter = static_cast<uint32_t>(table.parameters.size());
  std::string node = user->getName().getStringRef().str();
  if (auto name = user->getLoc()->findInstanceOf<NameLoc>())
    node = name.getName().str();
  table.parameters.push_back("size " +
                             std::to_string(parameter - firstComputed) +
                             " of '" + node + "'");
  OpBuilder builder(user);
  builder.create<DefineSizesOp>(user->getLoc(), numbers,
                                ArrayRef<int64_t>(static_cast<int64_t>(i)),
                                ArrayRef<int64_t>(parameter));
  return SizeExpression::parameter(parameter);
}

/// What is said of the number where it comes from; nothing where that is no
/// number that can be read there.
Known SizeNamer::sizeThrough(Value numbers, size_t i, Operation *user,
                             unsigned depth) {
  using namespace stablehlo;
  Operation *op = numbers.getDefiningOp();
  if (!op || op->getBlock() != user->getBlock() || depth == deepestChain)
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
  if (!isa<AddOp, SubtractOp, MulOp>(op))
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

Known SizeNamer::sizeFrom(Value numbers, size_t i, Operation *user) {
  return sizeFrom(numbers, i, user, 0);
}

Known SizeNamer::sizeFrom(Value numbers, size_t i, Operation *user,
                          unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > 1 ||
      static_cast<int64_t>(i) >= type.getNumElements())
    return std::nullopt;
  std::vector<Known> known = elementsOf(numbers);
  known.resize(type.getNumElements());
  if (known[i] || !mayDefine)
    return known[i];
  Known size = sizeThrough(numbers, i, user, depth);
  if (!size && isReadable(numbers))
    size = define(numbers, i, user);
  if (size) {
    // What was found on the way has its own entries.
    std::vector<Known> &entry = elements[numbers];
    entry.resize(type.getNumElements());
    entry[i] = size;
  }
  return size;
}

SmallVector<Known> SizeNamer::sizesFrom(Value numbers, OpResult result) {
  SmallVector<Known> sizes;
  for (auto [i, size] : llvm::enumerate(tensorOf(result).getShape()))
    sizes.push_back(ShapedType::isDynamic(size)
                        ? sizeFrom(numbers, i, result.getOwner())
                        : Known(size));
  return sizes;
}

/// The last operands are the sizes, in order.
SmallVector<Known> SizeNamer::calledSizes(OpResult result) {
  auto call = cast<HostCallOp>(result.getOwner());
  size_t next = call.getInputs().size() - call.getSized();
  for (OpResult before :
       call->getResults().take_front(result.getResultNumber()))
    next += tensorOf(before).getNumDynamicDims();
  SmallVector<Known> sizes;
  for (int64_t size : tensorOf(result).getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(size);
      continue;
    }
    if (next == call.getInputs().size())
      return {};
    sizes.push_back(sizeFrom(call.getInputs()[next++], 0, call));
  }
  return sizes;
}
