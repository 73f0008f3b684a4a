//===- ShapeArithmetic.cpp - what integers of shapes stand for ------------===//

#include "backend/cpu/SizeNamer.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// 1 or 0 where it is known whether two sizes compare so.
static Known compared(stablehlo::ComparisonDirection direction,
                      const SizeExpression &a, const SizeExpression &b) {
  using Direction = stablehlo::ComparisonDirection;
  const auto left = a.number(), right = b.number();
  if (!left || !right) {
    if (direction == Direction::LT && isSurelySize(a) && right && *right <= 0)
      return 0;
    if (direction == Direction::GE && isSurelySize(a) && right && *right <= 0)
      return 1;
    return std::nullopt;
  }
  switch (direction) {
  case Direction::EQ:
    return *left == *right;
  case Direction::NE:
    return *left != *right;
  case Direction::LT:
    return *left < *right;
  case Direction::LE:
    return *left <= *right;
  case Direction::GT:
    return *left > *right;
  case Direction::GE:
    return *left >= *right;
  }
  llvm_unreachable("not a comparison");
}

void SizeNamer::followElements(Operation *op) {
  using namespace stablehlo;
  constexpr int64_t most = 64;
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (isa_and_nonnull<FloatType>(getElementTypeOrSelf(op->getResult(0))) ||
      (isa<ConvertOp>(op) && scaled.contains(op->getOperand(0))))
    return followScaled(op);
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      !isa<IntegerType>(type.getElementType()) || type.getNumElements() > most)
    return;
  std::vector<Known> made;
  auto operand = [&](unsigned i) { return elementsOf(op->getOperand(i)); };
  auto combined = [&](auto combine) {
    const std::vector<Known> a = operand(0), b = operand(1);
    for (auto [left, right] : llvm::zip(a, b))
      made.push_back(left && right ? combine(*left, *right) : Known());
  };
  if (auto known = constantIntegers(op->getResult(0))) {
    made.assign(known->begin(), known->end());
  } else if (auto shape = dyn_cast<nn::ShapeOp>(op)) {
    for (const SizeExpression &size : dimsOf(shape.getOperand()))
      made.push_back(size);
  } else if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
    made = {dimsOf(size.getOperand())[size.getDimension()]};
  } else if (isa<ConvertOp, ReshapeOp>(op)) {
    made = operand(0);
  } else if (isa<BroadcastInDimOp>(op)) {
    made = operand(0);
    if (made.size() == 1)
      made.resize(type.getNumElements(), made.front());
  } else if (isa<ConcatenateOp>(op)) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      std::vector<Known> part = operand(i);
      part.resize(tensorOf(op->getOperand(i)).getNumElements());
      made.insert(made.end(), part.begin(), part.end());
    }
    if (llvm::none_of(made, [](const Known &each) { return each; }))
      return;
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    const std::vector<Known> whole = operand(0);
    for (int64_t i = 0; type.getRank() == 1 && i < type.getNumElements(); ++i) {
      const int64_t at = slice.getStartIndices()[0] + i * slice.getStrides()[0];
      made.push_back(at < static_cast<int64_t>(whole.size()) ? whole[at]
                                                             : Known());
    }
  } else if (isa<GatherOp, nn::TakeOp>(op)) {
    const std::vector<Known> whole = operand(0), places = operand(1);
    if (tensorOf(op->getOperand(0)).getRank() == 1 && !whole.empty())
      for (const Known &place : places) {
        auto at = place ? place->number() : std::nullopt;
        if (at && *at < 0 && isa<nn::TakeOp>(op))
          *at += static_cast<int64_t>(whole.size());
        const auto last = static_cast<int64_t>(whole.size()) - 1;
        made.push_back(at ? whole[std::clamp<int64_t>(*at, 0, last)] : Known());
      }
  } else if (isa<AddOp>(op)) {
    combined(SizeExpression::sumOf);
  } else if (isa<MulOp>(op)) {
    combined(SizeExpression::productOf);
  } else if (isa<SubtractOp>(op)) {
    combined([](const SizeExpression &a, const SizeExpression &b) -> Known {
      Known less = SizeExpression::productOf(b, -1);
      return less ? SizeExpression::sumOf(a, *less) : Known();
    });
  } else if (isa<MinOp, MaxOp>(op)) {
    const bool smaller = isa<MinOp>(op);
    combined([&](const SizeExpression &a, const SizeExpression &b) {
      return chosen(a, b, smaller);
    });
  } else if (auto compare = dyn_cast<CompareOp>(op)) {
    combined([&](const SizeExpression &a, const SizeExpression &b) {
      return compared(compare.getComparisonDirection(), a, b);
    });
  } else if (isa<SelectOp>(op)) {
    const std::vector<Known> chosen = operand(0), a = operand(1),
                             b = operand(2);
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const Known which =
          chosen.empty() ? Known() : chosen[chosen.size() == 1 ? 0 : i];
      made.push_back(!which || !which->number() ? Known()
                     : *which->number() != 0    ? a[i]
                                                : b[i]);
    }
  } else if (isa<DivOp>(op)) {
    combined([&](const SizeExpression &a, const SizeExpression &b) -> Known {
      if (const Known exact = SizeExpression::quotientOf(a, b))
        return exact;
      // Of sizes, it is rounded down.
      const std::optional<int64_t> divisor = b.number();
      return divisor && *divisor > 0 && isSurelySize(a)
                 ? table.quotientOf(a, *divisor)
                 : Known();
    });
  }
  if (static_cast<int64_t>(made.size()) == type.getNumElements())
    elements[op->getResult(0)] = std::move(made);
}

/// What follows from numbers is one.
void SizeNamer::setNumbers(Operation *op) {
  if (isa<stablehlo::ConstantOp>(op) || op->getNumResults() != 1)
    return;
  Value result = op->getResult(0);
  const std::vector<Known> known = elementsOf(result);
  if (known.empty() || !llvm::all_of(known, [](const Known &each) {
        return each && each->number();
      }))
    return;
  auto type = tensorOf(result);
  SmallVector<APInt> numbers;
  for (const Known &each : known)
    numbers.emplace_back(type.getElementType().getIntOrFloatBitWidth(),
                         static_cast<uint64_t>(*each->number()),
                         /*isSigned=*/true);
  OpBuilder builder(op);
  Value constant = builder.create<stablehlo::ConstantOp>(
      op->getLoc(), type, DenseIntElementsAttr::get(type, numbers));
  dims[constant] = Dims(type.getShape().begin(), type.getShape().end());
  elements[constant] = known;
  result.replaceAllUsesWith(constant);
}

/// A size that is computed with is the sum of as many ones.
Value SizeNamer::counted(nn::TensorBuilder &emit, const SizeExpression &size,
                         Type element) {
  if (const std::optional<int64_t> number = size.number())
    return emit.scalar(double(*number), element);
  return emit.sum(emit.make<stablehlo::BroadcastInDimOp>(
                      typeOfSizes({nameOf(size)}, element),
                      emit.scalar(1, element), ArrayRef<int64_t>()),
                  {0});
}

void SizeNamer::countSize(stablehlo::GetDimensionSizeOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  op.getResult().replaceAllUsesWith(
      counted(emit, dimsOf(op.getOperand())[op.getDimension()],
              tensorOf(op.getResult()).getElementType()));
  op.erase();
}

void SizeNamer::countSizes(nn::ShapeOp op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op.getLoc());
  const Type element = tensorOf(op.getResult()).getElementType();
  SmallVector<Value> sizes;
  for (const SizeExpression &size : dimsOf(op.getOperand()))
    sizes.push_back(emit.reshape(counted(emit, size, element), {1}));
  op.getResult().replaceAllUsesWith(emit.concatenate(sizes, 0));
  op.erase();
}
