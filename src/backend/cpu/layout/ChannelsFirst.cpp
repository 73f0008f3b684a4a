//===- ChannelsFirst.cpp - networks with channels last, or with windows
//----===//

#include "backend/cpu/layout/ChannelsFirst.h"

#include "graph/Constants.h"
#include "graph/nn/Emit.h"
#include "graph/nn/NnOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/MoveTransposes.h"

using namespace mlir;

namespace sinter::cpu {

namespace {

using nn::Emit;
using nn::tensorOf;

constexpr int64_t firstOrder[] = {0, 1, 2, 3}, lastOrder[] = {0, 3, 1, 2};

/// The permutation that undoes \p order.
SmallVector<int64_t> inverse(ArrayRef<int64_t> order) {
  SmallVector<int64_t> result(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    result[dim] = i;
  return result;
}

SmallVector<int64_t> reordered(ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> order) {
  return llvm::map_to_vector(order, [&](int64_t dim) { return shape[dim]; });
}

bool isFloat32(Value value) {
  return tensorOf(value).getElementType().isF32() &&
         tensorOf(value).getRank() == 4;
}

bool rewriteConvolution(stablehlo::ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  if (!isFloat32(op.getLhs()) || !isFloat32(op.getResult()) ||
      !op.getRhs().getDefiningOp<stablehlo::ConstantOp>())
    return false;
  auto orderOf = [](int64_t batch, int64_t feature, ArrayRef<int64_t> spatial) {
    SmallVector<int64_t> order = {batch, feature};
    llvm::append_range(order, spatial);
    return order;
  };
  auto input = orderOf(numbers.getInputBatchDimension(),
                       numbers.getInputFeatureDimension(),
                       numbers.getInputSpatialDimensions());
  auto output = orderOf(numbers.getOutputBatchDimension(),
                        numbers.getOutputFeatureDimension(),
                        numbers.getOutputSpatialDimensions());
  if (ArrayRef(input) == ArrayRef(firstOrder) &&
      ArrayRef(output) == ArrayRef(firstOrder))
    return false;
  OpBuilder builder(op);
  Emit emit(builder, op.getLoc());
  auto *moved = builder.clone(*op);
  auto convolution = cast<stablehlo::ConvolutionOp>(moved);
  moved->setOperand(0, emit.transpose(op.getLhs(), input));
  moved->moveAfter(moved->getOperand(0).getDefiningOp());
  const int64_t spatial[] = {2, 3};
  convolution.setDimensionNumbersAttr(stablehlo::ConvDimensionNumbersAttr::get(
      op.getContext(), 0, 1, spatial, numbers.getKernelInputFeatureDimension(),
      numbers.getKernelOutputFeatureDimension(),
      numbers.getKernelSpatialDimensions(), 0, 1, spatial));
  auto type = tensorOf(op.getResult());
  convolution.getResult().setType(
      type.clone(reordered(type.getShape(), output)));
  op.getResult().replaceAllUsesWith(
      emit.transpose(convolution.getResult(), inverse(output)));
  op.erase();
  return true;
}

/// Whether \p value is minus infinity, which every maximum starts from.
bool isMinusInfinity(Value value) {
  std::optional<Tensor> tensor = constantTensor(value);
  return tensor && tensor->size() == 1 &&
         tensor->toDouble(0) == -std::numeric_limits<double>::infinity();
}

void raisePool(stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1 || !isFloat32(op.getInputs()[0]) ||
      stablehlo::soleOperation(op.getBody()) !=
          stablehlo::MaxOp::getOperationName() ||
      !isMinusInfinity(op.getInitValues()[0]))
    return;
  stablehlo::ConvolutionWindow windows = op.getWindow();
  auto isTrivial = [&](int64_t dim) {
    const stablehlo::WindowDimension &w = windows[dim];
    return w.size == 1 && w.stride == 1 && w.paddingLow == 0 &&
           w.paddingHigh == 0;
  };
  if (!isTrivial(0) ||
      llvm::any_of(windows, [](const stablehlo::WindowDimension &w) {
        return w.baseDilation != 1 || w.paddingLow < 0 || w.paddingHigh < 0;
      }))
    return;
  ArrayRef<int64_t> order = isTrivial(1)   ? ArrayRef<int64_t>(firstOrder)
                            : isTrivial(3) ? ArrayRef<int64_t>(lastOrder)
                                           : ArrayRef<int64_t>();
  if (order.empty())
    return;
  OpBuilder builder(op);
  Emit emit(builder, op.getLoc());
  SmallVector<int64_t> sizes, strides, dilations, low, high;
  for (int64_t dim : order.drop_front(2)) {
    const stablehlo::WindowDimension &w = windows[dim];
    sizes.push_back(w.size);
    strides.push_back(w.stride);
    dilations.push_back(w.windowDilation);
    low.push_back(w.paddingLow);
    high.push_back(w.paddingHigh);
  }
  bool isLast = order == ArrayRef(lastOrder);
  Value input = op.getInputs()[0];
  if (isLast)
    input = emit.transpose(input, order);
  Value pool =
      emit.make<nn::MaxPoolOp>(input, sizes, strides, dilations, low, high);
  if (isLast)
    pool = emit.transpose(pool, inverse(order));
  op.getResult(0).replaceAllUsesWith(pool);
  op.erase();
}

void absorbTranspose(stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return;
  auto transpose = op.getInputs()[0].getDefiningOp<stablehlo::TransposeOp>();
  if (!transpose)
    return;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  SmallVector<int64_t> reduced, kept;
  for (auto [i, dim] : llvm::enumerate(permutation))
    (llvm::is_contained(op.getDimensions(), int64_t(i)) ? reduced : kept)
        .push_back(dim);
  if (!llvm::is_sorted(kept))
    return;
  llvm::sort(reduced);
  op->setOperand(0, transpose.getOperand());
  op.setDimensions(reduced);
}

} // namespace

void channelsFirst(func::FuncOp function) {
  SmallVector<stablehlo::ConvolutionOp> convolutions;
  SmallVector<stablehlo::ReduceWindowOp> windows;
  function.walk([&](Operation *op) {
    if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op))
      convolutions.push_back(convolution);
    if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op))
      windows.push_back(window);
  });
  // Without a convolution nothing is blocked, and windows stay what they are.
  if (convolutions.empty())
    return;
  bool changed = false;
  for (stablehlo::ConvolutionOp op : convolutions)
    changed |= rewriteConvolution(op);
  llvm::for_each(windows, raisePool);
  if (!changed)
    return;
  PassManager passes(function.getContext(), "builtin.module");
  passes.enableVerifier(false);
  passes.addPass(createMoveTransposes(std::make_shared<PatternRun>()));
  // The rewriting is only for speed: what it cannot do stays as it is.
  (void)passes.run(function->getParentOfType<ModuleOp>());
  function.walk(absorbTranspose);
}

} // namespace sinter::cpu
