//===- Decompose.cpp - decompose operations without kernels ---------------===//

#include "backend/cpu/legalize/Decompose.h"

#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/layout/FormAttention.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whether \p op has a kernel.
static bool hasKernel(Operation *op, const PassSetting &setting,
                      const PatternRun &run) {
  // Those of f64 have no code of their own.
  if (isa<nn::AcosOp, nn::AsinOp, nn::AtanOp, nn::ErfcOp>(op))
    return !getElementTypeOrSelf(op->getResult(0).getType()).isF64();
  if (auto attention = dyn_cast<nn::AttentionOp>(op))
    return computesWhole(attention, setting, run);
  return kindOf(op) != Kind::Unknown || isAboutSizes(op);
}

/// Decompositions may use operations that must be decomposed, too.
static constexpr int maxRounds = 16;

Result<void> cpu::decompose(func::FuncOp function, bool keepsSampling,
                            const PassSetting &setting, PatternRun &run) {
  auto isKept = [&](Operation *op) {
    return hasKernel(op, setting, run) ||
           (keepsSampling && isa<nn::MaxPoolOp, nn::AveragePoolOp, nn::ResizeOp,
                                 nn::GroupNormOp>(op));
  };
  for (int round = 0; round < maxRounds; ++round) {
    SmallVector<DecomposableOpInterface> found;
    function.walk([&](DecomposableOpInterface op) {
      if (!isKept(op))
        found.push_back(op);
    });
    if (found.empty()) {
      // Sizes may have become static; functions with callers keep their type.
      if (!function.isPrivate())
        function.setFunctionType(FunctionType::get(
            function.getContext(), function.getArgumentTypes(),
            function.front().getTerminator()->getOperandTypes()));
      return {};
    }
    for (DecomposableOpInterface op : llvm::reverse(found)) {
      if (op->use_empty()) {
        op->erase();
        continue;
      }
      OpBuilder builder(op);
      FailureOr<SmallVector<Value>> values = op.decompose(builder);
      if (failed(values))
        return unsupported("the CPU backend cannot compute " +
                           nodeAndKind(op, op->getLoc()) +
                           ": it has no decomposition for these operands");
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
        run.replaced(op->getName().getStringRef(), result, value);
      op->replaceAllUsesWith(*values);
      op->erase();
    }
  }
  return unsupported("decompositions of operations do not come to an end");
}
