#include "graph/SizeSources.h"

#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// The longest chain of operations that is followed.
static constexpr unsigned deepestChain = 16;

Value shapeSource(Value value) {
  for (unsigned depth = 0; depth < deepestChain; ++depth) {
    Operation *op = value.getDefiningOp();
    Value same = op ? operandOfSameShape(op) : Value();
    if (!same)
      break;
    value = same;
  }
  return value;
}

Value withoutForm(Value value) {
  for (unsigned depth = 0; depth < deepestChain; ++depth) {
    Operation *op = value.getDefiningOp();
    bool isUnit = tensorOf(value).hasStaticShape() &&
                  tensorOf(value).getNumElements() == 1;
    if (!isa_and_nonnull<ConvertOp>(op) &&
        !(isUnit && isa_and_nonnull<ReshapeOp, BroadcastInDimOp>(op)))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool isSetByCount(RankedTensorType type) {
  return type.hasStaticShape() ||
         (hasOneUnknown(type) && !llvm::is_contained(type.getShape(), 0));
}

std::optional<SmallVector<int64_t>> constantIntegers(Value value) {
  if (!isa<IntegerType>(tensorOf(value).getElementType()) ||
      tensorOf(value).getRank() > 1)
    return std::nullopt;
  std::optional<Tensor> tensor = constantTensor(value);
  if (!tensor)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (int64_t i = 0; i < tensor->size(); ++i)
    numbers.push_back(tensor->toInteger(i));
  return numbers;
}

static SmallVector<SizeSource> sourcesOf(Value sizes, unsigned depth);

/// Appends the sources of the elements of \p part.
static void appendSources(Value part, SmallVectorImpl<SizeSource> &sources,
                          unsigned depth) {
  part = withoutForm(part);
  const int64_t count =
      tensorOf(part).hasStaticShape() ? tensorOf(part).getNumElements() : 0;
  if (auto known = constantIntegers(part)) {
    for (int64_t size : *known)
      sources.push_back({size, {}, 0});
    return;
  }
  if (auto size = part.getDefiningOp<GetDimensionSizeOp>()) {
    sources.push_back({std::nullopt, shapeSource(size.getOperand()),
                       static_cast<int64_t>(size.getDimension())});
    return;
  }
  int64_t first = 0, step = 1;
  Value whole = part;
  if (auto slice = part.getDefiningOp<SliceOp>()) {
    first = slice.getStartIndices()[0];
    step = slice.getStrides()[0];
    whole = withoutForm(slice.getOperand());
    if (whole.getDefiningOp<ConcatenateOp>() && depth < deepestChain) {
      const auto all = sourcesOf(whole, depth + 1);
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(first + i * step);
        sources.push_back(at < all.size() ? all[at] : SizeSource());
      }
      return;
    }
  }
  auto shape = whole.getDefiningOp<nn::ShapeOp>();
  for (int64_t i = 0; i < count; ++i)
    sources.push_back({std::nullopt,
                       shape ? shapeSource(shape.getOperand()) : Value(),
                       first + i * step});
}

static SmallVector<SizeSource> sourcesOf(Value sizes, unsigned depth) {
  SmallVector<SizeSource> sources;
  SmallVector<Value> parts = {withoutForm(sizes)};
  if (auto joined = parts.front().getDefiningOp<ConcatenateOp>())
    parts = llvm::to_vector(joined.getInputs());
  for (Value part : parts)
    appendSources(part, sources, depth);
  return sources;
}

SmallVector<SizeSource> sourcesOfSizes(Value sizes) {
  return sourcesOf(sizes, 0);
}

} // namespace sinter
