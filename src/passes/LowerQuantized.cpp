//===- LowerQuantized.cpp - quantised tensors as integers -----------------===//

#include "passes/LowerQuantized.h"

#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/nn/Pools.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "passes/DivideByScale.h"
#include "passes/Groups.h"
#include "passes/QuantizedForms.h"

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
    dropCasts();
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
      // What is compared from now on is not its numbers.
      if (Operation *op = value.getDefiningOp())
        op->removeDiscardableAttr(traceAttribute);
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

  /// Storage elements that were cast to quantised ones, or these to them, are
  /// what they were.
  void dropCasts() {
    function.walk([](stablehlo::BitcastConvertOp op) {
      if (op.getOperand().getType() != op.getType())
        return;
      op.getResult().replaceAllUsesWith(op.getOperand());
      op.erase();
    });
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
      result = quantize(builder, op, QuantizedRounding::AfterZeroPoint);
    else if (isa<nn::QuantizeOp>(op))
      result = quantize(builder, op, QuantizedRounding::BeforeZeroPoint);
    else if (auto scales = scalesOf(op))
      result = product(builder, op, *scales);
    else if (isSumOfSums(op))
      result = sumOfSums(builder, op);
    else if (choosesElements(op))
      result = chosen(builder, op);
    else if (auto pool = dyn_cast<nn::AveragePoolOp>(op); pool && hasMean(pool))
      result = mean(builder, pool);
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

  /// \p op as it is, on storage elements.
  Value onStorage(OpBuilder &builder, Operation *op) {
    Operation *copy = builder.clone(*op);
    copy->removeDiscardableAttr(traceAttribute);
    return copy->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // What is chosen, and means
  //===--------------------------------------------------------------------===//

  /// Whether each element of \p op's result is one of its operand, chosen by
  /// its place.
  static bool choosesByPlace(Operation *op) {
    auto resize = dyn_cast<nn::ResizeOp>(op);
    return resize && resize.getMode() == "nearest" &&
           resize.getCoordinates() != "tf_crop_and_resize";
  }

  /// Whether \p op chooses numbers by their order, which storage elements of
  /// one type have, too, or by place. (Wider ones are rounded where they are
  /// numbers.)
  bool choosesElements(Operation *op) const {
    if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
        !(isa<stablehlo::MaxOp, stablehlo::MinOp, stablehlo::ClampOp,
              nn::MaxPoolOp>(op) ||
          choosesByPlace(op)))
      return false;
    auto pool = dyn_cast<nn::MaxPoolOp>(op);
    quant::QuantizedType type = meanings.lookup(op->getOperand(0));
    return isa_and_nonnull<quant::UniformQuantizedType>(type) &&
           storageOf(type).getWidth() <= 8 &&
           meanings.contains(op->getResult(0)) &&
           llvm::all_of(
               op->getOperands(),
               [&](Value each) { return meanings.lookup(each) == type; }) &&
           (!pool || nn::meetsElements(pool));
  }

  /// What \p op chooses of storage elements, in the scale of its result.
  Value chosen(OpBuilder &builder, Operation *op) {
    quant::QuantizedType from = meanings.lookup(op->getOperand(0)),
                         to = meanings.lookup(op->getResult(0));
    Value elements = onStorage(builder, op);
    elements.setType(withElement(elements.getType(), storageOf(from)));
    if (from == to && survives(from))
      return elements;
    meanings[elements] = from;
    return rescaled(builder, elements, op->getResult(0),
                    QuantizedRounding::AfterZeroPoint);
  }

  /// Whether \p pool takes means of bytes of one scale.
  bool hasMean(nn::AveragePoolOp pool) const {
    auto from = dyn_cast_or_null<quant::UniformQuantizedType>(
             meanings.lookup(pool.getOperand())),
         to = dyn_cast_or_null<quant::UniformQuantizedType>(
             meanings.lookup(pool.getResult()));
    return from && to && storageOf(from).getWidth() <= 8 &&
           from.getExpressedType().isF32() && to.getExpressedType().isF32();
  }

  /// The mean of distances, which are summed exactly, times one factor.
  Value mean(OpBuilder &builder, nn::AveragePoolOp pool) {
    quant::QuantizedType from = meanings.lookup(pool.getOperand());
    const QuantizationParameters parameters = *roundedParametersOf(from);
    nn::TensorBuilder emit(builder, pool.getLoc());
    Value numbers = emitCentred(
        emit, convert(builder, pool.getOperand(), builder.getF32Type()),
        parameters);
    IRMapping mapping;
    mapping.map(pool.getOperand(), numbers);
    Operation *copy = builder.clone(*pool, mapping);
    copy->removeDiscardableAttr(traceAttribute);
    Value means = copy->getResult(0);
    means.setType(withElement(means.getType(), builder.getF32Type()));
    return requantized(builder, means, centredRange(from).reach(),
                       {parameters.scales, parameters.axis}, pool.getResult(),
                       QuantizedRounding::AfterZeroPoint);
  }

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// Of a product that is taken in integers.
  std::optional<ProductScales> scalesOf(Operation *op) const {
    if (op->getNumOperands() == 0)
      return std::nullopt;
    return productScales(
        op, llvm::map_to_vector(op->getOperands(), [&](Value operand) {
          return meanings.lookup(operand);
        }));
  }

  IntegerRange rangeOfSums(Operation *op) const {
    IntegerRange ranges[] = {{1, 1}, {1, 1}};
    for (auto [range, operand] : llvm::zip(ranges, op->getOperands()))
      range = centredRange(meanings.lookup(beforeShift(operand)));
    return sinter::rangeOfSums(op, ranges[0], ranges[1]);
  }

  /// Whether all operands are stored in bytes. Each channel by itself has a
  /// kernel of floats.
  bool isOfBytes(Operation *op) const {
    auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
    return !(convolution && convolution.isDepthwise()) &&
           op->getNumOperands() == 2 &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return meanings.lookup(beforeShift(operand))
                        .getStorageTypeIntegralWidth() <= 8;
           });
  }

  /// A type that holds every sum exactly, floats first: they have the fast
  /// kernels, and sums of integers in them do not depend on the order.
  Type accumulatorOf(Operation *op) const {
    const IntegerRange sums = rangeOfSums(op);
    MLIRContext *context = op->getContext();
    Type i32 = IntegerType::get(context, 32);
    if (isOfBytes(op) && holds(i32, sums))
      return i32;
    Type f64 = Float64Type::get(context);
    SmallVector<Type> types = {Float32Type::get(context), f64, i32,
                               IntegerType::get(context, 64)};
    // Convolutions have a kernel of f32 alone.
    if (isa<stablehlo::ConvolutionOp>(op))
      types.erase(types.begin() + 1);
    Type found = firstHolding(types, sums);
    return found ? found : f64;
  }

  Value product(OpBuilder &builder, Operation *op,
                const ProductScales &scales) {
    for (Value operand : op->getOperands())
      centreConstant(builder, operand);
    Type accumulator = accumulatorOf(op);
    const IntegerRange range = rangeOfSums(op);
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value given = beforeShift(operand);
      Value moved = convert(builder, given, accumulator);
      nn::TensorBuilder emit(builder, moved.getLoc());
      mapping.map(operand,
                  emitCentred(emit, moved,
                              *roundedParametersOf(meanings.lookup(given))));
    }
    Operation *sums = builder.clone(*op, mapping);
    sums->removeDiscardableAttr(traceAttribute);
    Value result = op->getResult(0), sum = sums->getResult(0);
    sum.setType(withElement(result.getType(), accumulator));
    sums->setDiscardableAttr(exactProductAttribute, builder.getUnitAttr());
    quant::QuantizedType meaning = meanings.lookup(result);
    if (!meaning)
      return convert(builder, scaled(builder, sum, scales, op),
                     getElementTypeOrSelf(result));
    if (storageOf(meaning).getWidth() == 32 &&
        areScalesOfSums(*roundedParametersOf(meaning), scales)) {
      Value stored = convert(builder, sum, storageOf(meaning));
      rangesOfSums[stored] = range;
      if (accumulator.isF32())
        floatsOf[stored] = sum;
      return stored;
    }
    return requantized(builder, sum, range.reach(), scales, result,
                       QuantizedRounding::AfterZeroPoint);
  }

  /// Whether \p op adds sums of one scale, which their storage holds.
  bool isSumOfSums(Operation *op) const {
    if (!isa<stablehlo::AddOp>(op))
      return false;
    quant::QuantizedType type = meanings.lookup(op->getResult(0));
    auto isLike = [&](Value operand) {
      return meanings.lookup(operand) == type;
    };
    if (!type || storageOf(type).getWidth() != 32 ||
        !llvm::all_of(op->getOperands(), isLike) ||
        !roundedParametersOf(type)->isSymmetric())
      return false;
    IntegerRange lhs = rangeOf(op->getOperand(0)),
                 rhs = rangeOf(op->getOperand(1));
    return holds(storageOf(type), {lhs.low + rhs.low, lhs.high + rhs.high});
  }

  /// In f32, if a product of them is and it holds them all.
  Value sumOfSums(OpBuilder &builder, Operation *op) {
    IntegerRange range;
    bool isInF32 = false;
    for (Value operand : op->getOperands()) {
      const IntegerRange own = rangeOf(operand);
      range = {range.low + own.low, range.high + own.high};
      isInF32 |= floatsOf.contains(operand);
    }
    const Type f32 = builder.getF32Type();
    if (!isInF32 || !holds(f32, range) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return holds(f32, rangeOf(operand));
        }))
      return onStorage(builder, op);
    nn::TensorBuilder emit(builder, op->getLoc());
    Value sum = emit.add(convert(builder, op->getOperand(0), f32),
                         convert(builder, op->getOperand(1), f32));
    Value stored =
        convert(builder, sum, storageOf(meanings.lookup(op->getResult(0))));
    rangesOfSums[stored] = range;
    floatsOf[stored] = sum;
    return stored;
  }

  IntegerRange rangeOf(Value storage) const {
    auto found = rangesOfSums.find(storage);
    return found != rangesOfSums.end() ? found->second
                                       : IntegerRange::of(storage);
  }

  /// \p sum times its scales, in f64 for what f32 does not hold.
  Value scaled(OpBuilder &builder, Value sum, const ProductScales &scales,
               Operation *op) {
    Type expressed = getElementTypeOrSelf(op->getResult(0));
    Value number = convert(builder, sum,
                           expressed.isF64() ? Type(builder.getF64Type())
                                             : Type(builder.getF32Type()));
    nn::TensorBuilder emit(builder, op->getLoc());
    return emit.mul(number,
                    emitSpread(emit, scales.factors, scales.axis, number));
  }

  /// Beside even zero points the two ways to round are one, but where the sum
  /// of a quotient and a zero point is rounded to the middle of two integers.
  /// There it is taken as the quotient says, so that a model gives the same
  /// bits in either form.
  static QuantizedRounding roundingOf(const QuantizationParameters &parameters,
                                      QuantizedRounding rounding) {
    return llvm::all_of(parameters.zeroPoints,
                        [](int64_t zero) { return zero % 2 == 0; }) &&
                   !parameters.isSymmetric()
               ? QuantizedRounding::BeforeZeroPoint
               : rounding;
  }

  /// Changes the scale of \p numbers, which count from zero and are at most
  /// \p reach, from \p scales to that of \p like: one product, a rounding and
  /// the cut.
  Value requantized(OpBuilder &builder, Value numbers, double reach,
                    const ProductScales &scales, Value like,
                    QuantizedRounding rounding) {
    quant::QuantizedType type = meanings.lookup(like);
    const QuantizationParameters to = *roundedParametersOf(type);
    rounding = roundingOf(to, rounding);
    ProductScales factors = scales;
    if (factors.axis < 0 && to.axis >= 0)
      factors = {SmallVector<double>(to.scales.size(), scales.factors.front()),
                 to.axis};
    bool isInF32 = storageOf(type).getWidth() <= 8;
    for (auto [i, factor] : llvm::enumerate(factors.factors))
      isInF32 &= !missesMiddles(factor, to.scales[to.axis < 0 ? 0 : i], reach);
    nn::TensorBuilder emit(builder, like.getLoc());
    auto times = [&](Type compute) {
      Value number = convert(builder, numbers, compute);
      return emit.mul(number,
                      emitSpread(emit, factors.factors, factors.axis, number));
    };
    if (!isInF32)
      return emitQuantized(emit, times(builder.getF64Type()), type, rounding);
    for (auto [i, factor] : llvm::enumerate(factors.factors))
      factor /= to.scales[to.axis < 0 ? 0 : i];
    return emitRounded(emit, times(builder.getF32Type()), type, rounding);
  }

  /// \p operand as storage elements of what \p like means, where these are
  /// greater by one integer; null else.
  Value shifted(OpBuilder &builder, Value operand, Value like) {
    quant::QuantizedType from = meanings.lookup(operand),
                         to = meanings.lookup(like);
    auto shift = from && to ? shiftBetween(from, to) : std::nullopt;
    if (!shift || !survives(from) ||
        !boundsOf(to).contains(boundsOf(from).least + *shift) ||
        !boundsOf(to).contains(boundsOf(from).greatest + *shift))
      return {};
    nn::TensorBuilder emit(builder, like.getLoc());
    Value wide = emit.convert(operand, builder.getI32Type());
    if (*shift != 0)
      wide = emit.add(wide, emitSpread(emit, {double(*shift)}, -1, wide));
    Value moved = emit.convert(wide, storageOf(to));
    if (moved != operand)
      beforeShifts[moved] = beforeShift(operand);
    return moved;
  }

  /// Weights that were moved to the storage type of activations count from its
  /// middle: as signed bytes they count from zero, and products have nothing to
  /// take off.
  void centreConstant(OpBuilder &builder, Value operand) {
    auto constant = operand.getDefiningOp<stablehlo::ConstantOp>();
    quant::QuantizedType type = meanings.lookup(operand);
    auto parameters =
        constant && type ? roundedParametersOf(type) : std::nullopt;
    if (!parameters || parameters->isSymmetric() ||
        storageOf(type).getWidth() != 8 || beforeShifts.contains(operand) ||
        !llvm::all_equal(parameters->zeroPoints))
      return;
    const int64_t zero = parameters->zeroPoints.front();
    auto bytes = IntegerType::get(builder.getContext(), 8);
    const IntegerBounds all = boundsOf(bytes), had = boundsOf(type);
    quant::QuantizedType centred =
        all.contains(had.least - zero) && all.contains(had.greatest - zero)
            ? movedBy(type, bytes, -zero)
            : quant::QuantizedType();
    std::optional<Tensor> elements =
        centred ? constantTensor(operand) : std::nullopt;
    if (!elements)
      return;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(constant);
    Value moved = makeConstant(builder, constant.getLoc(),
                               sinter::shifted(*elements, bytes, -zero),
                               constantName(operand));
    meanings[moved] = centred;
    beforeShifts[operand] = moved;
  }

  /// The storage elements that \p storage is moved from, or itself.
  Value beforeShift(Value storage) const {
    Value before = beforeShifts.lookup(storage);
    return before ? before : storage;
  }

  /// Of numbers, or of other storage elements.
  Value quantize(OpBuilder &builder, Operation *op,
                 QuantizedRounding rounding) {
    return rescaled(builder, op->getOperand(0), op->getResult(0), rounding);
  }

  /// \p operand, numbers or storage elements, in the meaning of \p like.
  Value rescaled(OpBuilder &builder, Value operand, Value like,
                 QuantizedRounding rounding) {
    quant::QuantizedType from = meanings.lookup(operand),
                         to = meanings.lookup(like);
    if (Value moved = shifted(builder, operand, like))
      return moved;
    const auto parameters = from ? roundedParametersOf(from) : std::nullopt;
    const auto wanted = to ? roundedParametersOf(to) : std::nullopt;
    const bool meetsAxis = parameters && wanted &&
                           (parameters->axis < 0 || wanted->axis < 0 ||
                            parameters->axis == wanted->axis);
    // Narrower floats round what is dequantised, wider ones ask for more.
    const bool isSum = from && storageOf(from).getWidth() == 32;
    if (!meetsAxis || !to.getExpressedType().isF32() ||
        !from.getExpressedType().isF32() ||
        (isSum && !parameters->isSymmetric()))
      return quantized(builder, expressed(builder, operand), like, rounding);
    Type compute = isSum ? Type(storageOf(from)) : Type(builder.getF32Type());
    nn::TensorBuilder emit(builder, like.getLoc());
    Value numbers =
        emitCentred(emit, convert(builder, operand, compute), *parameters);
    const double reach =
        isSum ? rangeOf(operand).reach() : centredRange(from).reach();
    return requantized(builder, numbers, reach,
                       {parameters->scales, parameters->axis}, like, rounding);
  }

  //===--------------------------------------------------------------------===//
  // Numbers and storage
  //===--------------------------------------------------------------------===//

  Value convert(OpBuilder &builder, Value value, Type element) const {
    if (getElementTypeOrSelf(value) == element)
      return value;
    if (Value floats = floatsOf.lookup(value); floats && element.isF32())
      return floats;
    return builder.create<stablehlo::ConvertOp>(
        value.getLoc(), withElement(value.getType(), element), value);
  }

  /// A type in which the product of \p type's numbers and scales is exact, or
  /// rounded to the expressed type.
  static Type productType(quant::QuantizedType type) {
    unsigned width = type.getStorageTypeIntegralWidth();
    MLIRContext *context = type.getContext();
    // Sums of 32 bits are rounded to 24 before they are scaled.
    bool fits = type.getExpressedType().isF32() ? width <= 16 || width == 32
                                                : width <= 8;
    return fits && !type.getExpressedType().isF64()
               ? Type(Float32Type::get(context))
               : Float64Type::get(context);
  }

  /// What the storage elements of \p storage stand for, unrounded or rounded to
  /// the expressed type.
  Value numbers(OpBuilder &builder, Value storage) {
    quant::QuantizedType type = meanings.lookup(storage);
    nn::TensorBuilder emit(builder, storage.getLoc());
    const Type compute = productType(type);
    Value floats = compute.isF32() ? floatsOf.lookup(storage) : Value();
    return emitDequantized(emit, floats ? floats : storage, type, compute);
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
    quant::QuantizedType type = meanings.lookup(like);
    const QuantizationParameters parameters = *roundedParametersOf(type);
    if (getElementTypeOrSelf(reals).getIntOrFloatBitWidth() >= 32)
      rounding = roundingOf(parameters, rounding);
    const bool isOfBytes =
        storageOf(type).getWidth() <= 8 && getElementTypeOrSelf(reals).isF32();
    if (isOfBytes && parameters.axis < 0)
      if (Value quotients =
              dividedByScale(emit, reals, parameters.scales.front()))
        return emitRounded(emit, quotients, type, rounding);
    return emitQuantized(emit, reals, type, rounding);
  }

  func::FuncOp function;
  DenseMap<Value, quant::QuantizedType> meanings;
  /// Of storage elements that stand for the same numbers as others: those.
  DenseMap<Value, Value> beforeShifts;
  /// Of sums of products in storage elements.
  DenseMap<Value, IntegerRange> rangesOfSums;
  /// Sums that are taken in f32, by the integers that they are stored as: what
  /// reads them as floats again reads these.
  DenseMap<Value, Value> floatsOf;
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
