//===- Interpreter.h - the reference interpreter --------------------------===//
//
// Evaluates `stablehlo`, `nn` and `func` operations on tensors. Nothing here is
// shared with passes or backends, and `nn` operations are not decomposed: the
// interpreter defines what an operation means, and everything else is tested
// against it.
//
// Arithmetic is the element type's own: an elementwise operation on f16, bf16
// and f8 rounds once per operation. Operations that sum (convolution,
// dot_general) do so in f32 for the types below f32; `nn` operations compute in
// double and round their results.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_INTERPRETER_H
#define SINTER_INTERPRETER_INTERPRETER_H

#include "interpreter/Environment.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"
#include <functional>
#include <vector>

namespace sinter {

/// Whether evaluate() has a definition for operations of this one's name.
bool canEvaluate(mlir::Operation *op);

/// The results of one verified operation, its regions included, on \p operands,
/// one for each value operand. The iterations of loops are limited to some ten
/// thousand: this is for constant folding, and a loop may never end. Dynamic
/// dimensions of the types come from the operands. Values that a region uses
/// from outside must be constants. Errors name the operation and its location:
/// Usage for operands that do not match the types, Unsupported where
/// canEvaluate() is false, InvalidModel for inconsistent values, System for
/// lack of memory.
Result<std::vector<Tensor>> evaluate(mlir::Operation *op,
                                     llvm::ArrayRef<Tensor> operands);

/// Called after each operation of a function's or region's body.
using Observer =
    std::function<void(mlir::Operation *op, llvm::ArrayRef<Tensor> results)>;

/// Called before each run of a function's or region's body.
using BlockObserver =
    std::function<void(mlir::Block &block, llvm::ArrayRef<Tensor> arguments)>;

/// The results of a function (and the functions that it calls) on \p inputs.
/// Each intermediate tensor is released after its last use. Errors as above,
/// and WrongResult where an expectation of the program does not hold. Without
/// an environment the run has its own.
Result<std::vector<Tensor>> interpret(mlir::func::FuncOp function,
                                      llvm::ArrayRef<Tensor> inputs,
                                      const Observer &observer = {},
                                      Environment *environment = nullptr,
                                      const BlockObserver &entered = {});

} // namespace sinter

#endif // SINTER_INTERPRETER_INTERPRETER_H
