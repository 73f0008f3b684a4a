#include "formats/onnx/OnnxFormat.h"

#include "formats/onnx/FileContents.h"
#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/TrainingMode.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/onnx/file/ArgumentNames.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "graph/storage/DeclareStates.h"
#include "runtime/StatePairs.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <utility>

using namespace mlir;

namespace sinter {

static constexpr Extension extensions[] = {{".onnx"}};

//===----------------------------------------------------------------------===//
// The open file
//===----------------------------------------------------------------------===//

/// The file's declaration of a tensor called \p name.
static DeclaredTensor declaration(const std::string &name,
                                  const onnx::TypeProto &info) {
  DeclaredTensor input;
  input.spec.name = name;
  const auto &type = onnx::innerType(info).tensor_type();
  if (std::optional<ElementType> element = onnx::storedTypeOf(type.elem_type()))
    input.spec.type = *element;
  input.isRanked = type.has_shape();
  for (const auto &dim : type.shape().dim()) {
    const bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    input.spec.shape.push_back(isKnown ? dim.dim_value() : -1);
    input.symbols.push_back(isKnown ? "" : dim.dim_param());
  }
  return input;
}

namespace {

/// The names of the inputs and outputs of \p model that its metadata makes
/// states.
struct DeclaredStates {
  explicit DeclaredStates(const onnx::ModelProto &model) {
    std::vector<std::string> own, given;
    for (const onnx::ValueInfoProto &input : model.graph().input())
      own.push_back(input.name());
    for (const onnx::ValueInfoProto &output : model.graph().output())
      given.push_back(output.name());
    for (const onnx::StringStringEntryProto &entry : model.metadata_props()) {
      if (entry.key() != statesKey)
        continue;
      for (const std::string &pair : statePairs(entry.value()))
        if (const auto found = findStatePair(pair, given, own)) {
          outputs.insert(given[found->first]);
          inputs.insert(own[found->second]);
        }
    }
  }

  llvm::StringSet<> inputs, outputs;
};

/// An ONNX file. Nodes may need known sizes, so it is imported again for each
/// shape.
class OnnxModelFile : public ModelFile {
public:
  explicit OnnxModelFile(onnx::OnnxFile file) : file(std::move(file)) {}

  Result<Model> read(const ReadOptions &options) override {
    if (options.note && !std::exchange(hasTold, true))
      if (const std::string text = onnx::trainingModeNote(file); !text.empty())
        options.note(text);
    return readOnnx(file, options);
  }
  bool isHopeless() const override { return hasUnknownOperators(file); }

  std::optional<Signature>
  signature(const ReadOptions &options) const override {
    const onnx::GraphProto &graph = file.model().graph();
    llvm::StringSet<> dense, sparse;
    for (const onnx::TensorProto &tensor : graph.initializer())
      dense.insert(tensor.name());
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
      sparse.insert(tensor.values().name());
    Signature declared;
    const DeclaredStates states(file.model());
    for (const onnx::ValueInfoProto &input : graph.input()) {
      const std::string &own = input.name();
      if (states.inputs.contains(own))
        continue;
      if (dense.contains(own) && mayReplaceDefaults(file))
        declared.defaults.push_back(declaration(own, input.type()));
      if ((dense.contains(own) || sparse.contains(own)) &&
          !options.replacedDefaults.contains(own))
        continue;
      for (const std::string &name : onnx::argumentNames(input, options.shapes))
        declared.inputs.push_back(declaration(name, input.type()));
    }
    for (const onnx::ValueInfoProto &output : graph.output())
      if (!states.outputs.contains(output.name()))
        declared.outputs.push_back(declaration(output.name(), output.type()));
    return declared;
  }

  ModelMetadata metadata() const override {
    const onnx::ModelProto &model = file.model();
    ModelMetadata all;
    if (model.has_ir_version())
      all.formatVersion = std::to_string(model.ir_version());
    all.producer = model.producer_name();
    all.producerVersion = model.producer_version();
    all.domain = model.domain();
    all.graph = model.graph().name();
    all.description = model.doc_string();
    all.version = model.model_version();
    all.note = onnx::trainingModeNote(file);
    for (const onnx::OperatorSetIdProto &set : model.opset_import())
      all.operatorSets.emplace_back(set.domain(), set.version());
    for (const onnx::StringStringEntryProto &entry : model.metadata_props())
      all.entries.emplace_back(entry.key(), entry.value());
    return all;
  }

  std::vector<std::string> dataFiles() const override {
    return onnx::externalFilesOf(file.model());
  }
  Result<FileCounts> counts() override { return onnx::countsOf(file.model()); }

private:
  onnx::OnnxFile file;
  bool hasTold = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// The row
//===----------------------------------------------------------------------===//

/// ONNX files have no magic number.
static Likeness recognises(const std::string &path,
                           std::span<const std::byte> contents) {
  return contents.empty() ? Likeness::No : Likeness::Perhaps;
}

static Result<std::unique_ptr<ModelFile>> open(const std::string &path,
                                               const OpenOptions &) {
  Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  if (!file)
    return file.takeError();
  return std::unique_ptr<ModelFile>(
      std::make_unique<OnnxModelFile>(std::move(*file)));
}

static Result<void> write(const Model &model, const std::string &path,
                          const WriteOptions &options) {
  return writeOnnx(model, path, options.forOnnxRuntime);
}

/// The file for large weights.
static std::vector<std::string> besides(const std::string &path) {
  return {path + ".data"};
}

/// Names the results of untouched nodes as in the file.
static void nameValues(const Model &model,
                       llvm::function_ref<void(Value, StringRef)> tell) {
  auto records = keptOfSource<ArrayAttr>(model.module(), onnx::formatName,
                                         sourceRecordsAttribute);
  if (!records)
    return;
  std::map<int64_t, SmallVector<Operation *>> groups;
  for (Operation &op : model.entry().front())
    if (auto number = sourceOf(&op))
      groups[*number].push_back(&op);
  for (const auto &[number, ops] : groups) {
    if (number < 0 || number >= static_cast<int64_t>(records.size()))
      continue;
    auto record = dyn_cast<DictionaryAttr>(records[number]);
    auto node = record ? onnx::untouchedNode(record, ops) : std::nullopt;
    onnx::NodeProto proto;
    if (!node || !proto.ParseFromArray(node->node.data(), node->node.size()))
      continue;
    for (auto [value, name] : llvm::zip(node->outputs, proto.output()))
      if (value && !name.empty())
        tell(value, name);
  }
}

constinit const Format onnxFormat = {
    .name = onnx::formatName,
    .title = "ONNX",
    .extensions = extensions,
    .hasBlockScales = true,
    .hasRuntimeOperators = true,
    .hasMetadata = true,
    .recognises = recognises,
    .open = open,
    .write = write,
    .besides = besides,
    .nameValues = nameValues,
};

} // namespace sinter
