//===- Storage.h - the roles of a graph's tensors -------------------------===//
//
// Arguments and results of the entry function are inputs and outputs. A state,
// a tensor that outlives a run, is an argument and a result that name it:
//
//     func.func @main(%x : tensor<4xf32>,
//         %n : tensor<i64> {sinter.state = "count",
//                           sinter.initial = dense<0> : tensor<i64>})
//         -> (tensor<4xf32>, tensor<i64> {sinter.state = "count"})
//
// The argument is what the state holds before a run, the result what it holds
// after. So the graph stays pure, and passes need no special case. Only this
// file determines roles; Program.h has them as memory spaces (runtime/Role.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STORAGE_STORAGE_H
#define SINTER_GRAPH_STORAGE_STORAGE_H

#include "graph/Model.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "runtime/Role.h"
#include "llvm/ADT/DenseSet.h"

namespace sinter {

/// An attribute of an argument and of a result: the name of their state.
inline constexpr llvm::StringLiteral stateAttribute = "sinter.state";
/// An attribute of such an argument: the state's value before the first run.
inline constexpr llvm::StringLiteral initialAttribute = "sinter.initial";

/// A tensor that outlives a run.
struct StateTensor {
  TensorSpec spec;
  /// The indices of its argument and its result of the entry function.
  unsigned argument = 0, result = 0;
  mlir::ElementsAttr initial;
};

class Storage {
public:
  /// The roles in \p model. The InvalidModel error names the state that breaks
  /// a rule: a name is text and not empty; exactly one argument and exactly one
  /// result have it, of one static type; the argument, and nothing else, has an
  /// initial value, of that type; only the entry function has states.
  static Result<Storage> of(mlir::ModuleOp module);
  static Result<Storage> of(const Model &model) { return of(model.module()); }

  llvm::ArrayRef<StateTensor> states() const { return list; }
  /// The indices of the arguments that are inputs, and of the results that are
  /// outputs.
  llvm::ArrayRef<unsigned> inputs() const { return inputArguments; }
  llvm::ArrayRef<unsigned> outputs() const { return outputResults; }

  /// The role of a value of the entry function. One that is returned both as an
  /// output and as a state is an output, from which the state is saved.
  Role roleOf(mlir::Value value) const;

private:
  std::vector<StateTensor> list;
  std::vector<unsigned> inputArguments, outputResults;
  llvm::DenseMap<mlir::Value, Role> roles;
};

/// Whether an argument or a result with these attributes is a state.
bool isState(mlir::DictionaryAttr attributes);

} // namespace sinter

#endif // SINTER_GRAPH_STORAGE_STORAGE_H
