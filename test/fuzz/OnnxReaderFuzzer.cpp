//===- OnnxReaderFuzzer.cpp - models that are nearly right ----------------===//
//
// Reads the bytes as an ONNX model into the graph language. Nothing may crash,
// every error is one line, and what is read is a sound module. Mutations change
// the model's fields rather than its bytes: other operators, attributes, sizes,
// connections, versions. So most of what is tried gets past the file's checks,
// to the operators' importers.
//
//===----------------------------------------------------------------------===//

#include "MemoryErrors.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "mlir/IR/Verifier.h"

#include <cstdio>
#include <cstdlib>
#include <random>

using namespace sinter;
using namespace sinter::onnx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const AbortOnMemoryErrors atTheEnd;
  Result<OnnxFile> file = OnnxFile::fromMemory(
      std::string(reinterpret_cast<const char *>(data), size),
      "/nonexistent-folder", "fuzz.onnx");
  if (!file)
    return 0;
  Result<Model> model = readOnnx(*file);
  if (!model) {
    if (model.error().message().find('\n') != std::string::npos) {
      std::fprintf(stderr, "%s\n", model.error().message().c_str());
      std::abort();
    }
    return 0;
  }
  if (failed(mlir::verify(model->module())))
    std::abort();
  return 0;
}

namespace {

/// Changes a model in one place at a time.
class Mutator {
public:
  Mutator(ModelProto &model, unsigned seed) : model(model), random(seed) {}

  void mutate() {
    GraphProto &graph = *model.mutable_graph();
    for (int edits = 1 + below(3); edits > 0; --edits)
      edit(graph);
  }

private:
  int below(int limit) { return static_cast<int>(random() % limit); }
  template <typename List> auto *pick(List *list) {
    return list->empty() ? nullptr : list->Mutable(below(list->size()));
  }

  int64_t number() {
    static constexpr int64_t numbers[] = {
        0,  1,  2,  3,         4,         5,         7,         16,
        -1, -2, -3, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20};
    return numbers[below(std::size(numbers))];
  }

  void edit(GraphProto &graph) {
    switch (below(8)) {
    case 0:
      return editShape(pick(graph.mutable_input()));
    case 1:
      return editTensor(pick(graph.mutable_initializer()));
    case 2:
      if (auto *opset = pick(model.mutable_opset_import()))
        opset->set_version(1 + below(25));
      return;
    default:
      if (NodeProto *node = pick(graph.mutable_node()))
        editNode(graph, *node);
    }
  }

  void editNode(GraphProto &graph, NodeProto &node) {
    switch (below(6)) {
    case 0: {
      auto all = allOperators();
      const Operator &other = all[below(static_cast<int>(all.size()))];
      node.set_op_type(other.name.str());
      return;
    }
    case 1: // Another input, perhaps of a later node, or none.
      if (std::string *input = pick(node.mutable_input())) {
        input->clear();
        if (NodeProto *source = pick(graph.mutable_node());
            source && source->output_size() && below(4))
          *input = source->output(0);
        else if (ValueInfoProto *source = pick(graph.mutable_input());
                 source && below(4))
          *input = source->name();
      }
      return;
    case 2:
      if (node.input_size() && below(2))
        node.mutable_input()->RemoveLast();
      else if (node.attribute_size())
        node.mutable_attribute()->RemoveLast();
      return;
    default:
      if (AttributeProto *attribute = pick(node.mutable_attribute()))
        editAttribute(*attribute);
    }
  }

  void editAttribute(AttributeProto &attribute) {
    if (attribute.has_g())
      return edit(*attribute.mutable_g());
    if (attribute.has_t())
      return editTensor(attribute.mutable_t());
    if (attribute.ints_size() && below(4))
      return attribute.set_ints(below(attribute.ints_size()), number());
    if (attribute.ints_size() && below(2))
      return attribute.mutable_ints()->RemoveLast();
    if (attribute.type() == AttributeProto::INTS)
      return attribute.add_ints(number());
    if (attribute.type() == AttributeProto::INT)
      return attribute.set_i(number());
    if (attribute.type() == AttributeProto::FLOAT)
      return attribute.set_f(static_cast<float>(number()) / 3);
    if (attribute.type() == AttributeProto::STRING)
      return attribute.set_s(below(2) ? "" : "linear");
  }

  void editShape(ValueInfoProto *input) {
    if (!input || !input->type().has_tensor_type())
      return;
    auto &type = *input->mutable_type()->mutable_tensor_type();
    auto &shape = *type.mutable_shape();
    switch (below(4)) {
    case 0:
      type.set_elem_type(1 + below(16));
      return;
    case 1:
      if (shape.dim_size())
        shape.mutable_dim()->RemoveLast();
      return;
    case 2:
      if (auto *dim = pick(shape.mutable_dim()))
        dim->set_dim_param("N");
      return;
    default:
      (below(3) && shape.dim_size() ? pick(shape.mutable_dim())
                                    : shape.add_dim())
          ->set_dim_value(number());
    }
  }

  void editTensor(TensorProto *tensor) {
    if (!tensor)
      return;
    if (tensor->int64_data_size() && below(2))
      return tensor->set_int64_data(below(tensor->int64_data_size()), number());
    if (tensor->has_raw_data() && below(2)) {
      // Eight bytes are a size, an axis or two floats.
      std::string bytes = tensor->raw_data();
      int64_t value = number();
      if (bytes.size() >= sizeof(value))
        std::memcpy(bytes.data() +
                        below(static_cast<int>(bytes.size() / 8)) * 8,
                    &value, sizeof(value));
      return tensor->set_raw_data(bytes);
    }
    if (tensor->dims_size())
      tensor->set_dims(below(tensor->dims_size()), number());
  }

  ModelProto &model;
  std::mt19937 random;
};

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, maxSize);
  Mutator(model, seed).mutate();
  std::string bytes = model.SerializePartialAsString();
  if (bytes.size() > maxSize)
    return size;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}
