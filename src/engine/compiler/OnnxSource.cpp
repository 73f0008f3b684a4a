//===- OnnxSource.cpp - an open ONNX file ---------------------------------===//

#include "engine/compiler/OnnxSource.h"

#include "engine/compiler/CheckModel.h"
#include "formats/onnx/file/ArgumentNames.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "graph/nn/NnDeferred.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <set>

using namespace mlir;

namespace sinter {

Result<std::unique_ptr<ModelSource>>
OnnxSource::open(const std::string &path, const NamedShapes &shapes) {
  Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  if (!file)
    return file.takeError();
  std::unique_ptr<OnnxSource> source(new OnnxSource(std::move(*file), shapes));
  if (Result<void> named = checkShapeNames(path, source->declared(), shapes);
      !named)
    return named.takeError();
  if (Result<void> read = source->read(); !read)
    return read.takeError();
  source->findDataFiles();
  return std::unique_ptr<ModelSource>(std::move(source));
}

Result<Model> OnnxSource::readToWrite(const std::string &path,
                                      const NamedShapes &shapes,
                                      bool freezesDefaults,
                                      ModelDescription &description) {
  Result<onnx::OnnxFile> file = onnx::OnnxFile::open(path);
  if (!file)
    return file.takeError();
  OnnxSource source(std::move(*file), shapes);
  source.known = source.declared();
  source.findDataFiles();
  description = source.known;
  if (Result<void> named = checkShapeNames(path, source.declared(), shapes);
      !named)
    return named.takeError();
  ReadOptions options;
  options.shapes.insert(shapes.begin(), shapes.end());
  options.keepsUnknown = true;
  options.keepsNodes = true;
  options.freezesDefaults = freezesDefaults;
  Result<Model> model = readOnnx(source.file, options);
  if (model)
    if (Result<void> sound = checkModel(*model); !sound)
      return sound.takeError();
  return model;
}

/// Reads the graph with what is known so far. Where that fails because an
/// operator must know an input's sizes or values, reading waits until they are
/// given.
Result<void> OnnxSource::read() {
  ReadOptions options;
  options.shapes.insert(bound.begin(), bound.end());
  options.keepsUnknown = true;
  Result<Model> read = readOnnx(file, options);
  if (read) {
    if (Result<void> sound = checkModel(*read); !sound)
      return sound;
    Result<ModelDescription> description = describeModel(*read);
    if (!description)
      return description.takeError();
    known = std::move(*description);
    model = std::move(*read);
    isWhole = !model->module()
                   .walk([](nn::DeferredOp) { return WalkResult::interrupt(); })
                   .wasInterrupted();
    return {};
  }
  known = declared();
  const bool mayHelp = llvm::any_of(known.inputs, [](const ModelInput &input) {
    return !input.ranked || mayFeedShapes(input.spec) ||
           llvm::any_of(input.spec.shape,
                        [](int64_t size) { return size < 0; });
  });
  if (read.error().kind != ErrorKind::Unsupported || !mayHelp ||
      hasUnknownOperators(file))
    return read.takeError();
  needsMore = read.takeError();
  return {};
}

/// What the file itself says of a tensor called \p name.
static ModelInput declaration(const std::string &name,
                              const onnx::TypeProto &info) {
  ModelInput input;
  input.spec.name = name;
  const auto &type = onnx::innerType(info).tensor_type();
  if (std::optional<ElementType> element =
          onnx::elementTypeOf(type.elem_type()))
    input.spec.type = *element;
  input.ranked = type.has_shape();
  for (const auto &dim : type.shape().dim()) {
    const bool isKnown = dim.has_dim_value() && dim.dim_value() >= 0;
    input.spec.shape.push_back(isKnown ? dim.dim_value() : -1);
    input.symbols.push_back(isKnown ? "" : dim.dim_param());
  }
  return input;
}

ModelDescription OnnxSource::declared() const {
  const onnx::GraphProto &graph = file.model().graph();
  llvm::StringSet<> constants;
  for (const onnx::TensorProto &tensor : graph.initializer())
    constants.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    constants.insert(tensor.values().name());
  ModelDescription description;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!constants.contains(input.name()))
      for (const std::string &name : onnx::argumentNames(input, bound))
        description.inputs.push_back(declaration(name, input.type()));
  for (const onnx::ValueInfoProto &output : graph.output())
    description.outputs.push_back(
        declaration(output.name(), output.type()).spec);
  return description;
}

namespace {

/// Collects the external files that tensors anywhere in a model name. Graphs
/// nest no deeper than the file's check allows.
class DataFiles {
public:
  void addGraph(const onnx::GraphProto &graph) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      addTensor(tensor);
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
      addSparse(tensor);
    for (const onnx::NodeProto &node : graph.node())
      addNode(node);
  }
  void addNode(const onnx::NodeProto &node) {
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      addTensor(attribute.t());
      addSparse(attribute.sparse_tensor());
      for (const onnx::TensorProto &tensor : attribute.tensors())
        addTensor(tensor);
      for (const onnx::SparseTensorProto &tensor : attribute.sparse_tensors())
        addSparse(tensor);
    }
    onnx::forEachGraph(node,
                       [&](const onnx::GraphProto &graph) { addGraph(graph); });
  }

  std::set<std::string> names;

private:
  void addTensor(const onnx::TensorProto &tensor) {
    for (const auto &entry : tensor.external_data())
      if (entry.key() == "location")
        names.insert(entry.value());
  }
  void addSparse(const onnx::SparseTensorProto &tensor) {
    addTensor(tensor.values());
    addTensor(tensor.indices());
  }
};

} // namespace

void OnnxSource::findDataFiles() {
  DataFiles files;
  files.addGraph(file.model().graph());
  for (const onnx::FunctionProto &function : file.model().functions())
    for (const onnx::NodeProto &node : function.node())
      files.addNode(node);
  known.dataFiles.assign(files.names.begin(), files.names.end());
}

Result<Model> OnnxSource::asItIs() {
  if (needsMore)
    return *needsMore;
  return model->clone();
}

Result<Model> OnnxSource::spelledOut() {
  if (isWhole)
    return asItIs();
  ReadOptions options;
  options.shapes.insert(bound.begin(), bound.end());
  options.keepsUnknown = options.spellsUnknown = true;
  Result<Model> spelled = readOnnx(file, options);
  if (spelled)
    if (Result<void> sound = checkModel(*spelled); !sound)
      return sound.takeError();
  return spelled;
}

Result<Model>
OnnxSource::specialized(const std::vector<Shape> &shapes,
                        const std::vector<std::optional<Tensor>> &values) {
  for (ModelInput &input : known.inputs)
    input.feedsShapes = false;
  const bool same =
      isWhole &&
      llvm::all_of(llvm::zip_equal(known.inputs, shapes), [](const auto &pair) {
        const auto &[input, shape] = pair;
        return input.spec.shape == shape;
      });
  Result<Model> read = same ? asItIs() : readWithValues(shapes, {});
  if (!read && read.error().kind == ErrorKind::Unsupported &&
      llvm::any_of(values, [](const auto &value) { return value.has_value(); }))
    return readWithSomeValues(shapes, values);
  if (!read || !markShapeInputs(*read, known))
    return read;
  return readWithValues(shapes, values);
}

/// Sizes and axes are integers, switches are booleans; only where these do not
/// suffice, numbers of other types are bound as well.
Result<Model> OnnxSource::readWithSomeValues(
    const std::vector<Shape> &shapes,
    const std::vector<std::optional<Tensor>> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    known.inputs[i].feedsShapes = values[i] && isInteger(values[i]->type());
  Result<Model> read = readWithValues(shapes, values);
  if (read || read.error().kind != ErrorKind::Unsupported)
    return read;
  for (size_t i = 0; i < values.size(); ++i)
    known.inputs[i].feedsShapes = values[i].has_value();
  return readWithValues(shapes, values);
}

Result<Model>
OnnxSource::readWithValues(const std::vector<Shape> &shapes,
                           const std::vector<std::optional<Tensor>> &values) {
  ReadOptions options;
  for (size_t i = 0; i < known.inputs.size(); ++i) {
    const ModelInput &input = known.inputs[i];
    options.shapes[input.spec.name] = shapes[i];
    if (i < values.size() && input.feedsShapes && values[i])
      options.values[input.spec.name] = *values[i];
  }
  return readOnnx(file, options);
}

} // namespace sinter
