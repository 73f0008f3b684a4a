#include "graph/Bounds.h"

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter {

Dimensions dimensionsOf(RankedTensorType type) {
  Dimensions dimensions;
  for (int64_t size : type.getShape())
    dimensions.push_back({size});
  if (auto extensions =
          dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(type.getEncoding()))
    for (auto [dimension, bound] :
         llvm::zip(dimensions, extensions.getBounds()))
      dimension.bound = bound;
  return dimensions;
}

SmallVector<int64_t> sizesOf(ArrayRef<Dimension> dimensions) {
  return llvm::map_to_vector(dimensions,
                             [](const Dimension &each) { return each.size; });
}

RankedTensorType tensorTypeOf(ArrayRef<Dimension> dimensions, Type element) {
  Attribute encoding;
  if (llvm::any_of(dimensions, [](const Dimension &each) {
        return !each.isKnown() && each.isBounded();
      }))
    encoding = stablehlo::TypeExtensionsAttr::get(
        element.getContext(),
        llvm::map_to_vector(dimensions, [](const Dimension &each) {
          return each.isKnown() ? ShapedType::kDynamic : each.bound;
        }));
  return RankedTensorType::get(sizesOf(dimensions), element, encoding);
}

std::optional<Dimension>
changed(Dimension dimension,
        function_ref<std::optional<int64_t>(int64_t)> change) {
  if (ShapedType::isDynamic(dimension.most()))
    return dimension;
  std::optional<int64_t> most = change(dimension.most());
  if (!most)
    return std::nullopt;
  return dimension.isKnown() ? Dimension{*most}
                             : Dimension{ShapedType::kDynamic, *most};
}

std::optional<Dimension> meet(Dimension lhs, Dimension rhs) {
  if (!lhs.isKnown() && rhs.isKnown())
    std::swap(lhs, rhs);
  if (lhs.isKnown()) {
    if (rhs.isKnown() ? lhs.size != rhs.size
                      : rhs.isBounded() && lhs.size > rhs.bound)
      return std::nullopt;
    return Dimension{lhs.size};
  }
  if (lhs.isBounded() && rhs.isBounded())
    return Dimension{ShapedType::kDynamic, std::min(lhs.bound, rhs.bound)};
  return lhs.isBounded() ? lhs : rhs;
}

Dimension join(Dimension lhs, Dimension rhs) {
  if (lhs.isKnown() && rhs.isKnown())
    return lhs.size == rhs.size ? lhs : Dimension{};
  if (ShapedType::isDynamic(lhs.most()) || ShapedType::isDynamic(rhs.most()))
    return {};
  return Dimension{ShapedType::kDynamic, std::max(lhs.most(), rhs.most())};
}

std::optional<Dimension> appended(Dimension lhs, Dimension rhs) {
  if (ShapedType::isDynamic(lhs.most()) || ShapedType::isDynamic(rhs.most()))
    return Dimension{};
  int64_t sum;
  if (llvm::AddOverflow(lhs.most(), rhs.most(), sum))
    return std::nullopt;
  return lhs.isKnown() && rhs.isKnown() ? Dimension{sum}
                                        : Dimension{ShapedType::kDynamic, sum};
}

std::optional<Dimensions> meet(RankedTensorType lhs, RankedTensorType rhs) {
  if (lhs.getRank() != rhs.getRank())
    return std::nullopt;
  Dimensions both;
  for (auto [one, other] :
       llvm::zip_equal(dimensionsOf(lhs), dimensionsOf(rhs))) {
    std::optional<Dimension> dimension = meet(one, other);
    if (!dimension)
      return std::nullopt;
    both.push_back(*dimension);
  }
  return both;
}

/// The dimension that \p lhs and \p rhs broadcast to: each is 1 or that size.
static std::optional<Dimension> broadcastPair(Dimension lhs, Dimension rhs) {
  if (lhs.size == 1)
    return rhs;
  if (rhs.size == 1)
    return lhs;
  if (lhs.isKnown() && rhs.isKnown() && lhs.size != rhs.size)
    return std::nullopt;
  if (lhs.isKnown() || rhs.isKnown())
    return lhs.isKnown() ? lhs : rhs;
  // Either may be the one that is 1.
  return join(lhs, rhs);
}

std::optional<Dimensions> broadcast(ArrayRef<Dimension> lhs,
                                    ArrayRef<Dimension> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  Dimensions joined(lhs);
  for (auto [dimension, other] :
       llvm::zip_equal(MutableArrayRef(joined).take_back(rhs.size()), rhs)) {
    std::optional<Dimension> both = broadcastPair(dimension, other);
    if (!both)
      return std::nullopt;
    dimension = *both;
  }
  return joined;
}

} // namespace sinter
