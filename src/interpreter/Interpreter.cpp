//===- Interpreter.cpp - running functions, regions and operations --------===//

#include "interpreter/Interpreter.h"
#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/chlo/ChloOps.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/text/TextOps.h"
#include "interpreter/ArrayFunction.h"
#include "interpreter/ChloOperations.h"
#include "interpreter/Decomposed.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Quantized.h"
#include "interpreter/Strided.h"
#include "interpreter/Tuples.h"
#include "runtime/OutOfMemory.h"
#include "runtime/Strings.h"

#include <unistd.h>
#include <unordered_map>

using namespace mlir;

namespace sinter {
namespace interpreter {

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

/// The state of one call of interpret() or evaluate().
class Machine {
public:
  Machine(const Observer &observer, const BlockObserver &entered,
          Environment &environment)
      : observer(observer), entered(entered), environment(environment) {}

  /// The values of the block that are dead after each of its operations.
  const llvm::DenseMap<Operation *, SmallVector<Value>> &
  dyingValues(Block &block);

  /// The operation's entry in the registry.
  Registry::Entry entryOf(Operation *op) {
    auto [entry, isNew] = entries.try_emplace(op);
    if (isNew)
      entry->second = Registry::get().find(op);
    return entry->second;
  }

  const Observer &observer;
  const BlockObserver &entered;
  Environment &environment;
  /// Holds the strings that operations make.
  const StringScope strings;
  /// The nesting depth of calls and regions.
  unsigned depth = 0;
  static constexpr unsigned maxDepth = 256;

private:
  /// A map with stable references, since they are used while others are added.
  std::unordered_map<Block *, llvm::DenseMap<Operation *, SmallVector<Value>>>
      dying;
  llvm::DenseMap<Operation *, Registry::Entry> entries;
};

const llvm::DenseMap<Operation *, SmallVector<Value>> &
Machine::dyingValues(Block &block) {
  auto [entry, isNew] = dying.try_emplace(&block);
  if (!isNew)
    return entry->second;
  llvm::DenseMap<Operation *, SmallVector<Value>> &values = entry->second;
  auto add = [&](Value value, Operation *definition) {
    Operation *last = definition;
    for (Operation *user : value.getUsers()) {
      Operation *inBlock = block.findAncestorOpInBlock(*user);
      if (inBlock && (!last || last->isBeforeInBlock(inBlock)))
        last = inBlock;
    }
    if (last)
      values[last].push_back(value);
  };
  for (Value argument : block.getArguments())
    add(argument, nullptr);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result, &op);
  return values;
}

/// Counts a call or region while it is running.
class DepthGuard {
public:
  explicit DepthGuard(Machine &machine) : machine(machine) { ++machine.depth; }
  ~DepthGuard() { --machine.depth; }
  bool isTooDeep() const { return machine.depth > Machine::maxDepth; }

private:
  Machine &machine;
};

const Tensor *Scope::lookup(Value value) const {
  for (const Scope *scope = this; scope; scope = scope->parent)
    if (auto entry = scope->values.find(value); entry != scope->values.end())
      return &entry->second;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

/// The operation's origin, in the user's terms.
static std::string describe(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return "'" + named.getName().str() + "': ";
  if (auto line = dyn_cast<FileLineColLoc>(location))
    return line.getFilename().str() + ":" + std::to_string(line.getLine()) +
           ": ";
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location each : fused.getLocations())
      if (std::string text = describe(each); !text.empty())
        return text;
  return "";
}

/// The name of the node in the user's file; empty if it is not known.
static StringRef nodeName(Location location) {
  auto named = location->findInstanceOf<NameLoc>();
  return named ? named.getName().getValue() : StringRef();
}

Error located(Operation *op, Error error) {
  // Calls and regions can nest for hundreds of levels. The innermost describe
  // the error, and a recursive one is listed once.
  constexpr size_t enough = 160;
  const StringRef name = op->getName().getStringRef();
  const std::string where = describe(op->getLoc()) + name.str();
  if (error.where.size() >= enough || error.where.starts_with(where))
    return error;
  return atNode(where, nodeName(op->getLoc()), name, std::move(error));
}

static std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static Result<void> checkTypes(TypeRange types, ArrayRef<Tensor> tensors,
                               StringRef what) {
  if (types.size() != tensors.size())
    return usageError("has " + std::to_string(types.size()) + " " + what.str() +
                      "s, given " + std::to_string(tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!fits(tensors[i], types[i]))
      return usageError(what.str() + " " + std::to_string(i) + " is " +
                        typeText(types[i]) + ", given " +
                        toString(tensors[i].type(), tensors[i].shape()));
  return {};
}

/// Gives the tensor elements at their natural alignment.
static void align(Tensor &tensor) {
  if (!tensor.isAligned(std::min<size_t>(8, byteSize(tensor.type()))))
    tensor = tensor.owned();
}

/// Dequantises operands and quantises results, where the evaluator works on
/// real values (the specification's dequantize_op_quantize).
Result<Tensors> evaluateNumbers(const Registry::Entry &entry,
                                const Call &call) {
  if (entry.takesStorage ||
      (llvm::none_of(call.op->getOperandTypes(), isQuantized) &&
       llvm::none_of(call.op->getResultTypes(), isQuantized)))
    return entry.evaluator(call);
  if (isQuantizedProduct(call.op))
    return evaluateQuantizedProduct(entry.evaluator, call);
  Tensors operands(call.operands.begin(), call.operands.end());
  for (auto [type, operand] :
       llvm::zip_equal(call.op->getOperandTypes(), operands)) {
    if (!isQuantized(type))
      continue;
    Result<Tensor> numbers = dequantized(operand, type);
    if (!numbers)
      return numbers.takeError();
    operand = std::move(*numbers);
  }
  Result<Tensors> results =
      entry.evaluator(Call{call.op, operands, call.scope});
  if (!results)
    return results;
  for (auto [type, result] :
       llvm::zip_equal(call.op->getResultTypes(), *results)) {
    if (!isQuantized(type))
      continue;
    Result<Tensor> storage = quantized(result, type);
    if (!storage)
      return storage.takeError();
    result = std::move(*storage);
  }
  return results;
}

/// Whether \p op is a backend's operation that is defined by its decomposition.
/// Operations of the graph's dialects have their own definitions.
static bool isBuiltOfOthers(Operation *op) {
  return isa<DecomposableOpInterface>(op) &&
         !isa<stablehlo::StablehloDialect, nn::NnDialect, chlo::ChloDialect,
              text::TextDialect>(op->getDialect());
}

static Result<Tensors> evaluateIn(Operation *op, Tensors &&operands,
                                  const Scope &scope) {
  const Registry::Entry entry = scope.machine.entryOf(op);
  const bool isBuilt = !entry.evaluator && isBuiltOfOthers(op);
  if (!entry.evaluator && !isBuilt)
    return located(op, unsupported("the interpreter does not know it"));
  if (Result<void> ok = checkTypes(op->getOperandTypes(), operands, "operand");
      !ok)
    return located(op, ok.takeError());
  for (Tensor &operand : operands)
    align(operand);
  const Call call{op, operands, scope};
  Result<Tensors> results =
      isBuilt ? evaluateDecomposed(call) : evaluateNumbers(entry, call);
  if (!results)
    return located(op, results.takeError());
  if (Result<void> ok = checkTypes(op->getResultTypes(), *results, "result");
      !ok)
    return located(op, invalidModel(ok.error().message()));
  return results;
}

Result<Tensor> valueOf(Value value, const Scope &scope) {
  if (const Tensor *known = scope.lookup(value))
    return *known;
  if (std::optional<Tensor> constant = constantTensor(value))
    return *constant;
  return usageError("uses a value from outside that is not a constant");
}

//===----------------------------------------------------------------------===//
// Blocks, regions, functions
//===----------------------------------------------------------------------===//

/// Runs the operations of a block whose arguments are set. Returns the
/// terminator's operands.
static Result<Tensors> runBlock(Block &block, Scope &scope) {
  const auto &dying = scope.machine.dyingValues(block);
  for (Operation &op : block) {
    if (Result<void> goesOn =
            Cancellation::check(scope.machine.environment.cancellation);
        !goesOn)
      return goesOn.takeError();
    Tensors operands;
    operands.reserve(op.getNumOperands());
    for (Value value : op.getOperands()) {
      // A value without later uses is moved, so that its memory can be reused.
      if (auto own = scope.values.find(value);
          own != scope.values.end() && value.hasOneUse()) {
        operands.push_back(std::move(own->second));
        scope.values.erase(own);
        continue;
      }
      Result<Tensor> operand = valueOf(value, scope);
      if (!operand)
        return located(&op, operand.takeError());
      operands.push_back(std::move(*operand));
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    Result<Tensors> results = evaluateIn(&op, std::move(operands), scope);
    if (!results)
      return results;
    if (scope.machine.observer)
      scope.machine.observer(&op, *results);
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      if (!value.use_empty())
        scope.values[value] = std::move(tensor);
    if (auto values = dying.find(&op); values != dying.end())
      for (Value value : values->second)
        scope.values.erase(value);
  }
  return invalidModel("a block has no terminator");
}

Result<Tensors> runRegion(Region &region, Tensors arguments,
                          const Scope &enclosing) {
  DepthGuard guard(enclosing.machine);
  if (guard.isTooDeep())
    return unsupported("regions and calls nest more than " +
                       std::to_string(Machine::maxDepth) + " deep");
  if (!region.hasOneBlock())
    return invalidModel("a region has not one block");
  Block &block = region.front();
  if (Result<void> ok =
          checkTypes(block.getArgumentTypes(), arguments, "region argument");
      !ok)
    return ok.takeError();
  if (enclosing.machine.entered)
    enclosing.machine.entered(block, arguments);
  Scope scope(enclosing.machine, &enclosing);
  for (auto [value, tensor] : llvm::zip_equal(block.getArguments(), arguments))
    scope.values[value] = std::move(tensor);
  arguments.clear();
  return runBlock(block, scope);
}

Result<Tensors> callFunction(func::FuncOp function, ArrayRef<Tensor> arguments,
                             Machine &machine) {
  if (function.isExternal())
    return unsupported("the function '" + function.getName().str() +
                       "' has no body");
  Scope outermost(machine);
  return runRegion(function.getBody(),
                   Tensors(arguments.begin(), arguments.end()), outermost);
}

static Result<Tensors> evaluateCall(const Call &call) {
  auto op = call.as<func::CallOp>();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee)
    return invalidModel("there is no function '" + op.getCallee().str() + "'");
  return callFunction(callee, call.operands, call.scope.machine);
}

static Result<Tensors> evaluateComposite(const Call &call) {
  auto op = call.as<stablehlo::CompositeOp>();
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getDecompositionAttr());
  if (!callee)
    return invalidModel("there is no function '" + op.getDecomposition().str() +
                        "'");
  return callFunction(callee, call.operands, call.scope.machine);
}

//===----------------------------------------------------------------------===//
// The registry
//===----------------------------------------------------------------------===//

Registry::Registry() {
  add<func::CallOp>(evaluateCall);
  add<stablehlo::CompositeOp>(evaluateComposite);
  registerElementwise(*this);
  registerConversions(*this);
  registerDataMovement(*this);
  registerGather(*this);
  registerProducts(*this);
  registerReductions(*this);
  registerSelectAndScatter(*this);
  registerBatchNorm(*this);
  registerLinearAlgebra(*this);
  registerRng(*this);
  registerEinsum(*this);
  registerValues(*this);
  registerControlFlow(*this);
  registerSort(*this);
  registerQuantized(*this);
  registerChecks(*this);
  registerChloOperations(*this);
  registerDistribution(*this);
  registerRunParallel(*this);
  registerCustomCalls(*this);
  registerNnAttention(*this);
  registerNnElementwise(*this);
  registerNnShape(*this);
  registerNnSuppression(*this);
  registerNnTrees(*this);
  registerNnPooling(*this);
  registerNnNormalization(*this);
  registerNnRecurrent(*this);
  registerNnResize(*this);
  registerText(*this);
}

/// Scalar operands beside others that are not (clamp's bounds, select's
/// predicate) are broadcast.
Result<Tensors> Registry::evaluateArrayFunction(const Call &call) {
  const Shape *shape = &call[0].shape();
  for (const Tensor &operand : call.operands)
    if (operand.rank() != 0)
      shape = &operand.shape();
  SmallVector<ElementType, 3> types;
  Tensors operands;
  for (const Tensor &operand : call.operands) {
    types.push_back(operand.type());
    const bool isScalar = operand.rank() == 0 && !shape->empty();
    if (!isScalar && operand.shape() != *shape)
      return invalidModel("operands have different shapes: " +
                          toString(operand.type(), operand.shape()) + " and " +
                          toString(operand.type(), *shape));
    operands.push_back(isScalar ? splat(operand, *shape) : operand);
  }
  Result<ArrayFunction> function =
      get().find(call.op).makeArrayFunction(call.op, types);
  if (!function)
    return function.takeError();
  return produce(function->result, *shape, [&](Tensor &result) {
    SmallVector<const std::byte *, 3> from;
    for (const Tensor &operand : operands)
      from.push_back(operand.data());
    (*function)(result.size(), from.data(), result.mutableBytes());
  });
}

const Registry &Registry::get() {
  static const Registry registry;
  return registry;
}

Registry::Entry Registry::find(Operation *op) const {
  Entry entry = entries.lookup(op->getName().getStringRef());
  entry.takesStorage |= sinter::takesStorage(op);
  return entry;
}

//===----------------------------------------------------------------------===//
// Small helpers
//===----------------------------------------------------------------------===//

Environment &environmentOf(const Call &call) {
  return call.scope.machine.environment;
}

Tensor Call::writable(size_t index) const {
  const Tensor &operand = operands[index];
  if (operand.isUnique())
    return operand;
  Tensor copy(operand.type(), operand.shape());
  std::memcpy(copy.mutableBytes(), operand.data(), operand.bytes());
  return copy;
}

ElementType Call::resultElement(unsigned index) const {
  if (wanted)
    return *wanted;
  Type type = resultType(index).getElementType();
  if (auto quantised = dyn_cast<quant::QuantizedType>(type))
    type = quantised.getExpressedType();
  return elementTypeOf(type).value_or(ElementType::F32);
}

Result<void> checkSize(ElementType type, ArrayRef<int64_t> shape) {
  static const int64_t memory =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return invalidModel("a size is negative");
  std::optional<int64_t> bytes = byteCount(type, shape);
  if (!bytes || *bytes > memory)
    return systemError("no memory for a tensor of " + toString(type, shape));
  return {};
}

Result<Shape> staticShape(RankedTensorType type) {
  if (!type.hasStaticShape())
    return invalidModel("the shape of the result " + typeText(type) +
                        " is not known");
  return toShape(type.getShape());
}

} // namespace interpreter

//===----------------------------------------------------------------------===//
// Public
//===----------------------------------------------------------------------===//

bool canEvaluate(Operation *op) {
  // The process id depends on the run.
  return !isa<stablehlo::ReplicaIdOp, stablehlo::PartitionIdOp>(op) &&
         interpreter::Registry::get().find(op).evaluator != nullptr;
}

/// Calls `body(machine)`; lack of memory becomes an error.
template <typename Body>
static Result<std::vector<Tensor>>
guarded(const Observer &observer, const BlockObserver &entered,
        Environment *environment, Body &&body) {
  Environment own;
  return catchingOutOfMemory("what the interpreter computes", [&] {
    interpreter::Machine machine(observer, entered,
                                 environment ? *environment : own);
    Result<std::vector<Tensor>> results = body(machine);
    if (results)
      holdStrings(*results);
    return results;
  });
}

/// The limit on iterations of loops in evaluate().
static constexpr uint64_t mostRounds = 1 << 16;

Result<std::vector<Tensor>> evaluate(Operation *op, ArrayRef<Tensor> operands) {
  using namespace interpreter;
  Environment environment;
  environment.roundsLeft = mostRounds;
  return guarded({}, {}, &environment,
                 [&](Machine &machine) -> Result<std::vector<Tensor>> {
                   Scope scope(machine);
                   Result<Tensors> values =
                       packedAs(op->getOperandTypes(), operands);
                   if (!values)
                     return located(op, values.takeError());
                   Result<Tensors> results =
                       evaluateIn(op, std::move(*values), scope);
                   if (!results)
                     return results;
                   return leavesOf(op->getResultTypes(), *results);
                 });
}

Result<std::vector<Tensor>> interpret(func::FuncOp function,
                                      ArrayRef<Tensor> inputs,
                                      const Observer &observer,
                                      Environment *environment,
                                      const BlockObserver &entered) {
  using namespace interpreter;
  return guarded(observer, entered, environment,
                 [&](Machine &machine) -> Result<std::vector<Tensor>> {
                   Result<Tensors> values =
                       packedAs(function.getArgumentTypes(), inputs);
                   if (!values)
                     return values;
                   Result<Tensors> results =
                       callFunction(function, *values, machine);
                   if (!results)
                     return results;
                   return leavesOf(function.getResultTypes(), *results);
                 });
}

} // namespace sinter
