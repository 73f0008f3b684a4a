//===- ScalarFunction.cpp - a region from scalars to scalars --------------===//

#include "interpreter/ScalarFunction.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Quantized.h"
#include "interpreter/Strided.h"

using namespace mlir;

namespace sinter::interpreter {

/// The element type of a scalar's type; nothing for any other type.
static std::optional<ElementType> scalarType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() != 0)
    return std::nullopt;
  return elementTypeOf(tensor.getElementType());
}

static bool isPlain(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !isa<quant::QuantizedType>(tensor.getElementType());
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Compiles a region to steps. Fails, so that the region is evaluated, where an
/// operation has no ArrayFunction.
class ScalarFunction::Compiler {
public:
  explicit Compiler(ScalarFunction &function) : function(function) {}

  bool compile() {
    for (BlockArgument argument : function.region.front().getArguments()) {
      if (!isPlain(argument.getType()))
        return false;
      numbers[argument] = addRegister(*scalarType(argument.getType()), false);
    }
    if (!addBlock(function.region.front(), function.returned))
      return false;
    keepArguments();
    return true;
  }

private:
  unsigned addRegister(ElementType type, bool hasStorage) {
    std::byte *elements = nullptr;
    if (hasStorage) {
      function.storage.push_back(
          std::make_unique<std::byte[]>(blockSize * byteSize(type)));
      elements = function.storage.back().get();
    }
    function.registers.push_back(elements);
    function.registerTypes.push_back(type);
    return static_cast<unsigned>(function.registers.size() - 1);
  }

  /// Copies arguments that are returned, as other results may overwrite them
  /// first.
  void keepArguments() {
    auto copy = [](const ArrayFunction &function, int64_t count,
                   const std::byte *const *from, std::byte *to) {
      std::memcpy(to, from[0], count * byteSize(function.result));
    };
    if (function.returned.size() == 1)
      return;
    for (unsigned &number : function.returned) {
      if (number >= function.inputs.size())
        continue;
      const ElementType type = function.registerTypes[number];
      const unsigned kept = addRegister(type, true);
      function.steps.push_back(
          Step{nullptr, ArrayFunction{copy, type, type}, {number, 0, 0}, kept});
      number = kept;
    }
  }

  unsigned addScalar(const Tensor &value) {
    const unsigned number = addRegister(value.type(), true);
    const size_t size = byteSize(value.type());
    for (int64_t i = 0; i < blockSize; ++i)
      std::memcpy(function.registers[number] + i * size, value.data(), size);
    return number;
  }

  /// The register of a value; a value from outside of the region becomes a
  /// scalar.
  std::optional<unsigned> numberOf(Value value) {
    if (auto known = numbers.find(value); known != numbers.end())
      return known->second;
    if (!isPlain(value.getType()) || !scalarType(value.getType()))
      return std::nullopt;
    Result<Tensor> scalar = valueOf(value, function.enclosing);
    if (!scalar || scalar->size() != 1)
      return std::nullopt;
    return numbers[value] = addScalar(*scalar);
  }

  bool addBlock(Block &block, SmallVectorImpl<unsigned> &returned) {
    for (Operation &op : block) {
      SmallVector<unsigned, 4> operands;
      for (Value operand : op.getOperands()) {
        std::optional<unsigned> number = numberOf(operand);
        if (!number)
          return false;
        operands.push_back(*number);
      }
      if (op.hasTrait<OpTrait::IsTerminator>()) {
        returned.append(operands.begin(), operands.end());
        return true;
      }
      if (!addOperation(op, operands))
        return false;
    }
    return false;
  }

  bool addOperation(Operation &op, ArrayRef<unsigned> operands) {
    if (function.steps.size() >= maxSteps ||
        !llvm::all_of(op.getResultTypes(), isPlain))
      return false;
    if (isa<stablehlo::ConstantOp>(op))
      return numberOf(op.getResult(0)).has_value();
    if (isa<stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
            stablehlo::TransposeOp>(op)) {
      // An operation from a scalar to the same scalar.
      if (!scalarType(op.getResult(0).getType()))
        return false;
      numbers[op.getResult(0)] = operands[0];
      return true;
    }
    if (auto call = dyn_cast<func::CallOp>(op))
      return addCall(call, operands);
    const Registry::Entry entry = Registry::get().find(&op);
    if (!entry.makeArrayFunction || operands.size() > 3 ||
        !scalarType(op.getResult(0).getType()))
      return false;
    SmallVector<ElementType, 3> types;
    for (unsigned operand : operands)
      types.push_back(function.registerTypes[operand]);
    Result<ArrayFunction> made = entry.makeArrayFunction(&op, types);
    if (!made)
      return false;
    Step step{&op, *made, {}, addRegister(made->result, true)};
    step.operandCount = operands.size();
    llvm::copy(operands, step.operands.begin());
    numbers[op.getResult(0)] = step.result;
    function.steps.push_back(step);
    return true;
  }

  /// Compiles a function of scalars inline.
  bool addCall(func::CallOp call, ArrayRef<unsigned> operands) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || !callee.getBody().hasOneBlock() || depth >= maxDepth ||
        callee.getNumArguments() != operands.size())
      return false;
    // Its values differ at each call.
    llvm::DenseMap<Value, unsigned> outer = std::move(numbers);
    numbers = llvm::DenseMap<Value, unsigned>();
    for (auto [argument, number] :
         llvm::zip_equal(callee.getArguments(), operands))
      numbers[argument] = number;
    SmallVector<unsigned> results;
    ++depth;
    const bool isAdded = addBlock(callee.getBody().front(), results);
    --depth;
    numbers = std::move(outer);
    if (!isAdded || results.size() != call.getNumResults())
      return false;
    for (auto [value, number] : llvm::zip_equal(call.getResults(), results))
      numbers[value] = number;
    return true;
  }

  static constexpr unsigned maxDepth = 16;
  ScalarFunction &function;
  llvm::DenseMap<Value, unsigned> numbers;
  unsigned depth = 0;
};

ScalarFunction::ScalarFunction(Region &region, const Scope &enclosing)
    : region(region), enclosing(enclosing) {
  if (!region.hasOneBlock() || region.front().empty()) {
    failure = invalidModel("a region has not one block");
    return;
  }
  Block &block = region.front();
  auto add = [&](Type type, SmallVectorImpl<ElementType> &types) {
    if (std::optional<ElementType> element = scalarType(type))
      types.push_back(*element);
    else
      failure = unsupported("a region's arguments or results are not scalars");
  };
  for (Type type : block.getArgumentTypes())
    add(type, inputs);
  for (Type type : block.back().getOperandTypes())
    add(type, outputs);
  if (failure)
    return;
  isCompiled = Compiler(*this).compile();
  isElementwise = llvm::all_of(block.without_terminator(), [](Operation &op) {
    return isa<stablehlo::ConstantOp>(op) ||
           Registry::get().find(&op).isElementwise;
  });
}

Operation *ScalarFunction::splitComparison() {
  if (!isCompiled || returned.size() != 1 || steps.empty() ||
      steps.back().result != returned.front() ||
      !isa_and_nonnull<stablehlo::CompareOp>(steps.back().op))
    return nullptr;
  // For each register, whether it depends on an even or an odd argument.
  std::vector<std::array<bool, 2>> follows(registers.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    follows[i][i % 2] = true;
  for (const Step &step : ArrayRef(steps).drop_back())
    for (size_t i = 0; i < step.operandCount; ++i)
      for (int side : {0, 1})
        follows[step.result][side] =
            follows[step.result][side] || follows[step.operands[i]][side];
  const Step compare = steps.back();
  if (follows[compare.operands[0]][1] || follows[compare.operands[1]][0])
    return nullptr;
  steps.pop_back();
  returned.assign({compare.operands[0], compare.operands[1]});
  outputs.assign(2, registerTypes[compare.operands[0]]);
  return compare.op;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void ScalarFunction::runSteps(int64_t count,
                              ArrayRef<const std::byte *> arguments,
                              ArrayRef<std::byte *> results) {
  std::array<const std::byte *, 3> from = {};
  for (int64_t begin = 0; begin < count; begin += blockSize) {
    const int64_t length = std::min(blockSize, count - begin);
    for (size_t i = 0; i < arguments.size(); ++i)
      registers[i] = const_cast<std::byte *>(arguments[i]) +
                     begin * byteSize(registerTypes[i]);
    for (const Step &step : steps) {
      for (size_t i = 0; i < 3; ++i)
        from[i] = registers[step.operands[i]];
      step.function(length, from.data(), registers[step.result]);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t size = byteSize(outputs[i]);
      std::memmove(results[i] + begin * size, registers[returned[i]],
                   length * size);
    }
  }
}

Result<void> ScalarFunction::run(int64_t count,
                                 ArrayRef<const std::byte *> arguments,
                                 ArrayRef<std::byte *> results) {
  if (failure)
    return *failure;
  if (arguments.size() != inputs.size() || results.size() != outputs.size())
    return invalidModel("a region has not the expected number of arguments or "
                        "results");
  if (isCompiled) {
    runSteps(count, arguments, results);
    return {};
  }
  Tensors tensors;
  for (auto [type, elements] : llvm::zip_equal(inputs, arguments)) {
    Tensor tensor(type, {count});
    std::memcpy(tensor.mutableBytes(), elements, tensor.bytes());
    tensors.push_back(std::move(tensor));
  }
  Result<Tensors> values =
      isElementwise ? applyAtOnce(tensors) : applyOneByOne(tensors);
  if (!values)
    return values.takeError();
  for (auto [result, value] : llvm::zip_equal(results, *values))
    std::memcpy(result, value.data(), value.bytes());
  return {};
}

Result<Tensors> ScalarFunction::apply(ArrayRef<Tensor> arguments) {
  if (failure)
    return *failure;
  const Shape shape = arguments.empty() ? Shape() : arguments.front().shape();
  SmallVector<const std::byte *> from;
  SmallVector<std::byte *> to;
  for (const Tensor &argument : arguments)
    from.push_back(argument.data());
  Tensors results;
  for (ElementType type : outputs) {
    if (Result<void> fits = checkSize(type, shape); !fits)
      return fits.takeError();
    results.emplace_back(type, shape);
    to.push_back(results.back().mutableBytes());
  }
  if (results.empty() || results.front().size() == 0)
    return results;
  if (Result<void> ok = run(results.front().size(), from, to); !ok)
    return ok.takeError();
  return results;
}

/// Evaluates each operation on whole arrays.
Result<Tensors> ScalarFunction::applyAtOnce(ArrayRef<Tensor> arguments) const {
  const Shape &shape = arguments.front().shape();
  llvm::SmallDenseMap<Value, Tensor, 8> values;
  for (auto [value, tensor] :
       llvm::zip_equal(region.front().getArguments(), arguments))
    values[value] = tensor;
  for (Operation &op : region.front()) {
    Tensors operands;
    for (Value value : op.getOperands()) {
      if (auto known = values.find(value); known != values.end()) {
        operands.push_back(known->second);
        continue;
      }
      Result<Tensor> scalar = valueOf(value, enclosing);
      if (!scalar)
        return located(&op, scalar.takeError());
      if (scalar->size() != 1)
        return located(&op, invalidModel("uses a value that is not a scalar"));
      operands.push_back(splat(*scalar, shape));
    }
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operands;
    if (isa<stablehlo::ConstantOp>(op))
      continue;
    Result<Tensors> results = evaluateNumbers(Registry::get().find(&op),
                                              Call{&op, operands, enclosing});
    if (!results)
      return located(&op, results.takeError());
    values[op.getResult(0)] = std::move(results->front());
  }
  return invalidModel("a region has no terminator");
}

/// Element \p index as a scalar.
Result<Tensors>
ScalarFunction::applyOneByOne(ArrayRef<Tensor> arguments) const {
  const Shape &shape = arguments.front().shape();
  Tensors results;
  for (ElementType type : outputs)
    results.emplace_back(type, shape);
  for (int64_t i = 0; i < arguments.front().size(); ++i) {
    Tensors scalars;
    for (const Tensor &argument : arguments)
      scalars.push_back(scalarAt(argument, i));
    Result<Tensors> values = runRegion(region, scalars, enclosing);
    if (!values)
      return values;
    for (auto [result, value] : llvm::zip_equal(results, *values))
      std::memcpy(result.mutableBytes() + i * byteSize(value.type()),
                  value.data(), byteSize(value.type()));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

static Result<Tensor> promotedTo(Type to, const Tensor &tensor, Type from) {
  Type element = cast<RankedTensorType>(from).getElementType();
  Type wanted = cast<RankedTensorType>(to).getElementType();
  if (element == wanted)
    return tensor;
  Type whole = RankedTensorType::get(tensor.shape(), wanted);
  Tensor numbers = tensor;
  if (isQuantized(from)) {
    Result<Tensor> meant = dequantized(tensor, from);
    if (!meant)
      return meant;
    numbers = std::move(*meant);
  }
  if (isQuantized(whole))
    return quantized(numbers, whole);
  std::optional<ElementType> type = elementTypeOf(wanted);
  if (!type)
    return unsupported("a region computes in an element type that is not "
                       "supported");
  if (Result<void> fits = checkSize(*type, tensor.shape()); !fits)
    return fits.takeError();
  return converted(numbers, *type);
}

Result<Tensors> promoted(ArrayRef<Tensor> tensors, TypeRange types,
                         Region &region, unsigned firstArgument) {
  Tensors results;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (firstArgument + i >= region.getNumArguments() ||
        !isa<RankedTensorType>(region.getArgument(firstArgument + i).getType()))
      return invalidModel("a region has not the expected arguments");
    Result<Tensor> result = promotedTo(
        region.getArgument(firstArgument + i).getType(), tensors[i], types[i]);
    if (!result)
      return result.takeError();
    results.push_back(std::move(*result));
  }
  return results;
}

} // namespace sinter::interpreter
