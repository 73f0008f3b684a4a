//===- Model.h - a graph and its weights ----------------------------------===//
//
// A module whose entry function is `main`, the context that it lives in, and
// what keeps its weights' bytes alive. Argument and result attributes of the
// entry function hold the user's names:
//
//   sinter.name : the tensor's name
//   sinter.dims : for an argument, the symbol of each unknown dimension
//                 ("N"; "" where the dimension is known)
//
// Passes take a model and return a new one: clone, then rewrite the clone.
// Copies share the context and the weights' bytes, and can run side by side.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_MODEL_H
#define SINTER_GRAPH_MODEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Executor.h"
#include "runtime/Result.h"
#include <memory>
#include <string>
#include <vector>

namespace sinter {

inline constexpr llvm::StringLiteral nameAttribute = "sinter.name";
inline constexpr llvm::StringLiteral dimsAttribute = "sinter.dims";
inline constexpr llvm::StringLiteral entryName = "main";

/// A new context with every dialect that models use. It is single-threaded:
/// parallelism is over models and kernels, each with its own context.
std::shared_ptr<mlir::MLIRContext> makeContext();

/// The function that is run: the only public one, else `main`; null if that is
/// not there, or has not one block.
mlir::func::FuncOp entryOf(mlir::ModuleOp module);
/// The functions that a pass starts from: the one that is run, or, in a library
/// of functions, all public ones of one block.
llvm::SmallVector<mlir::func::FuncOp> rootsOf(mlir::ModuleOp module);
/// Makes \p name the function that is run, by making all others private. A
/// Usage error that lists the functions if there is none of that name.
Result<void> selectEntry(mlir::ModuleOp module, const std::string &name);
/// A message that explains why entryOf() found none.
std::string whyNoEntry(mlir::ModuleOp module);

class Model {
public:
  Model() = default;
  Model(std::shared_ptr<mlir::MLIRContext> context,
        mlir::OwningOpRef<mlir::ModuleOp> module)
      : contextOwner(std::move(context)), moduleOwner(std::move(module)) {}
  Model(Model &&) = default;
  /// Destroys the old module before the old context, which it lives in.
  Model &operator=(Model &&other) {
    moduleOwner = std::move(other.moduleOwner);
    contextOwner = std::move(other.contextOwner);
    path = std::move(other.path);
    return *this;
  }

  mlir::MLIRContext *context() const { return contextOwner.get(); }
  mlir::ModuleOp module() const {
    return const_cast<mlir::OwningOpRef<mlir::ModuleOp> &>(moduleOwner).get();
  }
  /// The function that is run, see entryOf().
  mlir::func::FuncOp entry() const;

  /// A copy of the graph; the weights' bytes are shared.
  Model clone() const;
  /// Another graph, in the same context.
  Model withModule(mlir::OwningOpRef<mlir::ModuleOp> module) const;

  /// The entry function's arguments and results, without those that outlive a
  /// run (storage/Storage.h). Arguments without a name are called arg0, arg1,
  /// ..., results result0, result1, ...
  std::vector<TensorSpec> inputs() const;
  std::vector<TensorSpec> outputs() const;

  /// The file that the model was read from, for messages.
  std::string path;

private:
  // The module is destroyed before the context it lives in.
  std::shared_ptr<mlir::MLIRContext> contextOwner;
  mlir::OwningOpRef<mlir::ModuleOp> moduleOwner;
};

} // namespace sinter

#endif // SINTER_GRAPH_MODEL_H
