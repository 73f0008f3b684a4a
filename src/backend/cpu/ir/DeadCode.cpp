//===- DeadCode.cpp - dead code elimination before kernels ----------------===//

#include "backend/cpu/ir/DeadCode.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sinter;

void cpu::removeDeadCode(func::FuncOp function) {
  auto sweep = [](auto &self, Block &block) -> void {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          self(self, inner);
    }
  };
  sweep(sweep, function.getBody().front());
}
