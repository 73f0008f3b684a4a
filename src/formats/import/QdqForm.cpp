#include "formats/import/QdqForm.h"

#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Source.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sinter::formats {

namespace {

class Rewriting {
public:
  Rewriting(func::FuncOp function, llvm::function_ref<bool(Operation *)> keeps,
            std::map<std::string, int64_t> &unsupported)
      : function(function), keeps(keeps), unsupported(unsupported) {}
  void run();

private:
  bool isMoved(Operation *op) const;
  bool canCompute(Operation *op) const;
  bool isExactSum(Operation *op) const;
  void compute(Operation *op);
  Value real(Value value, OpBuilder &builder);
  void mergeDequantized();

  func::FuncOp function;
  llvm::function_ref<bool(Operation *)> keeps;
  std::map<std::string, int64_t> &unsupported;
  /// The value before it was quantised, where that can be used instead.
  DenseMap<Value, Value> reals;
  /// The dequantised form in a block.
  DenseMap<std::pair<Block *, Value>, Value> dequantized;
};

} // namespace

/// The constant that \p value repeats.
static stablehlo::ConstantOp repeatedConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      return constant;
    if (!isa<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(op) &&
        !isa<stablehlo::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return {};
}

/// Whether the operation can be applied to storage elements as it is.
bool Rewriting::isMoved(Operation *op) const {
  if (keeps(op))
    return true;
  if (isa<stablehlo::UniformDequantizeOp, stablehlo::ConstantOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>() ||
      isa<stablehlo::IfOp, stablehlo::CaseOp, stablehlo::WhileOp>(op))
    return true;
  if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op))
    return !quantizedOf(op->getOperand(0).getType());
  if (op->getNumRegions() != 0 || !takesStorage(op) || op->getNumResults() != 1)
    return false;
  return keepsParameters(op, parametersOf);
}

/// Whether the operation equals its floating-point form followed by quantising.
/// A reduction quantises step by step, which only differs where it saturates.
bool Rewriting::canCompute(Operation *op) const {
  if (op->getNumRegions() == 0)
    return op->getNumResults() == 1 && isPure(op);
  if (!isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op) ||
      op->getNumResults() != 1)
    return false;
  auto name = stablehlo::soleOperation(op->getRegion(0));
  quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
  return name && type &&
         (*name == "stablehlo.maximum" || *name == "stablehlo.minimum" ||
          (*name == "stablehlo.add" &&
           type.getStorageTypeIntegralWidth() == 32));
}

/// Whether the operation returns the int32 accumulators of a convolution or
/// matmul unscaled, or computes only with such values.
bool Rewriting::isExactSum(Operation *op) const {
  quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
  if (!type || type.getStorageTypeIntegralWidth() < 32)
    return false;
  auto isSum = [&](Value value) { return reals.contains(value); };
  if (llvm::any_of(op->getOperands(), isSum))
    return llvm::all_of(op->getOperands(), [&](Value value) {
      return quantizedOf(value.getType()) == type &&
             (isSum(value) || repeatedConstant(value));
    });
  return hasScalesOfSums(op);
}

Value Rewriting::real(Value value, OpBuilder &builder) {
  quant::QuantizedType type = quantizedOf(value.getType());
  if (!type)
    return value;
  if (Value same = reals.lookup(value))
    return same;
  // A constant is dequantised before it is repeated.
  if (Operation *repeated = value.getDefiningOp();
      repeated && !isa<stablehlo::ConstantOp>(repeated) &&
      repeatedConstant(value)) {
    IRMapping mapping;
    mapping.map(repeated->getOperand(0),
                real(repeated->getOperand(0), builder));
    // Only the shape of the other operands is used.
    for (Value other : repeated->getOperands().drop_front())
      if (Value same = reals.lookup(other); same && !mapping.contains(other))
        mapping.map(other, same);
    Operation *onReals = builder.clone(*repeated, mapping);
    onReals->getResult(0).setType(
        tensorOf(value).clone(type.getExpressedType()));
    return onReals->getResult(0);
  }
  Value &known = dequantized[{builder.getInsertionBlock(), value}];
  if (!known)
    known = builder.create<stablehlo::UniformDequantizeOp>(
        value.getLoc(), tensorOf(value).clone(type.getExpressedType()), value);
  return known;
}

/// Whether \p value is the minimum or maximum of its type: the initial value of
/// a max or min reduction.
static bool isLimit(Value value, bool isLeast) {
  quant::QuantizedType type = quantizedOf(value.getType());
  std::optional<Tensor> tensor = constantTensor(value);
  return type && tensor && tensor->size() == 1 &&
         tensor->toInteger(0) ==
             (isLeast ? type.getStorageTypeMin() : type.getStorageTypeMax());
}

/// The initial value of a floating-point reduction, in place of the limit of a
/// quantised type.
static Value infinityFor(Operation *op, OpBuilder &builder) {
  if (!isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op))
    return {};
  const bool isLeast =
      stablehlo::soleOperation(op->getRegion(0)) == "stablehlo.maximum";
  if (!isLimit(op->getOperand(1), isLeast))
    return {};
  auto element = cast<FloatType>(
      quantizedOf(op->getOperand(1).getType()).getExpressedType());
  auto type = RankedTensorType::get({}, element);
  return builder.create<stablehlo::ConstantOp>(
      op->getLoc(), type,
      DenseElementsAttr::get(
          type, APFloat::getInf(element.getFloatSemantics(), isLeast)));
}

/// Changes the arguments and results of a region to floating-point types.
static void retype(Region &region) {
  auto change = [](Value value) {
    if (quant::QuantizedType type = quantizedOf(value.getType()))
      value.setType(tensorOf(value).clone(type.getExpressedType()));
  };
  for (Block &block : region) {
    llvm::for_each(block.getArguments(), change);
    for (Operation &op : block)
      llvm::for_each(op.getResults(), change);
  }
}

void Rewriting::compute(Operation *op) {
  OpBuilder builder(op);
  if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op)) {
    op->setOperand(0, real(op->getOperand(0), builder));
    return;
  }
  IRMapping mapping;
  Value beginning = infinityFor(op, builder);
  for (Value operand : op->getOperands())
    mapping.map(operand, beginning && operand == op->getOperands().back()
                             ? beginning
                             : real(operand, builder));
  const bool isExact = isExactSum(op);
  Operation *onReals = builder.clone(*op, mapping);
  removeSource(onReals);
  for (Region &region : onReals->getRegions())
    retype(region);
  Value result = op->getResult(0), made = onReals->getResult(0);
  if (quant::QuantizedType type = quantizedOf(result.getType())) {
    made.setType(tensorOf(result).clone(type.getExpressedType()));
    Value quantized = builder.create<stablehlo::UniformQuantizeOp>(
        op->getLoc(), result.getType(), made);
    if (isExact)
      reals[quantized] = made;
    made = quantized;
  }
  result.replaceAllUsesWith(made);
  op->erase();
}

/// Keeps one dequantising node per value and block, under its original name.
void Rewriting::mergeDequantized() {
  llvm::DenseSet<Operation *> made;
  for (auto [place, value] : dequantized)
    made.insert(value.getDefiningOp());
  DenseMap<std::tuple<Block *, Value, Type>, Operation *> first;
  function.walk([&](stablehlo::UniformDequantizeOp op) {
    Operation *&known = first[{op->getBlock(), op.getOperand(), op.getType()}];
    if (!known) {
      known = op;
      return;
    }
    if (!made.contains(known) && !made.contains(op))
      return;
    if (made.contains(known) && made.erase(op) == 0) {
      made.erase(known);
      known->setLoc(op->getLoc());
      known->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    }
    op.replaceAllUsesWith(known->getResult(0));
    op.erase();
  });
}

void Rewriting::run() {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    if (!hasQuantizedType(op) || isMoved(op))
      return WalkResult::advance();
    ops.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : ops) {
    if (canCompute(op)) {
      compute(op);
      continue;
    }
    ++unsupported[op->getName().getStringRef().str() +
                  " (of quantised values)"];
  }
  mergeDequantized();
  function.walk([&](stablehlo::UniformDequantizeOp op) {
    if (Value same = reals.lookup(op.getOperand())) {
      op.replaceAllUsesWith(same);
      op.erase();
    }
  });
  // Broadcasts of constants for operations that compute are dead now.
  SmallVector<Operation *> moving;
  function.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && hasQuantizedType(op) &&
        !isa<stablehlo::ConstantOp>(op) && !reals.contains(op->getResult(0)))
      moving.push_back(op);
  });
  for (Operation *op : llvm::reverse(moving))
    if (isOpTriviallyDead(op))
      op->erase();
  for (auto [quantized, same] : reals)
    if (quantized.use_empty())
      quantized.getDefiningOp()->erase();
}

void dropShifts(func::FuncOp function) {
  function.walk([](stablehlo::UniformQuantizeOp op) {
    if (!isShiftForProducts(op))
      return;
    op.replaceAllUsesWith(beforeShift(op));
    op.erase();
  });
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The type in which values of \p type are rounded: one that represents them
/// all.
static Type computeType(quant::QuantizedType type) {
  auto expressed = cast<FloatType>(type.getExpressedType());
  return holds(expressed, centredRange(type))
             ? Type(expressed)
             : Type(Float64Type::get(type.getContext()));
}

static Value bitcast(OpBuilder &builder, Value value, Type element) {
  return builder.create<stablehlo::BitcastConvertOp>(
      value.getLoc(), tensorOf(value).clone(element), value);
}

static void expandQuantize(Operation *op) {
  OpBuilder builder(op);
  nn::TensorBuilder emit(builder, op->getLoc());
  quant::QuantizedType type = quantizedOf(op->getResult(0).getType());
  Value elements = emitQuantized(
      emit, emit.convert(op->getOperand(0), computeType(type)), type,
      isa<nn::QuantizeOp>(op) ? QuantizedRounding::BeforeZeroPoint
                              : QuantizedRounding::AfterZeroPoint);
  op->getResult(0).replaceAllUsesWith(bitcast(builder, elements, type));
  op->erase();
}

/// The dequantised values of a constant, each rounded once.
static Tensor dequantizedTensor(const Tensor &elements,
                                quant::QuantizedType type) {
  const QuantizationParameters parameters = *parametersOf(type);
  auto expressed = cast<FloatType>(type.getExpressedType());
  int64_t behind = 1;
  for (int64_t i = parameters.axis + 1;
       parameters.axis >= 0 &&
       i < static_cast<int64_t>(elements.shape().size());
       ++i)
    behind *= elements.shape()[i];
  const auto channels = static_cast<int64_t>(parameters.scales.size());
  std::vector<double> numbers;
  for (int64_t i = 0; i < elements.size(); ++i) {
    const int64_t channel = parameters.axis < 0 ? 0 : i / behind % channels;
    numbers.push_back(
        dequantizedNumber(elements.toInteger(i), parameters.scales[channel],
                          parameters.zeroPoints[channel], expressed));
  }
  return tensorOfDoubles(*sinter::elementTypeOf(expressed), elements.shape(),
                         numbers);
}

static void expandDequantize(stablehlo::UniformDequantizeOp op) {
  OpBuilder builder(op);
  quant::QuantizedType type = quantizedOf(op.getOperand().getType());
  Value result;
  std::optional<Tensor> tensor = constantTensor(op.getOperand());
  if (tensor && type.getStorageTypeIntegralWidth() == 32) {
    result =
        makeConstant(builder, op.getLoc(), dequantizedTensor(*tensor, type),
                     constantName(op.getOperand()));
  } else {
    nn::TensorBuilder emit(builder, op.getLoc());
    result = emit.convert(
        emitDequantized(emit,
                        bitcast(builder, op.getOperand(), storageOf(type)),
                        type, computeType(type)),
        getElementTypeOrSelf(op.getResult()));
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

void expandQuantization(func::FuncOp function,
                        llvm::function_ref<bool(Operation *)> isExpanded) {
  SmallVector<Operation *> expanded;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp,
            stablehlo::UniformDequantizeOp>(op) &&
        isExpanded(op))
      expanded.push_back(op);
  });
  for (Operation *op : expanded) {
    if (auto dequantize = dyn_cast<stablehlo::UniformDequantizeOp>(op))
      expandDequantize(dequantize);
    else
      expandQuantize(op);
  }
}

//===----------------------------------------------------------------------===//
// All of a function
//===----------------------------------------------------------------------===//

void convertToQdqForm(func::FuncOp function,
                      llvm::function_ref<bool(Operation *)> keeps,
                      std::map<std::string, int64_t> &unsupported) {
  Rewriting(function, keeps, unsupported).run();
}

} // namespace sinter::formats
