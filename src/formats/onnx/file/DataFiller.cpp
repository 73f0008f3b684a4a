#include "formats/onnx/file/DataFiller.h"

#include "formats/onnx/file/NestedGraphs.h"
#include "formats/onnx/file/TensorData.h"

namespace sinter::onnx {

bool DataFiller::fill(NodeProto &node) const {
  bool good = true;
  for (AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_t())
      good &= fill(*attribute.mutable_t());
    for (TensorProto &tensor : *attribute.mutable_tensors())
      good &= fill(tensor);
    if (attribute.has_sparse_tensor())
      good &= fill(*attribute.mutable_sparse_tensor());
    for (SparseTensorProto &tensor : *attribute.mutable_sparse_tensors())
      good &= fill(tensor);
  }
  forEachGraph(node, [&](GraphProto &graph) { good &= fill(graph); });
  return good;
}

bool DataFiller::fill(TensorProto &tensor) const {
  if (tensor.payload_size() == 0 &&
      tensor.data_location() != TensorProto::EXTERNAL)
    return true;
  auto data = file.tensorOf(tensor);
  if (!data)
    return false;
  sinter::Tensor packed = packedForFile(*data);
  tensor.clear_payload();
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(packed.data(), packed.bytes());
  return true;
}

bool DataFiller::fill(GraphProto &graph) const {
  bool good = true;
  for (TensorProto &tensor : *graph.mutable_initializer())
    good &= fill(tensor);
  for (SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
    good &= fill(tensor);
  for (NodeProto &node : *graph.mutable_node())
    good &= fill(node);
  return good;
}

bool DataFiller::fill(SparseTensorProto &tensor) const {
  return fill(*tensor.mutable_values()) && fill(*tensor.mutable_indices());
}

} // namespace sinter::onnx
