//===- Anchors.cpp - operations with a generator -------------------------===//

#include "backend/cpu/emit/Anchors.h"

#include "backend/cpu/emit/AttentionKernel.h"
#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/emit/CutKernel.h"
#include "backend/cpu/emit/MatMulKernel.h"
#include "backend/cpu/emit/PoolKernel.h"
#include "backend/cpu/emit/WeightGradientKernel.h"
#include "graph/Types.h"
#include "passes/LowerQuantized.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

struct Anchor {
  /// Whether it is this one that computes the operation.
  bool (*computes)(Operation *op);
  /// Of an operation that it computes.
  Epilogue (*epilogue)(Operation *op);
  std::unique_ptr<AnchorKernel> (*create)(KernelOp kernel, Operation *op,
                                          const Target &target);
};

} // namespace

template <typename Op> static bool isOp(Operation *op) { return isa<Op>(op); }

template <Epilogue epilogue> static Epilogue always(Operation *) {
  return epilogue;
}

/// Neighbouring columns must be neighbours in the last dimension. Conversions
/// of floats to integers take more time here than to read the results again in
/// a loop; sums of integers, whatever they are taken in, are always converted.
static Epilogue ofOneColumn(Operation *op) {
  if (!hasRowsOfResults(op))
    return Epilogue::None;
  return isa<ByteProductOp, DistanceProductOp>(op) ||
                 op->hasAttr(exactProductAttribute)
             ? Epilogue::AnyType
             : Epilogue::AnyFloat;
}

template <typename Op, auto make>
static std::unique_ptr<AnchorKernel> created(KernelOp kernel, Operation *op,
                                             const Target &target) {
  return make(kernel, cast<Op>(op), target);
}

/// A generator is a row.
static constexpr Anchor anchors[] = {
    {isMatMul, ofOneColumn, createMatMulKernel},
    {isOp<cpu::ConvolutionOp>, always<Epilogue::AnyType>,
     created<cpu::ConvolutionOp, createConvolutionKernel>},
    {isOp<PoolOp>, always<Epilogue::AnyType>,
     created<PoolOp, createPoolKernel>},
    {isOp<WeightGradientOp>, always<Epilogue::None>,
     created<WeightGradientOp, createWeightGradientKernel>},
    {isOp<DepthwiseGradientOp>, always<Epilogue::None>,
     created<DepthwiseGradientOp, createDepthwiseGradientKernel>},
    {isOp<cpu::AttentionOp>, always<Epilogue::AnyType>,
     created<cpu::AttentionOp, createAttentionKernel>},
    {cutsMemory, always<Epilogue::None>, createCutKernel},
};

static const Anchor *anchorOf(Operation *op) {
  for (const Anchor &anchor : anchors)
    if (anchor.computes(op))
      return &anchor;
  return nullptr;
}

bool cpu::isAnchor(Operation *op) { return anchorOf(op) != nullptr; }

Epilogue cpu::epilogueOf(Operation *op) {
  const Anchor *anchor = anchorOf(op);
  return anchor ? anchor->epilogue(op) : Epilogue::None;
}

std::unique_ptr<AnchorKernel> cpu::createAnchorKernel(KernelOp kernel,
                                                      const Target &target) {
  for (Operation &op : kernel.getBody().front())
    if (const Anchor *anchor = anchorOf(&op))
      return anchor->create(kernel, &op, target);
  return nullptr;
}
