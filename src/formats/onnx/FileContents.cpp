#include "formats/onnx/FileContents.h"

#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "formats/onnx/file/onnx.pb.h"
#include "runtime/Tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

namespace sinter::onnx {

namespace {

/// Goes through a model, its functions and nested graphs. The file's check
/// bounds the nesting.
class ContentsWalk {
public:
  ContentsWalk(llvm::function_ref<void(const NodeProto &)> onNode,
               llvm::function_ref<void(const TensorProto &)> onTensor)
      : onNode(onNode), onTensor(onTensor) {}

  void addModel(const ModelProto &model) {
    addGraph(model.graph());
    for (const FunctionProto &function : model.functions())
      for (const NodeProto &node : function.node())
        addNode(node);
  }

private:
  void addGraph(const GraphProto &graph) {
    for (const TensorProto &tensor : graph.initializer())
      onTensor(tensor);
    for (const SparseTensorProto &tensor : graph.sparse_initializer())
      addSparse(tensor);
    for (const NodeProto &node : graph.node())
      addNode(node);
  }
  void addNode(const NodeProto &node) {
    onNode(node);
    for (const AttributeProto &attribute : node.attribute()) {
      if (attribute.has_t())
        onTensor(attribute.t());
      if (attribute.has_sparse_tensor())
        addSparse(attribute.sparse_tensor());
      for (const TensorProto &tensor : attribute.tensors())
        onTensor(tensor);
      for (const SparseTensorProto &tensor : attribute.sparse_tensors())
        addSparse(tensor);
    }
    forEachGraph(node, [&](const GraphProto &graph) { addGraph(graph); });
  }
  void addSparse(const SparseTensorProto &tensor) {
    onTensor(tensor.values());
    onTensor(tensor.indices());
  }

  llvm::function_ref<void(const NodeProto &)> onNode;
  llvm::function_ref<void(const TensorProto &)> onTensor;
};

/// As in a file; 0 for text.
int64_t bytesInFile(const TensorProto &tensor) {
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  // Types that we lack have 4 bits (FLOAT4E2M1) or 8 (FLOAT8E8M0).
  const bool isText = tensor.data_type() == TensorProto::STRING;
  const ElementType type =
      elementTypeOf(tensor.data_type()).value_or(ElementType::UI8);
  const unsigned perByte =
      tensor.data_type() == TensorProto::FLOAT4E2M1 ? 2 : elementsPerByte(type);
  const std::optional<int64_t> bytes = byteCount(type, shape);
  if (isText || !bytes)
    return 0;
  return llvm::divideCeil(*bytes, perByte);
}

} // namespace

std::vector<std::string> externalFilesOf(const ModelProto &model) {
  std::set<std::string> names;
  ContentsWalk([](const NodeProto &) {},
               [&](const TensorProto &tensor) {
                 for (const auto &entry : tensor.external_data())
                   if (entry.key() == "location")
                     names.insert(entry.value());
               })
      .addModel(model);
  return {names.begin(), names.end()};
}

FileCounts countsOf(const ModelProto &model) {
  FileCounts counts;
  ContentsWalk(
      [&](const NodeProto &node) {
        const std::string domain(domainKey(node.domain()));
        ++counts.operators[domain.empty() ? node.op_type()
                                          : domain + "." + node.op_type()];
      },
      [&](const TensorProto &tensor) {
        counts.weightBytes = static_cast<int64_t>(
            llvm::SaturatingAdd(static_cast<uint64_t>(counts.weightBytes),
                                static_cast<uint64_t>(bytesInFile(tensor))));
      })
      .addModel(model);
  return counts;
}

} // namespace sinter::onnx
