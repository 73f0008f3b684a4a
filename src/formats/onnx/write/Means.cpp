//===- Means.cpp - means of dynamic dimensions ----------------------------===//

#include "formats/onnx/write/Means.h"

#include "graph/Constants.h"
#include "graph/Repetition.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

namespace {

/// A product of sizes: a static factor and dynamic sizes.
class SizeProduct {
public:
  /// The size of \p value along \p dimension.
  void add(Value value, int64_t dimension) {
    const int64_t size = tensorOf(value).getDimSize(dimension);
    if (ShapedType::isDynamic(size))
      unknown.emplace_back(shapeSource(value).getAsOpaquePointer(), dimension);
    else
      known *= static_cast<double>(size);
  }
  /// Multiplies by the scalar \p value of any type; false if it is no such
  /// product.
  bool addFactor(Value value, int depth = 0);

  bool operator==(const SizeProduct &other) const {
    return known == other.known && sorted() == other.sorted();
  }

private:
  using Size = std::pair<void *, int64_t>;
  std::vector<Size> sorted() const {
    std::vector<Size> sizes = unknown;
    llvm::sort(sizes);
    return sizes;
  }

  double known = 1;
  std::vector<Size> unknown;
};

} // namespace

/// Maximum depth to which nested products are followed.
static constexpr int deepestProduct = 16;

bool SizeProduct::addFactor(Value value, int depth) {
  value = withoutForm(value);
  auto type = tensorOf(value);
  if (depth > deepestProduct || !type.hasStaticShape() ||
      type.getNumElements() != 1)
    return false;
  if (auto number = constantTensor(value)) {
    known *= number->toDouble(0);
    return true;
  }
  if (auto product = value.getDefiningOp<stablehlo::MulOp>())
    return addFactor(product.getLhs(), depth + 1) &&
           addFactor(product.getRhs(), depth + 1);
  const SmallVector<SizeSource> sources = sourcesOfSizes(value);
  if (sources.size() != 1 || !sources.front().of)
    return false;
  add(sources.front().of, sources.front().dimension);
  return true;
}

/// \p value as a sum over dimensions with initial value zero, in a type that
/// loses no precision.
static stablehlo::ReduceOp sumOf(Value value) {
  auto reduce = value.getDefiningOp<stablehlo::ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1 ||
      reduce.getDimensions().empty())
    return {};
  const Type element = tensorOf(reduce.getInputs()[0]).getElementType();
  if (!element.isF32() && !element.isF64())
    return {};
  auto name = stablehlo::soleOperation(reduce.getBody());
  auto start = constantTensor(reduce.getInitValues()[0]);
  const bool isSum =
      name && *name == "stablehlo.add" && start && start->toDouble(0) == 0;
  return isSum ? reduce : stablehlo::ReduceOp();
}

bool Mean::isGlobalPool() const {
  auto type = tensorOf(x);
  return keepsAxes && type.getRank() > 2 && axes.front() == 2 &&
         static_cast<int64_t>(axes.size()) == type.getRank() - 2;
}

std::optional<Mean>
Mean::of(Operation *divide,
         llvm::function_ref<bool(Operation *, ArrayRef<int64_t>)> insertsAxes,
         llvm::function_ref<bool(Operation *)> isDropped) {
  if (!isa<stablehlo::DivOp>(divide))
    return std::nullopt;
  Mean mean;
  Value value = divide->getOperand(0);
  Operation *reshape = value.getDefiningOp();
  if (isa_and_nonnull<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(
          reshape)) {
    value = reshape->getOperand(0);
    mean.keepsAxes = true;
    mean.parts.push_back(reshape);
  }
  stablehlo::ReduceOp sum = sumOf(value);
  if (!sum)
    return std::nullopt;
  mean.parts.push_back(sum);
  mean.x = sum.getInputs()[0];
  mean.axes = llvm::to_vector(sum.getDimensions());
  llvm::sort(mean.axes);
  if (mean.keepsAxes) {
    SmallVector<int64_t> kept = llvm::to_vector(tensorOf(mean.x).getShape());
    for (int64_t axis : mean.axes)
      kept[axis] = 1;
    auto type = tensorOf(reshape->getResult(0));
    if (!llvm::equal(kept, type.getShape()) ||
        (!isSetByCount(type) && !insertsAxes(reshape, mean.axes)))
      return std::nullopt;
  }
  // The shape to which the count is broadcast is known without it.
  auto isOwn = [&](Operation *user) {
    return user == divide || isDropped(user) ||
           llvm::is_contained(mean.parts, user) ||
           (isa<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(user) &&
            llvm::all_of(user->getUsers(),
                         [&](Operation *reader) { return reader == divide; }));
  };
  for (Operation *part : mean.parts)
    if (part->getBlock() != divide->getBlock() ||
        !llvm::all_of(part->getUsers(), isOwn))
      return std::nullopt;
  SizeProduct count, added;
  for (int64_t axis : mean.axes)
    added.add(mean.x, axis);
  if (!count.addFactor(Repetition::of(divide->getOperand(1)).source) ||
      !(count == added))
    return std::nullopt;
  return mean;
}

} // namespace sinter::onnx
