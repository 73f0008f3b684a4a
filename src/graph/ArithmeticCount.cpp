#include "graph/ArithmeticCount.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter::stablehlo;

static double sizeOf(ArrayRef<int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

static bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

double sinter::arithmeticCount(Operation &op) {
  if (op.getNumResults() == 0 || isa<ConstantOp>(op) ||
      !llvm::all_of(op.getOperands(), isStaticTensor) ||
      !llvm::all_of(op.getResults(), isStaticTensor))
    return 0;
  constexpr double ofFunction = 20;
  const double elements = sizeOf(tensorOf(op.getResult(0)).getShape());
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<DotGeneralOp, ConvolutionOp>([&](auto product) {
        return 2 * axesOf(product)->depth().value() * elements;
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        return sizeOf(tensorOf(reduce.getInputs()[0]).getShape());
      })
      .Case<ReduceWindowOp>([&](ReduceWindowOp window) {
        return sizeOf(window.getWindowDimensions()) * elements;
      })
      .Case<ExpOp, Expm1Op, LogOp, Log1pOp, LogisticOp, TanhOp, SineOp,
            CosineOp, TanOp, PowOp, Atan2Op, CbrtOp, nn::ErfOp, nn::ErfcOp>(
          [&](auto) { return ofFunction * elements; })
      .Default([&](Operation *) { return elements; });
}
