//===- RootKernels.cpp - operations with a generator ----------------------===//

#include "backend/cpu/emit/RootKernels.h"

#include "backend/cpu/emit/AttentionKernel.h"
#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/emit/MatMulKernel.h"
#include "backend/cpu/emit/PoolKernel.h"
#include "backend/cpu/emit/SplitTermsKernel.h"
#include "backend/cpu/emit/TreeKernel.h"
#include "backend/cpu/emit/WeightGradientKernel.h"
#include "backend/cpu/ir/TreeOps.h"
#include "graph/Types.h"
#include "passes/LowerQuantized.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

struct Root {
  /// Whether it is this one that computes the operation.
  bool (*computes)(Operation *op);
  /// Of an operation that it computes.
  Epilogue (*epilogue)(Operation *op);
  std::unique_ptr<RootKernel> (*create)(KernelOp kernel, Operation *op,
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
  return isa<Int8ProductOp, ZeroPointProductOp>(op) ||
                 op->hasAttr(exactProductAttribute)
             ? Epilogue::AnyType
             : Epilogue::AnyFloat;
}

template <typename Op, auto make>
static std::unique_ptr<RootKernel> created(KernelOp kernel, Operation *op,
                                           const Target &target) {
  return make(kernel, cast<Op>(op), target);
}

/// A generator is a row.
static constexpr Root roots[] = {
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
    {isOp<cpu::TreeEnsembleOp>, always<Epilogue::None>,
     created<cpu::TreeEnsembleOp, createTreeKernel>},
    {cutsMemory, always<Epilogue::None>, createCutKernel},
};

static const Root *rootOf(Operation *op) {
  for (const Root &root : roots)
    if (root.computes(op))
      return &root;
  return nullptr;
}

bool cpu::isRoot(Operation *op) { return rootOf(op) != nullptr; }

Epilogue cpu::epilogueOf(Operation *op) {
  const Root *root = rootOf(op);
  return root ? root->epilogue(op) : Epilogue::None;
}

std::unique_ptr<RootKernel> cpu::createRootKernel(KernelOp kernel,
                                                  const Target &target) {
  for (Operation &op : kernel.getBody().front())
    if (const Root *root = rootOf(&op))
      return root->create(kernel, &op, target);
  return nullptr;
}
