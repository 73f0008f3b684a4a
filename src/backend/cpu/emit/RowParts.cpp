//===- RowParts.cpp - rows cut at padding and concatenation ---------------===//

#include "backend/cpu/emit/RowParts.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Each part, and each decision about whole rows, is code of its own.
static constexpr size_t mostCuts = 6, mostPads = 2, mostOps = 64;

RowParts::RowParts(Value result, size_t dimension) : dimension(dimension) {
  if (dimension >= dimsOf(result).size())
    return;
  length = dimsOf(result)[dimension];
  collect(result);
  if (cuts.size() > mostCuts)
    cuts.clear();
  if (pads.size() > mostPads)
    pads.clear();
}

void RowParts::addCut(Dim size, int64_t more) {
  if (size.isStatic()) {
    const Dim place = size + Dim(more);
    if (place.isStatic() && place > 0 && place < length)
      cuts.insert({place});
    return;
  }
  // Which one of two dynamic sizes is larger is not known.
  auto isOther = [&](const Cut &cut) {
    return cut.size.isDynamic() && cut.size != size;
  };
  if (size.isNamed() && (size != length || more < 0) &&
      llvm::none_of(cuts, isOther))
    cuts.insert({size, more});
}

/// The operand's first element, and what is behind its last one.
void RowParts::addPadding(Dim operand, int64_t low) {
  addCut(low);
  addCut(operand, low);
}

/// Looks through operations whose elements stand where their operands' do.
void RowParts::collect(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op || seen.size() == mostOps || llvm::is_contained(seen, op))
    return;
  seen.push_back(op);
  ArrayRef<Dim> shape = dimsOf(tensor);
  if (auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(op)) {
    if (concatenate.getDimension() != dimension)
      return;
    // Where the pieces behind one of a dynamic size begin is not known.
    Dim end = 0;
    for (Value input : concatenate.getInputs()) {
      if (dimsOf(input)[dimension].isDynamic())
        break;
      addCut(end += dimsOf(input)[dimension]);
    }
  } else if (auto pad = dyn_cast<stablehlo::PadOp>(op)) {
    if (pad.getInteriorPadding()[dimension] == 0)
      addPadding(dimsOf(pad.getOperand())[dimension],
                 pad.getEdgePaddingLow()[dimension]);
    if (dimension > 0)
      pads.push_back(pad);
  } else if (auto pad = dyn_cast<nn::PadModeOp>(op)) {
    addPadding(dimsOf(pad.getOperand())[dimension], pad.getLow()[dimension]);
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
    Value first = e.index(0);
    auto part = [&](Value last) {
      body(e.max(begin, first), e.min(end, last));
      first = last;
    };
    for (const Cut &cut : cuts)
      part(e.add(e.index(cut.size), cut.more));
    part(e.index(length));
  });
}
