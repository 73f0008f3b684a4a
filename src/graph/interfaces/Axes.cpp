#include "graph/interfaces/Axes.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

#include "graph/interfaces/Axes.cpp.inc"

using namespace mlir;

namespace sinter {

static std::optional<int64_t> find(const AxisList &list,
                                   const TensorAxes &tensor) {
  const auto *found = llvm::find(tensor, list);
  return found == tensor.end() ? std::nullopt
                               : std::optional<int64_t>(found - tensor.begin());
}

unsigned Axes::leading() const {
  return llvm::find_if(operands,
                       [](const TensorAxes &each) { return !each.empty(); }) -
         operands.begin();
}

bool Axes::isLeading(unsigned operand) const {
  const unsigned first = leading();
  return first < operands.size() && operands[operand] == operands[first];
}

bool Axes::areAll(const AxisList &list, AxisKind kind) const {
  return llvm::all_of(list,
                      [&](unsigned axis) { return axes[axis].kind == kind; });
}

std::optional<int64_t> Axes::resultOf(unsigned operand, int64_t dimension,
                                      unsigned result) const {
  const AxisList &list = operands[operand][dimension];
  return areAll(list, AxisKind::Kept) ? find(list, results[result])
                                      : std::nullopt;
}

std::optional<int64_t> Axes::operandOf(unsigned operand, int64_t dimension,
                                       unsigned result) const {
  const AxisList &list = results[result][dimension];
  return areAll(list, AxisKind::Kept) ? find(list, operands[operand])
                                      : std::nullopt;
}

bool Axes::isResized(const AxisList &list) const {
  return llvm::any_of(list, [&](unsigned axis) {
    return axes[axis].kind == AxisKind::Resized;
  });
}

std::optional<int64_t> Axes::asLarge(const AxisList &list,
                                     const TensorAxes &tensor) const {
  return isResized(list) ? std::nullopt : find(list, tensor);
}

bool Axes::areAsLarge(const TensorAxes &lhs, const TensorAxes &rhs) const {
  return lhs == rhs && llvm::none_of(lhs, [&](const AxisList &list) {
           return isResized(list);
         });
}

std::optional<double> Axes::depth() const {
  llvm::SmallBitVector isKept(axes.size());
  for (const TensorAxes &result : results)
    for (const AxisList &list : result)
      for (unsigned axis : list)
        isKept.set(axis);
  double depth = 1;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (!isKept[i]) {
      if (ShapedType::isDynamic(axis.size))
        return std::nullopt;
      depth *= static_cast<double>(axis.size);
    }
  return depth;
}

SmallVector<int64_t> Axes::sizesOf(const TensorAxes &tensor) const {
  SmallVector<int64_t> sizes;
  for (const AxisList &list : tensor) {
    int64_t size = 1;
    for (unsigned axis : list)
      if (ShapedType::isDynamic(size) ||
          ShapedType::isDynamic(axes[axis].size) ||
          llvm::MulOverflow(size, axes[axis].size, size))
        size = ShapedType::kDynamic;
    sizes.push_back(size);
  }
  return sizes;
}

std::optional<Axes> axesOf(Operation *op) {
  auto interface = dyn_cast<AxesOpInterface>(op);
  return interface ? std::optional(interface.getAxes()) : std::nullopt;
}

} // namespace sinter
