#include "engine/compiler/LiftConstants.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter {

/// The backward slice of an integer operand, if the shape of its user's result
/// depends on its value.
static llvm::DenseSet<Operation *> decidingShapes(func::FuncOp function) {
  llvm::DenseSet<Operation *> found;
  SmallVector<Value> open;
  function.walk([&](Operation *op) {
    const bool isStatic = llvm::all_of(op->getResultTypes(), [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return !shaped || shaped.hasStaticShape();
    });
    const bool resizes =
        op->getName().getStringRef().contains("dynamic_") &&
        !isa<stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp>(op);
    if (!isStatic || resizes)
      for (Value operand : op->getOperands())
        if (getElementTypeOrSelf(operand.getType()).isIntOrIndex())
          open.push_back(operand);
  });
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (op && found.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return found;
}

std::vector<Tensor> liftConstants(func::FuncOp function) {
  const llvm::DenseSet<Operation *> shapes = decidingShapes(function);
  Block &body = function.front();
  std::vector<Tensor> lifted;
  for (auto constant :
       llvm::make_early_inc_range(body.getOps<stablehlo::ConstantOp>())) {
    auto type = cast<ShapedType>(constant.getType());
    if (shapes.contains(constant) || type.getNumElements() < 2 ||
        isa<quant::QuantizedType>(type.getElementType()))
      continue;
    std::optional<Tensor> values = toTensor(constant.getValue());
    if (!values)
      continue;
    constant.replaceAllUsesWith(body.addArgument(type, constant.getLoc()));
    constant.erase();
    lifted.push_back(values->owned());
  }
  function.setFunctionType(
      FunctionType::get(function.getContext(), body.getArgumentTypes(),
                        function.getFunctionType().getResults()));
  return lifted;
}

} // namespace sinter
