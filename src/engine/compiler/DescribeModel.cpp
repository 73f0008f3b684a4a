//===- DescribeModel.cpp - the inputs and outputs of a graph --------------===//

#include "engine/compiler/DescribeModel.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "passes/BindArguments.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter {

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

void addSymbols(const std::vector<ModelOutput> &known,
                std::vector<ModelOutput> &outputs) {
  for (ModelOutput &output : outputs) {
    const auto found = llvm::find_if(known, [&](const ModelOutput &each) {
      return each.name == output.name &&
             each.symbols.size() == output.shape.size();
    });
    if (found == known.end())
      continue;
    output.symbols.resize(output.shape.size());
    for (auto [symbol, own, size] :
         llvm::zip_equal(found->symbols, output.symbols, output.shape))
      if (own.empty() && size < 0)
        own = symbol;
  }
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
