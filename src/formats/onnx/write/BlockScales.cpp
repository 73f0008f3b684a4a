//===- BlockScales.cpp - block-wise scales of constants -------------------===//

#include "formats/onnx/write/BlockScales.h"

#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::onnx {

/// Whether \p value is a constant of 4- or 8-bit integers.
static bool isNarrowConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto type = constant ? dyn_cast<IntegerType>(tensorOf(value).getElementType())
                       : IntegerType();
  return type && (type.getWidth() == 4 || type.getWidth() == 8);
}

/// The dimension of \p wide that is divided into blocks, and the block size.
static std::optional<std::pair<int64_t, int64_t>>
blocksOf(stablehlo::BroadcastInDimOp broadcast, RankedTensorType wide) {
  const ArrayRef<int64_t> scales = tensorOf(broadcast.getOperand()).getShape(),
                          repeated = tensorOf(broadcast).getShape();
  const ArrayRef<int64_t> dimensions = broadcast.getBroadcastDimensions();
  if (static_cast<int64_t>(scales.size()) != wide.getRank() ||
      repeated.size() != scales.size() + 1)
    return std::nullopt;
  for (int64_t axis = 0; axis < wide.getRank(); ++axis) {
    bool fits = true;
    for (int64_t i = 0; i < wide.getRank(); ++i) {
      const int64_t place = i <= axis ? i : i + 1;
      fits &= dimensions[i] == place && repeated[place] == scales[i] &&
              wide.getDimSize(i) ==
                  scales[i] * (i == axis ? repeated[axis + 1] : 1);
    }
    if (fits)
      return std::pair(axis, repeated[axis + 1]);
  }
  return std::nullopt;
}

std::optional<BlockScales> BlockScales::of(Operation *multiply) {
  auto product = dyn_cast<stablehlo::MulOp>(multiply);
  if (!product)
    return std::nullopt;
  auto convert = product.getLhs().getDefiningOp<stablehlo::ConvertOp>();
  auto reshape = product.getRhs().getDefiningOp<stablehlo::ReshapeOp>();
  auto broadcast =
      reshape
          ? reshape.getOperand().getDefiningOp<stablehlo::BroadcastInDimOp>()
          : stablehlo::BroadcastInDimOp();
  if (!convert || !broadcast || !isNarrowConstant(convert.getOperand()))
    return std::nullopt;
  for (Operation *part : {convert.getOperation(), reshape.getOperation(),
                          broadcast.getOperation()})
    if (!part->hasOneUse() || part->getBlock() != multiply->getBlock())
      return std::nullopt;
  auto blocks = blocksOf(broadcast, tensorOf(product));
  if (!blocks)
    return std::nullopt;
  return BlockScales{convert.getOperand(),
                     broadcast.getOperand(),
                     blocks->first,
                     blocks->second,
                     {convert, reshape, broadcast}};
}

} // namespace sinter::onnx
