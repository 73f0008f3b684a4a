#include "backend/cpu/emit/WideSum.h"

#include "graph/stablehlo/Sums.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The greatest or least of floats narrower than f32.
static std::optional<StringRef> narrowMinMax(Region &body) {
  std::optional<StringRef> name = stablehlo::soleOperation(body);
  const bool isMinOrMax = name == stablehlo::MaxOp::getOperationName() ||
                          name == stablehlo::MinOp::getOperationName();
  return isMinOrMax &&
                 stablehlo::isNarrowFloat(body.front().getArgument(0).getType())
             ? name
             : std::nullopt;
}

std::optional<StringRef> cpu::wideOperation(Region &body) {
  if (std::optional<StringRef> carried = stablehlo::carriedInF32(body))
    return carried;
  return narrowMinMax(body);
}

std::optional<StringRef> cpu::wideOperation(stablehlo::ReduceWindowOp op) {
  if (std::optional<StringRef> carried = stablehlo::carriedInF32(
          op.getBody(), dimsOf(op.getInputs()[0]), op.getWindow()))
    return carried;
  return narrowMinMax(op.getBody());
}

Value cpu::emitWide(KernelBuilder &e, StringRef operation, Value a, Value b,
                    bool reassociate) {
  auto flags =
      reassociate ? arith::FastMathFlags::reassoc : arith::FastMathFlags::none;
  if (operation == stablehlo::AddOp::getOperationName())
    return e.create<arith::AddFOp>(a, b, flags);
  if (operation == stablehlo::MulOp::getOperationName())
    return e.create<arith::MulFOp>(a, b, flags);
  if (operation == stablehlo::MaxOp::getOperationName())
    return e.create<arith::MaximumFOp>(a, b);
  return e.create<arith::MinimumFOp>(a, b);
}
