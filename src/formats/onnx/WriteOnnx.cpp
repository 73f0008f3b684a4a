#include "formats/onnx/WriteOnnx.h"

#include "formats/import/Unsupported.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/Headers.h"
#include "formats/onnx/file/ModelCheck.h"
#include "formats/onnx/write/GraphWriter.h"
#include "formats/onnx/write/RuntimeFusions.h"
#include "graph/Constants.h"
#include "graph/Metadata.h"
#include "graph/WeightConstants.h"
#include "graph/storage/DeclareStates.h"
#include "graph/storage/Storage.h"

using namespace mlir;

namespace sinter {

using namespace onnx;

/// For a model that declares no operator set: the first version with
/// LayerNormalization, which all current runtimes support.
static constexpr int64_t defaultVersion = 17;
/// The oldest version of the file format that allows an operator set (ONNX,
/// docs/Versioning.md) and initializers that are no inputs (4).
static int64_t irVersionFor(int64_t opset) {
  struct {
    int64_t opset, irVersion;
  } table[] = {{9, 4},  {10, 5},  {11, 6},  {14, 7}, {18, 8},
               {20, 9}, {22, 10}, {23, 11}, {24, 12}};
  for (auto [last, irVersion] : table)
    if (opset <= last)
      return irVersion;
  return 13;
}

static int64_t declaredVersion(ModuleOp module) {
  if (auto declared =
          keptOfSource<DictionaryAttr>(module, formatName, opsetsAttribute))
    if (auto number = declared.getAs<IntegerAttr>("ai.onnx"))
      return number.getInt();
  return defaultVersion;
}

/// The version of the operator set that \p model declares; 0 if it declares
/// none.
static int64_t standardVersion(const ModelProto &model) {
  for (const OperatorSetIdProto &each : model.opset_import())
    if (isStandardDomain(each.domain()))
      return each.version();
  return 0;
}

/// Sets a model's metadata. A model that was ONNX \p before keeps its own.
static void setHeader(ModelProto &proto, const ModelProto &before,
                      int64_t version) {
  if (!before.has_ir_version()) {
    proto.set_ir_version(irVersionFor(version));
    proto.set_producer_name("sinter");
    proto.set_producer_version(SINTER_VERSION);
    return;
  }
  // The first version with initializers that are no inputs.
  constexpr int64_t firstWithConstants = 4;
  copyHeader(before, proto);
  *proto.mutable_functions() = before.functions();
  int64_t irVersion = before.ir_version();
  if (proto.graph().initializer_size() > 0)
    irVersion = std::max(irVersion, firstWithConstants);
  if (version > standardVersion(before) &&
      standardVersion(proto) > standardVersion(before))
    irVersion = std::max(irVersion, irVersionFor(version));
  proto.set_ir_version(irVersion);
}

/// The states of \p storage as pairs of an output and an input of \p graph, one
/// a line.
static Result<std::string> statesText(const GraphProto &graph,
                                      const Storage &storage) {
  std::string text;
  for (const StateTensor &state : storage.states()) {
    const std::string &input =
        graph.input(static_cast<int>(state.argument)).name();
    const std::string pair =
        graph.output(static_cast<int>(state.result)).name() + "=" + input;
    if (pair.find('\n') != std::string::npos)
      return unsupported("ONNX has no form for state '" + state.spec.name +
                         "': its name has a line break");
    text += (text.empty() ? "" : "\n") + pair;
  }
  return text;
}

/// Checks that the states begin with zeros: an input has no first value.
static Result<void> checkInitialValues(const Storage &storage) {
  for (const StateTensor &state : storage.states()) {
    const std::optional<Tensor> initial = toTensor(state.initial);
    const std::span<const std::byte> bytes(initial->data(), initial->bytes());
    if (llvm::any_of(bytes, [](std::byte each) { return each != std::byte(); }))
      return unsupported("ONNX has no form for the initial value of state '" +
                         state.spec.name +
                         "', which is not zero; freeze makes it a constant");
  }
  return {};
}

/// Sets the entries that the graph keeps and its \p states, in the place of
/// those of the file that was read.
static void setMetadataEntries(ModelProto &proto, ModuleOp module,
                               const std::string &states) {
  auto entriesToSet = metadataOf(module);
  auto *before = proto.mutable_metadata_props();
  before->erase(std::remove_if(before->begin(), before->end(),
                               [](const StringStringEntryProto &entry) {
                                 return entry.key() == statesKey;
                               }),
                before->end());
  if (!states.empty())
    entriesToSet.emplace_back(statesKey.str(), states);
  for (const auto &[key, text] : entriesToSet) {
    auto *entries = proto.mutable_metadata_props();
    auto found = std::ranges::find(*entries, key, &StringStringEntryProto::key);
    StringStringEntryProto &entry =
        found == entries->end() ? *entries->Add() : *found;
    entry.set_key(key);
    entry.set_value(text);
  }
}

Result<void> writeOnnx(const Model &model, const std::string &path,
                       bool forOnnxRuntime) {
  if (!model.entry())
    return inFile(invalidModel(whyNoEntry(model.module())), path);
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  if (Result<void> zero = checkInitialValues(*storage); !zero)
    return inFile(zero.takeError(), path);
  int64_t version = declaredVersion(model.module());
  while (true) {
    Model copy = model.clone();
    listWeights(copy.module(), copy.entry());
    GraphWriter writer(copy.module(), version, forOnnxRuntime);
    writer.run();
    if (writer.requiredVersion() > version) {
      version = writer.requiredVersion();
      continue;
    }
    if (!writer.unsupportedOps().empty())
      return inFile(unsupported("ONNX has no form for: " +
                                formats::listOf(writer.unsupportedOps(), "; ")),
                    path);
    ModelProto &proto = writer.model();
    if (forOnnxRuntime)
      fuseForOnnxRuntime(proto, writer.tensorFacts());
    setHeader(proto, writer.original(), version);
    Result<std::string> states = statesText(proto.graph(), *storage);
    if (!states)
      return inFile(states.takeError(), path);
    setMetadataEntries(proto, model.module(), *states);
    return writer.data().write(proto, path);
  }
}

} // namespace sinter
