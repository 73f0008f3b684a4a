#include "passes/RefineTypes.h"

#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/chlo/Structured.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Verify.h"
#include "passes/Matching.h"
#include "passes/rules/DynamicRules.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

using Extents = SmallVector<int64_t>;

class Refiner {
public:
  Refiner(ModuleOp module, Loops loops) : module(module), loops(loops) {}

  LogicalResult refineFunction(func::FuncOp function);
  bool changed = false;

private:
  LogicalResult refineBlock(Block &block);
  LogicalResult refineOperation(Operation *op);
  LogicalResult refineWithRegions(Operation *op);
  LogicalResult refineScan(chlo::ScanOp op);
  LogicalResult refineSize(SetDimensionSizeOp op);
  bool keepsShapes(WhileOp loop, TypeRange types);
  bool changesInLoop(Value value, Type type);
  LogicalResult refineCall(Operation *op, SymbolRefAttr callee);
  LogicalResult refineValue(Operation *op, Value value, Type inferred);
  LogicalResult refineResults(Operation *op, TypeRange inferred);
  LogicalResult refineArguments(Operation *op, Block &block, TypeRange types);

  ModuleOp module;
  Loops loops;
  SmallVector<Operation *> active;
};

} // namespace

static constexpr int64_t unknown = ShapedType::kDynamic;

/// The most static type that is compatible with both; nothing if there is none.
static std::optional<Type> meetTypes(Type written, Type inferred) {
  auto future = dyn_cast<FutureType>(written);
  auto found = dyn_cast<FutureType>(inferred);
  if (future && found && future.getTypes().size() == found.getTypes().size()) {
    SmallVector<Type> types;
    for (auto [one, other] : llvm::zip(future.getTypes(), found.getTypes())) {
      std::optional<Type> type = meetTypes(one, other);
      if (!type)
        return std::nullopt;
      types.push_back(*type);
    }
    return FutureType::get(future.getContext(), types);
  }
  auto lhs = dyn_cast<RankedTensorType>(written);
  auto rhs = dyn_cast<RankedTensorType>(inferred);
  if (!lhs || !rhs || lhs == rhs)
    return written;
  std::optional<Dimensions> both = meet(lhs, rhs);
  if (!both)
    return std::nullopt;
  return tensorTypeOf(*both, lhs.getElementType());
}

LogicalResult Refiner::refineValue(Operation *op, Value value, Type inferred) {
  std::optional<Type> type = meetTypes(value.getType(), inferred);
  if (!type)
    return op->emitOpError("gives ")
           << inferred << " where " << value.getType() << " is written";
  if (*type == value.getType() ||
      (loops == Loops::MayChangeShapes && changesInLoop(value, *type)))
    return success();
  value.setType(*type);
  changed = true;
  return success();
}

LogicalResult Refiner::refineResults(Operation *op, TypeRange inferred) {
  for (auto [result, type] : llvm::zip(op->getResults(), inferred))
    if (failed(refineValue(op, result, type)))
      return failure();
  return success();
}

LogicalResult Refiner::refineArguments(Operation *op, Block &block,
                                       TypeRange types) {
  for (auto [argument, type] : llvm::zip(block.getArguments(), types))
    if (failed(refineValue(op, argument, type)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Operations whose result's type is written, not inferred
//===----------------------------------------------------------------------===//

/// The sizes that are the elements of an operand, as far as they are known.
static Extents sizesIn(Value operand, int64_t rank) {
  Extents sizes;
  SmallVector<Value> pieces = {operand};
  if (auto concatenate = operand.getDefiningOp<ConcatenateOp>())
    pieces = llvm::to_vector(concatenate.getInputs());
  for (Value piece : pieces) {
    auto type = tensorOf(piece);
    auto known = constantIntegers(piece);
    if (known)
      llvm::append_range(sizes, *known);
    else if (auto shape = piece.getDefiningOp<nn::ShapeOp>())
      llvm::append_range(sizes, tensorOf(shape.getOperand()).getShape());
    else if (type.hasStaticShape() && type.getNumElements() <= rank)
      sizes.append(type.getNumElements(), unknown);
  }
  bool isValid = llvm::all_of(
      sizes, [](int64_t size) { return size >= 0 || size == unknown; });
  if (!isValid || static_cast<int64_t>(sizes.size()) != rank ||
      (!llvm::is_contained(sizes, unknown) && !elementCount(sizes)))
    return Extents(rank, unknown);
  return sizes;
}

static Extents sizesOf(RealDynamicSliceOp op) {
  int64_t rank = tensorOf(op).getRank();
  if (std::optional<Extents> sizes = sizesOfUnitSlice(op))
    return *sizes;
  auto starts = constantIntegers(op.getStartIndices());
  auto limits = constantIntegers(op.getLimitIndices());
  auto strides = constantIntegers(op.getStrides());
  Extents sizes(rank, unknown);
  if (!starts || !limits || !strides)
    return sizes;
  for (int64_t i = 0; i < rank; ++i)
    if (i < static_cast<int64_t>(
                std::min({starts->size(), limits->size(), strides->size()})) &&
        (*strides)[i] > 0 && (*starts)[i] >= 0 && (*starts)[i] <= (*limits)[i])
      sizes[i] = llvm::divideCeil(
          static_cast<uint64_t>((*limits)[i] - (*starts)[i]), (*strides)[i]);
  return sizes;
}

/// The shapes of the results are operands of the call.
static LogicalResult shapeOperandsOf(CustomCallOp op,
                                     SmallVectorImpl<Type> &types) {
  auto operandIndices =
      op->getAttrOfType<DenseIntElementsAttr>(shapeOperandsAttribute);
  if (!operandIndices || operandIndices.getNumElements() != op->getNumResults())
    return failure();
  for (auto [index, result] :
       llvm::zip(operandIndices.getValues<APInt>(), op->getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || index.uge(op->getNumOperands()))
      return failure();
    Value shape = op->getOperand(index.getZExtValue());
    types.push_back(isa<RankedTensorType>(shape.getType())
                        ? RankedTensorType::get(sizesIn(shape, type.getRank()),
                                                type.getElementType(),
                                                type.getEncoding())
                        : type);
  }
  return success();
}

/// The results' types as they follow from operands and attributes.
static SmallVector<Type> resultTypes(Operation *op) {
  std::optional<Axes> axes = axesOf(op);
  SmallVector<Type> types;
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !axes) {
      types.push_back(result.getType());
      continue;
    }
    Extents sizes =
        llvm::TypeSwitch<Operation *, Extents>(op)
            .Case<DynamicReshapeOp, DynamicIotaOp>([&](auto each) {
              return sizesIn(each.getOutputShape(), type.getRank());
            })
            .Case<DynamicBroadcastInDimOp>([&](auto each) {
              return sizesIn(each.getOutputDimensions(), type.getRank());
            })
            .Case<RealDynamicSliceOp>([](auto each) { return sizesOf(each); })
            .Default([&](Operation *) {
              return axes->sizesOf(axes->results[result.getResultNumber()]);
            });
    types.push_back(RankedTensorType::get(sizes, type.getElementType()));
  }
  return types;
}

//===----------------------------------------------------------------------===//
// Regions and calls
//===----------------------------------------------------------------------===//

LogicalResult Refiner::refineCall(Operation *op, SymbolRefAttr callee) {
  auto function = module.lookupSymbol<func::FuncOp>(callee);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock() ||
      llvm::is_contained(active, function))
    return success();
  // Another caller may have other shapes: this one gets its own copy.
  auto hasOtherCallers = [&] {
    auto uses = SymbolTable::getSymbolUses(function, module);
    return uses && std::distance(uses->begin(), uses->end()) > 1;
  };
  if (!llvm::equal(function.getArgumentTypes(), op->getOperandTypes()) &&
      hasOtherCallers()) {
    auto copy = cast<func::FuncOp>(function->clone());
    copy.setPrivate();
    SymbolTable(module).insert(copy);
    auto name = FlatSymbolRefAttr::get(copy.getSymNameAttr());
    if (auto composite = dyn_cast<CompositeOp>(op))
      composite.setDecompositionAttr(name);
    else
      cast<func::CallOp>(op).setCalleeAttr(name);
    function = copy;
    changed = true;
  }
  if (failed(refineArguments(op, function.front(), op->getOperandTypes())) ||
      failed(refineFunction(function)))
    return failure();
  return refineResults(op, function.getResultTypes());
}

/// Whether a loop whose initial values have \p types keeps them.
bool Refiner::keepsShapes(WhileOp loop, TypeRange types) {
  auto fits = [&](WhileOp each) {
    return each.getBody().getArgumentTypes() == types &&
           each.getBody().front().back().getOperandTypes() == types;
  };
  if (fits(loop))
    return true;
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  OpBuilder builder(loop);
  auto attempt = cast<WhileOp>(builder.clone(*loop));
  bool was = changed;
  bool kept =
      succeeded(refineArguments(attempt, attempt.getBody().front(), types)) &&
      succeeded(refineBlock(attempt.getBody().front())) && fits(attempt);
  changed = was;
  attempt.erase();
  return kept;
}

/// Whether \p value is an initial value of a loop that would not keep \p type.
bool Refiner::changesInLoop(Value value, Type type) {
  SmallVector<std::pair<WhileOp, SmallVector<Type>>> attempts;
  for (OpOperand &use : value.getUses())
    if (auto loop = dyn_cast<WhileOp>(use.getOwner())) {
      SmallVector<Type> types(loop->getOperandTypes());
      types[use.getOperandNumber()] = type;
      attempts.push_back({loop, std::move(types)});
    }
  return llvm::any_of(attempts, [&](auto &attempt) {
    return !keepsShapes(attempt.first, attempt.second);
  });
}

LogicalResult Refiner::refineWithRegions(Operation *op) {
  auto loop = dyn_cast<WhileOp>(op);
  if (loop)
    for (Region &region : op->getRegions())
      if (failed(refineArguments(op, region.front(), op->getOperandTypes())))
        return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (failed(refineBlock(block)))
        return failure();
  if (loop) {
    // The body's results are carried: their sizes are those of the operands.
    TypeRange given = loop.getBody().front().back().getOperandTypes();
    if (!compatibleTypes(given, op->getOperandTypes()))
      return op->emitOpError("has a value whose shape changes as it repeats");
    return refineResults(op, op->getOperandTypes());
  }
  if (!isa<IfOp, CaseOp>(op))
    return success();
  // The branches agree, or their shapes are known only at run time.
  SmallVector<Type> types(op->getRegion(0).front().back().getOperandTypes());
  for (Region &region : op->getRegions())
    for (auto [type, other] :
         llvm::zip(types, region.front().back().getOperandTypes()))
      if (type != other)
        return success();
  return refineResults(op, types);
}

LogicalResult Refiner::refineScan(chlo::ScanOp op) {
  const int64_t dimension = op.getDimension();
  SmallVector<Type> types;
  for (Type type : op.getInputs().getTypes())
    types.push_back(chlo::sliceType(type, dimension));
  llvm::append_range(types, op.getInits().getTypes());
  Block &body = op.getBody().front();
  if (failed(refineArguments(op, body, types)) || failed(refineBlock(body)))
    return failure();
  SmallVector<Type> results;
  for (Type slice : TypeRange(body.back().getOperandTypes())
                        .take_front(op.getOutputs().size()))
    results.push_back(chlo::stackType(slice, dimension, op.getLength()));
  llvm::append_range(results, op.getInits().getTypes());
  return refineResults(op, results);
}

/// With a constant size the result is static, not only bounded.
LogicalResult Refiner::refineSize(SetDimensionSizeOp op) {
  auto type = tensorOf(op.getOperand());
  auto size = constantIntegers(op.getSize());
  if (!size || size->size() != 1 || size->front() < 0)
    return success();
  Dimensions dimensions = dimensionsOf(type);
  Dimension &set = dimensions[op.getDimension()];
  if (!ShapedType::isDynamic(set.most()) && size->front() > set.most())
    return success();
  set = {size->front()};
  return refineValue(op, op.getResult(),
                     tensorTypeOf(dimensions, type.getElementType()));
}

LogicalResult Refiner::refineOperation(Operation *op) {
  if (auto set = dyn_cast<SetDimensionSizeOp>(op);
      set && failed(refineSize(set)))
    return failure();
  if (auto scan = dyn_cast<chlo::ScanOp>(op))
    return refineScan(scan);
  if (auto loop = dyn_cast<WhileOp>(op))
    if (loops == Loops::MayChangeShapes &&
        !keepsShapes(loop, op->getOperandTypes()))
      return success();
  if (op->getNumRegions() && failed(refineWithRegions(op)))
    return failure();
  if (auto call = dyn_cast<func::CallOp>(op))
    return refineCall(op, call.getCalleeAttr());
  if (auto composite = dyn_cast<CompositeOp>(op))
    return refineCall(op, composite.getDecompositionAttr());
  if (auto interface = dyn_cast<InferTypeOpInterface>(op)) {
    SmallVector<Type> types;
    if (failed(interface.inferReturnTypes(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
            op->getRegions(), types)))
      return failure();
    return refineResults(op, types);
  }
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    SmallVector<Type> types;
    return failed(shapeOperandsOf(call, types)) ? success()
                                                : refineResults(op, types);
  }
  if (failed(refineResults(op, resultTypes(op))))
    return failure();
  if (auto reshape = dyn_cast<DynamicReshapeOp>(op)) {
    auto from = tensorOf(reshape.getOperand()), to = tensorOf(reshape);
    if (from.hasStaticShape() && to.hasStaticShape() &&
        elementCount(from.getShape()) != elementCount(to.getShape()))
      return op->emitOpError("reshapes ") << from << " to " << to;
  }
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  for (Operation &op : block)
    if (failed(refineOperation(&op)))
      return failure();
  return success();
}

LogicalResult Refiner::refineFunction(func::FuncOp function) {
  active.push_back(function);
  LogicalResult refined = refineBlock(function.front());
  active.pop_back();
  if (failed(refined))
    return failure();
  auto type = FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes());
  if (type != function.getFunctionType()) {
    function.setFunctionType(type);
    changed = true;
  }
  return success();
}

FailureOr<bool> refineTypes(ModuleOp module, Loops loops) {
  Refiner refiner(module, loops);
  for (func::FuncOp function : rootsOf(module))
    if (failed(refiner.refineFunction(function)))
      return failure();
  return refiner.changed;
}

} // namespace sinter
