//===- Draft.cpp - a program that is being drawn --------------------------===//

#include "random/Draft.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "runtime/ElementDispatch.h"

using namespace mlir;

namespace sinter {

/// Longer chains of rounded values are no longer compared sensibly.
static constexpr int mostRoundings = 2;

Draft::Draft(uint64_t seed, const RandomProgramOptions &options,
             std::vector<const Recipe *> recipes)
    : dice(seed), options(options), context(makeContext()),
      builder(context.get()), location(builder.getUnknownLoc()),
      module(ModuleOp::create(location)), recipes(std::move(recipes)) {
  builder.setInsertionPointToEnd(module->getBody());
  function = builder.create<func::FuncOp>(location, entryName,
                                          builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

//===----------------------------------------------------------------------===//
// Types and values
//===----------------------------------------------------------------------===//

Type Draft::floatType() {
  static constexpr ElementType types[] = {
      ElementType::F32,          ElementType::F32,
      ElementType::F32,          ElementType::F64,
      ElementType::F16,          ElementType::BF16,
      ElementType::F64,          ElementType::F16,
      ElementType::BF16,         ElementType::F8E4M3FN,
      ElementType::F8E5M2,       ElementType::F8E4M3FNUZ,
      ElementType::F8E4M3,       ElementType::F8E5M2FNUZ,
      ElementType::F8E4M3B11FNUZ};
  return mlirTypeOf(dice.among(types), context.get());
}

Type Draft::integerType() {
  static constexpr ElementType types[] = {
      ElementType::I32,  ElementType::I64, ElementType::I8,   ElementType::I16,
      ElementType::I4,   ElementType::UI8, ElementType::UI16, ElementType::UI32,
      ElementType::UI64, ElementType::UI4, ElementType::I2,   ElementType::UI2};
  return mlirTypeOf(dice.among(types), context.get());
}

Type Draft::elementType() {
  switch (dice.between(0, 9)) {
  case 0:
    return builder.getI1Type();
  case 1:
    return mlirTypeOf(dice.oneIn(2) ? ElementType::C64 : ElementType::C128,
                      context.get());
  case 2:
  case 3:
  case 4:
    return integerType();
  default:
    return floatType();
  }
}

SmallVector<int64_t> Draft::shape(int lowestRank) {
  SmallVector<int64_t> sizes(dice.between(lowestRank, options.largestRank));
  for (int64_t &size : sizes)
    size = dice.oneIn(40) ? 0 : dice.between(1, options.largestDimension);
  // What fills vectors, and leaves something over.
  if (!sizes.empty() && dice.oneIn(5))
    dice.among(sizes) = dice.between(1, 8 * options.largestDimension);
  return sizes;
}

Value Draft::pick(const TypeFilter &accepts) {
  SmallVector<Value> fitting;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType());
        type && accepts(type))
      fitting.push_back(value);
  return fitting.empty() ? Value() : dice.among(fitting);
}

Value Draft::valueOf(RankedTensorType type) {
  if (!dice.oneIn(4))
    if (Value found = pick([&](RankedTensorType t) { return t == type; }))
      return found;
  return fresh(type);
}

Value Draft::constant(RankedTensorType type, ArrayRef<int64_t> elements) {
  Tensor tensor(*elementTypeOf(type.getElementType()), Shape(type.getShape()));
  dispatch(tensor.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (auto [i, element] : llvm::enumerate(elements))
      if constexpr (std::is_integral_v<T>)
        tensor.set<T>(i, static_cast<T>(element));
      else
        tensor.set<T>(i, T(static_cast<double>(element)));
  });
  return makeConstant(builder, location, tensor);
}

Value Draft::fresh(RankedTensorType type, int64_t largest) {
  // There are no constants of quantised types.
  if (isa<quant::QuantizedType>(type.getElementType()) || dice.oneIn(2)) {
    Value argument = function.front().addArgument(type, location);
    function.setFunctionType(
        builder.getFunctionType(function.front().getArgumentTypes(), {}));
    values.push_back(argument);
    return argument;
  }
  Tensor tensor(*elementTypeOf(type.getElementType()), Shape(type.getShape()));
  RandomOptions range{-double(largest), double(largest),
                      static_cast<uint64_t>(largest) + 1};
  fillRandom(tensor, dice.bits(), range);
  values.push_back(makeConstant(builder, location, tensor));
  return values.back();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static bool hasRounding(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType, ComplexType>(element);
}

bool Draft::isTooRough(ValueRange operands, Rounding rounding) const {
  if (rounding == Rounding::Exact)
    return false;
  const int limit = rounding == Rounding::Magnifies ? 0 : mostRoundings - 1;
  return llvm::any_of(
      operands, [&](Value value) { return roundings.lookup(value) > limit; });
}

/// The types that the operation's own inference gives, if it has one.
static FailureOr<SmallVector<Type>> inferTypes(Operation *op) {
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  SmallVector<Type> types;
  if (!inference || failed(inference.inferReturnTypes(
                        op->getContext(), op->getLoc(), op->getOperands(),
                        op->getAttrDictionary(), op->getPropertiesStorage(),
                        op->getRegions(), types)))
    return failure();
  return types;
}

Operation *Draft::add(StringRef name, ValueRange operands,
                      ArrayRef<NamedAttribute> attributes,
                      std::optional<SmallVector<Type>> types, Rounding rounding,
                      unsigned regions,
                      const std::function<void(Operation *)> &fill) {
  if (llvm::any_of(operands, [](Value value) { return !value; }) ||
      isTooRough(operands, rounding))
    return nullptr;
  ScopedDiagnosticHandler silent(context.get(),
                                 [](Diagnostic &) { return success(); });
  // The attributes become properties only within an operation, and inference
  // reads properties: so a first operation without results asks for the types.
  auto make = [&](TypeRange resultTypes) {
    OperationState state(location, name);
    state.addOperands(operands);
    state.addAttributes(attributes);
    state.addTypes(resultTypes);
    for (unsigned i = 0; i < regions; ++i)
      state.addRegion();
    Operation *op = Operation::create(state);
    builder.insert(op);
    if (fill)
      fill(op);
    return op;
  };
  if (!types) {
    Operation *question = make({});
    FailureOr<SmallVector<Type>> inferred = inferTypes(question);
    question->erase();
    if (failed(inferred))
      return nullptr;
    types = *inferred;
  }
  for (Type type : *types)
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !tensor.hasStaticShape() || tensor.getNumElements() > 4096)
      return nullptr;
  Operation *op = make(*types);
  if (failed(verify(op))) {
    op->erase();
    return nullptr;
  }
  int most = 0;
  for (Value operand : operands)
    most = std::max(most, roundings.lookup(operand));
  for (Value result : op->getResults()) {
    values.push_back(result);
    if (hasRounding(result.getType()))
      roundings[result] = most + (rounding != Rounding::Exact);
  }
  return op;
}

Value Draft::sizes(ArrayRef<int64_t> elements) {
  auto type =
      RankedTensorType::get({int64_t(elements.size())}, builder.getI64Type());
  return constant(type, elements);
}

NamedAttribute Draft::list(StringRef name, ArrayRef<int64_t> elements) {
  return attribute(name, builder.getDenseI64ArrayAttr(elements));
}
NamedAttribute Draft::number(StringRef name, int64_t value) {
  return attribute(name, builder.getI64IntegerAttr(value));
}
NamedAttribute Draft::flag(StringRef name, bool value) {
  return attribute(name, builder.getBoolAttr(value));
}
NamedAttribute Draft::pairs(StringRef name, ArrayRef<int64_t> elements) {
  auto type = RankedTensorType::get({int64_t(elements.size() / 2), 2},
                                    builder.getI64Type());
  return attribute(name, DenseIntElementsAttr::get(type, elements));
}

void Draft::scalarBlock(
    Region &region, TypeRange types,
    const std::function<SmallVector<Value>(ValueRange)> &body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> scalars;
  for (Type type : types)
    scalars.push_back(RankedTensorType::get({}, getElementTypeOrSelf(type)));
  Block *block = builder.createBlock(
      &region, {}, scalars, SmallVector<Location>(scalars.size(), location));
  SmallVector<Value> arguments(block->getArguments());
  for (Value &argument : arguments)
    if (dice.oneIn(8))
      argument = detour(argument);
  SmallVector<Value> results = body(arguments);
  OperationState state(location, "stablehlo.return");
  state.addOperands(results);
  builder.create(state);
}

void Draft::drawOperations(int count) {
  // Proposals fail when no operands are there; a new value may be what lacked.
  int drawn = 0;
  for (int attempt = 0; drawn < count && attempt < 50 * count; ++attempt) {
    if (dice.oneIn(10))
      fresh(type());
    drawn += !recipes.empty() && dice.among(recipes)->draw(*this);
  }
}

void Draft::drawnBlock(Region &region, TypeRange arguments, TypeRange results,
                       const std::function<Value(Block &)> &first) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block =
      builder.createBlock(&region, {}, arguments,
                          SmallVector<Location>(arguments.size(), location));
  SmallVector<Value> returned;
  if (first)
    returned.push_back(first(*block));
  llvm::append_range(values, block->getArguments());
  for (Value argument : block->getArguments())
    if (hasRounding(argument.getType()))
      roundings[argument] = 1;
  ++depth;
  drawOperations(static_cast<int>(dice.between(0, 3)));
  --depth;
  for (Type type : results)
    returned.push_back(valueOf(cast<RankedTensorType>(type)));
  llvm::erase_if(values, [&](Value value) {
    return region.isAncestor(value.getParentRegion());
  });
  OperationState state(location, "stablehlo.return");
  state.addOperands(returned);
  builder.create(state);
}

void Draft::markRounded(ValueRange rounded) {
  for (Value value : rounded)
    if (hasRounding(value.getType()))
      roundings[value] = mostRoundings;
}

Value Draft::compared(Value lhs, Value rhs,
                      stablehlo::ComparisonDirection direction) {
  return builder.create<stablehlo::CompareOp>(location, lhs, rhs, direction,
                                              stablehlo::ComparisonTypeAttr());
}

Model Draft::finish() {
  SmallVector<Value> leaves;
  for (Value value : values)
    if (value.use_empty() && !isa<BlockArgument>(value))
      leaves.push_back(value);
  builder.create<func::ReturnOp>(location, leaves);
  function.setFunctionType(builder.getFunctionType(
      function.front().getArgumentTypes(), TypeRange(ValueRange(leaves))));
  return Model(context, std::move(module));
}

} // namespace sinter
