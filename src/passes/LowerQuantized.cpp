//===- LowerQuantized.cpp - quantised tensors as integers -----------------===//

#include "passes/LowerQuantized.h"

#include "graph/ExactSums.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "passes/Groups.h"

using namespace mlir;
using namespace sinter;

static RankedTensorType withElement(Type type, Type element) {
  return cast<RankedTensorType>(type).clone(element);
}

namespace {

class Lowering {
public:
  explicit Lowering(func::FuncOp function) : function(function) {}

  Result<void> run() {
    SmallVector<Operation *> arithmetic;
    function.walk([&](Operation *op) {
      if (op == function || !hasQuantizedType(op))
        return;
      if (!takesStorage(op) || !keepsParameters(op))
        arithmetic.push_back(op);
    });
    changeTypes();
    for (Operation *op : arithmetic)
      if (Result<void> done = lower(op); !done)
        return done;
    return {};
  }

private:
  /// Whether all quantised elements of \p op that it moves mean the same.
  static bool keepsParameters(Operation *op) {
    if (!op->hasTrait<sinter::traits::MovesElements>() ||
        op->getNumResults() != 1)
      return true;
    return sinter::keepsParameters(op, roundedParametersOf);
  }

  /// From now on every quantised value is one of storage elements; what it was
  /// is remembered.
  void changeTypes() {
    auto change = [&](Value value) {
      quant::QuantizedType type = quantizedOf(value.getType());
      if (!type)
        return;
      meanings[value] = type;
      value.setType(storageOf(tensorOf(value)));
    };
    function.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), change);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), change);
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
        changeConstant(constant);
    });
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().getArgumentTypes(),
        function.getBody().front().getTerminator()->getOperandTypes()));
  }

  static void changeConstant(stablehlo::ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (dense && dense.getType() != type &&
        dense.getElementType().isIntOrFloat() &&
        dense.getElementType().getIntOrFloatBitWidth() ==
            type.getElementType().getIntOrFloatBitWidth())
      op.setValueAttr(dense.bitcast(type.getElementType()));
  }

  Result<void> lower(Operation *op) {
    for (auto values :
         {ValueRange(op->getOperands()), ValueRange(op->getResults())})
      for (Value value : values)
        if (quant::QuantizedType type = meanings.lookup(value))
          if (!roundedParametersOf(type))
            return unsupported(op->getName().getStringRef().str() +
                               " has a quantised type that is not uniform");
    OpBuilder builder(op);
    Value result;
    if (isa<stablehlo::UniformDequantizeOp>(op))
      result = convert(builder, numbers(builder, op->getOperand(0)),
                       getElementTypeOrSelf(op->getResult(0)));
    else if (isa<stablehlo::UniformQuantizeOp>(op))
      result = quantized(builder, expressed(builder, op->getOperand(0)),
                         op->getResult(0));
    else if (isa<nn::QuantizeOp>(op))
      result = quantized(builder, expressed(builder, op->getOperand(0)),
                         op->getResult(0), QuantizedRounding::BeforeZeroPoint);
    else if (auto scales = scalesOf(op))
      result = product(builder, op, *scales);
    if (result)
      replace(op->getResult(0), result);
    else
      lowerByNumbers(builder, op);
    op->erase();
    return {};
  }

  /// The new value means what the old one did, which is about to go.
  void replace(Value was, Value is) {
    was.replaceAllUsesWith(is);
    if (quant::QuantizedType meaning = meanings.lookup(was)) {
      meanings.erase(was);
      meanings[is] = meaning;
    }
  }

  /// dequantize_op_quantize.
  void lowerByNumbers(OpBuilder &builder, Operation *op) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (meanings.contains(operand))
        mapping.map(operand, expressed(builder, operand));
    Operation *onNumbers = builder.clone(*op, mapping);
    onNumbers->removeDiscardableAttr(traceAttribute);
    for (auto [was, is] :
         llvm::zip(op->getResults(), onNumbers->getResults())) {
      quant::QuantizedType meaning = meanings.lookup(was);
      if (!meaning) {
        replace(was, is);
        continue;
      }
      is.setType(withElement(was.getType(), meaning.getExpressedType()));
      replace(was, quantized(builder, is, was));
    }
  }

  /// Of a product that is taken in integers.
  std::optional<ProductScales> scalesOf(Operation *op) const {
    if (op->getNumOperands() == 0)
      return std::nullopt;
    return productScales(
        op, llvm::map_to_vector(op->getOperands(), [&](Value operand) {
          return meanings.lookup(operand);
        }));
  }

  /// A type that holds every sum exactly, floats first: they have the fast
  /// kernels, and sums of integers in them do not depend on the order.
  Type accumulatorOf(Operation *op) const {
    IntegerRange ranges[] = {{1, 1}, {1, 1}};
    for (auto [range, operand] : llvm::zip(ranges, op->getOperands()))
      range = centredRange(meanings.lookup(operand));
    constexpr double tooMany = 0x1p62;
    const IntegerRange sums = IntegerRange::ofSums(
        ranges[0], ranges[1], productsPerSum(op).value_or(tooMany));
    MLIRContext *context = op->getContext();
    Type f64 = Float64Type::get(context);
    SmallVector<Type> types = {Float32Type::get(context), f64,
                               IntegerType::get(context, 32),
                               IntegerType::get(context, 64)};
    // Convolutions have a kernel of f32 alone.
    if (isa<stablehlo::ConvolutionOp>(op))
      types.erase(types.begin() + 1);
    Type found = firstHolding(types, sums);
    return found ? found : f64;
  }

  Value product(OpBuilder &builder, Operation *op,
                const ProductScales &scales) {
    Type accumulator = accumulatorOf(op);
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value moved = convert(builder, operand, accumulator);
      QuantizationParameters parameters =
          *roundedParametersOf(meanings.lookup(operand));
      nn::TensorBuilder emit(builder, moved.getLoc());
      mapping.map(operand, emitCentred(emit, moved, parameters));
    }
    Operation *sums = builder.clone(*op, mapping);
    sums->removeDiscardableAttr(traceAttribute);
    Value result = op->getResult(0);
    sums->getResult(0).setType(withElement(result.getType(), accumulator));
    sums->setDiscardableAttr(exactProductAttribute, builder.getUnitAttr());
    Value sum = convert(builder, sums->getResult(0), builder.getF64Type());
    nn::TensorBuilder emit(builder, op->getLoc());
    Value reals =
        emit.mul(sum, emitSpread(emit, scales.factors, scales.axis, sum));
    return meanings.contains(result)
               ? quantized(builder, reals, result)
               : convert(builder, reals, getElementTypeOrSelf(result));
  }

  //===--------------------------------------------------------------------===//
  // Numbers and storage
  //===--------------------------------------------------------------------===//

  static Value convert(OpBuilder &builder, Value value, Type element) {
    if (getElementTypeOrSelf(value) == element)
      return value;
    return builder.create<stablehlo::ConvertOp>(
        value.getLoc(), withElement(value.getType(), element), value);
  }

  /// A type in which the product of \p type's numbers and scales is exact, or
  /// rounded to the expressed type.
  static Type productType(quant::QuantizedType type) {
    unsigned width = type.getStorageTypeIntegralWidth();
    MLIRContext *context = type.getContext();
    bool fits = type.getExpressedType().isF32() ? width <= 16 : width <= 8;
    return fits && !type.getExpressedType().isF64()
               ? Type(Float32Type::get(context))
               : Float64Type::get(context);
  }

  /// What the storage elements of \p storage stand for, unrounded or rounded to
  /// the expressed type.
  Value numbers(OpBuilder &builder, Value storage) {
    quant::QuantizedType type = meanings.lookup(storage);
    nn::TensorBuilder emit(builder, storage.getLoc());
    return emitDequantized(emit, storage, type, productType(type));
  }

  /// The same in the expressed type; a value that was not quantised as it is.
  Value expressed(OpBuilder &builder, Value value) {
    quant::QuantizedType type = meanings.lookup(value);
    return type ? convert(builder, numbers(builder, value),
                          type.getExpressedType())
                : value;
  }

  /// The storage elements nearest to \p reals in the meaning of \p like.
  Value
  quantized(OpBuilder &builder, Value reals, Value like,
            QuantizedRounding rounding = QuantizedRounding::AfterZeroPoint) {
    nn::TensorBuilder emit(builder, like.getLoc());
    return emitQuantized(emit, reals, meanings.lookup(like), rounding);
  }

  func::FuncOp function;
  DenseMap<Value, quant::QuantizedType> meanings;
};

} // namespace

bool sinter::hasQuantized(func::FuncOp function) {
  auto result = function.walk([](Operation *op) {
    auto isQuantized = [](Type type) { return bool(quantizedOf(type)); };
    bool found = llvm::any_of(op->getResultTypes(), isQuantized);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        found |= llvm::any_of(block.getArgumentTypes(), isQuantized);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

Result<void> sinter::lowerQuantized(func::FuncOp function) {
  if (!hasQuantized(function))
    return {};
  return Lowering(function).run();
}
