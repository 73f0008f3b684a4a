//===- Evaluation.h - the interface of operations' evaluators -------------===//

#ifndef SINTER_INTERPRETER_EVALUATION_H
#define SINTER_INTERPRETER_EVALUATION_H

#include "graph/Types.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sinter {
struct Environment;
} // namespace sinter

namespace sinter::interpreter {

using Tensors = std::vector<Tensor>;

class Machine;

/// The values that are known in a block, on top of those of enclosing blocks.
struct Scope {
  explicit Scope(Machine &machine, const Scope *parent = nullptr)
      : machine(machine), parent(parent) {}

  Machine &machine;
  const Scope *parent;
  llvm::SmallDenseMap<mlir::Value, Tensor, 8> values;

  /// The value's tensor; null if it is not known here.
  const Tensor *lookup(mlir::Value value) const;
};

/// An operation to evaluate. Its operand tensors have the element types and
/// ranks, and in static dimensions the sizes, of the operand types, and are
/// aligned.
struct Call {
  mlir::Operation *op;
  llvm::ArrayRef<Tensor> operands;
  const Scope &scope;
  /// The element type that the results should have, if it differs from the
  /// operation's.
  std::optional<ElementType> wanted = std::nullopt;

  template <typename Op> Op as() const { return mlir::cast<Op>(op); }
  const Tensor &operator[](size_t index) const { return operands[index]; }
  /// A tensor with the operand's elements to write to: the operand's own memory
  /// if nothing else uses it.
  Tensor writable(size_t index) const;
  /// The tensors of a variadic operand.
  llvm::ArrayRef<Tensor> slice(mlir::OperandRange range) const {
    return range.empty()
               ? llvm::ArrayRef<Tensor>()
               : operands.slice(range.getBeginOperandIndex(), range.size());
  }
  /// The type of a result.
  mlir::RankedTensorType resultType(unsigned index = 0) const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(index).getType());
  }
  /// The element type of a result; of a quantised one, the expressed type.
  ElementType resultElement(unsigned index = 0) const;
};

/// The environment of the run that the operation belongs to.
Environment &environmentOf(const Call &call);

using Evaluator = Result<Tensors> (*)(const Call &call);

struct ArrayFunction;
/// The function of an elementwise operation for operands of these types.
using ArrayFunctionMaker = Result<ArrayFunction> (*)(
    mlir::Operation *op, llvm::ArrayRef<ElementType> operands);

/// The evaluators by name of operation.
class Registry {
public:
  /// The registry with all evaluators; see the register functions below.
  static const Registry &get();

  template <typename Op> void add(Evaluator evaluator) {
    entries[Op::getOperationName()] = {evaluator};
  }
  /// Adds an operation that treats every element alike: its evaluator works on
  /// operands of any common shape.
  template <typename Op> void addElementwise(Evaluator evaluator) {
    entries[Op::getOperationName()] = {evaluator, nullptr, true};
  }
  /// Adds an elementwise operation that an ArrayFunction computes.
  template <typename Op>
  void addArrayFunction(ArrayFunctionMaker makeArrayFunction) {
    entries[Op::getOperationName()] = {evaluateArrayFunction, makeArrayFunction,
                                       true};
  }
  /// Adds an operation whose evaluator gets the storage elements of quantised
  /// operands, as for one that takesStorage(); other evaluators get dequantised
  /// values.
  template <typename Op> void addStored(Evaluator evaluator) {
    addStored(Op::getOperationName(), evaluator);
  }
  void addStored(llvm::StringRef name, Evaluator evaluator) {
    entries[name] = {evaluator, nullptr, false, true};
  }

  struct Entry {
    /// Null if the operation is not known.
    Evaluator evaluator = nullptr;
    /// Null unless an ArrayFunction computes it.
    ArrayFunctionMaker makeArrayFunction = nullptr;
    bool isElementwise = false;
    bool takesStorage = false;
  };
  Entry find(mlir::Operation *op) const;

private:
  Registry();
  /// Runs the operation's ArrayFunction.
  static Result<Tensors> evaluateArrayFunction(const Call &call);
  llvm::StringMap<Entry> entries;
};

void registerElementwise(Registry &registry);
void registerConversions(Registry &registry);
void registerDataMovement(Registry &registry);
void registerGather(Registry &registry);
void registerProducts(Registry &registry);
void registerReductions(Registry &registry);
void registerSelectAndScatter(Registry &registry);
void registerBatchNorm(Registry &registry);
void registerLinearAlgebra(Registry &registry);
void registerRng(Registry &registry);
void registerEinsum(Registry &registry);
void registerValues(Registry &registry);
void registerControlFlow(Registry &registry);
void registerSort(Registry &registry);
void registerQuantized(Registry &registry);
void registerChecks(Registry &registry);
void registerDistribution(Registry &registry);
void registerRunParallel(Registry &registry);
void registerCustomCalls(Registry &registry);
void registerNnAttention(Registry &registry);
void registerNnElementwise(Registry &registry);
void registerNnShape(Registry &registry);
void registerNnSuppression(Registry &registry);
void registerNnTrees(Registry &registry);
void registerNnPooling(Registry &registry);
void registerNnNormalization(Registry &registry);
void registerNnRecurrent(Registry &registry);
void registerNnResize(Registry &registry);
void registerText(Registry &registry);

/// Runs a region of one block on \p arguments. Returns its results.
Result<Tensors> runRegion(mlir::Region &region, Tensors arguments,
                          const Scope &enclosing);

/// Calls a function. The depth of calls is bounded.
Result<Tensors> callFunction(mlir::func::FuncOp function,
                             llvm::ArrayRef<Tensor> arguments,
                             Machine &machine);

/// The results of an operation of \p entry on operands that fit it, quantised
/// ones included.
Result<Tensors> evaluateNumbers(const Registry::Entry &entry, const Call &call);

/// The tensor of a value that an operation in \p scope uses: known there, or a
/// constant.
Result<Tensor> valueOf(mlir::Value value, const Scope &scope);

/// The error with the operation's location and name before its message.
Error located(mlir::Operation *op, Error error);

/// Whether a tensor of this type and shape fits into this machine's memory.
Result<void> checkSize(ElementType type, llvm::ArrayRef<int64_t> shape);

/// One new tensor, initially zero, which `fill(tensor)` writes.
template <typename Fill>
Result<Tensors> produce(ElementType type, Shape shape, Fill &&fill) {
  if (Result<void> fits = checkSize(type, shape); !fits)
    return fits.takeError();
  Tensor tensor(type, std::move(shape));
  fill(tensor);
  Tensors results;
  results.push_back(std::move(tensor));
  return results;
}

/// The result of an evaluator that has one tensor.
inline Tensors single(Tensor tensor) {
  Tensors results;
  results.push_back(std::move(tensor));
  return results;
}

/// \p type's shape if it is static; InvalidModel if not.
Result<Shape> staticShape(mlir::RankedTensorType type);

inline Shape toShape(llvm::ArrayRef<int64_t> dims) {
  return Shape(dims.begin(), dims.end());
}

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_EVALUATION_H
