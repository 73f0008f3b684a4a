#include "graph/PermutedType.h"

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter {

Type alongAxis(Type element, int64_t axis) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!perAxis)
    return element;
  return quant::UniformQuantizedPerAxisType::get(
      perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(),
      perAxis.getScales(), perAxis.getZeroPoints(), axis,
      perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax());
}

RankedTensorType permutedType(RankedTensorType type,
                              ArrayRef<int64_t> permutation) {
  Type element = type.getElementType();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    element = alongAxis(
        element, llvm::find(permutation, perAxis.getQuantizedDimension()) -
                     permutation.begin());
  return RankedTensorType::get(
      llvm::map_to_vector(permutation,
                          [&](int64_t i) { return type.getDimSize(i); }),
      element);
}

bool isQuantizedPerAxis(Type type) {
  return isa<quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(type));
}

} // namespace sinter
