//===- ImportHeader.cpp - the file without its computation ----------------===//
//
// Keeps a file's producer, its metadata and that of its tensors for the writer
// (`sinter.source.header`), and makes the notes for the user on how it was
// read.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/Importer.h"
#include "formats/onnx/file/DataFiller.h"
#include "formats/onnx/file/Headers.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter::onnx {

/// Records the metadata of initializers and the tensor annotations, without the
/// initializers' data. Initializers that only annotations refer to are kept
/// whole.
void Importer::setTensorHeaders(GraphProto &header) const {
  const GraphProto &graph = file.model().graph();
  *header.mutable_quantization_annotation() = graph.quantization_annotation();
  llvm::StringSet<> named;
  for (const TensorAnnotation &annotation : graph.quantization_annotation())
    for (const auto &entry : annotation.quant_parameter_tensor_names())
      named.insert(entry.value());
  for (const TensorProto &tensor : graph.initializer()) {
    if (named.contains(tensor.name())) {
      TensorProto &whole = *header.add_initializer();
      whole = tensor;
      if (!DataFiller(file).fill(whole))
        copyHeader(tensor, whole = TensorProto());
    } else if (tensor.has_doc_string() || tensor.metadata_props_size() > 0) {
      copyHeader(tensor, *header.add_initializer());
    }
  }
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    copyHeader(tensor.values(),
               *header.add_sparse_initializer()->mutable_values());
}

StringAttr Importer::headerAttr() {
  const ModelProto &model = file.model();
  ModelProto header;
  copyHeader(model, header);
  *header.mutable_opset_import() = model.opset_import();
  const GraphProto &graph = model.graph();
  GraphProto &kept = *header.mutable_graph();
  copyHeader(graph, kept);
  *kept.mutable_input() = graph.input();
  *kept.mutable_output() = graph.output();
  setTensorHeaders(kept);
  // If shapes are given, the declared sizes may not apply.
  if (options.shapes.empty()) {
    *kept.mutable_value_info() = graph.value_info();
  } else {
    for (auto *list : {kept.mutable_input(), kept.mutable_output()})
      for (ValueInfoProto &each : *list)
        if (each.type().has_tensor_type())
          each.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  if (keepsCalls)
    for (const FunctionProto &function : model.functions()) {
      FunctionProto &copy = *header.add_functions();
      copy = function;
      for (NodeProto &node : *copy.mutable_node())
        DataFiller(file).fill(node);
    }
  return builder.getStringAttr(header.SerializePartialAsString());
}

ArrayAttr Importer::notesAttr() {
  SmallVector<Attribute> lines;
  if (!keptNodes.empty()) {
    std::string text = "kept as they are: ";
    bool first = true;
    for (const auto &[what, count] : keptNodes) {
      text += (first ? "" : "; ") + std::to_string(count) + " x " + what;
      first = false;
    }
    lines.push_back(builder.getStringAttr(text));
  }
  if (options.keepsNodes && !inlinedFunctions.empty()) {
    std::string text = "functions that are written out where they are called: ";
    bool first = true;
    for (const auto &[what, count] : inlinedFunctions) {
      text += (first ? "" : ", ") + what + " (" + std::to_string(count) + " x)";
      first = false;
    }
    lines.push_back(builder.getStringAttr(text));
  }
  for (const std::string &note : notes)
    lines.push_back(builder.getStringAttr(note));
  if (options.keepsNodes && file.model().training_info_size() > 0)
    lines.push_back(builder.getStringAttr(
        "the model's training_info is left out: it is about initializers that "
        "may have changed"));
  return builder.getArrayAttr(lines);
}

} // namespace sinter::onnx
