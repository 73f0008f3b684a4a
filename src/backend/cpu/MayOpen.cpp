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
  const bool isOpen = llvm::any_of(op->getOperandTypes(), isOfUnknownSize) ||
                      llvm::any_of(op->getResultTypes(), isOfUnknownSize);
  return isOpen && elemental && !elemental.keepsOpenSizes() &&
         elemental.kind() == Kind::Whole;
}

/// Whether numbers go through \p op one by one, or only to other places.
bool passesNumbersOn(Operation *op) {
  return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
             stablehlo::DivOp, stablehlo::ConvertOp, stablehlo::ReshapeOp,
             stablehlo::TransposeOp, stablehlo::BroadcastInDimOp,
             nn::BroadcastLikeOp>(op);
}

/// Whether \p weights, operands of a product in \p wide bits, follow from a
/// constant of fewer bits that has an element for each of theirs.
bool followFromNarrow(Value weights, unsigned wide) {
  auto type = cast<RankedTensorType>(weights.getType());
  if (!type.hasStaticShape())
    return false;
  const int64_t count = type.getNumElements();
  // Chains are a scale, a zero point, conversions and moves.
  constexpr unsigned longest = 32;
  SmallVector<Value> open = {weights};
  for (unsigned i = 0; i < open.size() && i < longest; ++i) {
    Operation *op = open[i].getDefiningOp();
    if (!op)
      continue;
    auto given = dyn_cast<RankedTensorType>(open[i].getType());
    if (isa<stablehlo::ConstantOp>(op) && given && given.hasStaticShape() &&
        given.getElementType().isIntOrFloat() &&
        given.getElementTypeBitWidth() < wide &&
        given.getElementTypeBitWidth() <= 16 && given.getNumElements() == count)
      return true;
    if (passesNumbersOn(op))
      llvm::append_range(open, op->getOperands());
  }
  return false;
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

/// Whether \p op goes over areas of unknown size.
static bool hasOpenArea(stablehlo::ConvolutionOp op) {
  const auto sizes = cast<RankedTensorType>(op.getLhs().getType()).getShape();
  return llvm::any_of(
      op.getDimensionNumbers().getInputSpatialDimensions(),
      [&](int64_t dim) { return ShapedType::isDynamic(sizes[dim]); });
}

static bool hasNarrowWeights(stablehlo::DotGeneralOp dot) {
  return llvm::any_of(dot.getOperands(), [](Value operand) {
    const Type element = getElementTypeOrSelf(operand);
    return (element.isF32() || element.isF64()) &&
           followFromNarrow(operand, element.getIntOrFloatBitWidth());
  });
}

Result<void> cpu::checkIsWorthOpening(func::FuncOp function) {
  constexpr llvm::StringLiteral opens = " (--open opens it anyway)";
  Result<void> isWorth = {};
  function.walk([&](Operation *op) {
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op);
        dot && hasNarrowWeights(dot))
      isWorth =
          refused(op, "keeps its weights narrow only where sizes are known" +
                          opens.str());
    if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
        convolution && hasOpenArea(convolution))
      isWorth = refused(op, "is faster where heights and widths are known" +
                                opens.str());
    return isWorth ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isWorth;
}
