//===- RowParts.cpp - rows cut at padding and concatenation ---------------===//

#include "backend/cpu/emit/RowParts.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Each part, and each decision about whole rows, is code of its own.
static constexpr size_t mostCuts = 6, mostPads = 2, mostOps = 64;

RowParts::RowParts(Value result) {
  if (dimsOf(result).empty())
    return;
  length = dimsOf(result).back();
  collect(result);
  if (cuts.size() > mostCuts)
    cuts.clear();
  if (pads.size() > mostPads)
    pads.clear();
}

void RowParts::addCut(Dim place) {
  // Which one of two dynamic sizes is larger is not known.
  auto isNamed = [](Dim cut) { return cut.isNamed(); };
  if (place.isNamed() ? place != length && llvm::none_of(cuts, isNamed)
                      : place.isStatic() && place > 0 && place < length)
    cuts.insert(place);
}

/// Looks through operations whose elements stand where their operands' do.
void RowParts::collect(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || seen.size() == mostOps || llvm::is_contained(seen, op))
    return;
  seen.push_back(op);
  ArrayRef<Dim> shape = dimsOf(tensor);
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    if (concatenate.getDimension() + 1 != shape.size())
      return;
    // Where the pieces behind one of a dynamic size begin is not known.
    Dim end = 0;
    for (Value input : concatenate.getInputs()) {
      if (dimsOf(input).back().isDynamic())
        break;
      addCut(end += dimsOf(input).back());
    }
  } else if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
    size_t last = shape.size() - 1;
    int64_t low = pad.getEdgePaddingLow()[last];
    if (pad.getInteriorPadding()[last] == 0) {
      addCut(low);
      addCut(low + dimsOf(pad.getOperand())[last]);
    }
    if (last > 0)
      pads.push_back(pad);
  } else if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      if (dimsOf(operand) == shape)
        collect(operand);
  }
}

void RowParts::emitKnown(Elemental &elemental, size_t next,
                         ArrayRef<Value> outer,
                         llvm::function_ref<void()> body) const {
  if (next == pads.size())
    return body();
  KernelBuilder &e = elemental.code;
  Value inside =
      elemental.isInside(pads[next], Coordinates(outer.begin(), outer.end()));
  auto assuming = [&](bool truth) {
    e.assumeTruth(inside, truth);
    emitKnown(elemental, next + 1, outer, body);
    return KernelBuilder::Carried();
  };
  if (e.knownTruth(inside))
    return emitKnown(elemental, next + 1, outer, body);
  e.branch(
      inside, [&] { return assuming(true); }, [&] { return assuming(false); });
}

void RowParts::emit(Elemental &elemental, ArrayRef<Value> outer, Value begin,
                    Value end,
                    llvm::function_ref<void(Value, Value)> body) const {
  KernelBuilder &e = elemental.code;
  emitKnown(elemental, 0, outer, [&] {
    if (cuts.empty())
      return body(begin, end);
    Dim first = 0;
    auto part = [&](Dim last) {
      body(e.max(begin, e.index(first)), e.min(end, e.index(last)));
      first = last;
    };
    for (Dim cut : cuts)
      part(cut);
    part(length);
  });
}
