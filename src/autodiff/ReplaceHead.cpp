//===- ReplaceHead.cpp - gives a model another number of classes ----------===//

#include "autodiff/ReplaceHead.h"

#include "autodiff/Reinitialize.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/Source.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter::autodiff {

static std::string shapeText(const Shape &shape) {
  return "[" +
         llvm::join(
             llvm::map_range(shape,
                             [](int64_t size) { return std::to_string(size); }),
             ", ") +
         "]";
}

std::string ReplacedHead::text(int64_t classes) const {
  std::string text = layers.size() == 1
                         ? "the last layer '" + layers[0] + "'"
                         : "the last layers " + llvm::join(layers, ", ");
  text += (layers.size() == 1 ? " gets " : " get ") + std::to_string(classes) +
          " classes in place of " + std::to_string(before) + ":";
  for (const Change &each : weights)
    text += (&each == &weights[0] ? " " : ", ") + each.name + " " +
            shapeText(each.before) + " -> " + shapeText(each.after);
  return text;
}

namespace {

class HeadReplacer {
public:
  HeadReplacer(Model &model, const HeadChange &change, UnnamedConstants unnamed)
      : model(model), change(change), unnamed(unnamed) {}

  Result<ReplacedHead> run();

private:
  Result<void> follow();
  Result<void> followDefinition(Value value, int64_t dimension);
  Result<void> followUses(Value value, int64_t dimension);
  Result<void> reach(Value value, int64_t dimension);
  Result<void> reachAlike(Operation *op, const Axes &axes,
                          const AxisList &classes);
  Result<void> checkUses() const;
  bool isOfSizedNode(Operation *op) const;
  void resizeShapes();
  void retype();
  Result<void> replaceConstants();
  Result<void> checkResult();

  Error cannot(const std::string &why) const {
    return unsupported("the number of classes cannot be changed: " + why);
  }
  static std::string what(Operation *op) {
    return "'" + originOf(op) + "' (" + op->getName().getStringRef().str() +
           ")";
  }
  RankedTensorType resized(RankedTensorType type, int64_t dimension) const {
    SmallVector<int64_t> shape(type.getShape());
    shape[dimension] = change.classes;
    return RankedTensorType::get(shape, type.getElementType(),
                                 type.getEncoding());
  }

  Model &model;
  const HeadChange &change;
  UnnamedConstants unnamed;
  ReplacedHead done;
  /// The dimension of classes of each value that has one.
  llvm::MapVector<Value, int64_t> dimensions;
  SmallVector<Value> pending;
};

bool isLayer(Operation *op) {
  return isa<stablehlo::DotGeneralOp, stablehlo::ConvolutionOp>(op);
}

} // namespace

Result<void> HeadReplacer::reach(Value value, int64_t dimension) {
  auto [found, isNew] = dimensions.insert({value, dimension});
  if (!isNew)
    return found->second == dimension
               ? Result<void>()
               : Result<void>(cannot("a tensor has it in two dimensions"));
  if (tensorOf(value).getDimSize(dimension) != done.before)
    return cannot("a tensor's dimension of classes has another size");
  pending.push_back(value);
  return {};
}

/// Reaches the operands and results of \p op with the axes \p classes.
Result<void> HeadReplacer::reachAlike(Operation *op, const Axes &axes,
                                      const AxisList &classes) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (const auto dimension = axes.asLarge(classes, axes.operands[i]))
      if (Result<void> done = reach(operand, *dimension); !done)
        return done;
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (const auto dimension = axes.asLarge(classes, axes.results[i]))
      if (Result<void> done = reach(result, *dimension); !done)
        return done;
  return {};
}

Result<void> HeadReplacer::followDefinition(Value value, int64_t dimension) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return cannot("the scores follow from an input without a layer");
  if (isa<stablehlo::ConstantOp>(op))
    return {};
  const std::optional<Axes> axes = axesOf(op);
  if (!axes)
    return cannot(what(op) + " is between the last layer and the scores");
  const unsigned number = cast<OpResult>(value).getResultNumber();
  const AxisList &classes = axes->results[number][dimension];
  if (isLayer(op) && !llvm::is_contained(done.layers, originOf(op)))
    done.layers.push_back(originOf(op));
  if (Result<void> reached = reachAlike(op, *axes, classes); !reached)
    return reached;
  // What makes the dimension by itself is a constant for all classes.
  const bool isMade = op->getNumOperands() == 0;
  const bool hasSource = llvm::any_of(op->getOperands(), [&](Value operand) {
    return dimensions.contains(operand);
  });
  const bool isBroadcast =
      isa<stablehlo::BroadcastInDimOp, stablehlo::DynamicBroadcastInDimOp>(op);
  if (isMade || (!hasSource && !isBroadcast))
    return cannot(what(op) + " yields the dimension of classes");
  return {};
}

Result<void> HeadReplacer::followUses(Value value, int64_t dimension) {
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      if (op->getParentOp() != model.entry())
        return cannot("the scores are computed in a branch or loop");
      continue;
    }
    const std::optional<Axes> axes = axesOf(op);
    if (!axes)
      return cannot("the scores feed " + what(op));
    const AxisList &classes = axes->operands[use.getOperandNumber()][dimension];
    if (isLayer(op)) {
      bool isKept = false;
      for (const TensorAxes &result : axes->results)
        isKept |= axes->asLarge(classes, result).has_value();
      if (!isKept)
        return cannot("the scores feed another layer, " + what(op));
    }
    if (Result<void> reached = reachAlike(op, *axes, classes); !reached)
      return reached;
  }
  return {};
}

Result<void> HeadReplacer::follow() {
  func::FuncOp entry = model.entry();
  Operation *terminator = entry.front().getTerminator();
  if (change.output >= terminator->getNumOperands())
    return cannot("the model has no output " + std::to_string(change.output));
  Value scores = terminator->getOperand(change.output);
  auto type = dyn_cast<RankedTensorType>(scores.getType());
  if (!type || static_cast<int64_t>(change.dimension) >= type.getRank() ||
      type.isDynamicDim(change.dimension))
    return cannot("the output does not have a known number of them");
  done.before = type.getDimSize(change.dimension);
  if (Result<void> reached = reach(scores, change.dimension); !reached)
    return reached;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    const int64_t dimension = dimensions.lookup(value);
    if (Result<void> done = followDefinition(value, dimension); !done)
      return done;
    if (Result<void> done = followUses(value, dimension); !done)
      return done;
  }
  return done.layers.empty()
             ? Result<void>(
                   cannot("no matmul or convolution yields the scores"))
             : Result<void>();
}

/// Whether whatever uses a constant of classes yields something of classes.
Result<void> HeadReplacer::checkUses() const {
  for (const auto &[value, dimension] : dimensions) {
    if (!value.getDefiningOp<stablehlo::ConstantOp>())
      continue;
    for (Operation *user : value.getUsers())
      if (llvm::none_of(user->getResults(), [&](Value result) {
            return dimensions.contains(result);
          }))
        return cannot("'" + constantName(value).str() +
                      "' is used by another layer, too, " + what(user));
  }
  return {};
}

/// Sets the number of classes in constants that say how large results are.
void HeadReplacer::resizeShapes() {
  for (const auto &[value, dimension] : dimensions) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<stablehlo::DynamicReshapeOp,
                         stablehlo::DynamicBroadcastInDimOp>(op))
      continue;
    Value sizes = op->getOperand(1);
    OpBuilder builder(op);
    const auto replaced = [&](Value constant, int64_t index) -> Value {
      std::optional<Tensor> tensor = constantTensor(constant);
      if (!tensor || index >= tensor->size())
        return {};
      std::vector<double> numbers;
      for (int64_t i = 0; i < tensor->size(); ++i)
        numbers.push_back(i == index ? static_cast<double>(change.classes)
                                     : tensor->toDouble(i));
      return makeConstant(
          builder, constant.getLoc(),
          tensorOfDoubles(tensor->type(), tensor->shape(), numbers));
    };
    if (Value all = replaced(sizes, dimension)) {
      op->setOperand(1, all);
      continue;
    }
    auto concatenate = sizes.getDefiningOp<stablehlo::ConcatenateOp>();
    if (!concatenate || static_cast<int64_t>(concatenate->getNumOperands()) !=
                            tensorOf(value).getRank())
      continue;
    builder.setInsertionPoint(concatenate);
    if (Value one = replaced(concatenate->getOperand(dimension), 0)) {
      // In place, the node of the file stays as it is.
      auto copy =
          concatenate->hasOneUse()
              ? concatenate
              : cast<stablehlo::ConcatenateOp>(builder.clone(*concatenate));
      copy->setOperand(dimension, one);
      op->setOperand(1, copy.getResult());
    }
  }
}

/// Whether \p op came from a node whose sizes are a constant of the file.
bool HeadReplacer::isOfSizedNode(Operation *op) const {
  const std::optional<int64_t> source = sourceOf(op);
  auto records =
      model.module()->getAttrOfType<ArrayAttr>(sourceRecordsAttribute);
  if (!source || !records || *source >= static_cast<int64_t>(records.size()))
    return false;
  auto record = dyn_cast<DictionaryAttr>(records[*source]);
  auto name = record ? record.getAs<StringAttr>(recordedOperation) : nullptr;
  return name && (name.getValue().starts_with_insensitive("reshape") ||
                  name.getValue().starts_with_insensitive("expand"));
}

void HeadReplacer::retype() {
  for (const auto &[value, dimension] : dimensions) {
    Operation *op = value.getDefiningOp();
    Value(value).setType(resized(tensorOf(value), dimension));
    if (op && isOfSizedNode(op))
      removeSource(op);
  }
  func::FuncOp entry = model.entry();
  entry.setType(
      FunctionType::get(entry.getContext(), entry.front().getArgumentTypes(),
                        entry.front().getTerminator()->getOperandTypes()));
}

Result<void> HeadReplacer::replaceConstants() {
  llvm::DenseMap<Value, WeightConstant> weights;
  for (WeightConstant &each : weightConstants(model.entry(), unnamed))
    weights.try_emplace(each.constant.getResult(), each);
  std::vector<std::pair<stablehlo::ConstantOp, ElementsAttr>> fresh;
  for (const auto &[value, dimension] : dimensions) {
    auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
    if (!constant)
      continue;
    const Tensor old = *constantTensor(value);
    Shape shape = old.shape();
    shape[dimension] = change.classes;
    const auto weight = weights.find(value);
    if (const std::optional<double> number = splatNumber(value);
        number && (weight == weights.end() || weight->second.isAskedFor)) {
      fresh.emplace_back(
          constant,
          toAttribute(tensorOfDoubles(old.type(), shape,
                                      std::vector<double>(
                                          static_cast<size_t>(
                                              *byteCount(old.type(), shape) /
                                              byteSize(old.type())),
                                          *number)),
                      "", model.context()));
      continue;
    }
    if (weight == weights.end())
      return cannot("'" + originOf(constant) +
                    "' is a constant with a value for each class and no "
                    "floating-point weight");
    fresh.emplace_back(constant, nullptr);
    pending.push_back(value);
  }
  for (WeightConstant &each : weightConstants(model.entry(), unnamed)) {
    Value value = each.constant.getResult();
    if (!llvm::is_contained(pending, value))
      continue;
    const Shape before = constantTensor(value)->shape();
    Shape after = before;
    after[dimensions.lookup(value)] = change.classes;
    done.weights.push_back({each.name, before, after});
  }
  retype();
  for (Value value : pending) {
    const WeightConstant &weight = weights.find(value)->second;
    const Tensor like(*elementTypeOf(tensorOf(value).getElementType()),
                      Shape(tensorOf(value).getShape()));
    const Tensor first =
        freshValue({weight.name, 0, like, false}, value, change.seed);
    for (auto &[constant, attribute] : fresh)
      if (constant.getResult() == value)
        attribute = toAttribute(first, weight.name, model.context());
  }
  for (auto &[constant, attribute] : fresh)
    constant.setValueAttr(attribute);
  return {};
}

/// Attributes of operations may have sizes that do not fit any more.
Result<void> HeadReplacer::checkResult() {
  std::string first;
  ScopedDiagnosticHandler collect(model.context(), [&](Diagnostic &diagnostic) {
    if (first.empty())
      first = diagnostic.str();
    return success();
  });
  if (failed(verify(model.module())))
    return cannot("an operation behind the last layer does not allow it: " +
                  first);
  return {};
}

Result<ReplacedHead> HeadReplacer::run() {
  if (Result<void> found = follow(); !found)
    return found.takeError();
  if (Result<void> good = checkUses(); !good)
    return good.takeError();
  resizeShapes();
  if (Result<void> replaced = replaceConstants(); !replaced)
    return replaced.takeError();
  if (Result<void> good = checkResult(); !good)
    return good.takeError();
  return std::move(done);
}

Result<ReplacedHead> replaceHead(Model &model, const HeadChange &change,
                                 UnnamedConstants unnamed) {
  return HeadReplacer(model, change, unnamed).run();
}

} // namespace sinter::autodiff
