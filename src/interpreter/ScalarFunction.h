//===- ScalarFunction.h - a region from scalars to scalars ----------------===//

#ifndef SINTER_INTERPRETER_SCALARFUNCTION_H
#define SINTER_INTERPRETER_SCALARFUNCTION_H

#include "interpreter/ArrayFunction.h"

#include <memory>

namespace sinter::interpreter {

/// The region of `reduce`, `scatter`, `sort`, `map` and the like. If it has
/// elementwise operations only, it is compiled once to a list of functions,
/// which runs on arrays of any length; else its operations are evaluated.
class ScalarFunction {
public:
  /// The region has one block, as verified.
  ScalarFunction(mlir::Region &region, const Scope &enclosing);

  /// Applies the region to \p count elements: results[k][i] is result k of
  /// arguments[0][i], arguments[1][i], ... All arrays are aligned; a result may
  /// alias an argument that has its type.
  Result<void> run(int64_t count, llvm::ArrayRef<const std::byte *> arguments,
                   llvm::ArrayRef<std::byte *> results);

  /// The same on tensors of one shape.
  Result<Tensors> apply(llvm::ArrayRef<Tensor> arguments);

  /// If the region compares a function of its even arguments with one of its
  /// odd arguments, it returns these two values from now on, and the comparison
  /// is returned here: a sort then computes them once an element.
  mlir::Operation *splitComparison();

  /// The element types of the arguments and results.
  llvm::ArrayRef<ElementType> argumentTypes() const { return inputs; }
  llvm::ArrayRef<ElementType> resultTypes() const { return outputs; }

private:
  /// One operation; operands and result are indices of registers.
  struct Step {
    mlir::Operation *op;
    ArrayFunction function;
    std::array<unsigned, 3> operands;
    unsigned result;
    size_t operandCount = 1;
  };
  static constexpr int64_t blockSize = 256;
  static constexpr size_t maxSteps = 4096;

  class Compiler;

  void runSteps(int64_t count, llvm::ArrayRef<const std::byte *> arguments,
                llvm::ArrayRef<std::byte *> results);
  Result<Tensors> applyAtOnce(llvm::ArrayRef<Tensor> arguments) const;
  Result<Tensors> applyOneByOne(llvm::ArrayRef<Tensor> arguments) const;

  mlir::Region &region;
  const Scope &enclosing;
  llvm::SmallVector<ElementType> inputs, outputs;
  /// The error where the region cannot run at all: a type that is not a
  /// scalar's.
  std::optional<Error> failure;
  bool isCompiled = false;
  /// Whether every operation is elementwise or constant, so that it can run on
  /// whole arrays where it is not compiled.
  bool isElementwise = false;

  std::vector<Step> steps;
  /// Registers are arrays of up to `blockSize` elements: first the arguments,
  /// which point to the caller's arrays, then broadcast scalars and results.
  std::vector<std::byte *> registers;
  std::vector<ElementType> registerTypes;
  std::vector<std::unique_ptr<std::byte[]>> storage;
  llvm::SmallVector<unsigned> returned;
};

/// \p tensors, of \p types, with the element types of the region's arguments
/// from \p firstArgument on: a region may compute in a wider type than its
/// operation's operands have.
Result<Tensors> promoted(llvm::ArrayRef<Tensor> tensors, mlir::TypeRange types,
                         mlir::Region &region, unsigned firstArgument);

/// The tensor's elements converted as by `convert`.
Tensor converted(const Tensor &tensor, ElementType type);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_SCALARFUNCTION_H
