#include "random/DynamicSizes.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "random/Dice.h"

using namespace mlir;

namespace sinter {
namespace {

class Opener {
public:
  Opener(Block &block, uint64_t seed) : block(block), dice(seed) {}
  void run();

private:
  void dynamicArguments();
  /// \p type without some of its sizes.
  Type opened(Type type);
  void follow(Operation &op);
  bool inferAgain(Operation &op);
  bool isDynamic(Value value) const { return known.contains(value); }
  Value closed(Value value, Operation *user);

  Block &block;
  Dice dice;
  /// The types that open values had.
  DenseMap<Value, Type> known;
};

} // namespace

Type Opener::opened(Type given) {
  auto type = dyn_cast<RankedTensorType>(given);
  if (!type || type.getEncoding() ||
      !isa<FloatType, IntegerType, ComplexType, quant::QuantizedType>(
          type.getElementType()))
    return given;
  SmallVector<int64_t> shape(type.getShape());
  // There is a scale for each element of a quantised dimension.
  auto perAxis =
      dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  for (auto [i, size] : llvm::enumerate(shape))
    if (dice.oneIn(2) && !(perAxis && perAxis.getQuantizedDimension() ==
                                          static_cast<int32_t>(i)))
      size = ShapedType::kDynamic;
  return type.clone(shape);
}

void Opener::dynamicArguments() {
  for (BlockArgument argument : block.getArguments()) {
    Type type = argument.getType(), open = opened(type);
    if (open == type)
      continue;
    known[argument] = type;
    argument.setType(open);
  }
}

/// Gives the results the types that follow from the operands', and less than
/// what is known where nothing says what follows; whether the operation is a
/// valid one then.
bool Opener::inferAgain(Operation &op) {
  SmallVector<Type> before(op.getResultTypes()), types(before);
  if (auto inferring = dyn_cast<InferTypeOpInterface>(&op)) {
    types.clear();
    if (failed(inferring.inferReturnTypes(
            op.getContext(), op.getLoc(), op.getOperands(),
            op.getRawDictionaryAttrs(), op.getPropertiesStorage(),
            op.getRegions(), types)) ||
        types.size() != before.size())
      return false;
    // Scales are chosen, not inferred.
    for (auto [type, chosen] : llvm::zip_equal(types, before))
      if (isa<quant::QuantizedType>(getElementTypeOrSelf(chosen)))
        type = cast<RankedTensorType>(type).clone(getElementTypeOrSelf(chosen));
  } else if (!isa<stablehlo::RngBitGeneratorOp>(op)) {
    // (No operand says how many random bits there are.)
    for (Type &type : types)
      type = opened(type);
  }
  for (auto [result, type] : llvm::zip_equal(op.getResults(), types))
    result.setType(type);
  if (succeeded(verify(&op))) {
    for (auto [result, type] : llvm::zip_equal(op.getResults(), before))
      if (result.getType() != type)
        known[result] = type;
    return true;
  }
  for (auto [result, type] : llvm::zip_equal(op.getResults(), before))
    result.setType(type);
  return false;
}

/// \p value as a tensor of the shape that it was known to have.
Value Opener::closed(Value value, Operation *user) {
  auto type = cast<RankedTensorType>(known.lookup(value));
  OpBuilder builder(user);
  Value shape = makeConstant(
      builder, user->getLoc(),
      Tensor::of<int64_t>(ElementType::I64, {type.getRank()},
                          {type.getShape().data(), type.getShape().size()}));
  return builder.create<stablehlo::DynamicReshapeOp>(user->getLoc(), type,
                                                     value, shape);
}

void Opener::follow(Operation &op) {
  llvm::SetVector<Value> open;
  for (Value operand : op.getOperands())
    if (isDynamic(operand))
      open.insert(operand);
  visitUsedValuesDefinedAbove(op.getRegions(), [&](OpOperand *use) {
    if (isDynamic(use->get()))
      open.insert(use->get());
  });
  if (open.empty() || inferAgain(op))
    return;
  for (Value value : open) {
    Value same = closed(value, &op);
    op.walk([&](Operation *each) { each->replaceUsesOfWith(value, same); });
  }
}

void Opener::run() {
  FirstError quiet(block.getParentOp()->getContext());
  dynamicArguments();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    follow(op);
}

Model withDynamicSizes(const Model &model, uint64_t seed) {
  Model open = model.clone();
  func::FuncOp function = open.entry();
  Block &block = function.front();
  Opener(block, seed).run();
  function.setFunctionType(
      FunctionType::get(open.context(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  return open;
}

} // namespace sinter
