//===- ModelSource.cpp - a model file, to be read for given shapes --------===//

#include "engine/compiler/ModelSource.h"

#include "engine/compiler/BoundSource.h"
#include "engine/compiler/SizedSource.h"
#include "engine/compiler/WholeSource.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "passes/BindArguments.h"
#include "runtime/MappedFile.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter {

std::string foreignKind(std::string_view contents) {
  struct Kind {
    size_t offset;
    std::string_view magic;
    const char *what;
  };
  static constexpr Kind kinds[] = {
      {0, "PK\x03\x04",
       "a zip archive (a PyTorch checkpoint?); torch.onnx.export writes ONNX"},
      {0, "\x80\x02", "a Python pickle; torch.onnx.export writes ONNX"},
      {0, "\x89HDF", "an HDF5 file (a Keras model?); tf2onnx writes ONNX"},
      {4, "TFL3", "a TensorFlow Lite model; tf2onnx writes ONNX"},
      {0, "GGUF", "a GGUF archive of weights, without a graph"},
      {0, "\x93NUMPY", "a NumPy array; it can be an input"},
      {0, "\x89PNG", "a PNG picture; it can be an input"},
      {0, "\xFF\xD8\xFF", "a JPEG picture; it can be an input"},
      {0,
       "\x7f"
       "ELF",
       "a program"},
      {0, "\x1f\x8b", "compressed with gzip; unpack it first"},
  };
  for (const Kind &kind : kinds)
    if (contents.size() > kind.offset &&
        contents.substr(kind.offset).starts_with(kind.magic))
      return kind.what;
  return "";
}

Result<const Format *> findFormat(const std::string &path) {
  if (const Format *format = formatOf(path, {}))
    return format;
  // What is not there, or no regular file, is said here.
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  const std::span<const std::byte> contents = (*file)->bytes();
  if (contents.empty())
    return inFile(invalidModel("the file is empty"), path);
  // What a format knows by its contents is not foreign, whatever its name.
  if (const Format *format = formatOf("", contents);
      format && format->recognises("", contents) == Likeness::Yes)
    return format;
  if (const std::string kind = foreignKind((*file)->text()); !kind.empty())
    return inFile(invalidModel("this is no model but " + kind), path);
  if (const Format *format = formatOf(path, contents))
    return format;
  return inFile(invalidModel("this is a model of no format that is known"),
                path);
}

Result<std::unique_ptr<ModelSource>>
ModelSource::open(const ModelRequest &request) {
  const std::string &path = request.path;
  if (!request.bound.empty()) {
    ModelRequest unbound = request;
    unbound.known = std::exchange(unbound.bound, {});
    for (const auto &[name, tensor] : request.bound)
      unbound.replacedDefaults.push_back(name);
    auto whole = open(unbound);
    if (!whole)
      return whole.takeError();
    return BoundSource::create(std::move(*whole), request.bound,
                               request.boundFiles);
  }
  Result<const Format *> format = findFormat(path);
  if (!format)
    return format.takeError();
  if (!request.function.empty() && !(*format)->hasFunctions)
    return inFile(
        usageError(optionText("function") + ": a model in the format " +
                   (*format)->title.str() + " has no functions to choose from"),
        path);
  auto file = openModelFile(**format, path, request.opening);
  if (!file)
    return file.takeError();
  std::vector<std::string> given = request.replacedDefaults;
  for (const auto &[name, shape] : request.shapes)
    given.push_back(name);
  (*file)->replaceDefaults(given);
  return (*file)->dependsOnSizes()
             ? SizedSource::open(**format, std::move(*file), request)
             : WholeSource::open(**format, **file, request);
}

Result<void> checkShapeNames(const ModelRequest &request,
                             const ModelDescription &description) {
  const std::vector<std::string> names = description.inputNames();
  for (const auto &[name, shape] : request.shapes)
    if (!description.inputNamed(name))
      return withHint(suggestion(name, names),
                      inFile(usageError(optionText("shape") +
                                        ": there is no input '" + name + "'"),
                             request.path));
  for (const DimensionName &each : request.dimensionNames) {
    const ModelInput &input =
        description.inputs[*description.inputNamed(each.input)];
    const size_t dim = each.dimension;
    const bool isThere = dim < input.spec.shape.size();
    const std::string symbol =
        dim < input.symbols.size() ? input.symbols[dim] : "";
    const bool isKnown = isThere && input.spec.shape[dim] >= 0;
    if (!input.ranked ||
        (isThere && !isKnown && (symbol.empty() || symbol == each.symbol)))
      continue;
    return inFile(usageError(optionText("shape") + ": dimension " +
                             std::to_string(dim) + " of input '" +
                             input.spec.name + "' is not called '" +
                             each.symbol + "'; the input is " + input.text()),
                  request.path);
  }
  return {};
}

/// The names of an argument's or a result's unknown dimensions.
static std::vector<std::string> symbolsIn(ArrayAttr names) {
  std::vector<std::string> symbols;
  if (names)
    for (Attribute name : names)
      symbols.push_back(isa<StringAttr>(name) ? cast<StringAttr>(name).str()
                                              : "");
  return symbols;
}

Result<ModelDescription> describeModel(const Model &model) {
  func::FuncOp entry = model.entry();
  if (!entry)
    return inFile(invalidModel(whyNoEntry(model.module())), model.path);
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(),
                                            entry.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && elementTypeOf(tensor.getElementType()))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return inFile(
        unsupported(
            "@" + entry.getName().str() + " takes or gives " + text +
            (isa<stablehlo::FutureType>(type)
                 ? ", and a future that is awaited must be begun by the program"
                 : "")),
        model.path);
  }
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return inFile(storage.takeError(), model.path);
  ModelDescription description;
  for (auto [number, spec] :
       llvm::zip_equal(storage->inputs(), model.inputs())) {
    ModelInput input;
    input.spec = spec;
    input.symbols =
        symbolsIn(entry.getArgAttrOfType<ArrayAttr>(number, dimsAttribute));
    for (std::string &name : otherNames(entry, number))
      if (name != spec.name)
        input.otherNames.push_back(std::move(name));
    description.inputs.push_back(std::move(input));
  }
  for (auto [number, spec] :
       llvm::zip_equal(storage->outputs(), model.outputs())) {
    ModelOutput &output = description.outputs.emplace_back(
        spec, isa<RankedTensorType>(entry.getResultTypes()[number]));
    output.symbols =
        symbolsIn(entry.getResultAttrOfType<ArrayAttr>(number, dimsAttribute));
  }
  for (const StateTensor &state : storage->states())
    description.states.push_back(state.spec);
  return description;
}

ModelMetadata metadataOf(const Format &format, const ModelFile &file) {
  ModelMetadata metadata = file.metadata();
  metadata.format = format.name.str();
  return metadata;
}

/// The operands of \p op that say how large its result is.
static ValueRange sizeOperands(Operation *op) {
  const OperandRange operands = op->getOperands();
  return TypeSwitch<Operation *, ValueRange>(op)
      .Case<stablehlo::DynamicReshapeOp, stablehlo::DynamicBroadcastInDimOp,
            stablehlo::RealDynamicSliceOp>(
          [&](auto) { return operands.drop_front(); })
      .Case<stablehlo::DynamicPadOp, stablehlo::DynamicGatherOp,
            stablehlo::DynamicConvOp>(
          [&](auto) { return operands.drop_front(2); })
      .Case<stablehlo::DynamicIotaOp>([&](auto) { return operands; })
      .Default([](Operation *) { return ValueRange(); });
}

/// Whether only the operand's shape matters.
static bool usesShapeOnly(Operation *op) {
  return isa<nn::ShapeOp, stablehlo::GetDimensionSizeOp>(op);
}

bool markShapeInputs(const Model &model, ModelDescription &description) {
  func::FuncOp entry = model.entry();
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return false;
  SmallVector<Value> open;
  llvm::DenseSet<Value> seen;
  entry.walk(
      [&](Operation *op) { llvm::append_range(open, sizeOperands(op)); });
  bool any = false;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto number = llvm::find(storage->inputs(), argument.getArgNumber());
      if (argument.getOwner() == &entry.front() &&
          number != storage->inputs().end())
        any =
            description.inputs[number - storage->inputs().begin()].feedsShapes =
                true;
      continue;
    }
    if (!usesShapeOnly(value.getDefiningOp()))
      llvm::append_range(open, value.getDefiningOp()->getOperands());
  }
  return any;
}

} // namespace sinter
