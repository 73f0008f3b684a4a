//===- LossFile.cpp - a loss function from a file -------------------------===//

#include "engine/compiler/LossFile.h"

#include "engine/compiler/MlirCompiler.h"
#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"
#include "runtime/OptionNames.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter {

Result<LossFile> LossFile::open(const std::string &path) {
  ModelRequest request;
  request.path = path;
  auto source = ModelSource::open(request);
  if (!source)
    return source.takeError();
  if (Result<void> described = (*source)->describe(); !described)
    return described.takeError();
  const ModelDescription &known = (*source)->description();
  if (known.inputs.size() < 2 || known.outputs.size() != 1)
    return usageError(optionText("loss") + " '" + path +
                      "': a function of an output and a "
                      "target with one result is expected; this one "
                      "takes " +
                      std::to_string(known.inputs.size()) + " and gives " +
                      std::to_string(known.outputs.size()));
  return LossFile(path, std::move(*source));
}

Result<void> LossFile::checkArguments(ValueRange arguments) const {
  const std::vector<ModelInput> &wanted = source->description().inputs;
  if (wanted.size() != arguments.size())
    return usageError(optionText("loss") + " '" + path +
                      "': the function takes " + std::to_string(wanted.size()) +
                      " tensors, and is given " +
                      std::to_string(arguments.size()));
  for (auto [input, argument] : llvm::zip_equal(wanted, arguments)) {
    const auto type = tensorOf(argument);
    const std::optional<ElementType> element =
        elementTypeOf(type.getElementType());
    const TensorSpec &spec = input.spec;
    bool fits = element && *element == spec.type;
    if (fits && input.ranked) {
      fits = static_cast<int64_t>(spec.shape.size()) == type.getRank();
      for (int64_t i = 0; fits && i < type.getRank(); ++i)
        fits = spec.shape[i] < 0 || spec.shape[i] == type.getDimSize(i);
    }
    if (!fits)
      return usageError(optionText("loss") + " '" + path +
                        "': the function's argument '" + spec.name + "' is a " +
                        toString(spec.type, spec.shape) + ", and is given a " +
                        (element
                             ? toString(*element, Shape(type.getShape().begin(),
                                                        type.getShape().end()))
                             : std::string("tensor of another kind")) +
                        " (an unknown dimension, ?, takes any size)");
  }
  return {};
}

/// The model's module in another context.
static OwningOpRef<ModuleOp> copyInto(MLIRContext &context,
                                      const Model &model) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  model.module().print(stream, OpPrintingFlags().enableDebugInfo());
  return parseSourceString<ModuleOp>(text, ParserConfig(&context));
}

Result<Value> LossFile::build(nn::TensorBuilder &emit, ValueRange arguments) {
  if (Result<void> good = checkArguments(arguments); !good)
    return good.takeError();
  const std::vector<ModelInput> &wanted = source->description().inputs;
  std::vector<Shape> shapes;
  SpecializeOptions known;
  for (auto [input, argument] : llvm::zip_equal(wanted, arguments)) {
    ArrayRef<int64_t> shape = tensorOf(argument).getShape();
    shapes.emplace_back(shape.begin(), shape.end());
    known.shapes[input.spec.name] = shapes.back();
  }
  const size_t count = shapes.size();
  Result<TranslatedGraph> graph =
      source->translate({.kind = GraphKind::Static,
                         .shapes = std::move(shapes),
                         .values = std::vector<std::optional<Tensor>>(count)});
  if (!graph)
    return graph.takeError();
  Model &model = graph->model;
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  if (!storage->states().empty())
    return usageError(optionText("loss") + " '" + path +
                      "': the function keeps a state");
  if (Result<void> ready = specializeForPasses(model, known); !ready)
    return ready.takeError();
  MLIRContext &context = *emit.builder.getContext();
  FirstError errors(&context);
  OwningOpRef<ModuleOp> copy = copyInto(context, model);
  func::FuncOp entry = copy ? entryOf(*copy) : func::FuncOp();
  if (!entry)
    return inFile(invalidModel(errors.take()), path);
  auto type = dyn_cast<RankedTensorType>(entry.getResultTypes().front());
  if (!type || !type.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return usageError(optionText("loss") + " '" + path +
                      "': the function returns no floating-point tensor");
  IRMapping mapping;
  mapping.map(entry.getArguments(), arguments);
  for (Operation &op : entry.front().without_terminator())
    emit.builder.clone(op, mapping);
  return mapping.lookup(entry.front().getTerminator()->getOperand(0));
}

} // namespace sinter
