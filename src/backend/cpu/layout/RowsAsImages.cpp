#include "backend/cpu/layout/RowsAsImages.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

bool isImageRank(int64_t rank) { return rank == 3 || rank == 4; }

int64_t imageDimOf(int64_t rank, int64_t dim) {
  return rank == 3 && dim == 2 ? 3 : dim;
}

ArrayRef<int64_t> blockedOrder(int64_t rank) {
  static constexpr int64_t ofRows[] = {0, 1, -1, 2, -1},
                           ofImages[] = {0, 1, 2, 3, -1};
  return rank == 3 ? ArrayRef(ofRows) : ArrayRef(ofImages);
}

RankedTensorType imageType(RankedTensorType plain) {
  SmallVector<int64_t> shape(plain.getShape());
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return RankedTensorType::get(shape, plain.getElementType());
}

Value asImage(TensorBuilder &emit, Value plain) {
  const nn::Sizes sizes = emit.sizes(plain);
  return sizes.size() == 4
             ? plain
             : emit.reshape(plain, {sizes[0], sizes[1], 1, sizes[2]});
}

Value fromImage(TensorBuilder &emit, Value image, int64_t rank) {
  if (rank == 4)
    return image;
  const nn::Sizes sizes = emit.sizes(image);
  return emit.reshape(image, {sizes[0], sizes[1], sizes[3]});
}

} // namespace sinter::cpu
