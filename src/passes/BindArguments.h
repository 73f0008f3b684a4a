//===- BindArguments.h - weights that are arguments become constants ------===//
//
//   main(x, w)  with w bound to an array  ->  main(x) with a constant "w"
//   main(x : Nx3, w : N)  with w bound to 5 floats  ->  main(x : 5x3)
//
// Models exported from PyTorch/XLA and JAX have their weights among the
// arguments; bound, they fold like any other.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_BINDARGUMENTS_H
#define SINTER_PASSES_BINDARGUMENTS_H

#include "graph/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <utility>

namespace sinter {

/// A value for the argument with the given name.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The names of argument \p index of a function besides its `sinter.name`: the
/// texts of other attributes (`jax.arg_info`, say), and the name of its
/// location, which in MLIR text without one is the text behind the `%`.
std::vector<std::string> otherNames(mlir::func::FuncOp function,
                                    unsigned index);

/// The names of a function's arguments that are not states.
class ArgumentNames {
public:
  explicit ArgumentNames(mlir::func::FuncOp function);

  /// The index of the argument that \p name refers to, with or without a `%`:
  /// the one with this `sinter.name`; else the one that has it among its other
  /// names; else the one with this index (3 or arg3). Usage errors for none,
  /// for several and for a state.
  Result<unsigned> find(llvm::StringRef name, llvm::StringRef option) const;

private:
  /// Some of the names, for messages.
  std::string list() const;

  mlir::func::FuncOp function;
  llvm::StringMap<unsigned> owned, others, places;
  /// Other names of several arguments.
  llvm::StringSet<> shared;
  llvm::StringSet<> states;
};

/// Makes constants of the arguments that \p bound names, called as the
/// arguments are (by `sinter.name`, else as bound). Where the argument's shape
/// has dynamic dimensions, the array's sizes replace them, also in other
/// arguments with the same symbolic dimension, and in what is computed from
/// them. Usage errors for unknown names, for one argument bound twice, for
/// arrays that do not fit the argument's type, and for sizes that contradict
/// each other. \p files has one file name for each array, or is empty; it is
/// for error messages.
Result<void> bindArguments(Model &model, const NamedTensors &bound,
                           llvm::ArrayRef<std::string> files = {});

/// "--bind", and the file in \p files that array \p index is from.
std::string bindOption(llvm::ArrayRef<std::string> files, size_t index);

} // namespace sinter

#endif // SINTER_PASSES_BINDARGUMENTS_H
