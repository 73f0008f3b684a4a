#include "backend/cpu/quantized/WidenInt8.h"

#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/kernels/common/Arithmetic.h"
#include "backend/cpu/target/Target.h"
#include "graph/nn/TensorBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

static constexpr llvm::StringLiteral widenBytesLabel = "widen-int8";

ArrayRef<PatternInfo> widenInt8Patterns() {
  static const PatternInfo infos[] = {
      {widenBytesLabel,
       "int8_product(a : ui8, w : i8) -> int8_product(convert<i16>(a), w)",
       "cpu-widen-int8"}};
  return infos;
}

/// Whether the kernel of \p op multiplies its left operand in pairs as loaded,
/// without packing.
static bool readsPairs(Operation *op, const Target &target) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<Int8ProductOp, ZeroPointProductOp>([](Operation *) { return true; })
      .Case([&](ConvolutionOp convolution) {
        return tensorOf(convolution.getWeights())
                   .getElementType()
                   .isInteger(8) &&
               kernelOf(convolution, target) == "direct";
      })
      .Default(false);
}

void widenInt8(func::FuncOp function, const Target &target, PatternRun &run) {
  if (!Arithmetic::bytesAreWords(target) || !run.isEnabled(widenBytesLabel))
    return;
  SmallVector<Operation *> found;
  function.walk([&](Operation *op) {
    if (readsPairs(op, target) &&
        tensorOf(op->getOperand(0)).getElementType().isInteger(8))
      found.push_back(op);
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    TensorBuilder emit(builder, op->getLoc());
    const Type word = builder.getI16Type();
    op->setOperand(0, emit.convert(op->getOperand(0), word));
    if (isa<ZeroPointProductOp>(op))
      op->setOperand(1, emit.convert(op->getOperand(1), word));
    if (auto convolution = dyn_cast<ConvolutionOp>(op);
        convolution && convolution.getZero())
      convolution.getZeroMutable().assign(
          emit.convert(convolution.getZero(), word));
    run.count(widenBytesLabel);
  }
  if (!found.empty())
    run.graphIsWhole(widenBytesLabel);
}

} // namespace sinter::cpu
