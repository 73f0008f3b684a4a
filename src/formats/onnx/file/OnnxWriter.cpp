//===- OnnxWriter.cpp - write an ONNX model -------------------------------===//

#include "formats/onnx/file/OnnxWriter.h"

#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/onnx.pb.h"
#include "runtime/MappedFile.h"

#include <climits>
#include <filesystem>

using namespace sinter;
using namespace sinter::onnx;

namespace {

/// Smaller tensors stay in the model even where weights are external.
constexpr size_t externalThreshold = 1024;
/// Alignment in the external file, so that readers can map single tensors.
constexpr uint64_t externalAlignment = 4096;

using Visitor = std::function<Result<void>(TensorProto &)>;

Result<void> visitGraph(GraphProto &graph, const Visitor &visit);

Result<void> visitSparse(SparseTensorProto &sparse, const Visitor &visit) {
  if (sparse.has_values())
    if (Result<void> done = visit(*sparse.mutable_values()); !done)
      return done;
  if (sparse.has_indices())
    return visit(*sparse.mutable_indices());
  return {};
}

template <typename Items, typename Function>
Result<void> visitEach(Items *items, const Function &function) {
  for (auto &item : *items)
    if (Result<void> done = function(item); !done)
      return done;
  return {};
}

Result<void> visitAttribute(AttributeProto &attribute, const Visitor &visit) {
  auto sparse = [&](SparseTensorProto &tensor) {
    return visitSparse(tensor, visit);
  };
  auto graph = [&](GraphProto &nested) { return visitGraph(nested, visit); };
  Result<void> done;
  if (attribute.has_t())
    done = visit(*attribute.mutable_t());
  if (done && attribute.has_g())
    done = graph(*attribute.mutable_g());
  if (done && attribute.has_sparse_tensor())
    done = sparse(*attribute.mutable_sparse_tensor());
  if (done)
    done = visitEach(attribute.mutable_tensors(), visit);
  if (done)
    done = visitEach(attribute.mutable_graphs(), graph);
  if (done)
    done = visitEach(attribute.mutable_sparse_tensors(), sparse);
  return done;
}

template <typename Nodes>
Result<void> visitNodes(Nodes *nodes, const Visitor &visit) {
  return visitEach(nodes, [&](NodeProto &node) {
    return visitEach(node.mutable_attribute(), [&](AttributeProto &attribute) {
      return visitAttribute(attribute, visit);
    });
  });
}

Result<void> visitGraph(GraphProto &graph, const Visitor &visit) {
  Result<void> done = visitEach(graph.mutable_initializer(), visit);
  if (done)
    done = visitEach(
        graph.mutable_sparse_initializer(),
        [&](SparseTensorProto &sparse) { return visitSparse(sparse, visit); });
  if (done)
    done = visitNodes(graph.mutable_node(), visit);
  return done;
}

/// Calls \p visit with every tensor of \p model.
Result<void> visitModel(ModelProto &model, const Visitor &visit) {
  Result<void> done;
  if (model.has_graph())
    done = visitGraph(*model.mutable_graph(), visit);
  for (TrainingInfoProto &training : *model.mutable_training_info()) {
    if (done && training.has_initialization())
      done = visitGraph(*training.mutable_initialization(), visit);
    if (done && training.has_algorithm())
      done = visitGraph(*training.mutable_algorithm(), visit);
  }
  for (FunctionProto &function : *model.mutable_functions()) {
    if (done)
      done = visitNodes(function.mutable_node(), visit);
    if (done)
      done = visitEach(function.mutable_attribute_proto(),
                       [&](AttributeProto &attribute) {
                         return visitAttribute(attribute, visit);
                       });
  }
  return done;
}

void clearData(TensorProto &proto) {
  proto.clear_segment();
  proto.clear_float_data();
  proto.clear_int32_data();
  proto.clear_string_data();
  proto.clear_int64_data();
  proto.clear_raw_data();
  proto.clear_double_data();
  proto.clear_uint64_data();
  proto.clear_external_data();
  proto.clear_data_location();
  proto.clear_payload();
}

/// The external file during writing.
class ExternalFile {
public:
  explicit ExternalFile(std::string name) : name(std::move(name)) {}

  /// Moves the data \p bytes of \p proto into this file.
  void add(TensorProto &proto, std::span<const std::byte> bytes) {
    if (uint64_t gap = -size % externalAlignment) {
      pieces.push_back(std::span(padding).first(gap));
      size += gap;
    }
    clearData(proto);
    proto.set_data_location(TensorProto::EXTERNAL);
    setEntry(proto, "location", name);
    setEntry(proto, "offset", std::to_string(size));
    setEntry(proto, "length", std::to_string(bytes.size()));
    pieces.push_back(bytes);
    size += bytes.size();
  }

  const std::vector<std::span<const std::byte>> &content() const {
    return pieces;
  }

private:
  static void setEntry(TensorProto &proto, const char *key,
                       const std::string &value) {
    StringStringEntryProto &entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }

  static constexpr std::byte padding[externalAlignment] = {};
  std::string name;
  uint64_t size = 0;
  std::vector<std::span<const std::byte>> pieces;
};

/// True for fields whose content equals that of an external file.
bool isRawForm(uint32_t field) {
  return field == TensorProto::kRawDataFieldNumber ||
         field == TensorProto::kFloatDataFieldNumber ||
         field == TensorProto::kDoubleDataFieldNumber;
}

} // namespace

Result<void> OnnxWriter::setData(TensorProto &proto, const Tensor &tensor) {
  std::optional<int32_t> dataType = dataTypeOf(tensor.type());
  if (!dataType)
    return unsupported("ONNX has no element type " +
                       std::string(sinter::name(tensor.type())));
  clearData(proto);
  proto.set_data_type(*dataType);
  proto.mutable_dims()->Assign(tensor.shape().begin(), tensor.shape().end());
  if (isString(tensor.type())) {
    addStrings(proto, tensor);
    return {};
  }
  Tensor packed = packedForFile(tensor);
  if (packed.bytes() < payloadThreshold) {
    proto.set_raw_data(packed.data(), packed.bytes());
    return {};
  }
  proto.add_payload()->set_tensor(tensors.size());
  tensors.push_back(std::move(packed));
  return {};
}

Result<PayloadBytes>
OnnxWriter::find(std::span<const std::byte> payload) const {
  TensorProto::Payload place;
  if (!place.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
    return invalidModel("a tensor's reference to its data is malformed");
  if (place.has_tensor()) {
    if (place.tensor() >= tensors.size())
      return invalidModel("a tensor refers to data that were never given");
    const Tensor &tensor = tensors[place.tensor()];
    return PayloadBytes{TensorProto::kRawDataFieldNumber,
                        {tensor.data(), tensor.bytes()}};
  }
  std::span<const std::byte> file;
  if (source)
    file = source->source().file.bytes;
  if (!isPayloadField(place.field()) || place.offset() > file.size() ||
      place.size() > file.size() - place.offset())
    return invalidModel("a tensor refers to data outside the file it came "
                        "from");
  return PayloadBytes{place.field(),
                      file.subspan(place.offset(), place.size())};
}

/// Turns external data of the source into internal data.
Result<void> OnnxWriter::bringIn(TensorProto &proto) {
  if (proto.data_location() != TensorProto::EXTERNAL)
    return {};
  if (!source)
    return invalidModel("tensor '" + proto.name() +
                        "' has its data in a file that is not known");
  Result<Tensor> tensor = source->tensorOf(proto);
  if (!tensor)
    return tensor.takeError();
  return setData(proto, *tensor);
}

Result<void> OnnxWriter::bringInAll(ModelProto &model) {
  return visitModel(model, [&](TensorProto &proto) { return bringIn(proto); });
}

Result<SplicedMessage> OnnxWriter::spliceModel(const ModelProto &model) const {
  return splice(
      model, MessageKind::Model,
      [&](std::span<const std::byte> payload) { return find(payload); });
}

Result<SplicedMessage> OnnxWriter::assemble(const ModelProto &model) {
  ModelProto copy = model;
  if (Result<void> done = bringInAll(copy); !done)
    return done.takeError();
  return spliceModel(copy);
}

Result<void> OnnxWriter::write(const ModelProto &model, const std::string &path,
                               ExternalWeights external) {
  ModelProto copy = model;
  if (Result<void> done = bringInAll(copy); !done)
    return done;
  Result<SplicedMessage> whole = spliceModel(copy);
  if (!whole)
    return inFile(whole.takeError(), path);
  bool tooLong = whole->size() > INT_MAX;
  if (external == ExternalWeights::Never && tooLong)
    return inFile(
        systemError("the model is over 2 GiB, the limit of the format "
                    "without external data"),
        path);
  if (external == ExternalWeights::Never ||
      (external == ExternalWeights::WhenNeeded && !tooLong))
    return writeFileAtomically(path, whole->pieces());
  return writeExternal(copy, path);
}

/// \p model is the writer's own copy, without external data.
Result<void> OnnxWriter::writeExternal(ModelProto &model,
                                       const std::string &path) const {
  std::string dataPath = path + ".data";
  ExternalFile file(std::filesystem::path(dataPath).filename().string());
  Result<void> done =
      visitModel(model, [&](TensorProto &proto) -> Result<void> {
        if (proto.payload_size() != 1)
          return {};
        std::string payload = proto.payload(0).SerializeAsString();
        Result<PayloadBytes> bytes = find(std::as_bytes(std::span(payload)));
        if (!bytes)
          return bytes.takeError();
        if (isRawForm(bytes->first) &&
            bytes->second.size() >= externalThreshold)
          file.add(proto, bytes->second);
        return {};
      });
  if (!done)
    return inFile(done.takeError(), path);
  Result<SplicedMessage> frame = spliceModel(model);
  if (!frame)
    return inFile(frame.takeError(), path);
  if (frame->size() > INT_MAX)
    return inFile(
        systemError("the model is over 2 GiB even without its weights"), path);
  // The model last: it never refers to a file that does not exist yet.
  const FileContents files[] = {{dataPath, file.content()},
                                {path, frame->pieces()}};
  return writeFilesAtomically(files);
}

Result<void> onnx::writeTensorFile(const std::string &path,
                                   const Tensor &tensor,
                                   const std::string &name) {
  std::optional<int32_t> dataType = dataTypeOf(tensor.type());
  if (!dataType)
    return inFile(unsupported("ONNX has no element type " +
                              std::string(sinter::name(tensor.type()))),
                  path);
  TensorProto proto;
  proto.mutable_dims()->Assign(tensor.shape().begin(), tensor.shape().end());
  proto.set_data_type(*dataType);
  if (!name.empty())
    proto.set_name(name);
  Tensor packed;
  if (isString(tensor.type())) {
    addStrings(proto, tensor);
  } else {
    packed = packedForFile(tensor);
    proto.add_payload();
  }
  PayloadFinder finder = [&](std::span<const std::byte>) {
    return Result<PayloadBytes>(PayloadBytes{TensorProto::kRawDataFieldNumber,
                                             {packed.data(), packed.bytes()}});
  };
  Result<SplicedMessage> message = splice(proto, MessageKind::Tensor, finder);
  if (!message)
    return message.takeError();
  return writeFileAtomically(path, message->pieces());
}
