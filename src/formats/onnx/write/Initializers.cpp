// Initializers and their metadata.

#include "formats/onnx/write/GraphWriter.h"

#include "formats/onnx/file/Headers.h"
#include "formats/onnx/file/NestedGraphs.h"

using namespace mlir;

namespace sinter::onnx {

/// The elements of \p tensor that have a bit set, as a vector, and their
/// linearised indices.
static std::pair<Tensor, Tensor> sparseForm(const Tensor &tensor) {
  const size_t width = byteSize(tensor.type());
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const std::byte *element =
        reinterpret_cast<const std::byte *>(tensor.data()) + i * width;
    if (std::any_of(element, element + width,
                    [](std::byte each) { return each != std::byte(0); }))
      positions.push_back(i);
  }
  const int64_t count = positions.size();
  Tensor values(tensor.type(), {count});
  for (auto [i, index] : llvm::enumerate(positions))
    std::memcpy(values.mutableBytes() + i * width,
                reinterpret_cast<const std::byte *>(tensor.data()) +
                    index * width,
                width);
  return {values, Tensor::of<int64_t>(ElementType::I64, {count},
                                      {positions.data(), positions.size()})};
}

void GraphWriter::addInitializer(const Name &name,
                                 const std::optional<Tensor> &tensor) {
  GraphProto &graph = *proto.mutable_graph();
  bool good = tensor.has_value();
  TensorProto *initializer = nullptr;
  if (good && sparse.contains(name) && !tensor->shape().empty()) {
    auto [values, indices] = sparseForm(*tensor);
    if (values.bytes() + indices.bytes() < tensor->bytes()) {
      SparseTensorProto &added = *graph.add_sparse_initializer();
      for (int64_t size : tensor->shape())
        added.add_dims(size);
      initializer = added.mutable_values();
      good = tensorData.setData(*initializer, values) &&
             tensorData.setData(*added.mutable_indices(), indices);
    }
  }
  if (!initializer) {
    initializer = graph.add_initializer();
    good = good && tensorData.setData(*initializer, *tensor);
  }
  initializer->set_name(name);
  if (const TensorProto *before = initializerHeaders.lookup(name))
    copyNotes(*before, *initializer);
  if (!good)
    ++unsupported["constants of a type that ONNX lacks"];
}

/// Writes annotations of tensors that still exist, and the initializers that
/// only these refer to.
void GraphWriter::writeAnnotations() {
  GraphProto &graph = *proto.mutable_graph();
  llvm::StringSet<> tensors;
  for (const TensorProto &each : graph.initializer())
    tensors.insert(each.name());
  for (const SparseTensorProto &each : graph.sparse_initializer())
    tensors.insert(each.values().name());
  auto isThere = [&](const std::string &name) {
    return tensors.contains(name) || current->tensors.contains(name);
  };
  for (const TensorAnnotation &each :
       header.graph().quantization_annotation()) {
    auto missing = [&](const StringStringEntryProto &entry) {
      const TensorProto *whole = initializerHeaders.lookup(entry.value());
      return !isThere(entry.value()) && !(whole && whole->has_data_type());
    };
    if (!isThere(each.tensor_name()) ||
        llvm::any_of(each.quant_parameter_tensor_names(), missing))
      continue;
    *graph.add_quantization_annotation() = each;
    for (const StringStringEntryProto &entry :
         each.quant_parameter_tensor_names())
      if (!isThere(entry.value()) && tensors.insert(entry.value()).second)
        *graph.add_initializer() = *initializerHeaders.lookup(entry.value());
  }
}

/// Adds the tensors that the nodes of a graph and of its nested graphs use.
static void addRead(const GraphProto &graph, llvm::StringSet<> &names) {
  for (const ValueInfoProto &output : graph.output())
    names.insert(output.name());
  for (const NodeProto &node : graph.node()) {
    for (const std::string &input : node.input())
      names.insert(input);
    forEachGraph(node, [&](const GraphProto &inner) { addRead(inner, names); });
  }
}

/// Drops weights that were only written transposed or that a rule requested but
/// did not use. Defaults of inputs stay.
void GraphWriter::dropUnusedInitializers() {
  GraphProto &graph = *current->proto;
  llvm::StringSet<> needed;
  addRead(graph, needed);
  for (const ValueInfoProto &input : graph.input())
    needed.insert(input.name());
  auto &list = *graph.mutable_initializer();
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const TensorProto &each) {
                              return !needed.contains(each.name());
                            }),
             list.end());
  auto &sparseList = *graph.mutable_sparse_initializer();
  sparseList.erase(std::remove_if(sparseList.begin(), sparseList.end(),
                                  [&](const SparseTensorProto &each) {
                                    return !needed.contains(
                                        each.values().name());
                                  }),
                   sparseList.end());
}

/// Writes constants that were nodes in the file as nodes again, before all
/// others: an initializer would look like a weight.
void GraphWriter::writeLiterals() {
  GraphProto &graph = *current->proto;
  llvm::StringSet<> named;
  for (const ValueInfoProto &input : graph.input())
    named.insert(input.name());
  auto isLiteral = [&](const TensorProto &each) {
    return literals.contains(each.name()) && !named.contains(each.name());
  };
  auto &list = *graph.mutable_initializer();
  const int before = graph.node_size();
  for (TensorProto &each : list) {
    if (!isLiteral(each))
      continue;
    if (each.data_type() == TensorProto::BFLOAT16)
      need(13);
    usesStandard = true;
    NodeProto &node = *graph.add_node();
    node.set_op_type("Constant");
    node.set_name(freshNodeName(each.name()));
    node.add_output(each.name());
    AttributeProto &value = *node.add_attribute();
    value.set_name("value");
    value.set_type(AttributeProto::TENSOR);
    *value.mutable_t() = each;
    value.mutable_t()->clear_name();
  }
  list.erase(std::remove_if(list.begin(), list.end(), isLiteral), list.end());
  auto &nodes = *graph.mutable_node();
  std::rotate(nodes.pointer_begin(), nodes.pointer_begin() + before,
              nodes.pointer_end());
}

} // namespace sinter::onnx
