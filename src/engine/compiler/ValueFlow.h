//===- ValueFlow.h - where values come from and lead to -------------------===//
//
// So that values of two models can be matched although their names differ.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_COMPILER_VALUEFLOW_H
#define SINTER_ENGINE_COMPILER_VALUEFLOW_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <string>

namespace sinter {

class ValueFlow {
public:
  explicit ValueFlow(mlir::func::FuncOp entry);

  /// As in ValueFacts.
  uint64_t fromInputs(mlir::Value value) const { return before.lookup(value); }
  uint64_t toOutputs(mlir::Value value) const { return behind.lookup(value); }
  static std::string unfolded(mlir::Value value);
  /// The value that \p value, of real numbers, is after quantising and
  /// dequantising; null if it is no such value.
  static mlir::Value rounded(mlir::Value value);

private:
  void forward(mlir::Block &block);
  void backward(mlir::Block &block);

  llvm::DenseMap<mlir::Value, uint64_t> before, behind;
};

} // namespace sinter

#endif // SINTER_ENGINE_COMPILER_VALUEFLOW_H
