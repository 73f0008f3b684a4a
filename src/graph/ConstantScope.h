//===- ConstantScope.h - the large constants of one compilation -----------===//
//
// MLIR keeps the bytes of a resource as long as its context, though passes
// replace most constants that they make: a weight that is transposed, scaled
// and packed would be in memory four times.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_CONSTANTSCOPE_H
#define SINTER_GRAPH_CONSTANTSCOPE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"

namespace sinter {

/// What toAttribute() makes on this thread while a scope lives belongs to the
/// innermost one, which can free its bytes. A constant without its bytes has no
/// value (toTensor). Constants from before are never freed, nor what is left
/// when the scope ends.
class ConstantScope {
public:
  ConstantScope();
  ~ConstantScope();
  ConstantScope(const ConstantScope &) = delete;
  ConstantScope &operator=(const ConstantScope &) = delete;

  /// Frees all that \p modules do not refer to.
  void keepOnly(llvm::ArrayRef<mlir::ModuleOp> modules);
  /// Frees \p constant, if it belongs to the scope.
  void release(mlir::Attribute constant);

  /// Adds \p constant to the innermost scope, if there is one.
  static void add(mlir::DenseResourceElementsAttr constant);

private:
  llvm::DenseSet<mlir::DenseResourceElementsAttr> own;
  ConstantScope *outer;
};

} // namespace sinter

#endif // SINTER_GRAPH_CONSTANTSCOPE_H
