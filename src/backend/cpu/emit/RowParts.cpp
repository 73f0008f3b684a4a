//===- RowParts.cpp - rows cut at padding and concatenation ---------------===//

#include "backend/cpu/emit/RowParts.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Each part, and each decision about whole rows, is code of its own.
static constexpr size_t mostCuts = 6, mostPads = 2, mostOps = 64;

RowParts::RowParts(Value result) {
  if (shapeOf(result).empty())
    return;
  length = shapeOf(result).back();
  collect(result);
  if (cuts.size() > mostCuts)
    cuts.clear();
  if (pads.size() > mostPads)
    pads.clear();
}

void RowParts::addCut(int64_t place) {
  // Which one of two open sizes is larger is not known.
  if (isNamed(place) ? place != length && llvm::none_of(cuts, isNamed)
                     : place > 0 && place < length)
    cuts.insert(place);
}

/// Looks through operations whose elements stand where their operands' do.
void RowParts::collect(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || seen.size() == mostOps || llvm::is_contained(seen, op))
    return;
  seen.push_back(op);
  ArrayRef<int64_t> shape = shapeOf(tensor);
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    if (concatenate.getDimension() + 1 != shape.size())
      return;
    int64_t end = 0;
    for (Value input : concatenate.getInputs()) {
      // Where the pieces behind one of an open size begin is not known.
      if (isNamed(shapeOf(input).back()))
        break;
      addCut(end += shapeOf(input).back());
    }
  } else if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
    size_t last = shape.size() - 1;
    int64_t low = pad.getEdgePaddingLow()[last];
    if (pad.getInteriorPadding()[last] == 0) {
      addCut(low);
      // What is behind padding and an open size has no name.
      if (const int64_t size = shapeOf(pad.getOperand())[last];
          low == 0 || !isNamed(size))
        addCut(low + size);
    }
    if (last > 0)
      pads.push_back(pad);
  } else if (isElementwise(op)) {
    for (Value operand : op->getOperands())
      if (shapeOf(operand) == shape)
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
    int64_t first = 0;
    auto part = [&](int64_t last) {
      body(e.max(begin, e.index(first)), e.min(end, e.index(last)));
      first = last;
    };
    for (int64_t cut : cuts)
      part(cut);
    part(length);
  });
}
