//===- KnownSymbols.cpp - equal dynamic dimensions of results -------------===//

#include "formats/import/KnownValues.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace sinter::formats {

/// A size that is broadcast only with 1 and itself is the result's size.
void KnownValues::observeBroadcast(Operation *op) {
  Value result = op->getResult(0);
  const int64_t rank = tensorOf(result).getRank();
  for (int64_t i = 0; i < rank; ++i) {
    std::optional<Element> size;
    bool clear = true;
    for (Value operand : op->getOperands()) {
      int64_t missing = rank - tensorOf(operand).getRank();
      if (i < missing)
        continue;
      Element here = sizeOf(operand, i - missing);
      if (here == Element::integer(1))
        continue;
      clear &= !size || *size == here;
      size = here;
    }
    if (clear && size && size->kind == Element::Symbol)
      setSymbol(result, i, size->value);
  }
}

/// A slice [0, size) with step 1 keeps the size.
void KnownValues::observeSlice(Operation *slice) {
  auto op = cast<stablehlo::RealDynamicSliceOp>(slice);
  auto starts = elements(op.getStartIndices());
  auto limits = elements(op.getLimitIndices());
  auto strides = elements(op.getStrides());
  if (!starts || !limits || !strides)
    return;
  Value operand = op.getOperand(), result = op.getResult();
  for (int64_t i = 0; i < tensorOf(result).getRank(); ++i)
    if ((*starts)[i] == Element::integer(0) &&
        (*strides)[i] == Element::integer(1) &&
        (*limits)[i] == sizeOf(operand, i))
      copySymbol(operand, i, result, i);
}

/// The sizes of \p result are the elements of \p shape.
void KnownValues::observeShape(Value shape, Value result) {
  auto sizes = elements(shape);
  const int64_t rank = tensorOf(result).getRank();
  for (int64_t i = 0; sizes && i < rank; ++i)
    if ((*sizes)[i].kind == Element::Symbol)
      setSymbol(result, i, (*sizes)[i].value);
}

/// A dimension is as large as the operands' dimensions with the same axes; it
/// gets the oldest of their symbols.
void KnownValues::observeAxes(Operation *op) {
  std::optional<Axes> axes = axesOf(op);
  if (!axes)
    return;
  for (OpResult result : op->getResults())
    for (auto [i, list] :
         llvm::enumerate(axes->results[result.getResultNumber()])) {
      if (!tensorOf(result).isDynamicDim(i))
        continue;
      std::optional<int64_t> oldest;
      for (OpOperand &operand : op->getOpOperands())
        if (auto from =
                axes->asLarge(list, axes->operands[operand.getOperandNumber()]);
            from && tensorOf(operand.get()).isDynamicDim(*from)) {
          int64_t symbol = sizeOf(operand.get(), *from).value;
          oldest = std::min(oldest.value_or(symbol), symbol);
        }
      if (oldest)
        setSymbol(result, i, *oldest);
    }
}

void KnownValues::observe(Operation *op) {
  const bool dynamic = llvm::any_of(op->getResultTypes(), isOfUnknownSize);
  if (!dynamic || op->getNumOperands() == 0)
    return;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](nn::BroadcastLikeOp like) { observeBroadcast(like); })
      .Case([&](stablehlo::RealDynamicSliceOp slice) { observeSlice(slice); })
      .Case<stablehlo::DynamicReshapeOp, stablehlo::DynamicIotaOp>(
          [&](auto shaped) { observeShape(shaped.getOutputShape(), shaped); })
      .Case([&](stablehlo::DynamicBroadcastInDimOp wide) {
        observeShape(wide.getOutputDimensions(), wide);
      })
      .Default([&](Operation *) { observeAxes(op); });
}

} // namespace sinter::formats
