//===- MayOpen.cpp - what a program of all sizes will not do --------------===//

#include "backend/cpu/MayOpen.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/Registration.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

Error refused(Operation *op, const std::string &what) {
  return unsupported(nodeAndKind(op, op->getLoc()) + " " + what);
}

/// Whether no rewrite does without \p op, and no kernel keeps its sizes open.
/// (Other operations become such that do, or vanish where sizes follow from
/// each other.)
bool isClosed(Operation *op) {
  auto elemental = dyn_cast<ElementalOpInterface>(op);
  return isOnUnknownSizes(op) && elemental && !elemental.keepsOpenSizes() &&
         elemental.kind() == Kind::Whole;
}

} // namespace

Result<void> cpu::checkMayOpen(func::FuncOp function) {
  loadCpuDialect(function.getContext());
  Result<void> may = {};
  function.walk([&](Operation *op) {
    if (isClosed(op))
      may = refused(op, "keeps no open sizes");
    return may ? WalkResult::advance() : WalkResult::interrupt();
  });
  return may;
}
