#include "formats/onnx/ops/ChannelsLast.h"

using namespace mlir;

namespace sinter::onnx {

Value channelsFirst(NodeContext &node, Value image) {
  const int64_t rank = node.rank(image);
  if (rank < 3)
    return node.fail("the input is not of a batch, channels and spatial "
                     "dimensions");
  Ints order = {0, rank - 1};
  for (int64_t i = 1; i < rank - 1; ++i)
    order.push_back(i);
  return node.transpose(image, order);
}

Value channelsLast(NodeContext &node, Value image) {
  if (!image)
    return {};
  Ints order = {0};
  for (int64_t i = 2; i < node.rank(image); ++i)
    order.push_back(i);
  order.push_back(1);
  return node.transpose(image, order);
}

} // namespace sinter::onnx
